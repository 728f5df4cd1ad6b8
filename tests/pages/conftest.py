"""Both ways to gather a page: Python's and the compiled one."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

from twinlink.compiled import Kernel


@pytest.fixture(scope="module", params=["python", "compiled"])
def parser_in(request: pytest.FixtureRequest) -> Iterator[str]:
    """Let the tests of a module run with each; a module scope, since tests with Hypothesis take no other."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernel, "patience", math.inf if request.param == "python" else 0.0)
        yield request.param
