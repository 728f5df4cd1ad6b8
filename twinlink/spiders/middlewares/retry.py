"""Scrapy's retries, without those of pages that do not come in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.retry import RetryMiddleware

from twinlink.spiders.failures import failure_reason

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response


class Retry(RetryMiddleware):
    """Retries requests at once, except those for pages that time out.

    The spider queues these behind all others: where a host gets one request at a time (Crawl-delay), each try holds
    up the whole site for as long as `twinlink.config.CrawlSettings.timeout`.
    """

    def process_exception(
        self,
        request: Request,
        exception: Exception,
        spider: Spider | None = None,  # noqa: ARG002  (Scrapy's signature)
    ) -> Request | Response | None:
        """Return the request to be made again, if there is one."""
        if "page" in request.meta and failure_reason(exception)[0] == "timeout":
            return None
        return super().process_exception(request, exception)
