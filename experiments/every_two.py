"""Every two languages of a multilingual site: F1 at the default settings, and pages with the right language.

::

    python -m experiments.every_two SITE...

The versions of a page are identified by address: versions in languages other than that of side A are in folders
``/LANG/``, with the same path below. On opaque sites ``names.tsv`` has these addresses. Each pair of languages is
matched in a run of its own, on the whole site. A language is requested by the name that most of its pages have on the
site: ``qaa`` for a language unknown to the language finder, on a site that does not declare it.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, NamedTuple
from urllib.parse import urlsplit

import numpy as np
import typer

from experiments.cases import langs_of, read_meta
from experiments.few_translated import Site, read_site
from twinlink.config import Config
from twinlink.errors import ConfigError
from twinlink.evaluation.gold import Gold, evaluate
from twinlink.language_names import read_languages
from twinlink.languages import canonical_language
from twinlink.match.sides import SitePages
from twinlink.match.site import match_site, page_languages

__all__ = ["Row", "app", "measure", "versions"]

LEAST_KNOWN = 0.5
"""Minimum share of pages with a version in a language; languages with translated addresses cannot be scored."""

app = typer.Typer(add_completion=False, help=__doc__)


class Row(NamedTuple):
    """Scores of one pair of languages."""

    langs: str
    gold: int
    f1: float
    expected: float
    precision: float


def versions(folder: Path) -> dict[str, dict[str, str]]:
    """Return the address of each version: path of side A → language → path on the site."""
    first, _ = langs_of(read_meta(folder))
    names = folder / "names.tsv"
    if names.is_file():
        rows = [line.split("\t") for line in names.read_text(encoding="utf-8").splitlines()]
        paths = {plain: path for path, plain, *_ in rows}
    else:
        pages = (folder / "pages.tsv").read_text(encoding="utf-8").splitlines()
        paths = {line.split("\t")[0]: line.split("\t")[0] for line in pages}
    heads = {parts[1] for parts in (plain.split("/") for plain in paths) if len(parts) > 2}
    langs = _languages(head for head in heads if f"/{head}/index.html" in paths)
    found: dict[str, dict[str, str]] = {}
    for plain, path in paths.items():
        _, head, *rest = plain.split("/")
        lang, own = (langs[head], "/" + "/".join(rest)) if head in langs and rest else (first, plain)
        found.setdefault(own, {})[lang] = path
    return {own: by_lang for own, by_lang in found.items() if len(by_lang) > 1}


def _languages(folders: Iterable[str]) -> dict[str, str]:
    """Return the languages of the folders named after one; if ``zh-hans`` exists, ``zh`` is the other script."""
    found = {}
    for folder in folders:
        with suppress(ConfigError):
            found[folder] = canonical_language(*read_languages([folder]))
    return {
        folder: "zh-Hant" if lang == "zh" and "zh-Hans" in found.values() else lang for folder, lang in found.items()
    }


def measure(site: Site, by_path: Mapping[str, Mapping[str, str]]) -> list[Row]:
    """Match every pair of languages of a site with the default settings."""
    counts = Counter(lang for by_lang in by_path.values() for lang in by_lang)
    langs = sorted(lang for lang, n in counts.items() if n >= LEAST_KNOWN * len(by_path))
    tags, _ = page_languages(SitePages(site.pages, site.links), Config())
    tag_of = {urlsplit(url).path: tag for url, tag in zip(site.pages["url"].to_pylist(), tags, strict=True)}
    names = {
        lang: Counter(tag_of.get(by_lang[lang], "") for by_lang in by_path.values() if lang in by_lang).most_common(1)[
            0
        ][0]
        for lang in langs
    }
    return [_row(site, by_path, pair, (names[pair[0]], names[pair[1]])) for pair in itertools.combinations(langs, 2)]


def _row(site: Site, by_path: Mapping[str, Mapping[str, str]], langs: tuple[str, str], asked: tuple[str, str]) -> Row:
    a, b = langs
    known = [(by_lang[a], by_lang[b]) for by_lang in by_path.values() if a in by_lang and b in by_lang]
    config = Config().override({"langs": list(asked)})
    pairs = match_site(site.pages, site.links, lambda _a, _b: (), config, "").pairs
    found = evaluate(list(zip(pairs["url_a"].to_pylist(), pairs["url_b"].to_pylist(), strict=True)), Gold(tuple(known)))
    probabilities = pairs["probability"].to_pylist()
    named = [lang if lang == name else f"{lang} ({name})" for lang, name in zip(langs, asked, strict=True)]
    return Row(" ".join(named), len(known), found.f1, sum(probabilities) / max(len(probabilities), 1), found.precision)


@app.command()
def main(sites: Annotated[list[Path], typer.Argument(help="site folders")]) -> None:
    """Print a row per pair of languages, and the number of pairs with an F1 of 1."""
    for folder in sites:
        rows = measure(read_site(folder), versions(folder))
        scores = [row.f1 for row in rows]
        summary = f"mean F1 {np.mean(scores):.3f}, lowest {min(scores):.3f}, {scores.count(1.0)} of 1.000"
        print(f"\n**{folder.name}**: {len(rows)} pairs of languages, {summary}\n")
        print("| languages | gold | F1 | expected P | true P |\n| --- | --- | --- | --- | --- |")
        for row in rows:
            print(f"| {row.langs} | {row.gold} | {row.f1:.3f} | {row.expected:.3f} | {row.precision:.3f} |")


if __name__ == "__main__":
    app()
