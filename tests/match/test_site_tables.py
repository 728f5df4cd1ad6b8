"""The tables of a site from a match made by hand: rows, columns, verdicts, and what is null."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from msgspec.structs import replace

from twinlink.graph.matching import Matching
from twinlink.match.evidence import FoundPairs, Side
from twinlink.match.selection import SideMatch
from twinlink.match.site_tables import (
    TABLES,
    SiteResult,
    candidate_table,
    filter_table,
    pair_table,
    weight_table,
    write_site,
)
from twinlink.tables import (
    CANDIDATES,
    CHECKS,
    EVIDENCE_FIELDS,
    FILTERS,
    LANGUAGES,
    LOOK_ALIKES,
    PAIRS,
    WEIGHTS,
    part_writer,
    read_table,
)


def side(lang: str, first: int) -> Side:
    """Three pages; the first one names another address as its canonical one."""
    urls = [f"/{lang}/{n}" for n in range(3)]
    canonical = (f"/{lang}", None, None)
    ids = np.arange(first, first + 3)
    return Side(lang, ids, urls, [[]] * 3, [b""] * 3, sp.csr_array((3, 3), dtype=bool), canonical_urls=canonical)


SCORES = np.array([[0.5, 0.25, 0], [0, 0, 0.75], [0, 0.125, 1]], np.float32)
"""Five candidates; pages 2, 0 and 1 of A are matched with pages 2, 0 and 1 of B."""
FOUND = FoundPairs(
    scores=sp.csr_array(SCORES),
    evidence={"content": np.array([0.1, 0.2, 0.3, 0.4, 0.6], np.float32)},
    matching=Matching(np.array([2, 0, 1]), np.array([2, 0, 1]), np.array([1, 0.5, 0], np.float32)),
    rivals=np.array([0.75, 0.25, 0.125]),
    probabilities=np.array([np.nan, 0.875, 0.25]),
    weights={"content": 0.75, "length": 0.25},
)
MATCH = SideMatch(side("en", 10), side("fr", 20), FOUND, np.array([True, True, False]))


def columns(table: Any, *names: str) -> list[list[Any]]:
    return [table[name].to_pylist() for name in names]


def test_kept_pairs_are_rows_with_their_numbers() -> None:
    table = pair_table(MATCH, "x.example", "made by hand")
    assert table.schema.equals(PAIRS)
    assert columns(table, "url_a", "url_b", "page_a", "page_b") == [
        ["/en/2", "/en/0"], ["/fr/2", "/fr/0"], [12, 10], [22, 20],
    ]  # fmt: skip
    assert columns(table, "probability", "score", "rival") == [[None, 0.875], [1, 0.5], [0.75, 0.25]]
    assert table["content"].to_pylist() == pytest.approx([0.6, 0.1])  # of the fifth and the first candidate
    assert columns(table, "canonical_a", "canonical_b") == [[None, "/en"], [None, "/fr"]]
    assert columns(table, "site", "signature") == [["x.example"] * 2, ["made by hand"] * 2]
    assert columns(table, "lang_a", "lang_b") == [["en"] * 2, ["fr"] * 2]
    unknown = [field.name for field in EVIDENCE_FIELDS if field.name != "content"]
    assert all(table[name].null_count == 2 for name in (*unknown, "alike_a", "alike_b"))


def test_a_pair_is_a_tie_where_another_is_equally_good() -> None:
    assert pair_table(MATCH, "", "")["verdict"].to_pylist() == ["pair", "pair"]
    counted = replace(MATCH, found=replace(FOUND, n_equal=np.array([1, 2, 1])))
    assert pair_table(counted, "", "")["verdict"].to_pylist() == ["pair", "tie"]


def test_near_duplicates_are_counted_for_both_pages() -> None:
    """Page 2 of A has two, page 0 has one; page 0 of B has one."""
    of_a = sp.csr_array(np.array([[0, 0, 1], [0, 0, 0], [1, 1, 0]], np.bool_))
    of_b = sp.csr_array(np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]], np.bool_))
    table = pair_table(replace(MATCH, found=replace(FOUND, alike=(of_a, of_b))), "", "")
    assert columns(table, "alike_a", "alike_b") == [[2, 1], [0, 1]]


def test_pairs_of_near_duplicates_have_the_risk_that_the_method_found() -> None:
    """Page 0 of A has a near-duplicate, page 2 of B has none, and labels accept the pair of the two pages 2."""
    of_a, none = sp.csr_array(([True, True], ([0, 1], [1, 0])), shape=(3, 3)), sp.csr_array((3, 3), dtype=np.bool_)
    found = replace(FOUND, alike=(of_a, none), mistaken=0.5)
    assert pair_table(replace(MATCH, found=found), "", "")["risk"].to_pylist() == [0, 0.5]
    assert pair_table(MATCH, "", "")["risk"].to_pylist() == [None, None]


def test_canonical_addresses_may_be_unknown() -> None:
    unknown = replace(MATCH.side_a, canonical_urls=())
    table = pair_table(replace(MATCH, side_a=unknown), "", "")
    assert columns(table, "canonical_a", "canonical_b") == [[None, None], [None, "/fr"]]


def test_all_candidates_are_rows() -> None:
    table = candidate_table(MATCH)
    assert table.schema.equals(CANDIDATES)
    assert columns(table, "page_a", "page_b") == [[10, 10, 11, 12, 12], [20, 21, 22, 21, 22]]
    assert columns(table, "score", "content") == [SCORES[SCORES > 0].tolist(), FOUND.evidence["content"].tolist()]
    assert table["filter"].null_count == 5
    filtered = replace(MATCH, found=replace(FOUND, filter_of=["", "length", "", "content", ""]))
    assert candidate_table(filtered)["filter"].to_pylist() == [None, "length", None, "content", None]


def test_weights_and_filters_are_rows_of_the_two_languages() -> None:
    weights = weight_table(MATCH, "x.example")
    assert weights.schema.equals(WEIGHTS)
    assert [list(row.values()) for row in weights.to_pylist()] == [
        ["x.example", "en", "fr", "content", 0.75], ["x.example", "en", "fr", "length", 0.25],
    ]  # fmt: skip
    filters = filter_table(replace(MATCH, found=replace(FOUND, n_filtered={"length": 3, "kept": 2})), "x.example")
    assert filters.schema.equals(FILTERS)
    assert [list(row.values()) for row in filters.to_pylist()] == [
        ["x.example", "en", "fr", "length", 3], ["x.example", "en", "fr", "kept", 2],
    ]  # fmt: skip
    assert filter_table(MATCH, "x.example").num_rows == 0


def test_each_table_of_a_site_with_rows_has_its_file(tmp_path: Path) -> None:
    pairs = pair_table(MATCH, "x.example", "made by hand")
    result = SiteResult(
        languages=LANGUAGES.empty_table(),
        candidates=candidate_table(MATCH),
        pairs=pairs,
        weights=weight_table(MATCH, "x.example"),
        filters=FILTERS.empty_table(),
        checks=CHECKS.empty_table(),
        look_alikes=LOOK_ALIKES.empty_table(),
        rejects=[],
    )
    with part_writer() as writer:
        write_site(result, tmp_path, Path("pages", "x.example.parquet"), writer)
    written = {file.parent.name for file in tmp_path.glob("*/x.example.parquet")}
    assert written == {"languages", "candidates", "pairs", "weights"}  # the rest is of `SPARSE`
    found = {name: read_table(tmp_path / name, schema) for name, schema in TABLES.items()}
    assert {name: table.num_rows for name, table in found.items()} == {
        "languages": 0, "candidates": 5, "pairs": 2, "weights": 2, "filters": 0, "checks": 0,
        "look_alikes": 0,
    }  # fmt: skip
    assert found["pairs"].to_pylist() == pairs.to_pylist()
    with part_writer() as writer:
        write_site(result, tmp_path, Path("pages", "y.example.parquet"), writer)
    assert {file.name for file in (tmp_path / "pairs").iterdir()} == {"x.example.parquet", "y.example.parquet"}
