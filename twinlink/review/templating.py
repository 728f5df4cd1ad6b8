"""Templates, their filters, and static files.

Texts of pages are escaped and stripped of control characters; only http and https addresses become links.
"""

from __future__ import annotations

import base64
import hashlib
import re
import sys
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined, compiler
from jinja2.bccache import Bucket
from markupsafe import Markup

__all__ = ["clean", "count", "decimal", "environment", "href", "percent", "shortened", "source_hash", "static_text"]

MAX_LINK = 600
"""Maximum length of a linked address; longer ones are shown shortened."""

_FOLDER = Path(__file__).parent
_TEMPLATES = _FOLDER / "templates"
_PLAIN = re.compile(r"https?://[a-zA-Z0-9.-]+(?:[/?#]|$)")
"""Beginning of an address whose host needs no further look."""
_UNFIT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
"""Control characters except line ends and tabs, bidirectional controls, and characters that XML forbids."""


class _CompiledTemplates(FileSystemBytecodeCache):
    """Compiled templates, in the folder where Python would keep those of modules: to compile them takes .03 s.

    They are compiled anew where the template, this module or jinja2 has changed, and where a file cannot be read.
    """

    def __init__(self) -> None:
        super().__init__(str(Path(cache_from_source(str(_TEMPLATES / "all"))).parent))
        files = (Path(module) for module in (__file__, compiler.__file__))
        self._stamp = repr([(file.stat().st_mtime_ns, file.stat().st_size) for file in files])

    def get_source_checksum(self, source: str) -> str:
        """Return a digest of a template and of what compiles it."""
        return super().get_source_checksum(self._stamp + source)

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read a compiled template if possible."""
        try:
            super().load_bytecode(bucket)
        except Exception:  # noqa: BLE001  (a damaged pickle raises anything)
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Write a compiled template if possible, and if Python may write those of modules."""
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                Path(self.directory).mkdir(parents=True, exist_ok=True)
                super().dump_bytecode(bucket)


def environment() -> Environment:
    """Return an environment with the templates of this folder: it escapes everything and refuses unknown names."""
    made = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        bytecode_cache=_CompiledTemplates(),
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
    """Return the text of a static file."""
    return (_FOLDER / "static" / name).read_text(encoding="utf-8")


def source_hash(text: str) -> str:
    """Return the hash source of an inline style sheet or script in a Content-Security-Policy.

    >>> source_hash("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def href(url: str) -> str:
    """Return an address if it may be linked, else an empty string: only unambiguous http and https addresses may.

    >>> href("https://example.org/a?b=c"), href("javascript:alert(1)"), href("https:example.org")
    ('https://example.org/a?b=c', '', '')
    """
    if len(url) > MAX_LINK or url != clean(url) or " " in url:
        return ""
    if _PLAIN.match(url):  # most addresses
        return url
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return url if parts.scheme in ("http", "https") and parts.netloc and "\\" not in parts.netloc else ""


def clean(text: str) -> str:
    r"""Return a text without control characters and bidirectional controls, with white space collapsed.

    >>> clean("a\x00b\u202ec\nd")
    'abc d'
    """
    if text.isprintable() and "  " not in text and text == text.strip():  # most are clean, with plain single spaces
        return text
    return _UNFIT.sub("", " ".join(text.split()))


def _printable(value: object) -> object:
    """Return a value for a template without the characters that `clean` removes; line ends stay."""
    if isinstance(value, Markup):
        return Markup(_UNFIT.sub("", value))  # noqa: S704 - what was safe is safe with less in it
    return _UNFIT.sub("", value) if isinstance(value, str) else value


def shortened(text: str, most: int = 120) -> str:
    """Return a clean text of at most ``most`` characters; the middle of a longer text is left out.

    >>> shortened("abcdefghij", 7)
    'abc…hij'
    """
    text = clean(text)
    if len(text) <= most:
        return text
    half = (most - 1) // 2
    return f"{text[: most - 1 - half]}…{text[len(text) - half :]}"


def count(number: float) -> str:
    """Return a whole number with thousands separators.

    >>> count(12345)
    '12,345'
    """
    return f"{number:,.0f}"


def percent(share: float, digits: int = 1) -> str:
    r"""Return a share as per cent. Only 1 becomes 100 % and only 0 becomes 0 %; other shares are not rounded to them.

    The number is followed by a no-break space.

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
    """Return a number with a fixed number of decimal places.

    >>> decimal(0.5)
    '0.500'
    """
    return f"{value:.{digits}f}"
