"""Pages as their scripts build them: Chromium runs the scripts, and its caller answers all of its requests.

Each request of a page comes to the caller, who fetches it as carefully as everything else, or does not. What would go
past that (sockets, prefetching, redirects) meets a proxy that is not there and names that lead nowhere.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from twinlink.spiders.browser.visit import Answer, BrowserError, Built, Fetch, Visit

if TYPE_CHECKING:
    from playwright.async_api import Browser as Chromium
    from playwright.async_api import BrowserContext, Playwright

_PATIENCE = 10.0  # seconds for what the browser does by itself, a page that hangs apart
_MAX_LAUNCHES = 5  # a browser that dies so often, and builds no page between, is given up

_SWITCHES = (
    "--proxy-server=http://127.0.0.1:9",  # nobody listens there
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--js-flags=--max-old-space-size=512",
    "--disable-quic",
    "--no-first-run",
    "--no-pings",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class Browser:
    """Chromium without a window, started with the first page.

    Each page has its own context: cookies and storage are not shared between pages. It cannot download, open
    windows, show dialogs, start service workers, or leave its address. It may run as long as
    its time allows.

    Parameters
    ----------
    executable : str
        Path of Chromium.
    timeout : float
        Seconds for a page to load, and again until it is quiet; then its HTML is read.
    max_bytes : int
        Largest page.
    concurrency : int
        Pages at once.
    sandbox : bool
        Keep the pages in Chromium's sandbox, which root cannot.
    """

    def __init__(self, executable: str, timeout: float, max_bytes: int, concurrency: int, sandbox: bool) -> None:
        self._executable = executable
        self._timeout = timeout
        self._max_bytes = max_bytes
        self._sandbox = sandbox
        self._room = asyncio.Semaphore(concurrency)
        self._starting = asyncio.Lock()
        self._n_launches = 0
        self._playwright: Playwright | None = None
        self._chromium: Chromium | None = None

    async def build(self, url: str, answer: Answer, fetch: Fetch, delay: float = 0.0) -> Built:
        """Return a page as its scripts build it from the server's response.

        Parameters
        ----------
        url : str
            Its address.
        answer : Answer
            What the server gave.
        fetch : callable
            Answers its requests.
        delay : float
            Seconds that each of them may wait for its turn; they are added to the page's time.

        Raises
        ------
        BrowserError
            If the browser does not run, the page hangs or makes it crash, or is too large.
        """
        async with self._room:
            visit = Visit(url, answer, fetch, self._timeout, delay, self._max_bytes)
            built = await self._visited(visit)
            if built is None:  # the browser died; perhaps of another page, or for want of memory
                built = await self._visited(Visit(url, answer, fetch, self._timeout, delay, self._max_bytes))
            if built is None:
                raise BrowserError("browser-failed", "the browser ended twice while it built the page")
            self._n_launches = 0
            return built

    async def _visited(self, visit: Visit) -> Built | None:
        """Return a page as it is built, None if the browser died meanwhile."""
        from playwright.async_api import Error

        try:
            context = await asyncio.wait_for(self._context(), 3 * _PATIENCE)
        except (Error, OSError, TimeoutError) as error:
            if self._chromium is not None and await _has_died(self._chromium):
                return None
            raise BrowserError("needs-browser", f"{self._executable} does not run: {_line(error)}") from error
        chromium = context.browser
        try:
            return await visit.run(context)
        except TimeoutError as error:
            raise BrowserError("browser-failed", f"the page hung for more than {self._timeout:g} s") from error
        except Error as error:
            if chromium is not None and await _has_died(chromium):
                return None
            raise BrowserError("browser-failed", _line(error)) from error
        finally:
            await self._close_context(context)

    async def close(self) -> None:
        """End the browser."""
        from playwright.async_api import Error

        chromium, playwright = self._chromium, self._playwright
        self._chromium = self._playwright = None
        with suppress(Error, TimeoutError):
            if chromium is not None:
                await asyncio.wait_for(chromium.close(), _PATIENCE)
        with suppress(Error, TimeoutError):
            if playwright is not None:  # its process ends the browser if that did not
                await asyncio.wait_for(playwright.stop(), _PATIENCE)

    async def _context(self) -> BrowserContext:
        async with self._starting:
            if self._chromium is None or not self._chromium.is_connected():
                await self._launch()
            assert self._chromium is not None
            return await self._chromium.new_context(accept_downloads=False, service_workers="block")

    async def _launch(self) -> None:
        from playwright.async_api import Error, async_playwright

        self._chromium = None
        self._n_launches += 1
        if self._n_launches > _MAX_LAUNCHES:
            raise Error(f"ended {_MAX_LAUNCHES} times, is not started again")
        if self._playwright is None:
            self._playwright = await async_playwright().start()
        self._chromium = await self._playwright.chromium.launch(
            executable_path=self._executable,
            headless=True,
            chromium_sandbox=self._sandbox,
            args=list(_SWITCHES),
            timeout=1000 * 2 * _PATIENCE,
            handle_sigint=False,  # the crawl ends it
            handle_sigterm=False,
            handle_sighup=False,
        )

    async def _close_context(self, context: BrowserContext) -> None:
        from playwright.async_api import Error

        try:
            await asyncio.wait_for(context.close(), _PATIENCE)
        except Error:  # closed with its browser
            pass
        except TimeoutError:
            chromium, self._chromium = self._chromium, None
            if chromium is not None:
                with suppress(Error, TimeoutError):
                    await asyncio.wait_for(chromium.close(), _PATIENCE)


async def _has_died(chromium: Chromium) -> bool:
    """Return whether the browser is gone; its pages notice it first."""
    for _ in range(10):
        if not chromium.is_connected():
            return True
        await asyncio.sleep(0.1)
    return False


def _line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]
