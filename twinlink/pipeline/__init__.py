"""The stages of a run: `crawling`, `ingest`, `match`, and `mine`, which does them all. Here the rooms meet."""
