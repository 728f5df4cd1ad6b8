"""URL patterns from addresses alone, on real sites with known pairs and on a simulated web.

::

    python -m experiments.url_patterns SITES... [--made 1000000] [--seed 0]

**Real sites**: the pairs that patterns find by addresses alone, ``pairs; F1 (P / R)``, for every site folder: with the
languages of the pages (as stage `match` identifies them), without languages, and those that method ``urls`` reports
after the check of content. For comparison, the URL rule of Bitextor (at most one difference), all of whose pairs count.
Recall is of all known pairs, including pages whose addresses do not show the language. Last, a tenth of the addresses
of the second side are interchanged, so that patterns join wrong pages; the shares of these and of the other pairs that
content contradicts are printed.

**Made web** (``--made N``): N addresses of made sites (`experiments.made_urls`, which states its assumptions). Without
languages. The globally most credible keys beside those of Zhang, Yao & Kit, Table 2, by their own number of pages; and
a table like Table 3 as far as it is of patterns: pairs and their precision without rescue, and what rescue adds by
either form.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from experiments.cases import Case, case_words, f1_of, find_cases, open_case
from experiments.made_urls import CONVENTIONS, MadeSite, made_site, site_sizes
from experiments.tables import Column, number, print_tables
from twinlink.baselines.url_rule import url_pairs
from twinlink.config import MatchSettings
from twinlink.config.patterns import PatternSettings, RescueForm
from twinlink.match.evidence import Words
from twinlink.match.methods.urls import match_urls
from twinlink.patterns.credibility import credible_keys
from twinlink.patterns.learning import SitePatterns, learn_patterns
from twinlink.patterns.library import PatternLibrary
from twinlink.sparse import entries

__all__ = ["made_web", "main", "pattern_pairs", "real_site"]

SITES_A_URL = 12_800 / 10_000_000
SHOWN = 12
INTERCHANGED = 0.1


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all sites, then the made web, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sites", nargs="*", type=Path, help="site folders, or folders of them")
    parser.add_argument("--made", type=int, default=0, help="addresses of the made web")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    columns: dict[str, Column] = {}
    for folder in find_cases(given.sites):
        with open_case(folder) as case:
            columns[case.name] = real_site(case)
    if columns:
        print_tables(columns)
    if given.made:
        made_web(given.made, given.seed)


def real_site(case: Case) -> Column:
    """Return the results by addresses on one site."""
    urls = [*case.side_a.urls, *case.side_b.urls]
    langs = [case.side_a.lang] * len(case.side_a.urls) + [case.side_b.lang] * len(case.side_b.urls)
    known, unknown = learn_patterns(urls, langs), learn_patterns(urls)
    words = case_words(case, ())
    matched = match_urls(case.side_a, case.side_b, words, case.between, MatchSettings(method="urls"))
    rows, columns = entries(url_pairs(case.side_a.urls, case.side_b.urls).pattern)
    by_rule = [(case.side_a.urls[row], case.side_b.urls[column]) for row, column in zip(rows, columns, strict=True)]
    chosen = zip(matched.matching.rows, matched.matching.columns, strict=True)
    handed_out = [(case.side_a.urls[row], case.side_b.urls[column]) for row, column in chosen]
    cells = {
        "patterns, languages known": _cell(pattern_pairs(known, urls), case),
        "patterns, languages not known": _cell(pattern_pairs(unknown, urls), case),
        "method urls": _cell(handed_out, case),
        "URL rule (Bitextor), all its pairs": _cell(by_rule, case),
        "contradicted by content: wrong pairs, right pairs": contradicted(case, words),
        "keys, languages known": _keys(known),
        "keys, languages not known": _keys(unknown),
    }
    return {"Addresses alone: pairs; F1 (P / R)": cells}


def contradicted(case: Case, words: Words, share: float = INTERCHANGED) -> str:
    """Interchange the addresses of some pages of the second side, and count the pairs that content contradicts."""
    urls = list(case.side_b.urls)
    moved = np.random.default_rng(0).choice(len(urls), int(share * len(urls)), replace=False)
    for page, other in zip(moved.tolist(), np.roll(moved, 1).tolist(), strict=True):
        urls[page] = case.side_b.urls[other]
    other_side = replace(case.side_b, urls=urls)
    found = match_urls(case.side_a, other_side, words, case.between, MatchSettings(method="urls"))
    is_wrong = np.isin(found.scores.tocoo().col, moved)
    is_rejected = np.array([name == "content" for name in found.filter_of], np.bool_)
    shares = (f"{is_rejected[which].mean():.3f} of {int(which.sum())}" for which in (is_wrong, ~is_wrong))
    return ", ".join(shares)


def pattern_pairs(found: SitePatterns, urls: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of credible patterns, with the page of the first side first, as in the known pairs."""
    if not found.patterns:
        return []
    used = found.used()
    pairs = zip(found.sources[used].tolist(), found.targets[used].tolist(), strict=True)
    return [(urls[min(pair)], urls[max(pair)]) for pair in pairs]


