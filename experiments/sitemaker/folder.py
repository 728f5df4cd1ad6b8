"""The folder of a site: pages, gold pairs and description."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

from experiments.sitemaker.build import Site
from experiments.sitemaker.gold import equal_pages
from experiments.sitemaker.pages import SitePage
from experiments.sitemaker.partial import partial_folder

__all__ = ["write_site"]


def write_site(site: Site, folder: Path, sources: Sequence[str]) -> dict[str, Any]:
    """Write a site to ``folder`` (through a temporary name; an older one is replaced) and return its description.

    ``site/`` has the pages, ``gold.tsv`` the pairs, ``ignore.tsv`` pairs that are never scored, ``equiv.tsv`` pages of
    one side with the same text, ``pages.tsv`` (path, side, language, bytes, words, words without menus, translated
    share), ``urls.txt`` all paths in random order, ``seeds.txt`` a good entry page for each language, ``names.tsv``
    (opaque sites) new and old paths, ``meta.json`` the rest. ``unscored.txt`` is always empty.
    """
    with partial_folder(folder) as partial:
        sizes = _write_pages(site, partial / "site")
        new = {path: site.names.page(path) for path in site.pages}
        _write_tables(site, partial, new, sizes)
        langs = dict.fromkeys(judged.page.lang for _, judged in site.pages.values())
        seeds = [entry_page(site, lang) for lang in langs]
        _lines(partial / "seeds.txt", [new[seed] for seed in seeds])
        meta = {**site.description(), **_numbers(site, seeds), "mb": round(sum(sizes.values()) / 1e6, 1)}
        meta |= {"source": ", ".join(sources), "license": site.recipe.license, "note": site.recipe.note}
        (partial / "meta.json").write_text(json.dumps(meta, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return meta


def _write_pages(site: Site, top: Path) -> dict[str, int]:
    sizes = {}
    for path, body in site.bodies():
        file = top / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body)
        sizes[path] = len(body)
    return sizes


def _write_tables(site: Site, folder: Path, new: dict[str, str], sizes: dict[str, int]) -> None:
    side = {path: side for path, (side, _) in site.pages.items()}
    groups = equal_pages(judged.page for _, judged in site.pages.values())
    rows = [
        (
            new[path],
            side,
            judged.page.lang,
            sizes[new[path]],
            judged.page.words,
            judged.body_words,
            f"{judged.share:.3f}",
        )
        for path, (side, judged) in site.pages.items()
    ]
    urls = sorted(new.values())
    Random(site.options.seed).shuffle(urls)
    _rows(folder / "pages.tsv", sorted(rows))
    _rows(folder / "gold.tsv", [(new[a.path], new[b.path]) for a, b in site.gold])
    _rows(folder / "ignore.tsv", [(new[a.path], new[b.path]) for a, b in site.ignored])
    _rows(folder / "equiv.tsv", [(i, side[p.path], new[p.path]) for i, group in enumerate(groups) for p in group])
    _lines(folder / "unscored.txt", [])
    _lines(folder / "urls.txt", urls)
    if site.options.opaque:
        _rows(folder / "names.tsv", [(name, path) for path, name in new.items()])
    entries = [f"<url><loc>http://{host_of(site)}{escape(quote(url))}</loc></url>" for url in urls]
    opening = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    _lines(folder / "site" / "sitemap.xml", ['<?xml version="1.0" encoding="UTF-8"?>', opening, *entries, "</urlset>"])


def host_of(site: Site) -> str:
    """Return the host that the site pretends to be."""
    return f"{site.recipe.name}.example.org"


def entry_page(site: Site, lang: str) -> str:
    """Return the page from which most pages can be reached, among the 20 of its language that link most."""
    pages = [judged.page for _, judged in site.pages.values() if judged.page.lang == lang]
    best = sorted(pages, key=lambda page: (-len(site.links(page)), page.path))[:20]
    return min(best, key=lambda page: (-len(reachable(site, [page.path])), page.path)).path


def reachable(site: Site, starts: Iterable[str]) -> set[str]:
    """Return the pages that links lead to from ``starts``, these included."""
    seen = set(starts)
    rest = list(seen)
    while rest:
        fresh = set(site.links(site.pages[rest.pop()][1].page)) - seen
        seen |= fresh
        rest.extend(fresh)
    return seen


def _numbers(site: Site, seeds: Sequence[str]) -> dict[str, Any]:
    pages = {side: [j.page for s, j in site.pages.values() if s == side] for side in "ABN"}
    scored = {page.path for pair in [*site.gold, *site.ignored] for page in pair}
    shares = [site.pages[other.path][1].share for _, other in site.gold]
    return {
        "host": host_of(site),
        "pages": len(site.pages),
        "pages_a": len(pages["A"]),
        "pages_b": len(pages["B"]),
        "pages_noise": len(pages["N"]),
        "gold_pairs": len(site.gold),
        "ignore_pairs": len(site.ignored),
        "untranslated_pages": site.n_untranslated,
        "orphan_pages": site.n_orphans,
        "unpaired_a": sum(page.path not in scored for page in pages["A"]),
        "unpaired_b": sum(page.path not in scored for page in pages["B"]),
        "equiv_groups": len(equal_pages(judged.page for _, judged in site.pages.values())),
        "mean_share_b_gold": round(sum(shares) / max(1, len(shares)), 3),
        "links_to_own_translation": sum(len(site.versions(p) & set(site.links(p))) for p in pages["A"] + pages["B"]),
        "out_degree_a": _mean_degree(site, pages["A"]),
        "out_degree_b": _mean_degree(site, pages["B"]),
        "reachable_from_seeds_pct": round(100 * len(reachable(site, seeds)) / len(site.pages), 1),
        "seeds": [site.names.page(seed) for seed in seeds],
    }


def _mean_degree(site: Site, pages: Sequence[SitePage]) -> float:
    return round(sum(len(site.links(page)) for page in pages) / max(1, len(pages)), 2)


def _rows(file: Path, rows: Iterable[Sequence[object]]) -> None:
    _lines(file, ["\t".join(map(str, row)) for row in rows])


def _lines(file: Path, lines: Iterable[str]) -> None:
    file.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
