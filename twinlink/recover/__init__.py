"""Deep pages: addresses that nothing links to are guessed from URL patterns, fetched, and checked."""
