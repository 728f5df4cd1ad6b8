"""URL patterns: which parts of addresses stand for each other, their credibility, and libraries of them."""
