"""Tables and figures of Liu et al. on our sites: Table 1, Figures 2 to 4, and ETS where content is weak.

::

    python -m experiments.paper_001 SITES... [--lexicons FOLDER] [--out FOLDER] [--only PART...]

Parts: ``sites`` (Table 1: pages, known pairs, and pairs that no URL pattern joins), ``single`` (each evidence alone,
and the lists that `twinlink match` reports with its default settings), ``figures`` (Figures 2 to 4 with the evidence of
the paper: words of a lexicon, and tags), and ``weak`` (content from numbers only and no structure: ETS by α, and the
number of right pairs that links add and lose). ``--out`` gets the figures as SVG files.

All F1 are at the best threshold, which cannot be known without the known pairs, but for the rows ``own cut``. Figure 3
starts from random values, as the paper does, and from S_in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from msgspec.structs import replace

from experiments.cases import Case, case_words, f1_of, find_cases, find_lexicons, match_case, open_case, oracle_f1
from experiments.charts import STYLES, Floats, save_dumbbells, save_lines
from experiments.tables import Column, number, print_grid, print_tables, site_parser
from experiments.url_patterns import pattern_pairs
from twinlink.config import CandidateSettings, EtsSettings, MatchSettings
from twinlink.graph.links import neighbours
from twinlink.graph.matching import greedy_matching
from twinlink.graph.propagation import enhanced_similarity
from twinlink.patterns.learning import learn_patterns
from twinlink.similarity.candidates import candidate_pattern
from twinlink.similarity.content import content_similarity, content_vectors
from twinlink.similarity.lexicon_files import Lexicon
from twinlink.sparse import with_values

__all__ = ["PARTS", "WEAK", "Sweep", "draw", "main", "measure", "weak_content"]

BETAS = tuple(round(0.1 * step, 1) for step in range(11))
ALPHAS = tuple(round(0.1 * step, 1) for step in range(10))
ROUNDS = (0, 1, 2, 3, 4, 5, 8)
MANY = 100
"""Candidates of a page in each direction, beside the default; the paper compares all pages."""
PARTS = ("sites", "single", "figures", "weak")
WEAK = "Numbers only, no structure: F1 of ETS over α"
GAIN = "What links change"
"""At α = 0.6, S_in from numbers only."""
FULL_GAIN = "What links change, evidence of the paper"

PAPER_1 = (
    ("www.gov.hk", "1101/1098", "1092", "20"),
    ("www.customs.gov.hk", "501/497", "487", "7"),
    ("www.sbc.edu.sg", "995/775", "768", "12"),
    ("www.swd.gov.hk", "4085/3838", "3648", "4"),
    ("www.landsd.gov.hk", "660/637", "637", "0"),
    ("www.td.gov.hk", "4733/4626", "4615", "8"),
    ("total, as printed", "12075/11471", "11684", "51"),
)
"""Table 1: site, pages, total pairs, no pattern pairs. The pairs of the six sites add up to 11,247."""
PAPER = {
    "Figure 2: F1 of S_in over β": "best at 0.6",
    "Figure 3: F1 of ETS over rounds, start random": "converges after the third round",
    "Figure 4: F1 of ETS over α": "best at 0.6, +6.2 points",
    WEAK: "–",
}
"""What the paper says of its figures; their values are not printed."""


class Sweep(NamedTuple):
    """F1 over the values of a setting: one line of a figure."""

    setting: str
    values: Mapping[float, float]


Sweeps = dict[str, Sweep]
"""From the title of a figure to its line for one site."""
Ets = Callable[[EtsSettings], sp.csr_array]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables of all given sites and draw the figures."""
    parser = site_parser(__doc__)
    parser.add_argument("--out", type=Path, help="folder for the figures")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="parts to measure (default: all)")
    given = parser.parse_args(arguments)
    columns: dict[str, Column] = {}
    sweeps: dict[str, dict[str, Sweep]] = {}
    n_pairs: dict[str, int] = {}
    for folder in find_cases(given.sites):
        with open_case(folder) as case:
            n_pairs[case.name] = len(case.gold.pairs)
            columns[case.name], found = measure(case, find_lexicons(given.lexicons, case.langs), given.only)
        for title, sweep in found.items():
            sweeps.setdefault(title, {})[case.name] = sweep
    print_tables(columns, sites_down=True)
    if "sites" in given.only:
        print_grid("Table 1 of the paper", [["", "pages", "total pairs", "no pattern pairs"], *map(list, PAPER_1)])
    if sweeps:
        print_grid("The figures and the paper", _beside_paper(sweeps))
    if given.out:
        draw(sweeps, n_pairs, given.out)


