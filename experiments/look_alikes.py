"""A site of look-alikes, made from a real one: ten forms, each with twenty results that differ in few words.

::

    python -m experiments.look_alikes SITE... -o FOLDER

makes ``FOLDER/forms-NAME-plain`` and ``-opaque`` from each site folder and prints, for both, F1, expected and true
precision and the processor time of matching. Each result is a page of the site with a country in its title and text
(from the Unicode CLDR, in both languages) and a paragraph of another page: 20 of 8 x 6 combinations. A tenth of the
results has only one language. There are few links: every result links to a start page, and no page links to the
results. With ``--listed`` the start pages list the results of their language, form by form, in the same order in both
languages or by title, which is another order in each. With ``--others`` nine of ten results have versions in further
languages, which are not among the wanted ones.
"""

from __future__ import annotations

import argparse
import copy
import json
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

import lxml.html
import pyarrow.compute as pc
from babel import Locale

from experiments.cases import case_words, langs_of, match_case, open_case, outcome_of, read_meta
from experiments.few_translated import read_site
from experiments.tables import Column, number, print_tables
from twinlink.config import Config, MatchSettings
from twinlink.evaluation.gold import evaluate
from twinlink.match.site import match_site

__all__ = ["main", "make_forms"]

FORMS, COUNTRIES, PARAGRAPHS, RESULTS = 10, 8, 6, 20
DROPPED = 0.1
_LINK = re.compile(rb"""(<a href=")([^"]+)""")


class Page(NamedTuple):
    """A page of the made site, by its plain address."""

    path: str
    side: str
    body: bytes


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the sites and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sites", nargs="+", type=Path, help="site folders")
    parser.add_argument("-o", "--out", type=Path, required=True, help="folder for the made sites")
    parser.add_argument("--others", nargs="*", default=(), metavar="LANG", help="further languages, in folders /LANG/")
    parser.add_argument("--listed", choices=SORTED_BY, help="order of the results on the start pages")
    given = parser.parse_args(arguments)
    columns: dict[str, Column] = {}
    for site in given.sites:
        for folder in make_forms(site, given.out, others=given.others, listed=given.listed):
            columns[folder.name] = measure(folder) | (measure_with_others(folder) if given.others else {})
    print_tables(columns, sites_down=True)


def measure(folder: Path) -> Column:
    """Match a site without lexicon; return F1, precision and time."""
    with open_case(folder) as case:
        start = time.process_time()
        match = match_case(case, case_words(case))
        seconds = time.process_time() - start
        own = outcome_of(case, match)
    rows = {"F1": number(own.f1), "best cut": number(own.oracle), "expected P": number(own.expected)}
    return {"look-alikes": {**rows, "true P": number(own.precision), "seconds": f"{seconds:.1f}"}}


def measure_with_others(folder: Path) -> Column:
    """Match a site without its other languages as evidence, and with the default number of them."""
    site = read_site(folder)
    column: Column = {}
    for title, most in (("no other language", 0), ("other languages", MatchSettings().other_langs)):
        config = Config().override({"langs": list(site.langs), "match.other_langs": most})
        start = time.process_time()
        pairs = match_site(site.pages, site.links, lambda _a, _b: (), config, "").pairs
        seconds = time.process_time() - start
        found = evaluate(list(zip(pairs["url_a"].to_pylist(), pairs["url_b"].to_pylist(), strict=True)), site.gold)
        expected = pc.mean(pairs["probability"]).as_py() or 0.0
        rows = {"F1": number(found.f1), "expected P": number(expected), "true P": number(found.precision)}
        column[title] = {**rows, "seconds": f"{seconds:.1f}"}
    return column


