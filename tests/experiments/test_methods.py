"""The comparison of the structural methods: its injected pairs are what they say, and its tables what was measured."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from msgspec.structs import replace

from experiments import methods
from experiments.cases import Case, open_case
from experiments.injected import KINDS, RIGHT, PairSet, gold_rows, pairs_to_verify
from experiments.linear import first_half, read_pages
from experiments.verification import JUDGES, Judged, cells_of_method, scores_of, verify
from twinlink.baselines.alignment import align
from twinlink.demo.site import write_site
from twinlink.evaluation.gold import Gold
from twinlink.match.evidence import Between, Side
from twinlink.pages.linearise import PageShape, linearise


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A demo site of 60 pages per language, 51 of them with a partner."""
    place = tmp_path_factory.mktemp("methods") / "demo-opaque"
    write_site(place, pages=60)
    return place


@pytest.fixture(scope="module")
def case(folder: Path) -> Case:
    with open_case(folder) as opened:
        return methods.with_shapes(opened)


@pytest.fixture(scope="module")
def pairs(case: Case) -> PairSet:
    return pairs_to_verify(case)


def some(pairs: PairSet, kind: int) -> list[tuple[int, int]]:
    chosen = pairs.kinds == kind
    return list(zip(pairs.rows[chosen].tolist(), pairs.columns[chosen].tolist(), strict=True))


def shape(html: str) -> PageShape:
    page = linearise(html.encode())
    return PageShape(page.tokens, page.words, len(html))


def test_pages_are_found_by_their_addresses(tmp_path: Path) -> None:
    (tmp_path / "fr").mkdir()
    (tmp_path / "fr" / "index.html").write_text("<p>un deux")
    (tmp_path / "fr" / "à b.html").write_text("<p>trois")
    pages = read_pages(tmp_path, ["http://a.org/fr/", "http://a.org/fr/%C3%A0%20b.html"])
    assert [page.words.tolist() for page in pages] == [[2], [1]]
    assert [page.n_bytes for page in pages] == [10, 8]


@pytest.mark.parametrize("n_texts", [1, 2, 3, 8])
def test_half_a_page_is_what_the_parser_makes_of_html_that_stops_there(n_texts: int) -> None:
    rows = [f"<tr><td>{'word ' * (k + 1)}</td></tr>" for k in range(n_texts)]
    start = "<html><body><table>"
    kept = (n_texts + 1) // 2
    stopped = start + "".join(rows[:kept]).removesuffix("</td></tr>")
    half, expected = first_half(shape(start + "".join(rows) + "</table>")), shape(stopped)
    assert half.tokens.tolist() == expected.tokens.tolist()
    assert half.words.tolist() == expected.words.tolist()


def test_half_a_page_without_text_is_the_page() -> None:
    page = shape("<hr>")
    assert first_half(page).tokens.tolist() == page.tokens.tolist()
    assert first_half(page).n_bytes == page.n_bytes
    nothing = PageShape(np.zeros(0, np.int32), np.zeros(0, np.int32), 0)
    assert len(first_half(nothing).tokens) == 0


