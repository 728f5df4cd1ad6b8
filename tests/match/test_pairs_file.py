"""The list of pairs: its order, and when it replaces that of an earlier match."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from tests.match.test_counts import ingested, write_languages, write_rejects
from twinlink.config import Config
from twinlink.errors import EmptyMatchError
from twinlink.match.pairs_file import conclude, n_pairs, write_pairs_file
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.signature import Signature
from twinlink.tables import PAIRS, write_table

CONFIG = Config().override({"langs": ["en", "fr"], "match.max_pairs": 7})

Row = tuple[str, float | None, float]
"""First address, probability, score."""
ROWS: tuple[Row, ...] = (("/b", 0.5, 0.25), ("/d", None, 1.0), ("/c", 0.5, 0.75), ("/a", 0.5, 0.25), ("/e", 0.75, 0.0))


def write_pairs(folder: Path, site: str, *rows: Row) -> None:
    """Write pairs whose other columns are empty."""
    empty = {field.name: "" if field.type == pa.string() else 0 for field in PAIRS if not field.nullable}
    given = [{**empty, "url_a": url, "probability": chance, "score": score} for url, chance, score in rows]
    write_table(pa.Table.from_pylist(given, PAIRS), PAIRS, folder / "pairs" / f"{site}.parquet")


def match(run: RunDirectory, name: str, *rows: Row) -> None:
    """Write a match that found these pairs, or why it found none: every page is in English."""
    with run.writing(Signature.of("match", {"name": name}, [])) as folder:
        write_pairs(folder, "one", *rows)
        write_languages(folder, "one", ["en", "en"])
        write_rejects(folder, ("match", "only-language"))
        conclude(run, folder, CONFIG)


def listed(file: Path) -> list[str]:
    return [line.split("\t")[0] for line in file.read_text().splitlines()]


def test_the_most_probable_pairs_come_first(tmp_path: Path) -> None:
    """Then those of higher score, then by address; those without a probability are the last."""
    write_pairs(tmp_path, "one", *ROWS[:3])
    write_pairs(tmp_path, "two", *ROWS[3:])
    write_pairs_file(tmp_path, tmp_path / "pairs.tsv")
    assert listed(tmp_path / "pairs.tsv") == ["url_a", "/e", "/c", "/a", "/b", "/d"]
    assert n_pairs(tmp_path) == 5


def test_a_match_with_pairs_is_listed_and_its_settings_are_remembered(tmp_path: Path) -> None:
    run = ingested(tmp_path)
    match(run, "first", *ROWS)
    assert len(listed(run.pairs_file)) == 1 + len(ROWS)
    assert Config.load(run.config_file).match.max_pairs == 7
    match(run, "second", ROWS[0])
    assert listed(run.pairs_file) == ["url_a", "/b"]


def test_a_first_match_without_pairs_is_kept_but_not_its_settings(tmp_path: Path) -> None:
    run = ingested(tmp_path)
    match(run, "first")
    assert listed(run.pairs_file) == ["url_a"]
    assert run.read_signature("match") is not None
    assert not run.config_file.exists()


def test_a_match_without_pairs_replaces_no_pairs(tmp_path: Path) -> None:
    run = ingested(tmp_path)
    match(run, "first", *ROWS[:2])
    before = run.read_signature("match"), run.pairs_file.read_bytes()
    with pytest.raises(EmptyMatchError) as caught:
        match(run, "second")
    assert (run.read_signature("match"), run.pairs_file.read_bytes()) == before
    error = caught.value
    assert str(error) == "0 pairs: all pages are in one language. The run keeps its 2 pairs"
    assert (error.run, error.why) == (run.path, "all pages are in one language")
    assert (error.counts.n_pages, error.counts.reasons) == (2, {"only-language"})


def test_a_match_that_cannot_be_read_is_replaced(tmp_path: Path) -> None:
    run = ingested(tmp_path)
    match(run, "first", *ROWS)
    (run.path / "match" / "pairs" / "one.parquet").write_bytes(b"damaged")
    match(run, "second")
    assert listed(run.pairs_file) == ["url_a"]
