"""Scrapy's process for a crawl: what it leaves out, and what it does without."""

from __future__ import annotations

import subprocess
import sys

from scrapy.settings import default_settings

from twinlink.spiders.crawler import MIDDLEWARES_OF_SCRAPY as KEPT

NEEDLESS = ("numpy", "pyarrow", "pandas", "requests", "tldextract", "duckdb")
LEFT_OUT = {
    "CookiesMiddleware",
    "DownloaderStats",
    "HttpAuthMiddleware",  # for spiders that have a name and a password
    "HttpCacheMiddleware",
    "HttpCompressionMiddleware",
    "MetaRefreshMiddleware",
    "OffsiteMiddleware",  # for spiders that name their domains
    "RetryMiddleware",
    "RobotsTxtMiddleware",
}


def test_middlewares_of_scrapy_are_at_their_places_and_none_is_left_out_unseen() -> None:
    known = default_settings.DOWNLOADER_MIDDLEWARES_BASE
    assert {name: known.get(name) for name in KEPT} == KEPT
    assert {name.rpartition(".")[2] for name in known.keys() - KEPT} == LEFT_OUT


def test_the_process_of_a_crawl_loads_no_tables() -> None:
    code = f"""
import sys
import twinlink.spiders.process, twinlink.spiders.crawler
from scrapy.utils.misc import load_object
for name in {list(KEPT)!r}:
    load_object(name)
print(*(name for name in {NEEDLESS!r} if name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
