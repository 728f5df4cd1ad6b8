"""The pages that take long: each is as large as it should be, and is measured."""

from __future__ import annotations

import pytest

from experiments.worst_pages import main, worst_pages

SIZE = 2_000


def test_pages_have_about_the_size() -> None:
    pages = dict(worst_pages(SIZE))
    assert len(pages) > 60
    plain = [page for name, page in pages.items() if "times" not in name]
    assert all(0.5 * SIZE < len(page) < 1.2 * SIZE for page in plain)
    assert all(len(page) > SIZE for name, page in pages.items() if "times" in name)


@pytest.mark.parametrize("options", [[], ["--plain"]])
def test_the_worst_come_first(capsys: pytest.CaptureFixture[str], options: list[str]) -> None:
    main(["--bytes", f"{SIZE}", *options])
    seconds = [float(line.split(" s ")[0]) for line in capsys.readouterr().out.splitlines()]
    assert len(seconds) == len(dict(worst_pages(SIZE)))
    assert seconds == sorted(seconds, reverse=True)
