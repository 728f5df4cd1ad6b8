"""Links with little other evidence: no structure, no URLs, few known words.

::

    python -m experiments.links_alone SITES... --lexicons FOLDER

prints one table a condition:

(a) a lexicon cut to 2,000 random heads, and no shared tokens (sites without a lexicon are left out);
(b) no lexicon: numbers are the only first evidence;
(c) no lexicon, no numbers: page lengths and the look of the link graph around a page are all there is.

A row is the first round alone or all rounds of learning, with links (evidence ``ets`` and ``external``) and without; a
cell is ``best F1; F1 (P / expected P)``: at the best threshold, and of the reported list. Condition (c) always starts
from links; there, "without" means that only the words learned from them are used.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.spatial import KDTree

from experiments.cases import Case, case_words, f1_of, match_case, oracle_f1, outcome_of
from experiments.tables import Column, claims, number, run
from twinlink.config import EtsSettings, Evidence, MatchSettings, WeighingSettings
from twinlink.graph.links import neighbours
from twinlink.graph.propagation import enhanced_similarity
from twinlink.match.evidence import Words
from twinlink.similarity.content import combine_translations
from twinlink.similarity.learned_lexicon import learn_translations
from twinlink.similarity.lexicon_files import Lexicon
from twinlink.similarity.rivals import Rivalry
from twinlink.similarity.weighing import clear_pairs
from twinlink.sparse import with_values

__all__ = ["cut_lexicon", "measure", "start_from_links"]

WORDS_ONLY: tuple[Evidence, ...] = ("content", "learned", "contrast", "length")
LINKS: tuple[Evidence, ...] = ("ets", "external")
ROUNDS = {"first round": 0, "all rounds": WeighingSettings().rounds}
N_HEADS, SEED = 2000, 1
NEAREST = 60  # candidates per page and direction, in condition (c)
MARGIN = 0.1  # minimum lead of the pairs that condition (c) learns from first; the matcher's value for its first round


def measure(case: Case, lexicons: Sequence[Lexicon]) -> Column:
    """Return the three tables' columns of one site."""
    names = [
        f"(a) {N_HEADS:,} random heads, no shared tokens",
        "(b) numbers only",
        "(c) page lengths and links only",
    ]
    few = [cut_lexicon(lexicon, N_HEADS) for lexicon in lexicons]
    column = {names[0]: _over_rounds(case, case_words(case, few, "none"))} if few else {}
    column[names[1]] = _over_rounds(case, case_words(case, (), "numbers"))
    words, told = start_from_links(case, case_words(case, (), "none"))
    column[names[2]] = told | _over_rounds(case, words)
    return column


def cut_lexicon(lexicon: Lexicon, n_heads: int, seed: int = SEED) -> Lexicon:
    """Return the entries of some random heads; the same for the same seed."""
    heads = sorted({entry.head for entry in lexicon.entries})
    chosen = set(random.Random(seed).sample(heads, min(n_heads, len(heads))))
    return Lexicon(tuple(entry for entry in lexicon.entries if entry.head in chosen), lexicon.name)


def _over_rounds(case: Case, words: Words) -> dict[str, str]:
    if not words.translation.nnz:
        return {"first evidence alone, best F1": "nothing to start from"}
    cells: dict[str, str] = {}
    for label, kinds in (("with links", WORDS_ONLY + LINKS), ("without links", WORDS_ONLY)):
        for name, rounds in ROUNDS.items():
            settings = MatchSettings(weighing=WeighingSettings(evidence=kinds, rounds=rounds))
            match = match_case(case, words, settings)
            if not cells:
                alone = oracle_f1(with_values(match.found.scores, match.found.evidence["content"]), case)
                cells["first evidence alone, best F1"] = number(alone)
            cells[f"{label}, {name}"] = claims(outcome_of(case, match))
    return cells


def start_from_links(case: Case, words: Words) -> tuple[Words, dict[str, str]]:
    """Learn a first lexicon from pages with similar lengths and links, without looking at their words.

    A page is a point: its length and its numbers of links, and the means of these over its neighbours and over their
    neighbours. Near pages are candidates, ETS propagates their similarity over the links, and words are learned from
    the clear pairs.
    """
    sides = ((case.side_a, words.a), (case.side_b, words.b))
    pattern, closeness = _near_pages(*(_points(side.graph, terms.counts) for side, terms in sides))
    around_a, around_b = (neighbours(side.graph, "both") for side, _ in sides)
    start, settings = with_values(pattern, closeness), EtsSettings(alpha=0.7)
    scores = enhanced_similarity(start, around_a, around_b, settings).scores
    rivalry = Rivalry(scores)
    clear = clear_pairs(scores.data.astype(np.float64), rivalry, MARGIN)
    rows, columns = rivalry.rows[clear], rivalry.columns[clear]
    pairs = [(case.side_a.urls[row], case.side_b.urls[column]) for row, column in zip(rows, columns, strict=True)]
    told = {
        "lengths and links, no words: best F1": number(oracle_f1(scores, case)),
        "clear pairs of these: how many, P": f"{len(pairs)}, {number(f1_of(pairs, case)[0])}",
    }
    learned = learn_translations(words.a.counts, words.b.counts, rows, columns)
    return Words(words.a, words.b, combine_translations(words.translation, learned)), told


def _points(graph: sp.csr_array, counts: sp.csr_array) -> npt.NDArray[np.float64]:
    """Return one point per page, with every coordinate standardised in both languages."""
    links_here = np.bincount(graph.indices, minlength=graph.shape[1])
    own = np.log1p(np.column_stack([counts @ np.ones(counts.shape[1]), np.diff(graph.indptr), links_here]))
    both = neighbours(graph, "both").astype(np.float64)
    mean = sp.csr_array(sp.diags_array(1 / np.maximum(np.diff(both.indptr), 1)) @ both)
    points = np.hstack([own, mean @ own, mean @ (mean @ own)])
    low, middle, high = np.percentile(points, [25, 50, 75], axis=0)
    return np.asarray((points - middle) / (high - low + 1e-3))


def _near_pages(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> tuple[sp.csr_array, npt.NDArray[np.float64]]:
    """Return the nearest pages of the other side for each page, with ``exp(-distance)`` as values."""
    _, of_a = KDTree(b).query(a, min(NEAREST, len(b)))
    _, of_b = KDTree(a).query(b, min(NEAREST, len(a)))
    rows = np.r_[np.repeat(np.arange(len(a)), of_a.shape[1]), of_b.ravel()]
    columns = np.r_[of_a.ravel(), np.repeat(np.arange(len(b)), of_b.shape[1])]
    pattern = sp.csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=(len(a), len(b)))
    pattern.sum_duplicates()
    at = np.repeat(np.arange(len(a)), np.diff(pattern.indptr))
    return pattern, np.exp(-np.linalg.norm(a[at] - b[pattern.indices], axis=1))


if __name__ == "__main__":
    run(__doc__ or "", measure)
