"""Counts over the tables of a match, written by hand, and why a match found no pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from twinlink.match.counts import APART, count_match, why_none
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.signature import Signature
from twinlink.tables import FILTERS, LANGUAGES, REJECTS, Reject, write_table


def write_rejects(folder: Path, *reasons: tuple[str, str]) -> None:
    rows = [Reject(f"http://x.example/{n}", *reason, "")._asdict() for n, reason in enumerate(reasons)]
    write_table(pa.Table.from_pylist(rows, REJECTS), REJECTS, folder / "rejects.parquet")


def write_languages(folder: Path, site: str, langs: Sequence[str]) -> None:
    rows = [{"page_id": n, "lang": lang, "lang_score": 1.0} for n, lang in enumerate(langs)]
    write_table(pa.Table.from_pylist(rows, LANGUAGES), LANGUAGES, folder / "languages" / f"{site}.parquet")


def write_filters(folder: Path, site: str, counts: Mapping[str, int]) -> None:
    rows = [{"site": site, "lang_a": "en", "lang_b": "fr", "filter": name, "n_pairs": n} for name, n in counts.items()]
    write_table(pa.Table.from_pylist(rows, FILTERS), FILTERS, folder / "filters" / f"{site}.parquet")


def ingested(tmp_path: Path, *reasons: tuple[str, str]) -> RunDirectory:
    """Return a run whose stage `ingest` rejected pages for these reasons, and nothing else."""
    run = RunDirectory.create(tmp_path / "run")
    with run.writing(Signature.of("ingest", {}, [])) as folder:
        write_rejects(folder, *reasons)
    return run


def test_counts_of_all_sites_are_added_up(tmp_path: Path) -> None:
    run = ingested(tmp_path, ("ingest", "duplicate"), ("ingest", "duplicate"))
    write_rejects(tmp_path, ("match", "doubtful"), ("match", "doubtful"), ("match", "doubtful"), ("match", "tie"))
    write_languages(tmp_path, "one", ["fr", "en", "en"])
    write_languages(tmp_path, "two", ["en", "und"])
    write_filters(tmp_path, "one", {"length": 5, "kept": 2})
    write_filters(tmp_path, "two", {"length": 4, "kept": 0})
    counts = count_match(run, tmp_path)
    assert counts.n_pages == 5
    assert counts.languages == Counter(en=3, fr=1, und=1)
    assert next(iter(counts.languages)) == "en"
    assert list(counts.rejects.items()) == [
        (("ingest", "duplicate"), 2), (("match", "doubtful"), 3), (("match", "tie"), 1),
    ]  # fmt: skip
    assert counts.filters == {"length": 9, "kept": 2}


def test_reasons_of_a_match_are_not_those_of_ingest(tmp_path: Path) -> None:
    run = ingested(tmp_path, ("ingest", "duplicate"))
    write_rejects(tmp_path, ("match", "doubtful"))
    assert count_match(run, tmp_path).reasons == {"doubtful"}


def test_nothing_is_counted_where_nothing_was_written(tmp_path: Path) -> None:
    run = ingested(tmp_path)
    write_rejects(tmp_path)
    counts = count_match(run, tmp_path)
    assert (counts.n_pages, counts.languages, counts.rejects, counts.filters, counts.reasons) == (0, {}, {}, {}, set())


@pytest.mark.parametrize(
    ("languages", "reasons", "why"),
    [
        ([], [], "no page was kept"),
        (["und", "mul"], [], "the language of no page could be determined"),
        (["en"], [], "all pages are in one language"),
        (["en", "und"], [], "all pages with a known language are in one language"),
        (["en", "mul"], ["doubtful"], "all pages with a known language are in one language"),
        (["en", "ko"], ["doubtful"], "no page is in fr (French), of langs en,fr"),
        (["en", "fr"], [], "no page of one wanted language has a partner in another"),
        (["en", "fr"], ["only-language", "no-language"], APART),
        (["en", "fr"], ["only-language", "no-candidate"], "no page of one wanted language has a partner in another"),
        (["en", "fr"], ["no-candidate", "tie"], "no page of one wanted language has a partner in another"),
        (
            ["en", "fr"],
            ["over-limit", "no-candidate"],
            "every pair that was found is left out (match.min_score, match.max_pairs)",
        ),
        (
            ["en", "fr", "ko"],
            ["over-limit", "doubtful"],
            "every pair that was found is below the limit (match.min_probability, match.min_precision)",
        ),
    ],
)
def test_the_first_reason_that_holds_is_why_there_is_no_pair(
    languages: Sequence[str], reasons: Sequence[str], why: str
) -> None:
    assert why_none(languages, ["en", "fr"], reasons) == why
