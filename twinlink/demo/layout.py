"""HTML of the demo's pages: one side of the content in one of three styles.

``modern`` is tidy HTML 5, ``plain`` is divisions and classes, both with a style sheet; ``table`` is a page of the year
1999: capital letters, tables and fonts, and unclosed tags.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from html import escape
from typing import NamedTuple

from twinlink.demo.compose import Block
from twinlink.demo.looks import CREST, STYLE_SHEET
from twinlink.demo.plan import Section
from twinlink.demo.text import phrase
from twinlink.demo.values import YEAR

__all__ = ["Anchor", "Shown", "View", "render", "ui"]

LANGUAGES = ("en", "zh-Hant")
_SHEET = f'<link rel="stylesheet" href="{STYLE_SHEET}">\n'
_PICTURE = f'<img src="{CREST}" alt="" width="40" height="40">'


class Anchor(NamedTuple):
    """A link: text and target."""

    text: str
    url: str


class Shown(NamedTuple):
    """A block as one side shows it."""

    kind: str
    rows: tuple[tuple[str, ...], ...]
    links: tuple[Anchor, ...] = ()


class View(NamedTuple):
    """Everything that one page shows."""

    side: int
    section: Section
    title: str
    blocks: tuple[Shown, ...]
    menu: tuple[Anchor, ...]
    crumbs: tuple[Anchor, ...]
    related: tuple[Anchor, ...]
    footer: tuple[Anchor, ...]
    switch: str
    """Target of the language-switch link; empty: the page has none."""
    alternates: tuple[tuple[str, str], ...]
    """(language, address) of the link elements with hreflang; empty: the page has none."""
    revised: str


def ui(key: str, side: int) -> str:
    """Return a phrase of menus and footers in the language of a side."""
    return phrase("ui", key)[side].replace("{now}", str(YEAR))


def show(block: Block, side: int, links: tuple[Anchor, ...] = ()) -> Shown:
    """Return one side of a block."""
    return Shown(block.kind, tuple(tuple(cell[side] for cell in row) for row in block.rows), links)


def drift(blocks: list[Shown], rng: random.Random) -> list[Shown]:
    """Make one side differ as translators do: a sentence left out, a list run on, two paragraphs in one."""
    result: list[Shown] = []
    for block in (_drifted(block, rng) for block in blocks):
        if result and result[-1].kind == block.kind == "p" and rng.random() < 0.2:
            result[-1] = Shown("p", result[-1].rows + block.rows)
        else:
            result.append(block)
    return result


def _drifted(block: Shown, rng: random.Random) -> Shown:
    if block.kind == "p" and len(block.rows) > 1 and rng.random() < 0.15:
        gone = rng.randrange(len(block.rows))
        return block._replace(rows=block.rows[:gone] + block.rows[gone + 1 :])
    if block.kind == "ul" and rng.random() < 0.12:
        return block._replace(kind="p")
    return block


def render(view: View) -> str:
    """Write a page."""
    return _LAYOUTS[view.section.layout](view)


def _a(anchor: Anchor) -> str:
    return f'<a href="{escape(anchor.url)}">{escape(anchor.text, quote=False)}</a>'


def _items(anchors: tuple[Anchor, ...]) -> str:
    return "".join(f"<li>{_a(anchor)}</li>\n" for anchor in anchors)


def _cell(text: str, side: int) -> str:
    return _a(Anchor(ui("pdf", side), text)) if text.startswith("/files/") else escape(text, quote=False)


def _joined(block: Shown, side: int) -> str:
    return (" " if side == 0 else "").join(escape(row[0], quote=False) for row in block.rows)


def _charset(view: View) -> str:
    charset = view.section.charsets[view.side]
    value = f"text/html; charset={charset.declared}"
    return f'<meta http-equiv="Content-Type" content="{value}">\n' if charset.in_meta else ""


def _table(block: Shown, side: int) -> str:
    rows = []
    for number, row in enumerate(block.rows):
        tag = "td" if number else "th"
        rows.append("<tr>" + "".join(f"<{tag}>{_cell(cell, side)}</{tag}>" for cell in row) + "</tr>\n")
    return f'<table class="data">\n{"".join(rows)}</table>\n'


def _block(block: Shown, side: int) -> str:
    if block.kind == "table":
        return _table(block, side)
    if block.kind == "links":
        return f'<ul class="links">\n{_items(block.links)}</ul>\n'
    if block.kind == "dl":
        rows = "".join(f"<dt>{escape(q, quote=False)}</dt><dd>{escape(a, quote=False)}</dd>\n" for q, a in block.rows)
        return f"<dl>\n{rows}</dl>\n"
    if block.kind in ("ul", "ol"):
        items = "".join(f"<li>{escape(row[0], quote=False)}</li>\n" for row in block.rows)
        return f"<{block.kind}>\n{items}</{block.kind}>\n"
    return f"<{block.kind}>{_joined(block, side)}</{block.kind}>\n"


def _blocks(view: View) -> str:
    return "".join(_block(block, view.side) for block in view.blocks)


def _switch(view: View) -> str:
    return f'<a class="lang" href="{view.switch}">{phrase("ui", "switch")[1 - view.side]}</a>' if view.switch else ""


def _alternates(view: View) -> str:
    return "".join(f'<link rel="alternate" hreflang="{lang}" href="{url}">\n' for lang, url in view.alternates)


def _crumbs(view: View) -> str:
    return " &gt; ".join(_a(anchor) for anchor in view.crumbs)


def _modern(view: View) -> str:
    side, title = view.side, escape(view.title, quote=False)
    related = f"<h2>{ui('related', side)}</h2>\n<ul>\n{_items(view.related)}</ul>\n" if view.related else ""
    return f"""<!DOCTYPE html>
