"""Queue of responses to parse: small ones are parsed at once, large ones in the reader process, hosts in turn."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from twinlink.spiders.failures import RefusedError
from twinlink.spiders.reader.client import ReaderProcess, reader_memory
from twinlink.spiders.reader.page_facts import Job, Result, UnreadError, perform

if TYPE_CHECKING:
    from twinlink.config import CrawlSettings

SMALL_BYTES = 2**17
"""Responses up to this size, compressed and decompressed, are parsed in the crawl's own process; the slowest one found
takes 0.2 s. Passing a page of 100 kB to the reader process costs a tenth of fetching it. 99 of 100 pages of our tuning
sites are smaller."""

_MAX_WAITING_BYTES = 2**25  # total size of waiting responses above which nothing more is requested
_Waiting = tuple[Job, "asyncio.Future[Result]"]


class ReadingQueue:
    """Responses that wait to be parsed. Hosts take turns, so that slow pages of a host only delay the same host.

    Parameters
    ----------
    limits : CrawlSettings
        ``parse_seconds`` and ``max_page_bytes`` are used.
    """

    def __init__(self, limits: CrawlSettings) -> None:
        self._process = ReaderProcess(limits.parse_seconds, reader_memory(limits.max_page_bytes))
        self._thread = ThreadPoolExecutor(1, "reading")
        self._waiting: OrderedDict[str, deque[_Waiting]] = OrderedDict()
        self._n_bytes = 0
        self._task: asyncio.Future[None] | None = None

    @property
    def is_full(self) -> bool:
        """Whether so many bytes wait that nothing more should be requested."""
        return self._n_bytes > _MAX_WAITING_BYTES

    async def read(self, host: str, job: Job) -> Result:
        """Parse a response; the result is that of `perform`.

        Raises
        ------
        RefusedError
            If it cannot be read, with the reason of `UnreadError`.
        """
        small = min(job.limit, SMALL_BYTES)
        try:
            if len(job.body) <= small:
                with suppress(_GrownError):
                    return _read_small(job, small)
            return await self._read_large(host, job)
        except UnreadError as error:
            raise RefusedError(error.reason, error.detail) from error

    def close(self) -> None:
        """End the process; waiting responses are discarded."""
        for jobs in self._waiting.values():
            for _, done in jobs:
                done.cancel()
        self._waiting.clear()
        self._process.close()
        self._thread.shutdown(wait=False)

    async def _read_large(self, host: str, job: Job) -> Result:
        done: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(host, deque()).append((job, done))
        self._n_bytes += len(job.body)
        self._go_on()
        return await done

    def _go_on(self) -> None:
        """Start the next job, unless one is running."""
        if self._task is not None or not self._waiting:
            return
        host, jobs = self._waiting.popitem(last=False)
        job, done = jobs.popleft()
        if jobs:
            self._waiting[host] = jobs
        self._task = asyncio.ensure_future(self._work(job, done))

    async def _work(self, job: Job, done: asyncio.Future[Result]) -> None:
        try:
            result = await asyncio.get_running_loop().run_in_executor(self._thread, self._process.ask, job)
        except UnreadError as error:
            if not done.done():
                done.set_exception(error)
        else:
            if not done.done():
                done.set_result(result)
        self._n_bytes -= len(job.body)
        self._task = None
        self._go_on()


class _GrownError(Exception):
    """A small response is large after decompression."""


def _read_small(job: Job, limit: int) -> Result:
    try:
        return perform(replace(job, limit=limit))
    except UnreadError as error:
        if error.reason == "too-large" and limit < job.limit:
            raise _GrownError from error
        raise