def make_forms(
    site: Path, out: Path, seed: int = 1, others: Sequence[str] = (), listed: str | None = None
) -> list[Path]:
    """Generate a site of look-alikes from a site folder, with plain and with opaque addresses; return both folders.

    Parameters
    ----------
    site : Path
    out : Path
        Folder for the made sites.
    seed : int
    others : sequence of str
        Further languages.
    listed : {"same", "titles"}, optional
        Order of the results on the start pages; by default these list none.
    """
    rng = Random(seed)
    langs = (*langs_of(read_meta(site)), *others)
    results, start_pages = _results(site, langs, rng)
    lost = set(rng.sample(range(len(results)), int(DROPPED * len(results))))
    pages, gold = list(start_pages), [(start_pages[0].path, start_pages[1].path)]
    for place, (a, b, *further) in enumerate(results):
        if place in lost:
            pages.append(rng.choice([a, b]))
        else:
            pages += [a, b]
            gold.append((a.path, b.path))
        pages += [page for page in further if rng.random() >= DROPPED]
    if listed is not None:
        pages = _with_lists(pages, len(start_pages), SORTED_BY[listed])
    paths = [page.path for page in pages]
    numbers = {path: f"/p/{k:06d}.html" for k, path in enumerate(rng.sample(sorted(paths), len(paths)))}
    named = {"plain": {path: path for path in paths}, "opaque": numbers}
    return [
        _write(out / f"forms-{site.name.removesuffix('-plain')}-{kind}", pages, gold, langs, names)
        for kind, names in named.items()
    ]


def _by_name(page: Page) -> str:
    """Return the number of a page's form and the name of its file, which is the same in all languages."""
    return page.path.rpartition("/")[2]


def _by_title(page: Page) -> str:
    """Return the number of a page's form and its title."""
    return f"{_by_name(page).partition('-')[0]} {_parse(page.body).findtext('.//title')}"


SORTED_BY: Mapping[str, Callable[[Page], str]] = {"same": _by_name, "titles": _by_title}


def _with_lists(pages: Sequence[Page], n_start: int, key: Callable[[Page], str]) -> list[Page]:
    """Return the pages, of which the first ones, the start pages, list the others of their language."""
    start_pages, results = pages[:n_start], sorted(pages[n_start:], key=key)
    return [_listing(start, [page for page in results if page.side == start.side]) for start in start_pages] + results


def _listing(start: Page, results: Sequence[Page]) -> Page:
    """Return a start page with links to some results."""
    root = _parse(start.body)
    for page in results:
        link = lxml.html.fragment_fromstring(f'<p><a href="{page.path}"></a></p>')
        link.find("a").text = _parse(page.body).findtext(".//title")
        root.find(".//body").append(link)
    return start._replace(body=bytes(lxml.html.tostring(root, encoding="utf-8", doctype="<!DOCTYPE html>")))


def _results(site: Path, langs: Sequence[str], rng: Random) -> tuple[list[list[Page]], list[Page]]:
    """Return the versions of every result, and the start page of every language."""
    pairs = [line.split("\t")[:2] for line in (site / "gold.tsv").read_text(encoding="utf-8").splitlines()]
    families = [[a, b, *(b.replace(f"/{langs[1]}/", f"/{lang}/", 1) for lang in langs[2:])] for a, b in pairs]
    families = [paths for paths in families if all((site / "site" / path.lstrip("/")).is_file() for path in paths)]
    rng.shuffle(families)
    forms, paragraphs = _material(site, families)
    names = [Locale(lang).territories for lang in langs]
    codes = [
        code for code in sorted(names[0]) if re.fullmatch("[A-Z]{2}", code) and all(code in each for each in names)
    ]
    countries = rng.sample([code for code in codes if names[0][code] != names[1][code]], COUNTRIES)
    if len(forms) < FORMS or len(paragraphs) < PARAGRAPHS:
        there = f"found {len(forms)} and {len(paragraphs)}"
        raise SystemExit(f"{site}: expected pages for {FORMS} forms and {PARAGRAPHS} paragraphs of others, {there}")
    texts = rng.sample(paragraphs, PARAGRAPHS)
    results = []
    for number_, form in enumerate(forms):
        choices = [(code, place) for code in countries for place in range(PARAGRAPHS)]
        for code, place in sorted(rng.sample(choices, RESULTS)):
            name = f"form{number_}-{place}-{code.lower()}.html"
            bodies = [_result(form[k], names[k][code], texts[place][k], lang) for k, lang in enumerate(langs)]
            folders = ["results", *(f"results-{lang}" for lang in langs[1:])]
            results.append(
                [
                    Page(f"/{folder}/{name}", side, body)
                    for folder, side, body in zip(folders, _sides(langs), bodies, strict=True)
                ]
            )
    start_pages = [
        Page(f"/start-{lang}.html", side, _html(page, lang))
        for lang, side, page in zip(langs, _sides(langs), forms[0], strict=True)
    ]
    return results, start_pages


