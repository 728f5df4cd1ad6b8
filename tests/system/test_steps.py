"""Steps of a long task, as this process and as others see them."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from twinlink.system.side_by_side import forked, on_cores
from twinlink.system.steps import NO_STEPS, Steps, read_steps, steps_to_file


def test_a_part_of_a_part_is_a_share_of_the_whole() -> None:
    seen: list[tuple[float, str]] = []
    steps = Steps(lambda share, step: seen.append((share, step)))
    steps.part(0.5, 1.0).part(0.0, 0.5)(1.0, "words")
    assert seen == [(0.75, "words")]


def test_a_copy_of_the_process_reports_no_steps_but_keeps_results() -> None:
    """What a copy does to the lists of this process is not seen; so both write to a pipe."""
    read, end = os.pipe()

    def write(text: str) -> None:
        os.write(end, f"{text} ".encode())

    steps = Steps(lambda share, step: write(step), keep=lambda name, make: write(f"{name}={make()}"))
    steps = steps.of_this_process()

    def task(name: str) -> None:
        steps.part(0.5, 1.0)(0.0, name)
        steps.keep(name, lambda: 1)

    with on_cores(2):
        forked([partial(task, "here"), partial(task, "copy")], seconds=1)
    os.close(end)
    with os.fdopen(read) as seen:
        assert sorted(seen.read().split()) == ["copy=1", "here", "here=1"]


def test_a_file_is_gone_when_its_task_ends_or_fails(tmp_path: Path) -> None:
    def task() -> None:
        with steps_to_file(tmp_path, "a") as steps:
            steps(0.5, "round 1 of 4")
            assert read_steps(tmp_path) == {"a": (0.5, "round 1 of 4")}
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        task()
    assert read_steps(tmp_path) == {}


def test_two_attempts_at_a_task_do_not_hinder_each_other(tmp_path: Path) -> None:
    with steps_to_file(tmp_path, "a") as late, steps_to_file(tmp_path, "a") as steps:
        late(0.25, "languages")
        steps(0.5, "words")
        assert read_steps(tmp_path) == {"a": (0.5, "words")}
    assert read_steps(tmp_path) == {}


def test_a_name_that_is_not_written_yet_is_no_task(tmp_path: Path) -> None:
    with steps_to_file(tmp_path, "a"):
        (tmp_path / ".steps" / "a.tmp").write_text("0.5 words")
        assert read_steps(tmp_path) == {}
    assert read_steps(tmp_path / "nowhere") == {}
    NO_STEPS.part(0.0, 1.0)(0.0, "nothing")
