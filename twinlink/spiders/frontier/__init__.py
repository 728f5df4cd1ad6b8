"""The frontier of a crawl, on disk: queued addresses, their order, and the outcome of each address."""
