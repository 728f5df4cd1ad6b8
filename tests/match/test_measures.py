"""The measures of a round on sites of three pages a side, each with a value that is known by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import scipy.sparse as sp
from msgspec.structs import replace
from numpy.typing import NDArray

from twinlink.config import Config
from twinlink.graph.document_order import link_lists
from twinlink.graph.links import adjacency
from twinlink.match.evidence import Between, Side, read_words
from twinlink.match.measures import (
    LESS,
    SiteMeasures,
    State,
    _by_parts,
    _to_align,
    link_places,
    mean_of,
    measure,
    pair_matrix,
)
from twinlink.similarity.rivals import Rivalry

Links = Sequence[tuple[int, int]]
N = 3
FULL = sp.csr_array(np.ones((N, N), np.float32))
HALVES = np.arange(N) % 2
TEXTS = ("1001 1002", "1003 1004", "1005 1006")


def side(lang: str, texts: Sequence[str], links: Links, *, listed: bool = True) -> Side:
    sources, targets = (np.array([link[end] for link in links], np.int64) for end in range(2))
    urls = [f"http://x.example/{lang}/{n}.html" for n in range(len(texts))]
    return Side(
        lang,
        np.arange(len(texts)),
        urls,
        [[text] for text in texts],
        [b""] * len(texts),
        adjacency(sources, targets, len(texts)),
        link_lists(sources, targets, len(texts)) if listed else None,
    )


def site_of(
    *kinds: str,
    texts: tuple[Sequence[str], Sequence[str]] = (TEXTS, TEXTS),
    links: tuple[Links, Links] = ((), ()),
    listed: tuple[bool, bool] = (True, True),
    between: Between | None = None,
    **overrides: object,
) -> SiteMeasures:
    """Return a site whose evidence is of these kinds alone."""
    names = {f"match.{name.replace('__', '.')}": value for name, value in overrides.items()}
    settings = Config().override({"match.weighing.evidence": kinds, **names}).match
    a, b = (side(lang, *of, listed=has) for lang, *of, has in zip(("xa", "xb"), texts, links, listed, strict=True))
    none = sp.csr_array((len(texts[0]), len(texts[1])), dtype=np.float32)
    return SiteMeasures(a, b, read_words(a, b, [], settings), between or Between(none, none), settings)


def state_of(pattern: sp.csr_array = FULL, probabilities: object = None, **fixed: object) -> State:
    """Return a state of given evidence, and of given probabilities of its candidates."""
    known = {kind: np.array(values, np.float32) for kind, values in fixed.items()}
    chances = None if probabilities is None else np.array(probabilities, np.float32)
    return State(pattern, known, (), HALVES, chances)


def measured(site: SiteMeasures, state: State) -> dict[str, NDArray[np.float64]]:
    return measure(site, state, Rivalry(state.pattern))


# ---- links within the sides

DIAGONAL = sp.csr_array(np.eye(N, dtype=np.float32))
PATH = ((0, 1),)


def test_a_pair_is_as_similar_as_it_and_its_neighbours_are() -> None:
    """After one round: a half of its own similarity, and a half of that of the pair beside it.

    Pages 2 have no neighbours: their pair keeps its similarity.
    """
    site = site_of("ets", links=(PATH, PATH), weighing__alpha=0.5, ets__rounds=1)
    found = measured(site, state_of(DIAGONAL, content=[0.25, 0.75, 0.5]))
    assert found["ets"].tolist() == [0.5, 0.5, 0.5]
    assert {values.dtype for values in found.values()} == {np.dtype(np.float32)}


def test_one_page_without_neighbours_is_enough_to_keep_a_similarity() -> None:
    pattern = sp.csr_array(np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0]], np.float32))
    site = site_of("ets", links=(PATH, PATH), weighing__alpha=0.5, ets__rounds=1)
    assert measured(site, state_of(pattern, content=[0.5, 0.5, 1]))["ets"].tolist() == [0.5, 0.25, 1]


@pytest.mark.parametrize(
    ("alpha", "kinds", "weight"),
    [(None, ["content"], 0.7), (None, ["content", "structure"], 0.4), (0.25, ["content"], 0.25)],
)
def test_weak_evidence_leaves_more_weight_to_neighbours(alpha: float | None, kinds: list[str], weight: float) -> None:
    site = site_of("ets", links=(PATH, PATH), weighing__alpha=alpha, ets__rounds=1)
    found = measured(site, state_of(DIAGONAL, **{kind: [1, 0, 0] for kind in kinds}))
    assert found["ets"] == pytest.approx([1 - weight, weight, 0])


def test_neighbours_are_as_likely_as_in_the_last_round() -> None:
    """In the first round, as they are similar."""
    site = site_of("external", links=(PATH, PATH))
    values = {"content": [0.25, 0.75, 1]}
    assert measured(site, state_of(DIAGONAL, **values))["external"].tolist() == [0.75, 0.25, 0]
    assert measured(site, state_of(DIAGONAL, [0.5, 1, 1], **values))["external"].tolist() == [1, 0.5, 0]


def test_the_mean_is_of_the_kinds_that_there_are() -> None:
    evidence = {"content": np.array([1.0, 0.5]), "structure": np.array([0.0, 0.5]), "order": np.array([9.0, 9.0])}
    assert mean_of(evidence, ("content", "structure", "learned"), 2).tolist() == [0.5, 0.5]
    assert mean_of(evidence, ("learned",), 2).tolist() == [0, 0]


# ---- links in their order

MENU = ((0, 1), (0, 2))
ALIKE = np.array([[1, 0, 0], [0, 0.5, 0.5], [0, 0.5, 0.5]], np.float32)
"""Nothing tells pages 1 and 2 apart."""


def order_of(site: SiteMeasures, probabilities: object = None, left: object = None) -> list[float]:
    pattern = sp.csr_array(ALIKE)
    marks = None if left is None else np.array(left, np.bool_)
    found = link_places(site, state_of(pattern, probabilities), Rivalry(pattern), {"ets": pattern.data}, marks)
    return [round(value, 1) for value in found["order"].tolist()]


def test_pages_at_the_same_place_of_two_menus_go_together() -> None:
    """In the first round the menus are those of the pair that the pages make."""
    site = site_of("order", links=(MENU, MENU))
    assert order_of(site) == [0, 1, 0, 0, 1]
    assert order_of(site_of("order", links=(MENU, MENU[::-1]))) == [0, 0, 1, 1, 0]


def test_order_is_among_the_evidence_of_a_round() -> None:
    site = site_of("order", links=(MENU, MENU))
    found = measured(site, state_of(sp.csr_array(ALIKE), [0.5, 0, 0, 0, 0], content=ALIKE[ALIKE > 0]))
    assert found["order"].round(1).tolist() == [0, 1, 0, 0, 1]


def test_menus_are_those_of_the_pairs_of_the_last_round() -> None:
    site = site_of("order", links=(MENU, MENU))
    assert order_of(site, [0.5, 0, 0, 0, 0]) == [0, 1, 0, 0, 1]
    assert order_of(site, [0, 1, 0, 0, 1]) == [0, 0, 0, 0, 0]  # pages without links


def test_only_candidates_that_are_left_have_a_place() -> None:
    """Crossing ones exclude each other."""
    site = site_of("order", links=(MENU, MENU))
    assert order_of(site, left=[1, 0, 1, 1, 0]) == [0, 0, 0.5, 0.5, 0]


@pytest.mark.parametrize("listed", [(True, False), (False, True), (False, False)])
def test_without_lists_there_is_no_order(listed: tuple[bool, bool]) -> None:
    site = site_of("order", links=(MENU, MENU), listed=listed)
    assert link_places(site, state_of(), Rivalry(FULL), {"ets": FULL.data}) == {}


def test_order_is_not_measured_unless_it_is_used() -> None:
    site = site_of("content", links=(MENU, MENU))
    assert link_places(site, state_of(), Rivalry(FULL), {"ets": FULL.data}) == {}


# ---- lengths


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [([1 / 3, 0.34, 0], [1 / 2, 1, 1 / 2]), ([0.3, 1 / 3, 0.3], [1, 1 / 2, 1 / 4]), ([0, 0.9, 0.9], None)],
)
def test_length_is_measured_by_the_usual_ratio_of_likely_pairs(
    probabilities: list[float], expected: list[float] | None
) -> None:
    """Pages of 1, 3 and 7 words face pages of 1 word: ratios of 1, 2 and 4, with one word added to each.

    Likely is what is more than one of three.
    """
    texts = tuple(" ".join(["word"] * n) for n in (1, 3, 7)), ("mot", "mot", "mot")
    site = site_of("length", texts=texts)
    found = measured(site, state_of(DIAGONAL, probabilities))
    between = [2**-1.5, 2**-0.5, 2**-0.5]  # likely are 2 and 4: usual is what lies between them
    assert found["length"] == pytest.approx(expected or between)


def test_in_the_first_round_no_length_is_usual() -> None:
    assert measured(site_of("length", "learned"), state_of(DIAGONAL, content=[1, 1, 1])).keys() == {"content"}


# ---- words


def test_each_part_of_the_rows_is_measured_with_its_translation() -> None:
    """Rows 0 and 2 with the first, row 1 with the second."""
    translations = tuple(sp.csr_array(np.full((1, 1), value)) for value in (2.0, 3.0))
    seen: list[tuple[float, list[list[float]]]] = []

    def measuring(translation: sp.csr_array, pattern: sp.csr_array) -> NDArray[np.float32]:
        seen.append((float(translation[0, 0]), pattern.toarray().tolist()))
        return np.full(pattern.nnz, translation[0, 0], np.float32)

    pattern = sp.csr_array(np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1]], np.float32))
    values = _by_parts(State(pattern, {}, translations, HALVES), Rivalry(pattern), measuring)
    assert values.tolist() == [2, 2, 3, 2]
    assert seen == [(2, [[1, 1, 0], [0, 0, 0], [0, 0, 1]]), (3, [[0, 0, 0], [0, 1, 0], [0, 0, 0]])]


def test_parts_may_be_given() -> None:
    """Rows 0 and 1 with the first, row 2 with the second; with one translation, all rows with that one."""
    translations = tuple(sp.csr_array(np.full((1, 1), value)) for value in (2.0, 3.0))

    def measuring(translation: sp.csr_array, pattern: sp.csr_array) -> NDArray[np.float32]:
        return np.full(pattern.nnz, translation[0, 0], np.float32)

    def measured_by(*of_parts: sp.csr_array) -> list[float]:
        state = State(FULL, {}, of_parts, np.array([0, 0, 1]))
        found: list[float] = _by_parts(state, Rivalry(FULL), measuring)[::N].tolist()
        return found

    assert measured_by(*translations) == [2, 2, 3]
    assert measured_by(translations[1]) == [3, 3, 3]


def test_contrast_is_by_what_near_duplicates_do_not_have() -> None:
    """Two forms that differ in one number: content hardly tells them apart, contrast does."""
    form = " ".join(str(n) for n in range(2000, 2020))
    texts = (f"{form} 1001", f"{form} 1002", "1003")
    site = site_of("contrast", texts=(texts, texts))
    state = State(FULL, {}, (site.words.translation,), HALVES)
    found = measured(site, state)["contrast"].reshape(N, N)
    assert found == pytest.approx(np.eye(N), abs=1e-6)
    assert site.content(site.words.translation, FULL).reshape(N, N)[0, 1] > 0.5


def test_learned_words_are_measured_in_later_rounds() -> None:
    """Every page of A is about one word, and so is every page of B: the lexicon says which ones go together."""
    texts = ("one", "two", "three"), ("uno", "dos", "tres")
    site = site_of("learned", texts=texts)
    terms = site.words.a.vocabulary, site.words.b.vocabulary
    places = tuple([known.index(word) for word in words] for known, words in zip(terms, texts, strict=True))
    known = sp.csr_array((np.ones(N, np.float32), places), shape=site.words.translation.shape)
    later = State(FULL, {}, (known,), HALVES, np.zeros(9, np.float32))
    assert measured(site, later)["learned"].reshape(N, N) == pytest.approx(np.eye(N), abs=1e-6)


def test_candidates_may_be_of_some_pages_alone() -> None:
    """The pages of a pair that is sure are closed: no other partner is searched for."""
    site = site_of("content")
    assert site.candidates(site.words.translation).astype(bool).toarray().tolist() == np.eye(N).tolist()
    open_ = np.array([True, False, False])
    closed = np.zeros(N, np.bool_)
    for sides in ((open_, closed), (closed, open_)):
        found = site.candidates(site.words.translation, *sides)
        assert found.astype(bool).toarray().tolist() == np.diag(open_).tolist()


# ---- near-duplicates

FORM = " ".join(str(n) for n in range(2000, 2060))
FORMS = (f"{FORM} 1001", f"{FORM} 1002", "1003")


def test_candidates_are_nearly_a_pair_by_a_near_duplicate_of_either_page() -> None:
    """Of pages 0, pages 1 are near-duplicates; a pair of two near-duplicates is another pair."""
    site = site_of(texts=(FORMS, FORMS))
    rivalry = Rivalry(FULL)
    first = np.array([0])
    assert site.nearly(rivalry, first).reshape(N, N).tolist() == [
        [True, True, False], [True, False, False], [False, False, False],
    ]  # fmt: skip
    assert site.nearly(rivalry, np.array([8])).tolist() == [False] * 8 + [True]


@pytest.mark.parametrize(
    ("is_first", "kinds", "other"),
    [
        (False, ["contrast"], 1 - LESS / 2),
        (False, ["learned", "contrast"], 1 - LESS / 4),
        (True, ["contrast"], 1),
        (False, [], 1),
    ],
)
def test_links_are_aligned_by_words_from_the_second_round_on(
    is_first: bool, kinds: Sequence[str], other: float
) -> None:
    """Half of the best contrast takes half of `LESS`, and half of that if learned words are as good as the best."""
    rivalry = Rivalry(FULL)
    contrast = np.array([[0.8, 0.4, 0], [0.4, 0.8, 0], [0, 0, 0]], np.float32).ravel()
    words = {"learned": np.full(9, 0.2, np.float32), "contrast": contrast}
    evidence = {"ets": np.full(9, 0.5, np.float32)} | {kind: words[kind] for kind in kinds}
    state = state_of(probabilities=None if is_first else np.zeros(9))
    found = _to_align(state, rivalry, evidence, None)
    assert found.reshape(N, N)[0, :2] == pytest.approx([0.5, 0.5 * other])
    assert found.reshape(N, N)[2, 2] == 0.5  # neither page has any contrast
    alone = _to_align(state, rivalry, evidence, ~np.isin(np.arange(9), [0, 4]))
    assert alone.reshape(N, N)[0, 1] == 0.5  # the best of row 0 and of column 1 that is left


def test_links_are_aligned_by_contrast_where_nothing_else_tells_an_entry_apart() -> None:
    """Each list has two forms, and what they differ in is a number: the lists have them in another order."""
    turned = ((0, 2), (0, 1))
    texts = "1003", f"{FORM} 1001", f"{FORM} 1002"
    site = site_of("content", "contrast", "order", texts=(texts, texts), links=(MENU, turned))
    pattern = sp.csr_array(ALIKE)
    first = State(pattern, {"content": np.ones(5, np.float32)}, (site.words.translation,), HALVES)
    assert measured(site, first)["order"].round(1).tolist() == [0, 0, 1, 1, 0]
    later = replace(first, probabilities=np.array([1, 0, 0, 0, 0], np.float32))
    found = measured(site, later)["order"]
    assert found[1] > 0.4
    assert found[1] == pytest.approx(found[4])
    assert found[2] < 0.1


def test_order_can_be_left_out_of_the_first_round() -> None:
    site = site_of("order", links=(MENU, MENU))
    first = replace(state_of(), order_first=False)
    assert link_places(site, first, Rivalry(FULL), {"ets": FULL.data}) == {}
    later = replace(state_of(probabilities=np.eye(N).ravel()), order_first=False)
    assert "order" in link_places(site, later, Rivalry(FULL), {"ets": FULL.data})


@pytest.mark.parametrize("turned", [False, True])
def test_candidates_with_near_duplicates_of_one_page_are_marked(turned: bool) -> None:
    texts = (TEXTS, FORMS) if turned else (FORMS, TEXTS)
    marks = site_of(texts=texts).has_alike(Rivalry(FULL)).reshape(N, N)
    assert (marks.T if turned else marks).tolist() == [[True] * 3, [True] * 3, [False] * 3]


# ---- links between the sides, and addresses


def test_links_between_the_sides_are_values_of_candidates() -> None:
    direct = sp.csr_array(np.array([[0.5, 0, 0], [0, 0, 1], [0, 0, 0]], np.float32))
    named = sp.csr_array(np.array([[0, 0, 0], [0, 0, 0], [1, 0, 0]], np.float32))
    site = site_of("direct", between=Between(direct, named))
    pattern = sp.csr_array(np.array([[1, 1, 0], [0, 0, 0], [1, 0, 1]], np.float32))
    assert site.fixed_evidence("direct", pattern).tolist() == [0.5, 0, 0, 0]
    assert site.fixed_evidence("hreflang", pattern).tolist() == [0, 0, 1, 0]


def test_addresses_are_looked_at_where_patterns_are_used() -> None:
    """The addresses of both sides differ in the folder xa or xb."""
    assert site_of("content").by_url is None
    assert site_of("pattern").fixed_evidence("pattern", FULL).reshape(N, N).tolist() == np.eye(N).tolist()


def test_pairs_as_a_matrix() -> None:
    found = pair_matrix(np.array([2, 0]), np.array([1, 0]), (3, 2))
    assert found.toarray().tolist() == [[1, 0], [0, 0], [0, 1]]
    assert found.dtype == np.float32
