"""Signs in archives that a site chooses the language of a page by what a browser sends, not by the address."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from twinlink.languages import base_language
from twinlink.sources.warc import archive_of

if TYPE_CHECKING:
    from warcio.recordloader import ArcWarcRecord

_MOST_RECORDS = 5_000  # takes less than a second
_OF_LANGUAGE = re.compile(r"[\w.-]*(?:lang|locale|culture|i18n)[\w.-]*=", re.ASCII | re.IGNORECASE)
"""A cookie whose name shows that it keeps a language, such as ``pll_language=fr``; a name that is safe in a command."""


class Sign(NamedTuple):
    """What shows that a language was chosen."""

    weight: int
    """Of several signs, the one with the greatest weight counts."""
    text: str
    header: str = ""
    """What a browser sends to choose; empty where the sign does not tell."""


class _Answer(NamedTuple):
    """Headers of a response."""

    url: str
    vary: frozenset[str]
    cookies: tuple[str, ...]
    language: str


def language_choice(archives: Iterable[Path]) -> Sign | None:
    """Return the clearest sign in archives that their site chooses the language by what a browser sends.

    Parameters
    ----------
    archives : iterable of Path
        WARC files, of which a limited number of records is read. Those that cannot be read are left out.
    """
    known: dict[str, str] = {}
    answers = islice(_answers(archives), _MOST_RECORDS)
    signs = (sign for answer in answers if answer for sign in _signs(answer, known))
    return max(signs, key=lambda sign: sign.weight, default=None)


def _answers(archives: Iterable[Path]) -> Iterator[_Answer | None]:
    """Yield the headers of each response, and None for other records."""
    from twinlink.sources.warc_records import Problem, read_records  # warcio, only for archives

    for path in archives:
        with suppress(OSError), closing(archive_of(path).open()) as file:
            for found in read_records(file, _answer):
                yield None if isinstance(found, Problem) else found


def _answer(record: ArcWarcRecord, _start: int) -> _Answer | None:
    if record.http_headers is None or record.rec_type == "request":
        return None
    headers: dict[str, list[str]] = {}
    for name, value in record.http_headers.headers:
        headers.setdefault(name.lower(), []).append(value)
    vary = frozenset(name.strip() for value in headers.get("vary", ()) for name in value.lower().split(","))
    language = headers.get("content-language", [""])[0].partition(",")[0].strip()
    url = record.rec_headers.get_header("WARC-Target-URI") or ""
    return _Answer(url, vary, tuple(headers.get("set-cookie", ())), base_language(language))


def _signs(answer: _Answer, known: dict[str, str]) -> Iterator[Sign]:
    """Yield the signs that an answer gives; ``known`` are the languages of addresses so far."""
    if answer.language:
        first = known.setdefault(answer.url, answer.language)
        if first != answer.language:
            yield Sign(4, f"{answer.url} was captured in {first} and in {answer.language}")
    if "accept-language" in answer.vary:
        yield Sign(3, "Vary: Accept-Language", "Accept-Language: …")
    for cookie in answer.cookies:
        if found := _OF_LANGUAGE.match(cookie):
            yield Sign(2, f"Set-Cookie: {found[0]}…", f"Cookie: {found[0]}…")
    if "cookie" in answer.vary:
        yield Sign(1, "Vary: Cookie", "Cookie: …")
