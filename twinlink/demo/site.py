"""Writer of the demo site: pages and truth as files in a folder."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from twinlink.demo.compose import Content, compose
from twinlink.demo.layout import LANGUAGES, Anchor, View, drift, render, show, ui
from twinlink.demo.looks import look_files
from twinlink.demo.odd import MARK, break_page, pdf, register_rows
from twinlink.demo.plan import SITE, Unit, make_units, unit_urls
from twinlink.demo.text import phrase
from twinlink.demo.truth import Page, truth_files
from twinlink.demo.values import Writer
from twinlink.demo.web import Draft, Redirect, Related, make_related
from twinlink.errors import InputError

__all__ = ["DemoSite", "write_site"]

NAME = "twinlink-demo-en-zhhant"
HOST = "demo.example.org"  # stands in the site map for wherever the site is served
MIN_PAGES = 60  # fewer cannot show all that the site is made of

_AS_IS = ("empty", "home", "index", "internal", "press", "sitemap")  # kinds whose two sides do not drift apart
_FOOTER = ("about", "contact", "privacy", "access", "sitemap")


class DemoSite(NamedTuple):
    """Where the demo site is, and what is in it."""

    folder: Path
    site: Path
    """The pages: what a web server would serve."""
    gold: Path
    lexicon: Path
    seeds: tuple[str, ...]
    """Paths of the start pages, one per language."""
    n_pages: int
    """Pages of both languages, without those that robots.txt closes."""
    n_pairs: int


def write_site(folder: Path, pages: int = 140, seed: int = 0) -> DemoSite:
    """Write a bilingual government-style site and its truth.

    Parameters
    ----------
    folder : Path
        Gets ``site/`` (the pages), ``gold.tsv``, ``ignore.tsv``, ``equiv.tsv``, ``unscored.txt``,
        ``pages.tsv`` (url, side, language, bytes, words, charset, kind), ``urls.txt``, ``seeds.txt``, ``meta.json``,
        ``lexicon.tsv`` (Traditional Chinese, English; it knows some of the words) and what the server needs
        (``server.json``, ``shells/``). A demo site that is there already is replaced.
    pages : int
        Pages on each side, of which 15 % have no partner; at least 60.
    seed : int
        Seeds give different sites of the same kind; the same seed gives the same bytes.

    Raises
    ------
    InputError
        If fewer than 60 pages are wanted, or the folder holds something other than a demo site.
    """
    if pages < MIN_PAGES:
        raise InputError(f"a demo site needs at least {MIN_PAGES} pages per language, not {pages}")
    _check_folder(folder)
    temporary = folder.with_name(folder.name + ".tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    _write_files(temporary, _site_files(pages, seed))
    shutil.rmtree(folder, ignore_errors=True)
    temporary.rename(folder)
    return read_site(folder)


def read_site(folder: Path) -> DemoSite:
    """Return the record of a demo site that has been written.

    Raises
    ------
    InputError
        If there is none in the folder.
    """
    try:
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{folder}: no demo site ({error}); write one with twinlink.demo.write_site") from None
    if meta.get("name") != NAME:
        raise InputError(f"{folder}: holds the site {meta.get('name')!r}, not a demo site")
    return DemoSite(
        folder=folder,
        site=folder / "site",
        gold=folder / "gold.tsv",
        lexicon=folder / "lexicon.tsv",
        seeds=tuple(meta["seeds"]),
        n_pages=meta["pages_a"] + meta["pages_b"],
        n_pairs=meta["gold_pairs"],
    )


def _check_folder(folder: Path) -> None:
    """Raise an error if the folder holds something other than a demo site."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        read_site(folder)


def _write_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    for parent in {(folder / name).parent for name in contents}:
        parent.mkdir(parents=True, exist_ok=True)
    for name, body in contents.items():
        (folder / name).write_bytes(body)


def _site_files(pages: int, seed: int) -> dict[str, bytes]:
    """Return the whole site: file name → bytes."""
    rng = random.Random(f"twinlink demo {seed}")
    units = make_units(pages, rng)
    contents = compose(units, Writer(rng))
    draft = Draft(units, contents, unit_urls(units, [content.title for content in contents], rng))
    related, redirects = make_related(draft, rng)
    written = _render_all(draft, related, _facts(units, rng), seed)
    truth = truth_files(written, units)
    texts = {
        **truth,
        **_shells(draft, seed),
        "lexicon.tsv": files("twinlink.demo").joinpath("lexicon.tsv").read_text(encoding="utf-8"),
        "meta.json": _meta(written, truth, seed),
        "server.json": _server(units, written, redirects),
        "site/robots.txt": "User-agent: *\nDisallow: /en/internal/\nDisallow: /tc/internal/\n",
        "site/sitemap.xml": _site_map(page.url for page in written if units[page.unit].kind != "internal"),
    }
    looks = {f"site{path}": body for path, body in look_files().items()}
    binary = {f"site{page.url}": page.body for page in written} | _pdf_files(contents) | looks
    return binary | {name: text.encode() for name, text in texts.items()}


class _Facts(NamedTuple):
    """Random properties of a unit besides its text."""

    switch: bool
    hreflang: bool
    revised: tuple[str, str]


def _facts(units: Sequence[Unit], rng: random.Random) -> list[_Facts]:
    writer = Writer(rng)
    first = writer.draw("date")
    facts = []
    for unit in units:
        switch, hreflang = rng.random() < unit.section.switch, rng.random() < unit.section.hreflang
        date = first if unit.kind == "empty" else writer.draw("date")
        later = date if rng.random() < 0.7 or unit.kind == "empty" else writer.draw("date2")
        facts.append(_Facts(switch, hreflang and unit.paired, (date.en, later.zh)))
    return facts


