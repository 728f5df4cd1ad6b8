"""Fast access to the tables of a run, for the review: short columns are in memory, long ones are read from disk.

Start with `run_view.RunView`, the only reader that the application uses: it gives a `Snapshot` of the newest tables.

- parts of a snapshot: `pages`, `look_alikes`, `site_tables` (links, rivals, checks), `resources` (pictures, styles)
- orders of pairs for review: `orders`
- progress of a run that is being mined: `live`
- columns of many files at once: `columns`
"""