def _cell(pairs: Sequence[tuple[str, str]], case: Case) -> str:
    if not pairs:
        return "0"
    precision, recall, f1 = f1_of(pairs, case)
    return f"{len(pairs)}; {number(f1)} ({number(precision)} / {number(recall)})"


def _keys(found: SitePatterns) -> str:
    return ", ".join(f"{each.rule} {each.credibility:.3f}" for each in found.patterns if each.verdict != "weak")


def made_web(n_urls: int, seed: int) -> None:
    """Print the results of patterns on a generated web."""
    rng = np.random.default_rng(seed)
    sizes = site_sizes(n_urls, max(1, round(n_urls * SITES_A_URL)), rng)
    sites = [made_site(number, size, rng) for number, size in enumerate(sizes)]
    found = [learn_patterns(site.urls) for site in sites]
    library = PatternLibrary()
    for site in found:
        library.add(site)
    print(f"Made web: {sum(map(len, (site.urls for site in sites)))} addresses of {len(sites)} sites, seed {seed}")
    _print_keys(library)
    _print_rescue(sites, found, library)


def _print_keys(library: PatternLibrary) -> None:
    made = {tuple(sorted(each[:2])) for each in CONVENTIONS} | {("sc", "tc"), ("en", "sc")}
    print(f"{'key':>20} {'C(p)':>12} {'sites':>6} {'credible':>8} {'mean':>6}  a convention of the made web")
    for key, sums in list(library.rows())[:SHOWN]:
        name = f"<{key.source},{key.target}>"
        is_made = "yes" if tuple(sorted(key)) in made else "no"
        print(
            f"{name:>20} {sums.credibility:>12.2f} {sums.n_sites:>6} {sums.n_credible:>8} {sums.mean:>6.3f}  {is_made}"
        )


def _print_rescue(sites: Sequence[MadeSite], found: Sequence[SitePatterns], library: PatternLibrary) -> None:
    """Print the pairs of credible keys, and those added by each form of rescue, for which sites are learned again."""
    print(f"{'':>34} {'pairs':>9} {'precision':>9} {'recall':>7}")
    plain = [_right(site, each) for site, each in zip(sites, found, strict=True)]
    _print_row("C(p,w) at least 0.1", plain, plain, sites)
    forms: tuple[RescueForm, ...] = ("sum", "mean")
    for form in forms:
        settings = PatternSettings(rescue=form)
        keys = credible_keys(library, settings)
        again = [_right(site, learn_patterns(site.urls, None, settings, keys)) for site in sites]
        _print_row(f"with rescue by {form}, {len(keys)} keys", again, plain, sites)


def _right(site: MadeSite, found: SitePatterns) -> tuple[int, int]:
    """Return the number of pairs and of right pairs."""
    if not found.patterns:
        return 0, 0
    used = found.used()
    gold = {(min(pair), max(pair)) for pair in site.pairs}
    pairs = zip(found.sources[used].tolist(), found.targets[used].tolist(), strict=True)
    return int(used.sum()), sum((min(pair), max(pair)) in gold for pair in pairs)


def _print_row(
    name: str, counts: Sequence[tuple[int, int]], before: Sequence[tuple[int, int]], sites: Sequence[MadeSite]
) -> None:
    n_pairs, n_right = (sum(each[k] for each in counts) for k in range(2))
    n_gold = sum(len(site.pairs) for site in sites)
    more, more_right = n_pairs - sum(each[0] for each in before), n_right - sum(each[1] for each in before)
    added = f"   added {more}, of which right {more_right}" if counts is not before else ""
    print(f"{name:>34} {n_pairs:>9} {n_right / max(1, n_pairs):>9.4f} {n_right / max(1, n_gold):>7.4f}{added}")


if __name__ == "__main__":
    main()
