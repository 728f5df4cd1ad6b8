"""The crawl of sites into web archives.

`crawl` starts a process of its own (`process`), in which Scrapy works with these parts:

- `spider`: makes the request for an address, judges its response, and yields items (`items`);
- `pipelines`: writes an item into archive (`archive`, `warc_writer`) and ledger (`frontier`) in one step;
- `scheduler`: takes the next address from the ledger; `middlewares`: what happens to requests and answers on their way;
- `crawler`: Scrapy's settings; `state`: what the parts of a running crawl share.

Which links are followed: `scope`, `traps`, `sitemaps`, `sitemap_queue`. How pages are read: `reader`, `browser`. What a
site forbids: `robots`; which addresses are private: `guard`. Start pages from a file: `read_seeds`.
"""

from __future__ import annotations

from twinlink.spiders.crawling import CrawlProgress, crawl, crawl_chosen
from twinlink.spiders.seeds import read_seeds

__all__ = ["CrawlProgress", "crawl", "crawl_chosen", "read_seeds"]