def measure(case: Case, lexicons: Sequence[Lexicon], parts: Sequence[str] = PARTS) -> tuple[Column, Sweeps]:
    """Return the tables' columns of one site, and its lines in the figures."""
    column: Column = {}
    sweeps: Sweeps = {}
    if "sites" in parts:
        column["Table 1"] = sizes(case)
    if "single" in parts:
        column["Each evidence alone, and the reported lists"] = single_evidence(case, lexicons)
    if "figures" in parts:
        found, column[FULL_GAIN] = figures(case, lexicons)
        sweeps |= found
    if "weak" in parts:
        sweep, column[GAIN] = weak_content(case)
        sweeps[WEAK] = sweep
    for title, sweep in sweeps.items():
        column[title] = {f"{sweep.setting} {value:g}": number(f1) for value, f1 in sweep.values.items()}
    return column, sweeps


def sizes(case: Case) -> dict[str, str]:
    """Return the row of Table 1: pages by language, known pairs, and known pairs that no URL pattern joins."""
    sides = case.side_a, case.side_b
    urls = [url for side in sides for url in side.urls]
    found = learn_patterns(urls, [side.lang for side in sides for _ in side.urls])
    joined = {(case.gold.key(a), case.gold.key(b)) for a, b in pattern_pairs(found, urls)}
    return {
        "pages": "/".join(str(len(side.urls)) for side in sides),
        "total pairs": str(len(case.gold.pairs)),
        "no pattern pairs": str(len(set(case.gold.pairs) - joined)),
    }


def single_evidence(case: Case, lexicons: Sequence[Lexicon]) -> dict[str, str]:
    """Return F1 of each similarity at its best threshold, and of the lists that two methods report."""
    words = case_words(case, lexicons)
    found = match_case(case, words, MatchSettings(method="liu2014"))
    evidence, scores = found.found.evidence, found.found.scores
    alone = {"S_cb": "content", "S_struct": "structure", "S_in": "internal", "ETS": "ets"}
    weighed = f1_of(match_case(case, words).pairs(), case)
    return {
        "language ceiling": number(case.ceiling),
        **{name: number(oracle_f1(with_values(scores, evidence[kind]), case)) for name, kind in alone.items()},
        "liu2014, own cut: F1": number(f1_of(found.pairs(), case)[2]),
        **{f"weighed, own cut: {name}": number(value) for name, value in zip(("P", "R", "F1"), weighed, strict=True)},
    }


def figures(case: Case, lexicons: Sequence[Lexicon]) -> tuple[Sweeps, dict[str, str]]:
    """Return Figures 2, 3 and 4 (S_in by β, ETS by round, ETS by α), and what links change at α = 0.6."""
    found = match_case(case, case_words(case, lexicons), MatchSettings(method="liu2014")).found
    content, structure = found.evidence["content"], found.evidence["structure"]
    internal = with_values(found.scores, found.evidence["internal"])
    ets = _ets_of(case, internal)

    def mixed(beta: float) -> float:
        return oracle_f1(with_values(found.scores, beta * content + (1 - beta) * structure), case)

    by_round = {
        f"Figure 3: F1 of ETS over rounds, start {name}": Sweep(
            "round", {rounds: oracle_f1(ets(replace(settings, rounds=rounds)), case) for rounds in ROUNDS}
        )
        for name, settings in (("random", EtsSettings(start="random")), ("S_in", EtsSettings()))
    }
    sweeps = {
        "Figure 2: F1 of S_in over β": Sweep("β", {beta: mixed(beta) for beta in BETAS}),
        **by_round,
        "Figure 4: F1 of ETS over α": _over_alpha(case, ets),
    }
    by_alpha = sweeps["Figure 4: F1 of ETS over α"].values
    return sweeps, {"S_in": number(by_alpha[0.0]), "ETS": number(by_alpha[0.6]), **_gain(case, internal, ets)}


def weak_content(case: Case) -> tuple[Sweep, dict[str, str]]:
    """Return F1 by α where S_cb knows only numbers and there is no structure, and what links change at α = 0.6."""
    words = case_words(case, (), "numbers")
    counts = words.a.counts, words.b.counts

    def content_of(settings: CandidateSettings) -> sp.csr_array:
        pattern = candidate_pattern(*content_vectors(*counts, words.translation), settings)
        return content_similarity(*counts, words.translation, pattern)

    content, more = content_of(CandidateSettings()), content_of(CandidateSettings(per_page=MANY))
    ets = _ets_of(case, content)
    sweep = _over_alpha(case, ets)
    return sweep, {
        "S_cb": number(sweep.values[0.0]),
        "ETS, α 0.6": number(sweep.values[0.6]),
        f"S_cb, {MANY} candidates": number(oracle_f1(more, case)),
        f"ETS, {MANY} candidates": number(oracle_f1(_ets_of(case, more)(EtsSettings()), case)),
        **_gain(case, content, ets),
    }


