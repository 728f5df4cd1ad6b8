"""Robustness campaign: effects of servers, files, pauses and kills on a run, see its ``__main__``."""