def test_a_quarter_of_each_wrong_kind_is_injected(case: Case, pairs: PairSet) -> None:
    n_right = len(case.gold.pairs)
    assert np.bincount(pairs.kinds + 1).tolist() == [n_right, *[n_right // 4] * len(KINDS)]
    keys = pairs.rows * len(pairs.pages_b) + pairs.columns
    assert (np.diff(keys) > 0).all()  # sorted, none twice
    assert pairs.pattern().nnz == len(keys)
    assert some(pairs, RIGHT) == list(zip(*(pages.tolist() for pages in gold_rows(case)), strict=True))


def test_injected_pairs_are_chosen_without_chance(case: Case, pairs: PairSet) -> None:
    again = pairs_to_verify(case)
    assert (again.rows == pairs.rows).all()
    assert (again.columns == pairs.columns).all()


def test_shifted_pairs_have_the_partner_of_the_next_pair_in_size(case: Case, pairs: PairSet) -> None:
    partner = dict(some(pairs, RIGHT))
    page_of = {column: row for row, column in partner.items()}
    sizes = np.array([len(page.tokens) for page in case.side_a.shapes])
    order = sorted(partner, key=lambda row: (sizes[row], row))
    rank = {row: place for place, row in enumerate(order)}
    for row, column in some(pairs, KINDS.index("shifted")):
        assert abs(rank[row] - rank[page_of[column]]) == 1


def test_no_other_wrong_page_is_nearer_than_that_of_the_same_template(case: Case, pairs: PairSet) -> None:
    """Of all pages of the other side, not only the candidates: these hold the nearest page of nearly each page."""
    partner = dict(some(pairs, RIGHT))
    tokens_a, tokens_b = ([page.tokens for page in side.shapes] for side in (case.side_a, case.side_b))
    nearest = 0
    for row, column in some(pairs, KINDS.index("same template")):
        columns = np.arange(len(tokens_b))
        cost = align(tokens_a, tokens_b, np.full(len(columns), row), columns, chunks=False).cost_share
        assert column != partner[row]
        others = columns != partner[row]
        nearest += cost[column] <= cost[others].min()
    assert nearest >= 0.8 * (len(partner) // 4)


def test_half_translated_pairs_have_half_the_texts_of_the_partner(case: Case, pairs: PairSet) -> None:
    partner = dict(some(pairs, RIGHT))
    halves = some(pairs, KINDS.index("half translated"))
    assert [column for _, column in halves] == list(range(len(case.side_b.urls), len(pairs.pages_b)))
    for row, column in halves:
        whole, half = pairs.pages_b[partner[row]], pairs.pages_b[column]
        assert len(half.words) == (len(whole.words) + 1) // 2
        assert half.n_bytes < whole.n_bytes


def test_pairs_that_may_be_right_are_not_injected(case: Case, pairs: PairSet) -> None:
    """Partly translated pages and groups of equal pages: here, of all pages."""
    keys = [[case.gold.key(url) for url in side.urls] for side in (case.side_a, case.side_b)]
    shifted = [(keys[0][row], keys[1][column]) for row, column in some(pairs, KINDS.index("shifted"))]
    without = pairs_to_verify(replace(case, gold=replace(case.gold, ignored=frozenset(shifted))))
    assert not set(some(without, 0)) & set(some(pairs, 0))
    everything = Gold(case.gold.pairs, groups=dict.fromkeys(keys[0], "a") | dict.fromkeys(keys[1], "b"))
    alike = pairs_to_verify(replace(case, gold=everything))
    assert set(alike.kinds.tolist()) == {RIGHT, KINDS.index("half translated")}


def test_scores_of_verdicts_that_are_known(pairs: PairSet) -> None:
    right = pairs.kinds == RIGHT
    assert scores_of(right, pairs) == (1.0, 1.0, 1.0)
    assert scores_of(~right, pairs) == (0.0, 0.0, 0.0)
    precision, recall, _ = scores_of(np.ones(len(right), np.bool_), pairs)
    assert precision == pytest.approx(right.mean())
    assert recall == 1.0
    cells = cells_of_method(Judged(right | (pairs.kinds == 1), "", 0.5), pairs)
    assert [cells[kind] for kind in KINDS] == [".000", "1.000", ".000"]
    assert cells["R"] == "1.000"
    assert cells["seconds"] == "0.50"


def test_every_method_judges_every_pair(pairs: PairSet) -> None:
    judged = verify(pairs)
    assert list(judged) == list(JUDGES)
    for name, each in judged.items():
        assert each.parallel.shape == pairs.rows.shape, name
    filters, best = (judged[name].parallel for name in ("Bitextor filters", "Bitextor, best of page"))
    assert not (best & ~filters).any()
    for name in ("STRAND", "mixture", "Algorithm 1", "WebMining filters"):
        precision, recall, _ = scores_of(judged[name].parallel, pairs)
        assert precision > (pairs.kinds == RIGHT).mean(), name
        assert recall > 0.5, name


def test_addresses_of_two_pairs_of_which_one_is_right(tmp_path: Path) -> None:
    """Both differ in a directory alone; of the wrong one the structure differs too."""
    pages = {"en/a": "<p>one</p>", "fr/a": "<p>une</p>", "en/b": "<p>two</p>", "fr/b": "<p>x</p><hr>" * 20}

    def side(lang: str) -> Side:
        names = [f"{lang}/a", f"{lang}/b"]
        shapes = [shape(pages[name])._replace(n_bytes=100) for name in names]
        urls = [f"http://a.org/{name}.html" for name in names]
        nothing = sp.csr_array((2, 2), dtype=np.bool_)
        return Side(lang, np.arange(2), urls, [(), ()], [b"", b""], nothing, shapes=shapes)

    nothing = sp.csr_array((2, 2), dtype=np.float32)
    gold = Gold((("/en/a.html", "/fr/a.html"),))
    both = side("en"), side("fr")
    cells = methods.addresses(Case("two", tmp_path, ("en", "fr"), *both, Between(nothing, nothing), gold, 1.0))
    assert cells["URL rule"] == "1 / 2; .667 (.500 / 1.000)"
    assert cells["kinds of difference"] == "directory 2"
    assert cells["URL rule, fingerprints"] == "1 / 1; 1.000 (1.000 / 1.000)"
    assert cells["hreflang"] == "–"


def test_all_tables_are_printed(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A site whose addresses are as they were has one table more."""
    plain = tmp_path / "demo-plain"
    shutil.copytree(folder, plain)
    meta = json.loads((plain / "meta.json").read_text(encoding="utf-8"))
    (plain / "meta.json").write_text(json.dumps(meta | {"opaque": False}), encoding="utf-8")
    methods.main([str(plain)])
    printed = capsys.readouterr().out
    titles = [line.strip("*") for line in printed.splitlines() if line.startswith("**")]
    assert titles == [
        "demo-plain: pairs to verify",
        "demo-plain: verification",
        "Verification, all sites: F1 (P / R)",
        "Finding: F1 (P / R), seconds",
        "Addresses: gold / candidates; F1 (P / R)",
    ]
    rows = [line.split("|")[1].strip() for line in printed.splitlines() if line.startswith("| ")]
    for name in (*JUDGES, *methods.STRUCTURAL, *methods.WORDED, "URL rule", "hreflang"):
        assert name in rows
