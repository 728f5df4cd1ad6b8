"""The demo: a bilingual government-style site with known pairs, and a server that serves it on this machine."""

from __future__ import annotations

from twinlink.demo.server import serve
from twinlink.demo.site import DemoSite, read_site, write_site

__all__ = ["DemoSite", "read_site", "serve", "write_site"]
