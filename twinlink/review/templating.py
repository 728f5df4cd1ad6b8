"""Templates and static files, and how texts of others get into them.

They are escaped and freed of control characters; of addresses only those of http and https become links.
"""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

__all__ = ["clean", "count", "decimal", "environment", "href", "percent", "shortened", "source_hash", "static_text"]

MAX_LINK = 600
"""A longer address is shown, shortened, and not linked."""

_FOLDER = Path(__file__).parent
_UNFIT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
"""Control characters but line ends and tabs, those that turn the direction of text, and what XML does not allow."""


def environment() -> Environment:
    """Return an environment with the templates of this folder: everything escaped, unknown names refused."""
    made = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "clean": clean, "count": count, "decimal": decimal, "href": href, "percent": percent, "shortened": shortened
    }  # fmt: skip
    return made


def static_text(name: str) -> str:
    """Return a static file's text."""
    return (_FOLDER / "static" / name).read_text(encoding="utf-8")


def source_hash(text: str) -> str:
    """Return what a Content-Security-Policy calls an inline style sheet or script.

    >>> source_hash("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def href(url: str) -> str:
    """Return an address that may be linked, or nothing: only http and https are, and only what is plainly one of them.

    >>> href("https://example.org/a?b=c"), href("javascript:alert(1)"), href("https:example.org")
    ('https://example.org/a?b=c', '', '')
    """
    if len(url) > MAX_LINK or url != clean(url) or " " in url:
        return ""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return url if parts.scheme in ("http", "https") and parts.netloc and "\\" not in parts.netloc else ""


def clean(text: str) -> str:
    r"""Return a text that HTML and XML can hold: no control characters, nothing that turns the direction of others.

    >>> clean("a\x00b\u202ec\nd")
    'abc d'
    """
    return _UNFIT.sub("", " ".join(text.split()))


def _printable(value: object) -> object:
    """Return what is put into a template without the signs that `clean` leaves out; lines stay as they are."""
    if isinstance(value, Markup):
        return Markup(_UNFIT.sub("", value))  # noqa: S704 - what was safe is safe with less in it
    return _UNFIT.sub("", value) if isinstance(value, str) else value


def shortened(text: str, most: int = 120) -> str:
    """Return a clean text of at most ``most`` characters; of a longer one the middle is left out.

    >>> shortened("abcdefghij", 7)
    'abc…hij'
    """
    text = clean(text)
    if len(text) <= most:
        return text
    half = (most - 1) // 2
    return f"{text[: most - 1 - half]}…{text[len(text) - half :]}"


def count(number: float) -> str:
    """Return a whole number as people write it.

    >>> count(12345)
    '12,345'
    """
    return f"{number:,.0f}"


def percent(share: float, digits: int = 1) -> str:
    r"""Return a share as per cent; what is not all is never rounded to 100, nor what is not none to 0.

    The space is one at which no line ends.

    >>> [percent(share).replace("\xa0", " ") for share in (0.9683, 0.99999, 1.0)]
    ['96.8 %', '> 99.9 %', '100 %']
    """
    least = 10.0**-digits
    if share <= 0 or share >= 1:
        text = "100" if share > 0 else "0"
    elif 100 * share < least / 2:
        text = f"< {least:.{digits}f}"
    elif 100 * share >= 100 - least / 2:
        text = f"> {100 - least:.{digits}f}"
    else:
        text = f"{100 * share:.{digits}f}"
    return f"{text} %".replace(" ", "\xa0")


def decimal(value: float, digits: int = 3) -> str:
    """Return a number with a fixed number of digits behind the point.

    >>> decimal(0.5)
    '0.500'
    """
    return f"{value:.{digits}f}"
