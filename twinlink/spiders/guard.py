"""Protection from the network: addresses that must not be requested, and responses with endless headers."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit
from urllib.request import getproxies

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.exceptions import CannotResolveHostError
from scrapy.resolver import CachingHostnameResolver
from twisted.python.failure import Failure
from twisted.web._newclient import HEADER, STATUS

from twinlink.spiders.failures import HeadersTooLargeError, RefusedError

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.address import IPv4Address, IPv6Address
    from twisted.internet.interfaces import IHostResolution

__all__ = [
    "BLOCKED_PORTS",
    "MAX_HEADER_BYTES",
    "AddressGuard",
    "GuardedHandler",
    "GuardedResolver",
    "blocked_port",
    "guarded_handler",
    "guarded_resolver",
]

BLOCKED_PORTS = frozenset(
    (0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109,
     110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531,
     532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060,
     5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080)
)  # fmt: skip
"""Ports that browsers block for HTTP: they belong to other protocols (mail, printers, chat …), and a link could make
the crawler talk to those. The list of "bad ports" of the Fetch Standard (WHATWG)."""

MAX_HEADER_BYTES = 2**18
"""Bytes of a response's headers: Chromium's limit; common servers send 8 or 16 kB at most."""

_IDLE_SECONDS = 30
"""Seconds that an unused connection is kept: with thousands of hosts, Twisted's 240 s would keep thousands of them."""
_LOCAL_ENDS = (".localhost", ".local", ".internal", ".intranet", ".lan", ".home.arpa", ".home", ".corp")
_MAX_REMEMBERED = 10_000


class AddressGuard:
    """Decides which hosts may have a private address.

    They are the start pages' own hosts whose names say so: an IP address, ``localhost``, a name without a dot, or one
    below ``.local``, ``.internal``, ``.lan`` …; and the proxies that the environment names. A public name that leads
    to a private address is refused, whenever it comes to do so (DNS rebinding).

    Parameters
    ----------
    starts : iterable of str
        The start pages.
    allow_private : bool
        Whether every host may.

    Examples
    --------
    >>> guard = AddressGuard(["http://10.0.0.5/", "http://example.org/"], allow_private=False)
    >>> guard.allows("10.0.0.5", "10.0.0.5"), guard.allows("example.org", "10.0.0.5")
    (True, False)
    >>> guard.allows("example.org", "93.184.215.14")
    True
    """

    def __init__(self, starts: Iterable[str], allow_private: bool) -> None:
        hosts = {_hostname(start) for start in starts}
        proxies = {_hostname(proxy if "//" in proxy else f"//{proxy}") for proxy in getproxies().values()}
        self._local = {host for host in hosts if _is_local_name(host)} | proxies
        self._allow_private = allow_private
        self._refused: set[str] = set()

    def allows(self, host: str, address: str) -> bool:
        """Return whether ``host`` may be requested at its IP address; stores refused hosts."""
        if self._allow_private or host in self._local or is_public(address):
            return True
        if len(self._refused) < _MAX_REMEMBERED:
            self._refused.add(host)
        return False

    def allows_literal(self, url: str) -> bool:
        """Return whether an address may be requested, by its IP address; True for names."""
        host = _hostname(url)
        return _parse(host) is None or self.allows(host, host)

    def refused(self, url: str) -> bool:
        """Return whether the host of an address was refused."""
        return _hostname(url) in self._refused


def blocked_port(url: str) -> int | None:
    """Return the port of an address if it is one of `BLOCKED_PORTS`, else None.

    Examples
    --------
    >>> blocked_port("http://a.org:25/"), blocked_port("http://a.org:8080/"), blocked_port("https://a.org/")
    (25, None, None)
    """
    try:
        port = urlsplit(url).port
    except ValueError:
        return None
    return port if port in BLOCKED_PORTS else None


def is_public(address: str) -> bool:
    """Return whether an IP address is one of the public internet.

    Examples
    --------
    >>> [is_public(a) for a in ("93.184.215.14", "169.254.169.254", "100.64.0.1", "::ffff:127.0.0.1", "fe80::1")]
    [True, False, False, False, False]
    """
    parsed = _parse(address)
    if parsed is None:
        return False
    if isinstance(parsed, ipaddress.IPv6Address):
        inner = parsed.ipv4_mapped or parsed.sixtofour or _nat64(parsed)
        if inner is not None:
            parsed = inner
    return parsed.is_global and not parsed.is_multicast


