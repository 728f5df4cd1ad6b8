"""The pages that take long: each is as large as it should be, and is measured."""

from __future__ import annotations

import pytest

from experiments import worst_pages as experiment
from experiments.worst_pages import cost, main, worst_pages

SIZE = 2_000
STEP = 10
"""Each tenth page is measured by the command: it starts a process for each."""


def test_pages_have_about_the_size() -> None:
    pages = dict(worst_pages(SIZE))
    assert len(pages) > 60
    plain = [page for name, page in pages.items() if "times" not in name]
    assert all(0.5 * SIZE < len(page) < 1.2 * SIZE for page in plain)
    assert all(len(page) > SIZE for name, page in pages.items() if "times" in name)


def test_each_page_is_parsed_and_takes_time() -> None:
    assert [name for name, page in worst_pages(SIZE) if cost(page)[0] <= 0] == []


@pytest.mark.parametrize("options", [[], ["--plain"]])
def test_the_worst_come_first(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    few = list(worst_pages(SIZE))[::STEP]
    monkeypatch.setattr(experiment, "worst_pages", {SIZE: few}.__getitem__)
    main(["--bytes", f"{SIZE}", *options])
    lines = capsys.readouterr().out.splitlines()
    seconds = [float(line.split(" s ")[0]) for line in lines]
    assert seconds == sorted(seconds, reverse=True)
    assert sorted(line.split(" MB  ")[1] for line in lines) == sorted(repr(name) for name, _ in few)