def _render_all(draft: Draft, related: Related, facts: Sequence[_Facts], seed: int) -> list[Page]:
    pages = []
    for number, unit in enumerate(draft.units):
        for side in unit.sides:
            rng = random.Random(f"twinlink demo {seed} page {number} {side}")
            view = _view(draft, number, side, related[number, side], facts[number], rng)
            html = render(view)
            if unit.section.layout == "table":
                html = html.replace(f'href="/{unit.section.key}/', 'href="')  # relative addresses, as by hand
            charset = unit.section.charsets[side]
            # What a charset lacks (©) becomes a character reference, as editors of the time did it.
            body = html.encode(charset.codec, "xmlcharrefreplace")
            if unit.kind == "broken" and side == 0:
                body = break_page(body)
            pages.append(Page(draft.urls[number][side], side, number, html, body, charset.declared))
    return pages


def _view(draft: Draft, number: int, side: int, related: list[Anchor], facts: _Facts, rng: random.Random) -> View:
    unit, urls = draft.units[number], draft.urls[number]
    blocks = [show(block, side, draft.anchors(block.links, side)) for block in draft.contents[number].blocks]
    other = urls[1 - side] or draft.urls[0][1 - side]  # a page without partner switches to the other side's home
    return View(
        side=side,
        section=unit.section,
        title=draft.contents[number].title[side],
        blocks=tuple(blocks if unit.kind in _AS_IS else drift(blocks, rng)),
        menu=_menu(draft, side),
        crumbs=_crumbs(draft, unit, side),
        related=tuple(related),
        footer=draft.anchors([i for i, u in enumerate(draft.units) if u.kind in _FOOTER], side),
        switch=other if facts.switch else "",
        alternates=tuple(zip(LANGUAGES, urls, strict=True)) if facts.hreflang else (),
        revised=facts.revised[side],
    )


def _home(draft: Draft, side: int) -> Anchor:
    return Anchor(ui("home", side), draft.urls[0][side])


def _menu(draft: Draft, side: int) -> tuple[Anchor, ...]:
    indexes = [i for i, unit in enumerate(draft.units) if unit.kind == "index"]
    return (_home(draft, side), *draft.anchors(indexes, side))


def _crumbs(draft: Draft, unit: Unit, side: int) -> tuple[Anchor, ...]:
    above = [i for i, u in enumerate(draft.units) if u.kind == "index" and u.section == unit.section != SITE]
    return (_home(draft, side), *draft.anchors(above, side))


def _shells(draft: Draft, seed: int) -> dict[str, str]:
    """Pages that the server completes: the calendar, and the register with the rows that it repeats."""
    shells = {}
    for kind, between in (("calendar", ("", "")), ("register", tuple(register_rows(side, seed) for side in (0, 1)))):
        for side in (0, 1):
            facts = _Facts(False, False, ("1 January 2026", "2026年1月1日"))
            view = _view(draft, 0, side, [], facts, random.Random(0))
            html = render(view._replace(title=phrase(kind, "title")[side], blocks=()))
            mark = MARK if kind == "calendar" else f"<table>{MARK}{between[side]}{MARK}</table>"
            shells[f"shells/{kind}_{side}.html"] = html.replace("</main>", f"{mark}</main>")
    return shells


def _pdf_files(contents: Sequence[Content]) -> dict[str, bytes]:
    cells = {
        (row[-1].en, row[1].en)
        for content in contents
        for block in content.blocks
        if block.kind == "table"
        for row in block.rows
        if row[-1].en.startswith("/files/")
    }
    return {f"site{url}": pdf(Anchor(name, url)) for url, name in sorted(cells)}


def _site_map(urls: Iterable[str]) -> str:
    rows = "".join(f"<url><loc>http://{HOST}{url}</loc></url>\n" for url in urls)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{rows}</urlset>\n'
    )


def _server(units: Sequence[Unit], pages: Sequence[Page], redirects: Sequence[Redirect]) -> str:
    """Data for the server: redirects, and the Content-Type of each page that is not plain ``text/html``."""
    types = {
        page.url: f"text/html; charset={page.charset}"
        for page in pages
        if units[page.unit].section.charsets[page.side].in_header
    }
    moved = {redirect.url: (redirect.status, redirect.target) for redirect in redirects}
    return json.dumps({"content_types": types, "redirects": moved}, indent=1, sort_keys=True) + "\n"


def _meta(pages: Sequence[Page], truth: Mapping[str, str], seed: int) -> str:
    closed = {url for line in truth["ignore.tsv"].splitlines() for url in line.split("\t")}
    counts = Counter(page.side for page in pages if page.url not in closed)
    n_pairs, n_ignored = (truth[name].count("\n") for name in ("gold.tsv", "ignore.tsv"))
    meta = {
        "name": NAME,
        "host": HOST,
        "lang_a": LANGUAGES[0],
        "lang_b": LANGUAGES[1],
        "pages": len(pages),
        "pages_a": counts[0],
        "pages_b": counts[1],
        "pages_noise": 0,
        "gold_pairs": n_pairs,
        "ignore_pairs": n_ignored,
        "unscored_pages": truth["unscored.txt"].count("\n"),
        "unpaired_a": counts[0] - n_pairs,
        "unpaired_b": counts[1] - n_pairs,
        "equiv_groups": len({line.split("\t")[0] for line in truth["equiv.tsv"].splitlines()}),
        "encodings": dict(sorted(Counter(page.charset for page in pages).items())),
        "opaque": False,
        "seed": seed,
        "seeds": truth["seeds.txt"].split(),
        "source": "written for twinlink, generated",
        "license": "MIT",
    }
    return json.dumps(meta, indent=1, ensure_ascii=False) + "\n"
