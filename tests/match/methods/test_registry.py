"""The registry of methods: what it says of each is what its function takes and returns."""

from __future__ import annotations

from inspect import signature
from typing import get_args

import pytest

from twinlink.config.match import MethodName
from twinlink.match.methods.registry import METHODS


@pytest.mark.parametrize("name", METHODS)
def test_a_method_takes_what_the_registry_says(name: str) -> None:
    method = METHODS[name]
    takes = list(signature(method.load()).parameters)
    words = [] if method.reads_shapes else ["words"]
    steps = ["steps"] if method.reports_steps else []
    assert takes == ["side_a", "side_b", *words, "between", "settings", *steps]


def test_every_method_of_the_settings_is_registered() -> None:
    assert sorted(METHODS) == sorted(get_args(MethodName))
