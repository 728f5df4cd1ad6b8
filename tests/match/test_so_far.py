"""Pairs of a site whose match is not done: each call replaces those before; those of finished sites are left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from tests.match.test_stage import write_town
from twinlink.config import Config
from twinlink.ingest.stage import ingest
from twinlink.match import stage as module
from twinlink.match.evidence import Side
from twinlink.match.so_far import keep_so_far, pairs_so_far, read_so_far
from twinlink.match.stage import match
from twinlink.run import Run
from twinlink.rundir.attempts import attempts_at
from twinlink.rundir.directory import RunDirectory


def side(lang: str) -> Side:
    urls = [f"http://town.org/{lang}/{k}" for k in range(5)]
    return Side(lang, np.arange(5) + 100 * (lang == "fr"), urls, (), (), sp.csr_array((5, 5), dtype=np.bool_))


def pairs(*ends: tuple[int, int], probabilities: list[float] | None = None) -> pa.Table:
    rows, columns = (np.array(each, np.int64) for each in zip(*ends, strict=True))
    known = None if probabilities is None else np.array(probabilities)
    return pairs_so_far(side("en"), side("fr"), rows, columns, known)


def test_the_latest_pairs_of_each_two_languages_are_read_the_most_probable_first(tmp_path: Path) -> None:
    with attempts_at(tmp_path, "match") as place:
        keep_so_far(place, "a.org.parquet", "en-fr", lambda: pairs((0, 1)))
        keep_so_far(place, "a.org.parquet", "en-fr", lambda: pairs((0, 0), (1, 2), probabilities=[0.6, 0.9]))
        keep_so_far(place, "a.org.parquet", "en-de", lambda: pairs((4, 4)))
        keep_so_far(place, "b.org.parquet", "en-fr", lambda: pairs((3, 3), probabilities=[0.8]))
        found = read_so_far(tmp_path, tmp_path / "pairs")
        assert found["page_a"].tolist() == [1, 3, 0, 4]
        assert found["page_b"].tolist() == [102, 103, 100, 104]
        assert found["url_b"].tolist()[0] == "http://town.org/fr/2"
        assert found["probability"].isna().tolist() == [False, False, False, True]
    assert len(read_so_far(tmp_path, tmp_path / "pairs")) == 0


def test_those_of_finished_sites_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "pairs").mkdir()
    (tmp_path / "pairs" / "a.org.parquet").touch()
    with attempts_at(tmp_path, "match") as place:
        for site in ("a.org.parquet", "b.org.parquet"):
            keep_so_far(place, site, "en-fr", lambda: pairs((0, 0)))
        assert len(read_so_far(tmp_path, tmp_path / "pairs")) == 1


def test_a_file_that_is_not_whole_is_left_out(tmp_path: Path) -> None:
    with attempts_at(tmp_path, "match") as place:
        keep_so_far(place, "a.org.parquet", "en-fr", lambda: pairs((0, 0)))
        (place / ".so_far" / "a.org.parquet" / "en-de.parquet").write_bytes(b"PAR1")
        assert len(read_so_far(tmp_path, tmp_path / "pairs")) == 1


def test_a_worker_that_was_given_up_makes_no_folder_anew(tmp_path: Path) -> None:
    with attempts_at(tmp_path, "match") as place:
        pass
    with pytest.raises(FileNotFoundError):
        keep_so_far(place, "a.org.parquet", "en-fr", lambda: pairs((0, 0)))


@pytest.mark.parametrize("n_bytes", [0, 2**30])
def test_a_match_shows_each_round_of_large_sites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_bytes: int) -> None:
    """The last round's pairs are those of the result; nothing is left, and the result is that of a match unseen."""
    write_town(tmp_path / "sites" / "www.town.org", 20)
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [tmp_path / "sites"], Config().ingest)
    seen, steps = [], []

    def keep(*args: object) -> None:
        keep_so_far(*args)  # type: ignore[arg-type]
        seen.append(read_so_far(run.path, run.path / ".match.tmp" / "pairs"))

    monkeypatch.setattr(module, "keep_so_far", keep)
    monkeypatch.setattr(module, "STEP_BYTES", n_bytes)
    match(run, Config().override({"langs": ["en", "fr"]}), lambda *step: steps.append(step[2]))
    result = Run(run.path).pairs
    assert bool(seen) == (n_bytes == 0)
    for last in seen[-1:]:
        assert set(zip(last["page_a"], last["page_b"], strict=True)) == set(
            zip(result["page_a"], result["page_b"], strict=True)
        )
    assert any(step.endswith(", 20 pairs so far") for step in steps)
    assert not list(run.path.glob(".match*"))
