"""Which language an address names: ``/en/``, ``index_tc.htm``, ``chi.example.hk``."""

from __future__ import annotations

from twinlink.languages import LANGUAGE_OF, NAMES

__all__ = ["CODES", "TOKENS", "address_pattern"]

CODES = {
    **{tag.lower(): tag for tag in NAMES if tag not in ("id", "no")},  # more often a number and a refusal
    **{name: tag for name, tag in LANGUAGE_OF.items() if name.isascii() and name.isalpha()},
    **dict.fromkeys("tc cht big5 trad hant".split(), "zh-Hant"),
    **dict.fromkeys("sc chs gb simp hans".split(), "zh-Hans"),
    **dict.fromkeys("chi cn zho".split(), "zh"),
    **dict.fromkeys("jp jpn".split(), "ja"), "kr": "ko", "kor": "ko", "rus": "ru", "kz": "kk", "kaz": "kk",
    **dict.fromkeys("pt-br ptbr por".split(), "pt"), "fre": "fr", "spa": "es", "engl": "en",
}  # fmt: skip
"""Language tags by what addresses write, lower case."""

TOKENS = sorted(CODES, key=lambda token: (-len(token), token))


def address_pattern() -> str:
    """Return a regular expression (RE2, lower case) whose group is the first name of a language in an address.

    The first label of the host counts, its other labels do not (``.de``); then whole words of path and query.

    >>> import re
    >>> addresses = "https://en.x.hk/", "https://x.de/a/index_tc.htm", "https://x.de/"
    >>> [match and match[1] for match in (re.match(address_pattern(), address) for address in addresses)]
    ['en', 'tc', None]
    """
    words = "|".join(token.replace("-", "[-_]") for token in TOKENS)
    return f"^https?://(?:[^/]*/(?:.*?[/._=?&-])?)?({words})(?:[/._=?&-]|$)"
