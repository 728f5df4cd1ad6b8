"""Sites whose pages are cut to their first blocks, without links."""

from __future__ import annotations

from msgspec.structs import replace
from scipy.sparse import csr_array

from experiments.short_pages import BLOCKS, with_short_pages
from tests.experiments.test_numbered import case
from twinlink.evaluation.gold import Gold

N = 60


def test_a_page_keeps_the_first_blocks_that_are_its_own() -> None:
    pairs = [(f"/a{k}.html", f"/b{k}.html") for k in range(N)]
    whole = replace(case(pairs, 0, 0), gold=Gold(tuple(pairs)))
    blocks = [["menu", *(f"block {n} of {page}" for n in range(BLOCKS + 2))] for page in range(N)]
    blocks[7] = ["menu", "shared by two", "own"]
    blocks[8] = ["shared by two"]
    tags, links = [bytes([page]) for page in range(N)], csr_array([[0.0, 1.0]] * N)
    side = replace(whole.side_a, blocks=blocks, tags=tags, graph=links)
    made = with_short_pages(replace(whole, side_a=side)).side_a
    assert made.blocks[0] == [f"block {n} of 0" for n in range(BLOCKS)]
    assert made.blocks[7:9] == [["shared by two", "own"], ["shared by two"]]
    assert set(made.tags) == {tags[0]}
    assert made.graph.shape == (N, N)
    assert made.graph.nnz == 0
    assert made.lists is None
