"""A simulated web: many generated hosts with known truth, for site discovery and its ranking.

`world` makes it (no HTTP, 10^6 hosts), `conventions` says how its addresses tell languages, `pages` writes its pages,
and `server` answers for all of its hosts as one HTTP proxy, so that the real crawler crawls it.
"""
