"""The fuzzing program: its inputs are reproducible and broken, and it tells which one failed."""

from __future__ import annotations

import json

import pytest

from experiments import fuzz_pages
from experiments.fuzz_pages import broken_page, fuzz, main


def test_an_input_depends_on_its_number_and_the_seed_alone() -> None:
    assert broken_page(7, 1) == broken_page(7, 1)
    inputs = {broken_page(number, seed) for number in range(50) for seed in (1, 2)}
    assert len(inputs) > 90


def test_some_inputs_pass(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--inputs", "300", "--first", "5"])
    found = json.loads(capsys.readouterr().out)
    assert found["inputs"] == 300
    assert found["bytes"] > 300
    assert 5 <= found["slowest_input"] < 305


def test_a_failure_names_its_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(body: bytes, *_args: str) -> None:
        if body == broken_page(3, 1)[0]:
            raise ValueError("no")

    monkeypatch.setattr(fuzz_pages, "parse_page", fail)
    monkeypatch.setattr(fuzz_pages, "check", lambda page: None)
    with pytest.raises(RuntimeError, match="input 3 of seed 1"):
        fuzz(0, 5, 1)
