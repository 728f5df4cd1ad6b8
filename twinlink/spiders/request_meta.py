"""Keys of a request's ``meta``, through which middlewares, spider and pipeline exchange data.

``page`` holds the `Entry` of the ledger that the request is for; robots.txt and what a page asks for in the browser
have none.
"""

from __future__ import annotations

__all__ = ["ASKED", "BUILT", "EARLIER", "LISTED", "PART", "RAW", "READ", "UNBUILT"]

ASKED = "asked"
"""When the request was made (monotonic time)."""
EARLIER = "earlier"
"""The page that an earlier visit found, or None."""
RAW = "raw"
"""The response as it came, still compressed."""
READ = "read"
"""What was read of the response (`PageFacts`)."""
LISTED = "listed"
"""The body of a sitemap."""
BUILT = "built"
"""The page as its scripts built it."""
UNBUILT = "unbuilt"
"""Why a page that needs the browser was not built: reason and detail."""
PART = "part"
"""Set on a request that a page made in the browser: the bytes that came, a list."""
