"""Experiments, which are not installed: accuracy gate, the papers' tables on our data, real sites to measure on."""
