"""The demo: a bilingual government-style site with known pairs, a small web of sites, and servers on this machine.

- one site: `write_site` composes it, `serve` serves it
- a web of sites: `make_web`, `serve_web`
"""

from __future__ import annotations

from twinlink.demo.crawled import CrawledTruth, write_crawled_truth
from twinlink.demo.manysites import DemoWeb, make_web
from twinlink.demo.server import serve, serve_web
from twinlink.demo.site import DemoSite, read_site, write_site

__all__ = [
    "CrawledTruth",
    "DemoSite",
    "DemoWeb",
    "make_web",
    "read_site",
    "serve",
    "serve_web",
    "write_crawled_truth",
    "write_site",
]
