"""The frontier of a crawl, on disk: which addresses are queued, in which order, and what became of each."""
