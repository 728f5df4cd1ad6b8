"""Method ``tagaligner``: beads follow the blocks that the tag aligner puts together."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from tests.cli.test_cli import twinlink
from tests.finished import matched_town
from twinlink.align.bead_shapes import SHAPES, BeadShapes
from twinlink.align.knowledge import Knowledge
from twinlink.align.learning import Text, TextPair, prepare_texts
from twinlink.align.stage import align_run
from twinlink.align.tag_aligner import Outline
from twinlink.align.tag_beads import aligned_by_tags, beads_of_blocks, block_pairs
from twinlink.align.tokens import ANY_LANGUAGE
from twinlink.config.align import BitextSettings, TagAlignerSettings
from twinlink.rundir.directory import RunDirectory
from twinlink.tables import SEGMENTS, read_table

LANGS = ("en", "fr")


@given(st.lists(st.integers(0, 3), max_size=6), st.lists(st.integers(0, 3), max_size=6), st.data())
def test_every_sentence_is_in_one_bead_and_stays_in_its_blocks(
    sizes_a: list[int], sizes_b: list[int], data: st.DataObject
) -> None:
    of_a, of_b = (np.repeat(np.arange(len(sizes)), sizes) for sizes in (sizes_a, sizes_b))
    n = data.draw(st.integers(0, min(len(sizes_a), len(sizes_b))))
    chosen = [sorted(data.draw(st.permutations(range(len(sizes))))[:n]) for sizes in (sizes_a, sizes_b)]
    pairs = np.array(chosen, np.int64).T.reshape(-1, 2)
    beads = beads_of_blocks(of_a, of_b, pairs)
    for blocks, first, end, own in ((of_a, 0, 1, 0), (of_b, 2, 3, 1)):
        assert [k for bead in beads.tolist() for k in range(bead[first], bead[end])] == list(range(len(blocks)))
        for bead in beads[(beads[:, 1] > beads[:, 0]) & (beads[:, 3] > beads[:, 2])]:
            assert set(blocks[bead[first] : bead[end]].tolist()) <= set(pairs[:, own].tolist())
    partner = dict(pairs.tolist())
    for i, i_end, j, j_end in beads.tolist():
        if i < i_end and j < j_end:
            assert partner[of_a[i]] == of_b[j]


def test_lengths_alone_decide_where_no_tags_are_known() -> None:
    blocks = ["x" * 300, "x" * 20, "x" * 200], ["y" * 300, "y" * 200]
    found = block_pairs(None, blocks, LANGS, TagAlignerSettings(), ANY_LANGUAGE)
    assert found.tolist() == [[0, 0], [2, 1]]


def test_lengths_may_be_in_words() -> None:
    """One word of 30 letters, and ten of one letter (19 characters), beside two words of 19 characters.

    W_i = W_d = .5, W_s = 1. In characters: the second 0 + .5·30 = 15, the first 11 + .5·19 = 20.5, apart 34. In words:
    the first 1 + .5·10 = 6, the second 8 + .5·1 = 8.5, apart 6.5.
    """
    blocks = ["x" * 30, " ".join("x" * 10)], ["y" * 9 + " " + "y" * 9]
    outlines = Outline(np.array([-1, -1]), np.array([30, 19])), Outline(np.array([-1]), np.array([19]))
    weights = TagAlignerSettings(scaled=False, text_difference=1.0, text_deletion=0.5, text_insertion=0.5)
    assert block_pairs(outlines, blocks, LANGS, weights, ANY_LANGUAGE).tolist() == [[1, 0]]
    in_words = msgspec.structs.replace(weights, unit="words")
    assert block_pairs(outlines, blocks, LANGS, in_words, ANY_LANGUAGE).tolist() == [[0, 0]]


def test_words_do_not_change_the_alignment() -> None:
    """The second block of one page stands first on the other: words would put them together, tags do not."""
    a, b = ["Bridge 1910.", "Garden 1920."], ["Garden 1920.", "Bridge 1910."]
    texts = TextPair(Text(a, "", [0, 1]), Text(b, "", [0, 1]))
    shapes = BeadShapes.of(SHAPES)
    found, _ = aligned_by_tags(
        prepare_texts(texts), Knowledge.empty(len(shapes.names)), shapes, np.array([[0, 0], [1, 1]])
    )
    assert found.beads.tolist() == [[0, 1, 0, 1], [1, 2, 1, 2]]
    assert found.posteriors.tolist() == [1, 1]
    assert (found.per_word < 0).all()  # and say so


@pytest.mark.parametrize("side", ["a", "b", "both"])
def test_pages_without_text_have_no_bead_of_two_sides(side: str) -> None:
    a, b = ([] if side in (name, "both") else ["One.", "Two."] for name in ("a", "b"))
    shapes = BeadShapes.of(SHAPES)
    texts = TextPair(Text(a, "", list(range(len(a)))), Text(b, "", list(range(len(b)))))
    none = np.zeros((0, 2), np.int64)
    found, _ = aligned_by_tags(prepare_texts(texts), Knowledge.empty(len(shapes.names)), shapes, none)
    assert len(found.beads) == len(a) + len(b)
    assert not found.two_sided.any()


@pytest.fixture(scope="module")
def matched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return matched_town(tmp_path_factory.mktemp("tags"), 12)


def test_the_command_makes_tmx_by_tags(matched: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(matched, run)
    done = twinlink("align", run, "--method", "tagaligner", "--format", "tmx")
    assert done.returncode == 0, done.stderr
    segments = read_table(run / "align" / "segments", SEGMENTS).to_pylist()
    good = [row for row in segments if row["verdict"] == "segment"]
    assert len(good) > 15
    years = [[word for word in row[side].replace(".", " ").split() if word.isdigit()]
             for row in good for side in ("source", "target")]  # fmt: skip
    assert years[::2] == years[1::2]
    assert {row["probability"] for row in segments} == {1.0}
    assert len(list(etree.parse(run / "align" / "en-fr.tmx").iter("tu"))) == len(good)
    assert 'method = "tagaligner"' in (run / "config.toml").read_text(encoding="utf-8")
    created = datetime(2026, 1, 1, tzinfo=UTC)
    by_words = align_run(RunDirectory(run), BitextSettings(), created=created)
    assert by_words != align_run(RunDirectory(run), BitextSettings(method="tagaligner"), created=created)


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("--method", "tagaligner", "texts have no tags"),
        ("--cluster", "tcp://one:1", "texts are aligned in this process"),
    ],
)
def test_options_of_runs_are_refused_for_texts(tmp_path: Path, option: str, value: str, reason: str) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("One.\n", encoding="utf-8")
    done = twinlink("align", tmp_path / "a.txt", tmp_path / "b.txt", option, value)
    assert done.returncode != 0
    assert reason in done.stderr
