"""Text files aligned together."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.calling import twinlink
from twinlink.config.align import BitextSettings
from twinlink.errors import InputError
from twinlink.jobs.texts import align_files, listed_texts

ENGLISH = ["The bridge was built in 1901.", "It is open every day.", "The road is closed."]
FRENCH = ["Le pont fut construit en 1901.", "Il est ouvert tous les jours.", "La route est barrée."]


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    """Write two text pairs, the second with a blank line, and their list."""
    (tmp_path / "texts").mkdir()
    for number in (1, 2):
        (tmp_path / f"texts/{number}.en").write_text("\n".join(ENGLISH[: number + 1]) + "\n")
        (tmp_path / f"texts/{number}.fr").write_text("\n" * (number - 1) + "\n".join(FRENCH[: number + 1]) + "\n")
    path = tmp_path / "pairs.tsv"
    path.write_text("en\tfr\ntexts/1.en\ttexts/1.fr\ntexts/2.en\ttexts/2.fr\n")
    return path


def test_names_are_relative_to_the_folder_of_the_list(listed: Path) -> None:
    folder = listed.parent / "texts"
    assert listed_texts(listed) == [(folder / f"{n}.en", folder / f"{n}.fr") for n in (1, 2)]


def test_sentences_and_numbers_of_lines(listed: Path) -> None:
    first, second = align_files(listed_texts(listed), BitextSettings())
    assert [line.rsplit("\t", 1)[0] for line in first.lines("tsv")] == [
        f"{a}\t{b}" for a, b in zip(ENGLISH[:2], FRENCH[:2], strict=True)
    ]
    assert list(second.lines("beads")) == ["[0]:[1]", "[1]:[2]", "[2]:[3]"]
    assert align_files(listed_texts(listed), BitextSettings(min_score=1.0))[0].beads == []


def test_the_command_prints_the_files_of_each_line(listed: Path) -> None:
    folder = listed.parent / "texts"
    done = twinlink("align", listed)
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [row[:4] for row in rows[2:]] == [
        [f"{folder}/2.en", f"{folder}/2.fr", a, b] for a, b in zip(ENGLISH, FRENCH, strict=True)
    ]
    beads = twinlink("align", listed, "--format", "beads").stdout.splitlines()
    assert beads[0] == f"{folder}/1.en\t{folder}/1.fr\t[0]:[0]"
    told = twinlink("align", listed, "--json").object["texts"]
    assert [(text["a"], len(text["pairs"])) for text in told] == [(f"{folder}/1.en", 2), (f"{folder}/2.en", 3)]


def test_what_is_refused(listed: Path) -> None:
    assert "--format tmx: expected beads or tsv for texts" in twinlink("align", listed, "--format", "tmx").stderr
    listed.write_text("texts/1.en\ttexts/1.fr\ntexts/1.fr\ttexts/1.en\n")
    with pytest.raises(InputError, match=r"end in \.en and \.fr"):
        align_files(listed_texts(listed), BitextSettings())
    listed.write_text("texts/1.en\ttexts/none.fr\n")
    assert "none.fr: cannot be read as text" in twinlink("align", listed).stderr
    listed.write_text("one column\n")
    done = twinlink("align", listed)
    assert done.returncode == 2
    assert "twinlink align A.txt B.txt" in done.stderr
    done = twinlink("align", listed.with_name("none.tsv"))
    assert done.returncode == 3
    assert "none.tsv: no such file or folder; expected a run, a text, or a list" in done.stderr


def test_names_without_an_ending_are_no_header(listed: Path) -> None:
    for name, text in (("one", ENGLISH), ("two", FRENCH)):
        (listed.parent / name).write_text("\n".join(text))
    listed.write_text("one\ttwo\n")
    assert listed_texts(listed) == [(listed.parent / "one", listed.parent / "two")]
