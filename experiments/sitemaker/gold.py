"""Gold pairs: decided by the place of pages in the package, checked by their text.

Two pages with the same key are a gold pair only when both are really written in their language:

    share = words in translated blocks / words in all blocks

over the blocks of a page that do not stand on many pages of its language (menus) and are no single word taken over from
the original (a name); code is left out. A block is translated when it holds letters of the language's own script; where
a language has none, when it does not stand word for word on the page it was translated from. What is left must then be
found to be in that language by CLD2. Pages below `UNTRANSLATED` are not on the site at all, nor are translations whose
original is gone or has another name by now, for nobody knows their pair. Pairs with a page between the bounds, or with
hardly a word, are never scored.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec
import pycld2

from experiments.sitemaker.pages import SitePage, count_words

__all__ = ["TRANSLATED", "UNTRANSLATED", "Judged", "equal_pages", "judge_pairs", "judge_side"]

TRANSLATED = 0.5
"""Minimum share of a translated page: half of its words."""
UNTRANSLATED = 0.1
"""A page below this share is an untranslated original: only a title or a menu entry is translated."""
MIN_WORDS = 15
"""Pages with fewer words (stubs, redirects) are not scored, because their pairs cannot be verified."""
MENU_SHARE = 0.3
"""A block on more than this share of a language's pages is a menu."""

_HAN = r"\u3400-\u9fff\uf900-\ufaff"
SCRIPTS: Mapping[str, str] = {
    **dict.fromkeys(["ru", "uk", "be", "bg", "mk", "sr", "kk", "mn"], r"\u0400-\u04ff"),
    **dict.fromkeys(["ar", "fa", "ur", "ug"], r"\u0600-\u06ff"),
    "zh": _HAN,
    "ja": r"\u3040-\u30ff" + _HAN,
    "ko": r"\uac00-\ud7a3",
    "el": r"\u0370-\u03ff",
    "he": r"\u0590-\u05ff",
    "hi": r"\u0900-\u097f",
    "ne": r"\u0900-\u097f",
    "th": r"\u0e00-\u0e7f",
    "dz": r"\u0f00-\u0fff",
    "bo": r"\u0f00-\u0fff",
    "ka": r"\u10a0-\u10ff",
    "km": r"\u1780-\u17ff",
}
"""Languages that differ from English by their letters, with these letters."""

# Languages that CLD2 confuses on short texts; the declaration of the package is trusted.
CLOSE = (
    frozenset({"nb", "no", "nn", "da"}),
    frozenset({"hr", "sr", "bs", "sh"}),
    frozenset({"id", "ms"}),
    frozenset({"gl", "pt"}),
    frozenset({"cs", "sk"}),
    frozenset({"he", "iw"}),
)


class Judged(msgspec.Struct, frozen=True):
    """One page with the share of its words that are translated.

    ``kind`` is translated, partly (or too short, or in a third language), untranslated, or orphan (a translation
    without its original).
    """

    page: SitePage
    share: float
    body_words: int
    kind: str


def judge_side(pages: Sequence[SitePage], originals: Mapping[str, SitePage]) -> list[Judged]:
    """Measure the translated share of the pages of one language.

    Parameters
    ----------
    pages : sequence of SitePage
        All pages of one language.
    originals : mapping of key to SitePage
        The pages they were translated from; empty: these pages are the originals. They count as translated unless they
        are in another language (apache2-doc shows a few Portuguese pages as English).
    """
    spread = Counter(block for page in pages for block in set(page.prose))
    menus = {block for block, n in spread.items() if len(pages) >= 10 and n > MENU_SHARE * len(pages)}
    return [_judge(page, menus, originals.get(page.key), bool(originals)) for page in pages]


def _judge(page: SitePage, menus: set[str], original: SitePage | None, is_translation: bool) -> Judged:
    kept = set() if original is None else {block for block in original.prose if count_words(block) == 1}
    blocks = [block for block in page.prose if block not in menus and block not in kept]
    words = sum(map(count_words, blocks))
    if not is_translation:
        return Judged(page, 1.0, words, "translated" if _agrees(_read_as(blocks), page.lang) else "partly")
    own = [block for block in blocks if _is_translated(block, page.lang, original)]
    share = sum(map(count_words, own)) / words if words else 0.0
    kind = "orphan" if original is None else _kind(share, words, _read_as(own), page.lang)
    return Judged(page, share, words, kind)


def _kind(share: float, words: int, read: str, lang: str) -> str:
    if words and (share < UNTRANSLATED or read == "en"):
        return "untranslated"
    if words < MIN_WORDS or share < TRANSLATED or not _agrees(read, lang):
        return "partly"
    return "translated"


def _is_translated(block: str, lang: str, original: SitePage | None) -> bool:
    letters = SCRIPTS.get(_primary(lang))
    if letters:
        return re.search(f"[{letters}]", block) is not None
    return original is None or block not in original.prose


def _read_as(blocks: Iterable[str]) -> str:
    """Return the language that CLD2 reports as reliable, or an empty string."""
    text = "".join(c for c in "\n".join(blocks) if c.isprintable() or c == "\n")
    try:
        reliable, _, details = pycld2.detect(text.encode(), bestEffort=False)
    except pycld2.error:
        return ""
    return str(details[0][1]) if reliable else ""


def _agrees(read: str, lang: str) -> bool:
    read, lang = _primary(read), _primary(lang)
    return read in ("", "un", lang) or any({read, lang} <= group for group in CLOSE)


def _primary(lang: str) -> str:
    return re.split("[-_]", lang)[0].lower()


def judge_pairs(
    side_a: Sequence[Judged], side_b: Sequence[Judged]
) -> tuple[list[tuple[SitePage, SitePage]], list[tuple[SitePage, SitePage]]]:
    """Return the gold pairs and the pairs that are never scored, in order of their keys.

    A pair with a page that is untranslated or an orphan is in neither: that page is not on the site.
    """
    others = {judged.page.key: judged for judged in side_b}
    gold: list[tuple[SitePage, SitePage]] = []
    ignored: list[tuple[SitePage, SitePage]] = []
    for one in side_a:
        other = others.get(one.page.key)
        if other is None or {one.kind, other.kind} & {"untranslated", "orphan"}:
            continue
        good = one.kind == other.kind == "translated" and min(one.body_words, other.body_words) >= MIN_WORDS
        (gold if good else ignored).append((one.page, other.page))
    return gold, ignored


def equal_pages(pages: Iterable[SitePage]) -> list[list[SitePage]]:
    """Return the groups of two or more pages of one language with the same title and text."""
    groups: dict[tuple[str, str, tuple[str, ...]], list[SitePage]] = defaultdict(list)
    for page in pages:
        groups[page.lang, page.title, page.blocks].append(page)
    return [group for group in groups.values() if len(group) > 1]