def _sides(langs: Sequence[str]) -> list[str]:
    """Return the sides of the languages: A and B for the wanted ones, the name for any other."""
    return ["A", "B", *langs[2:]]


def _material(
    site: Path, families: Sequence[Sequence[str]]
) -> tuple[list[list[lxml.html.HtmlElement]], list[tuple[str, ...]]]:
    """Return pages for the forms, and paragraphs of other pages with their translations."""
    forms: list[list[lxml.html.HtmlElement]] = []
    paragraphs: dict[tuple[str, ...], None] = {}
    for paths in families:
        roots = [_parse((site / "site" / path.lstrip("/")).read_bytes()) for path in paths]
        if any(root.find(".//h1") is None for root in roots):
            continue
        if len(forms) < FORMS and 6 <= sum(1 for _ in roots[0].iter("p")) <= 60:
            forms.append(roots)
            continue
        texts = [list(_paragraphs(root)) for root in roots]
        if len({len(each) for each in texts}) == 1:
            paragraphs |= dict.fromkeys(
                versions
                for versions in zip(*texts, strict=True)
                if versions[0] != versions[1] and not re.search(r"\d", versions[0]) and len(versions[0]) < 400
            )
    return forms, sorted(paragraphs)


def _parse(body: bytes) -> lxml.html.HtmlElement:
    return lxml.html.document_fromstring(body, parser=lxml.html.HTMLParser(encoding="utf-8"))


def _paragraphs(root: lxml.html.HtmlElement) -> Iterator[str]:
    texts = (" ".join(element.text_content().split()) for element in root.iter("p", "li"))
    return (text for text in texts if len(text) > 60)


def _result(form: lxml.html.HtmlElement, country: str, paragraph: str, lang: str) -> bytes:
    """Return a page of a form for a country, with a paragraph of its own."""
    root = copy.deepcopy(form)
    title, heading = root.find(".//title"), root.find(".//h1")
    if title is not None:
        title.text = f"{title.text} - {country}"
    for text in (paragraph, country):
        added = lxml.html.Element("p")
        added.text = text
        heading.addnext(added)
    long_texts = [element for element in root.iter("p") if element.text and len(element.text) > 30]
    if long_texts:
        middle = long_texts[len(long_texts) // 2]
        middle.text = f"{middle.text} ({country})"
    return _html(root, lang)


def _html(page: lxml.html.HtmlElement, lang: str) -> bytes:
    """Return a page whose only link leads to the start page."""
    root = copy.deepcopy(page)
    for element in list(root.iter("a", "script", "link")):
        if element.tag == "a":
            element.drop_tag()
        else:
            element.drop_tree()
    root.set("lang", lang)
    start = lxml.html.fragment_fromstring(f'<p><a href="/start-{lang}.html">Home</a></p>')
    root.find(".//body").insert(0, start)
    return bytes(lxml.html.tostring(root, encoding="utf-8", doctype="<!DOCTYPE html>"))


def _write(
    folder: Path, pages: Sequence[Page], gold: Sequence[tuple[str, str]], langs: Sequence[str], names: dict[str, str]
) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    for page in pages:
        file = folder / "site" / names[page.path].lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        body = page.body
        if names[page.path] != page.path:  # opaque: only the text shows the language
            body = re.sub(rb' lang="[^"]*"', b"", body, count=1)
            body = _LINK.sub(lambda link: link[1] + names[link[2].decode()].encode(), body)
        file.write_bytes(body)
    lang_of = dict(zip(_sides(langs), langs, strict=True))
    _rows(folder / "gold.tsv", [(names[a], names[b]) for a, b in gold])
    _rows(folder / "pages.tsv", [(names[page.path], page.side, lang_of[page.side]) for page in pages])
    _rows(folder / "names.tsv", [(names[page.path], page.path) for page in pages])
    for empty in ("ignore.tsv", "equiv.tsv", "unscored.txt"):
        _rows(folder / empty, [])
    meta = {"name": folder.name, "host": "forms.example.gov", "lang_a": langs[0], "lang_b": langs[1]}
    (folder / "meta.json").write_text(json.dumps(meta, indent=1) + "\n", encoding="utf-8")
    return folder


def _rows(file: Path, rows: Sequence[Sequence[str]]) -> None:
    file.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
