"""HTML pages of a website whose texts a package has in one JSON file, in all languages.

The file has one object for each language; in it, one for each page under its address (``/docs/api/app``), with the
``title``, the ``html`` of the text and the ``category``. Each page gets a menu of all categories, and one of its own.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from posixpath import dirname, relpath

import msgspec

from experiments.sitemaker.partial import partial_folder

__all__ = ["HTML", "TEXTS", "write_website"]

TEXTS = "package/dist/docs.json"
HTML = "package/html"
LINK = re.compile(r'href="(/[^"#?]*)')


class _Text(msgspec.Struct, frozen=True, rename="camel"):
    """One page."""

    html: str
    slug: str
    category: str
    title: str | None = None
    category_fancy: str | None = None

    @property
    def name(self) -> str:
        return html.escape(self.title or self.slug)


_Texts = dict[str, _Text]


def write_website(roots: Sequence[Path], langs: Collection[str]) -> None:  # noqa: ARG001  (all are in one file)
    """Write the pages of every language of some unpacked packages, unless they are there from before."""
    for root in roots:
        if (root / HTML).is_dir():
            continue
        by_lang = msgspec.json.decode((root / TEXTS).read_bytes(), type=dict[str, dict[str, _Text]])
        with partial_folder(root / HTML) as partial:
            for lang, texts in by_lang.items():
                for address, text in texts.items():
                    file = partial / lang / f"{address.strip('/')}.html"
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(_page(address, text, texts), encoding="utf-8")


def _menu(entries: Iterable[tuple[str, str]]) -> str:
    items = "".join(f'<li><a href="{to}">{name}</a></li>' for to, name in entries)
    return f"<nav><ul>{items}</ul></nav>"


def _page(address: str, text: _Text, texts: _Texts) -> str:
    """Return a page: its text with relative links, the first page of each category, and the pages of its own."""

    def link(to: str) -> str:
        page = to.rstrip("/")
        return relpath(f"{page}.html", dirname(address)) if page in texts else to

    first: dict[str, tuple[str, _Text]] = {}
    for to, each in texts.items():
        first.setdefault(each.category, (to, each))
    menu = [(to, html.escape(each.category_fancy or each.category) or each.name) for to, each in first.values()]
    siblings = [(to, each.name) for to, each in texts.items() if each.category == text.category]
    lists = "\n".join(_menu((link(to), name) for to, name in entries) for entries in (menu, siblings))
    body = LINK.sub(lambda found: f'href="{link(found[1])}', text.html)
    head = f'<meta charset="utf-8"><title>{text.name}</title>'
    return f"<!DOCTYPE html>\n<html><head>{head}</head><body>\n{lists}\n<main>{body}</main>\n</body></html>\n"