<html lang="{LANGUAGES[side]}">
<head>
{_charset(view)}<title>{title} | {phrase("home", "title")[side]}</title>
<meta name="viewport" content="width=device-width">
{_alternates(view)}{_SHEET}<style>nav li {{ display: inline }}</style>
<script>document.documentElement.className = "js";</script>
</head>
<body>
<a href="#content">{ui("skip", side)}</a>
<header>{_PICTURE}<span>{phrase("home", "title")[side]}</span> {_switch(view)}
<nav>
<ul>
{_items(view.menu)}</ul>
</nav>
</header>
<div class="crumbs">{_crumbs(view)}</div>
<main id="content">
<h1>{title}</h1>
{_blocks(view)}</main>
<aside>
{related}</aside>
<footer><ul>
{_items(view.footer)}</ul>
<p>{ui("revised", side)}: {view.revised}</p><p>{ui("footer", side)}</p></footer>
</body>
</html>
"""


def _plain(view: View) -> str:
    side, title = view.side, escape(view.title, quote=False)
    related = f'<div id="related">{" | ".join(_a(anchor) for anchor in view.related)}</div>\n' if view.related else ""
    return f"""<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN"
 "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html>
<head>
{_charset(view)}<title>{title}</title>
{_alternates(view)}{_SHEET}</head>
<body>
<div id="top">{_PICTURE}{phrase("home", "title")[side]} {_switch(view)}</div>
<div id="menu"><ul>
{_items(view.menu)}</ul></div>
<div id="path">{_crumbs(view)}</div>
<div id="text">
<h1>{title}</h1>
{_blocks(view)}</div>
{related}<div id="foot">{" | ".join(_a(anchor) for anchor in view.footer)}<br />
{ui("revised", side)}: {view.revised}<br />{ui("footer", side)}</div>
</body>
</html>
"""


def _old_block(block: Shown, side: int) -> str:
    if block.kind == "h2":
        return f"<P><FONT SIZE=4><B>{_joined(block, side)}</B></FONT>\n"
    if block.kind in ("ul", "ol"):
        return "<P>" + "".join(f"- {escape(row[0], quote=False)}<BR>\n" for row in block.rows)
    if block.kind == "p":
        return f"<P>{_joined(block, side)}\n"
    return _block(block, side)


def _old_table(view: View) -> str:
    side, title = view.side, escape(view.title, quote=False)
    rows = "".join(f"<TR><TD BGCOLOR=#CCDDEE>{_a(anchor)}\n" for anchor in view.menu)
    related = "".join(f"<LI>{_a(anchor)}\n" for anchor in view.related)
    return f"""<HTML>
<HEAD>
{_charset(view)}<TITLE>{title}</TITLE>
{_alternates(view)}</HEAD>
<BODY BGCOLOR=white>
<TABLE WIDTH=760><TR><TD VALIGN=top WIDTH=160>
<TABLE>
{rows}</TABLE>
<TD VALIGN=top>{_crumbs(view)} {_switch(view)}<HR>
<CENTER><FONT SIZE=5>{title}</FONT></CENTER>
{"".join(_old_block(block, side) for block in view.blocks)}<UL>
{related}</UL>
<HR><FONT SIZE=2>{" | ".join(_a(anchor) for anchor in view.footer)}<BR>
{ui("revised", side)}: {view.revised}<BR>{ui("footer", side)}</FONT>
</TABLE>
</BODY>
</HTML>
"""


_LAYOUTS: dict[str, Callable[[View], str]] = {"modern": _modern, "plain": _plain, "table": _old_table}
