"""Texts of a website in one file become one folder of pages for each language."""

from __future__ import annotations

import json
from pathlib import Path

from experiments.sitemaker.website_texts import HTML, TEXTS, write_website

TEXT = {"slug": "app", "category": "api", "categoryFancy": "API & more", "title": "app", "html": "<p>Text</p>"}


def _package(root: Path) -> Path:
    linked = TEXT | {"html": '<a href="/docs/tutorial/first#top">1</a><a href="/docs/none">2</a>', "title": None}
    apart = TEXT | {"slug": "apart", "category": "", "title": "Apart", "html": '<a href="/docs/api/app/?x#y"></a>'}
    apart.pop("categoryFancy")
    first = TEXT | {"slug": "first", "category": "tutorial", "categoryFancy": "Tutorial", "title": "First"}
    texts = {
        "/docs/api/app": linked,
        "/docs/api/menu": TEXT | {"title": "menu"},
        "/docs/tutorial/first": first,
        "/docs/apart": apart,
    }
    (root / TEXTS).parent.mkdir(parents=True)
    (root / TEXTS).write_text(json.dumps({"en-US": texts, "pt-BR": {"/docs/api/app": TEXT}}))
    return root


def test_pages_have_menus_and_relative_links(tmp_path: Path) -> None:
    root = _package(tmp_path)
    write_website([root], {"en", "pt"})
    pages = {path.relative_to(root / HTML).as_posix(): path.read_text() for path in (root / HTML).rglob("*.html")}
    assert set(pages) == {
        "en-US/docs/api/app.html", "en-US/docs/api/menu.html", "en-US/docs/tutorial/first.html",
        "en-US/docs/apart.html", "pt-BR/docs/api/app.html",
    }  # fmt: skip
    assert '<a href="../tutorial/first.html#top">1</a><a href="/docs/none">2</a>' in pages["en-US/docs/api/app.html"]
    menu, siblings = (line for line in pages["en-US/docs/api/app.html"].splitlines() if line.startswith("<nav>"))
    assert menu == (
        '<nav><ul><li><a href="app.html">API &amp; more</a></li>'
        '<li><a href="../tutorial/first.html">Tutorial</a></li><li><a href="../apart.html">Apart</a></li></ul></nav>'
    )
    assert '<a href="api/app.html?x#y">' in pages["en-US/docs/apart.html"]
    assert siblings == '<nav><ul><li><a href="app.html">app</a></li><li><a href="menu.html">menu</a></li></ul></nav>'


def test_pages_are_written_once(tmp_path: Path) -> None:
    root = _package(tmp_path)
    write_website([root], {"en"})
    page = root / HTML / "pt-BR/docs/api/app.html"
    page.write_text("kept")
    write_website([root], {"en"})
    assert page.read_text() == "kept"
