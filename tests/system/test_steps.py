"""Steps of a long task, as this process and as others see them."""

from __future__ import annotations

from pathlib import Path

import pytest

from twinlink.system.steps import NO_STEPS, Steps, read_steps, steps_to_file


def test_a_part_of_a_part_is_a_share_of_the_whole() -> None:
    seen: list[tuple[float, str]] = []
    steps = Steps(lambda share, step: seen.append((share, step)))
    steps.part(0.5, 1.0).part(0.0, 0.5)(1.0, "words")
    assert seen == [(0.75, "words")]


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
