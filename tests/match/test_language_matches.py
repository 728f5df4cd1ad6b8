"""Every two of several languages are matched in copies of the process; results do not depend on their number."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.dictionaries import write_dictd
from tests.made_sites import write_three_languages
from twinlink.config import Config
from twinlink.ingest.stage import ingest
from twinlink.match import language_matches
from twinlink.match.stage import match
from twinlink.run import Run
from twinlink.rundir.directory import RunDirectory
from twinlink.similarity import lexicon_sets
from twinlink.similarity.installed_dictionaries import installed_dictionaries
from twinlink.similarity.lexicon_sets import RECORD
from twinlink.system import side_by_side
from twinlink.system.workers import worker_processes

CONFIG = Config().override({"langs": ["en", "fr", "de"], "ingest.base_url": "https://www.town.org/"})
FACING = ["en-fr", "en-de", "fr-de"]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunDirectory:
    """A run with the pages of three languages, which are worth a process each."""
    monkeypatch.setattr(side_by_side, "FORK_SECONDS", 1e-6)
    made = RunDirectory.create(tmp_path / "run")
    ingest(made, [write_three_languages(tmp_path / "site", 20)], CONFIG.ingest)
    return made


@pytest.fixture
def matches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], list[tuple[str, int]]]:
    """Return the languages that were matched, and the process that did it."""
    file, really = tmp_path / "matches", language_matches.match_sides

    def match_sides(side_a, side_b, *given):  # type: ignore[no-untyped-def]
        with file.open("a") as lines:
            lines.write(f"{side_a.lang}-{side_b.lang} {os.getpid()}\n")
        return really(side_a, side_b, *given)

    def matched() -> list[tuple[str, int]]:
        lines = [line.split() for line in file.read_text().splitlines()]
        file.unlink()
        return [(langs, int(pid)) for langs, pid in lines]

    monkeypatch.setattr(language_matches, "match_sides", match_sides)
    return matched


def matched_by(n: int, run: RunDirectory, config: Config = CONFIG, on_pages: object = None) -> dict[str, bytes]:
    """Match by a number of cores; return the files."""
    for name in ("signature.json", "sites.json"):
        (run.path / "match" / name).unlink(missing_ok=True)
    with worker_processes(n) as executor:
        match(run, config, on_pages, executor=executor)  # type: ignore[arg-type]
    folder = run.path / "match"
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("n", [2, 3, 8])
def test_copies_of_the_process_find_the_same(
    run: RunDirectory, matches: Callable[[], list[tuple[str, int]]], n: int
) -> None:
    alone = matched_by(1, run)
    assert matches() == [(langs, os.getpid()) for langs in FACING]
    assert len(Run(run.path).pairs) == 60
    assert matched_by(n, run) == alone
    done = matches()
    assert sorted(langs for langs, _ in done) == sorted(FACING)
    assert len({pid for _, pid in done}) == min(n, 3)


def test_two_languages_are_matched_here_and_further_ones_beside_them_in_copies(
    run: RunDirectory, matches: Callable[[], list[tuple[str, int]]]
) -> None:
    two = CONFIG.override({"langs": ["en", "de"]})
    matched_by(2, run, two.override({"match.other_langs": 0}))
    assert matches() == [("en-de", os.getpid())]
    matched_by(2, run, two)
    first, *beside = matches()
    assert first == ("en-de", os.getpid())
    assert sorted(langs for langs, _ in beside) == ["de-fr", "en-fr"]
    assert len({pid for _, pid in beside}) == 2


def test_copies_are_made_only_if_there_is_memory_for_them(
    run: RunDirectory, matches: Callable[[], list[tuple[str, int]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = matched_by(1, run)
    matches()
    monkeypatch.setattr(language_matches, "PAGE_BYTES", 2**40)
    assert matched_by(2, run) == alone
    assert matches() == [(langs, os.getpid()) for langs in FACING]


def test_a_copy_that_is_lost_costs_its_part_only(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    alone, ours, really = matched_by(1, run), os.getpid(), language_matches.match_sides

    def match_sides(*given):  # type: ignore[no-untyped-def]
        if os.getpid() != ours:
            (tmp_path / "lost").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return really(*given)

    monkeypatch.setattr(language_matches, "match_sides", match_sides)
    assert matched_by(2, run) == alone
    assert (tmp_path / "lost").exists()


def test_pages_done_never_decrease_and_steps_are_those_of_this_process(run: RunDirectory) -> None:
    seen: list[tuple[int, int, str]] = []
    matched_by(2, run, on_pages=lambda *step: seen.append(step))
    counts = [done for done, _, _ in seen]
    assert counts == sorted(counts)
    assert counts[-1] == 60
    steps = {step.partition(":")[0] for _, _, step in seen}
    assert steps - {"fr-de"} == {"", "languages", "words of all languages", "en-fr"}  # a copy begins with en-de


@pytest.mark.parametrize("n", [1, 2])
def test_dictionaries_that_copies_use_are_recorded(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, n: int
) -> None:
    folder = tmp_path / "share"
    used = [write_dictd(folder / f"freedict-{name}.index", {"town": "ville"}) for name in ("deu-fra", "eng-deu")]
    index = write_dictd(folder / "freedict-eng-fra.index", {"town": "ville"})
    index.with_suffix(".dict.dz").write_bytes(b"no gzip")
    monkeypatch.setattr(lexicon_sets, "installed_dictionaries", lambda: installed_dictionaries([folder]))
    matched_by(n, run, CONFIG.override({"match.lexicons": ["auto"]}))
    record = json.loads((run.path / "match" / RECORD).read_text())
    assert sorted(record["used"]) == sorted(map(str, used))
    assert [*record["unreadable"]] == [str(index)]
