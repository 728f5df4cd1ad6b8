"""The crawl of sites into web archives.

`crawl` starts a separate process (`process`), which runs Scrapy with these components:

- `spider`: makes the request for an address, checks the response, and yields items (`items`);
- `pipelines`: writes an item to the archive (`archive`, `warc_writer`) and the ledger (`frontier`) in one step;
- `scheduler`: takes the next address from the ledger, in the order of `frontier.urgency`;
- `middlewares`: process requests and responses;
- `crawler`: settings of Scrapy; `state`: shared state of a running crawl.

Links to follow, and where redirects lead: `scope`, `traps`, `sitemaps`, `sitemap_queue`. Parsing of pages: `reader`,
`browser`. Restrictions: `robots`, and `guard` for private addresses. Start pages from a file: `read_seeds`.
"""

from __future__ import annotations

from twinlink.spiders.crawling import CrawlProgress, crawl, crawl_chosen, crawl_parts
from twinlink.spiders.seeds import read_seeds

__all__ = ["CrawlProgress", "crawl", "crawl_chosen", "crawl_parts", "read_seeds"]
