"""The report of a run: one HTML file that loads nothing.

Start with `stage.write_report`: it reads the data (`reading`, records in `data`) and renders them (`document`).

Each section is a function: on results in `found`, near-duplicates in `look_alikes`, quality in `trust`, and the run
itself in `process`.
"""
