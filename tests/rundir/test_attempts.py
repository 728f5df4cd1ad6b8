"""Attempts of workers: what is taken, what stays behind, and that the folder of an earlier call never comes back."""

from __future__ import annotations

from pathlib import Path

import pytest

from twinlink.rundir.attempts import attempts_at, new_attempt, take_attempt


def write(attempt: Path, table: str, name: str) -> None:
    (attempt / table).mkdir(exist_ok=True)
    (attempt / table / name).write_text(f"{table} {name}")


def test_the_tables_of_an_attempt_are_taken_and_what_it_did_not_finish_is_not(tmp_path: Path) -> None:
    (tmp_path / "stage" / "pairs").mkdir(parents=True)
    with attempts_at(tmp_path, "match") as place:
        one, other = new_attempt(place), new_attempt(place)
        for attempt in (one, other):
            write(attempt, "pairs", "a.org.parquet")
        write(one, "links", "a.org.parquet")
        write(one, "pairs", "b.org.parquet.12ab.tmp")
        take_attempt(one, tmp_path / "stage")
        assert other.is_dir()
        assert not one.exists()
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert found == {"stage/pairs/a.org.parquet", "stage/links/a.org.parquet"}


def test_an_attempt_of_an_earlier_call_is_refused(tmp_path: Path) -> None:
    with attempts_at(tmp_path, "match") as earlier:
        pass
    with attempts_at(tmp_path, "match") as place:
        assert place != earlier
        with pytest.raises(FileNotFoundError):
            new_attempt(earlier)
        assert not list(place.iterdir())


def test_what_a_killed_call_has_left_is_removed(tmp_path: Path) -> None:
    left = tmp_path / ".match.parts" / "0123" / "4567" / "pairs" / "a.org.parquet"
    left.parent.mkdir(parents=True)
    left.touch()
    with attempts_at(tmp_path, "match") as place:
        assert [path.name for path in (tmp_path / ".match.parts").iterdir()] == [place.name]
    assert not list(tmp_path.iterdir())