def _nat64(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if address in ipaddress.IPv6Network("64:ff9b::/96"):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def _parse(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None


def _is_local_name(host: str) -> bool:
    parsed = _parse(host)
    if parsed is not None:
        return not is_public(host)
    return "." not in host or host.endswith(_LOCAL_ENDS)


def _hostname(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


class GuardedResolver(CachingHostnameResolver):
    """Scrapy's resolver for IPv4 and IPv6; it gives no address that the guard refuses.

    The returned addresses are those of the connection: there is no second look-up between check and use.
    """

    guard: ClassVar[AddressGuard]

    def resolveHostName(  # noqa: N802  # Twisted's names
        self,
        resolutionReceiver: Any,  # noqa: N803
        hostName: str,  # noqa: N803
        *args: Any,
        **kwargs: Any,
    ) -> IHostResolution:
        """Look a host up."""
        allowed: Any = _Allowed(resolutionReceiver, hostName, self.guard)
        return super().resolveHostName(allowed, hostName, *args, **kwargs)


class _Allowed:
    """Passes the addresses of a host on to their receiver, except those that the guard refuses."""

    def __init__(self, receiver: Any, host: str, guard: AddressGuard) -> None:
        self._receiver = receiver
        self._host = host
        self._guard = guard
        self.resolutionBegan = receiver.resolutionBegan
        self.resolutionComplete = receiver.resolutionComplete

    def addressResolved(self, address: IPv4Address | IPv6Address) -> None:  # noqa: N802  # Twisted's name
        """Take an address."""
        if self._guard.allows(self._host, address.host):
            self._receiver.addressResolved(address)


def guarded_resolver(guard: AddressGuard) -> type[GuardedResolver]:
    """Return the resolver's class for a guard: Scrapy makes the object itself."""
    return type("GuardedResolverOfCrawl", (GuardedResolver,), {"guard": guard})


def guarded_handler(guard: AddressGuard) -> type[GuardedHandler]:
    """Return the same for the downloader."""
    return type("GuardedHandlerOfCrawl", (GuardedHandler,), {"guard": guard})


class GuardedHandler(HTTP11DownloadHandler):
    """Scrapy's downloader of http and https; aborts connections whose headers do not end, and reuses no aborted one.

    A host without an address that the guard allows is refused as ``private-address``.
    """

    guard: ClassVar[AddressGuard]

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        pool: Any = self._pool  # neither Scrapy nor Twisted has a public way to the protocol
        pool.cachedConnectionTimeout = _IDLE_SECONDS
        pool._factory = type("GuardedFactory", (_Guarding, pool._factory), {})

    async def download_request(self, request: Request) -> Response:
        """Send a request."""
        try:
            return await super().download_request(request)
        except CannotResolveHostError as error:
            if not self.guard.refused(request.url):
                raise
            why = f"{_hostname(request.url)} leads to an address that is not public"
            raise RefusedError("private-address", why) from error


class _Guarding:
    """Mixin of a factory of HTTP client protocols, which count the bytes of headers and are not used while closing."""

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802  # Twisted's name
        protocol = super().buildProtocol(addr)  # type: ignore[misc]  # of the factory that this is mixed into
        protocol.dataReceived = _counting(protocol)
        protocol._quiescentCallback = _if_open(protocol._quiescentCallback)
        return protocol


def _if_open(keep: Callable[[Any], None]) -> Callable[[Any], None]:
    """Return a callback that keeps a connection for other requests, unless it is about to be closed.

    A response that is aborted (see `twinlink.spiders.early_end`) while its end has come already leaves such a
    connection. The next request would be sent on it, and once more on another.
    """

    def keep_if_open(protocol: Any) -> None:
        if not protocol.transport.disconnecting:
            keep(protocol)

    return keep_if_open


def _counting(protocol: Any) -> Any:
    receive = protocol.dataReceived
    parser: Any = None
    count = 0

    def received(data: bytes) -> None:
        nonlocal parser, count
        if protocol._parser is not parser:  # a new request on the same connection
            parser, count = protocol._parser, 0
        if parser is not None and parser.state in (STATUS, HEADER):
            count += len(data)
        receive(data)
        if count > MAX_HEADER_BYTES and parser is protocol._parser and parser.state in (STATUS, HEADER):
            error = HeadersTooLargeError(f"more than {MAX_HEADER_BYTES} bytes of headers")
            failure: Any = Failure
            protocol._giveUp(failure(error))

    return received
