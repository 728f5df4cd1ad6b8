"""What servers, files, pauses and kills do to a run, each brought about for real: see its ``__main__``."""