def _ets_of(case: Case, internal: sp.csr_array) -> Ets:
    around_a, around_b = (neighbours(side.graph, EtsSettings().neighbours) for side in (case.side_a, case.side_b))

    def ets(settings: EtsSettings) -> sp.csr_array:
        return enhanced_similarity(internal, around_a, around_b, settings).scores

    return ets


def _over_alpha(case: Case, ets: Ets) -> Sweep:
    return Sweep("α", {alpha: oracle_f1(ets(EtsSettings(alpha=alpha)), case) for alpha in ALPHAS})


def _gain(case: Case, internal: sp.csr_array, ets: Ets) -> dict[str, str]:
    """Return how many known pairs are in the matching by S_in, and how many links add to it and lose."""
    before, after = (_right_pairs(scores, case) for scores in (internal, ets(EtsSettings())))
    return {
        "known pairs": str(len(case.gold.pairs)),
        "right without links": str(len(before)),
        "added by links": str(len(after - before)),
        "lost by links": str(len(before - after)),
    }


def _right_pairs(scores: sp.csr_array, case: Case) -> set[tuple[str, str]]:
    """Return the known pairs in the one-to-one matching of all pages."""
    matching = greedy_matching(scores)
    pairs = zip(matching.rows.tolist(), matching.columns.tolist(), strict=True)
    return set(case.gold.pairs) & {
        (case.gold.key(case.side_a.urls[row]), case.gold.key(case.side_b.urls[column])) for row, column in pairs
    }


def _beside_paper(sweeps: Mapping[str, Mapping[str, Sweep]]) -> list[list[str]]:
    """Return the mean F1 over all sites at the first value, at 0.6 or three rounds, and the best of each figure."""
    rows = [["figure", "the paper", "here: first value", "at 0.6, or 3 rounds", "best"]]
    for title, said in PAPER.items():
        values = [sweep.values for sweep in sweeps.get(title, {}).values()]
        if values:
            means = {x: float(np.mean([each[x] for each in values])) for x in values[0]}
            best = max(means, key=means.__getitem__)
            chosen = means[3 if "rounds" in title else 0.6]
            first = next(iter(means.values()))
            rows.append([title, said, number(first), number(chosen), f"{number(means[best])} at {best:g}"])
    return rows


def draw(sweeps: Mapping[str, Mapping[str, Sweep]], n_pairs: Mapping[str, int], out: Path) -> None:
    """Draw each figure with the six sites that have most known pairs; numbers only: all sites, also as S_cb and ETS."""
    for title, lines in sweeps.items():
        distinct = [site for site in lines if site.replace("-plain", "-opaque") not in lines or "-plain" not in site]
        largest = sorted(distinct, key=lambda site: -n_pairs[site])
        name = title.partition(":")[0].lower().replace(",", "").replace(" ", "-")
        name += "-random" if title.endswith("random") else ""
        draw_lines(out / f"{name}.svg", title, {site: lines[site] for site in largest[: len(STYLES)]})
        if title == WEAK and len(largest) > len(STYLES):
            draw_lines(out / f"{name}-others.svg", title, {site: lines[site] for site in largest[len(STYLES) :]})
    if WEAK in sweeps:
        pairs = {name: sweep.values for name, sweep in sweeps[WEAK].items()}
        rows = {name.removesuffix("-opaque"): (each[0.0], each[0.6]) for name, each in pairs.items()}
        save_dumbbells(out / "numbers-only-all-sites.svg", "S_cb and ETS, numbers only", ("S_cb", "ETS, α 0.6"), rows)


def draw_lines(path: Path, title: str, lines: Mapping[str, Sweep]) -> None:
    """Draw F1 over a setting for at most six sites."""
    curves = {site.removesuffix("-opaque"): _points(sweep.values) for site, sweep in lines.items()}
    x = next(iter(curves.values()))[0]
    least = min(float(y.min()) for _, y in curves.values())
    save_lines(
        path,
        title,
        curves,
        (next(iter(lines.values())).setting, (float(x[0]), float(x[-1]))),
        ("F1 at the best threshold", (np.floor(least * 10) / 10, 1.0)),
    )


def _points(values: Mapping[float, float]) -> tuple[Floats, Floats]:
    return np.array(list(values), np.float64), np.array(list(values.values()), np.float64)


if __name__ == "__main__":
    main()
