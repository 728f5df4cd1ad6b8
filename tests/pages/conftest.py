"""Both ways to gather a page: Python's and the compiled one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from twinlink.pages import libxml2


@pytest.fixture(scope="module", params=["python", "compiled"])
def parser_in(request: pytest.FixtureRequest) -> Iterator[str]:
    """Let the tests of a module run with each; a module scope, since tests with Hypothesis take no other."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "python":
            patch.setattr(libxml2, "compiled_parser", lambda: None)
        yield request.param
