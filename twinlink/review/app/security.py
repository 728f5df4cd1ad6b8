"""Access control of the local application: against other sites in the same browser, and other users of the machine.

A request is checked in this order: its Host is this server's own (against DNS rebinding); it has the access cookie,
which only the address printed at the start sets; if it changes anything, it comes from a page of the application
(Origin, or the headers that browsers send instead) and contains the token.

Every answer, including errors, has headers that forbid scripts, frames and connections of other origins.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import msgspec

APP_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Content-Security-Policy of the application's pages."""

FRAME_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'"
)
"""Content-Security-Policy of pages of other sites, which are shown in a sandboxed frame."""

HEADERS = {
    "content-security-policy": APP_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""Headers of every response that does not set its own."""

_READING, _METHODS = ("GET", "HEAD"), ("GET", "HEAD", "POST")
_TOKEN_HEADER = "x-twinlink-token"  # noqa: S105 - the name of a header


def _secret() -> str:
    return secrets.token_urlsafe(32)


@dataclass
class Entrance:
    """The secrets of one server process, which control access to it."""

    port: int
    """Port that the server listens on."""
    key: str = field(default_factory=_secret, repr=False)
    """Access key, in the printed address and then in the cookie."""
    token: str = field(default_factory=_secret, repr=False)
    """Token in every form."""

    @property
    def address(self) -> str:
        """The address to open first."""
        return f"http://127.0.0.1:{self.port}/enter?key={self.key}"

    @property
    def cookie(self) -> str:
        """Name of the cookie; cookies are not bound to a port, so the name contains it."""
        return f"twinlink-{self.port}"

    def opens(self, key: str) -> bool:
        """Return whether this is the access key."""
        return _same(key, self.key)

    def is_own_host(self, host: str) -> bool:
        """Return whether a Host header names this server."""
        return host.lower() in {f"{name}:{self.port}" for name in ("127.0.0.1", "localhost", "[::1]")}

    def has_entered(self, cookies: str) -> bool:
        """Return whether a Cookie header contains the access key."""
        # Not by http.cookies: browsers send the cookies of all servers on this machine, and a single malformed one
        # makes it drop all.
        named = (part.strip().partition("=") for part in cookies.split(";"))
        return any(name == self.cookie and self.opens(value) for name, _, value in named)


class Refusal(msgspec.Struct, frozen=True):
    """Why a request is not answered."""

    status: int
    title: str
    text: str


def refused(entrance: Entrance, method: str, path: str, headers: Mapping[str, str]) -> Refusal | None:
    """Return why a request is refused; None: it is allowed (the token in the body is checked later).

    Parameters
    ----------
    entrance : Entrance
        The server's secrets and port.
    method, path : str
        Method and path of the request.
    headers : mapping
        Names in lower case.
    """
    if not entrance.is_own_host(headers.get("host", "")):
        return Refusal(421, "Wrong address", f"This server answers only at http://127.0.0.1:{entrance.port}/.")
    if method not in _METHODS:
        return Refusal(405, "Method not allowed", "This server accepts GET, HEAD and POST only.")
    if not _is_open(path) and not entrance.has_entered(headers.get("cookie", "")):
        return Refusal(
            403,
            "Access key needed",
            "Open the address that twinlink review has printed. It contains a key, so that other users of this machine "
            "cannot read the run. The key is valid while the server runs.",
        )
    if method not in _READING and not _is_from_here(entrance, headers):
        return Refusal(403, "Refused", "This request does not come from a page of this server. Nothing was changed.")
    return None


def _is_open(path: str) -> bool:
    """Return whether a path needs no cookie: the entrance and static files."""
    return path in {"/enter", "/favicon.ico"} or path.startswith("/static/")


def _is_from_here(entrance: Entrance, headers: Mapping[str, str]) -> bool:
    """Return whether a request comes from a page of the application.

    The pages send no referrer; browsers then send ``Origin: null`` with forms, and ``Sec-Fetch-Site``, which no page
    can set. A request with the token in a custom header is accepted, too: pages of other origins would need a preflight
    request for such a header, which is not answered.
    """
    origin = headers.get("origin", "null")
    if origin != "null":
        return _is_own_origin(entrance, origin)
    if site := headers.get("sec-fetch-site"):
        return site == "same-origin"
    if referrer := headers.get("referer"):
        return _is_own_origin(entrance, referrer)
    return has_token(entrance, "", headers)


def _is_own_origin(entrance: Entrance, address: str) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme == "http" and entrance.is_own_host(parts.netloc)


def has_token(entrance: Entrance, sent: str, headers: Mapping[str, str]) -> bool:
    """Return whether a form (its hidden field ``sent``) or a header contains the token."""
    return _same(sent, entrance.token) or _same(headers.get(_TOKEN_HEADER, ""), entrance.token)


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(errors="surrogatepass"), other.encode())
