"""Settings for all tests."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import IO, Any

import pytest
import scrapy.core.downloader.handlers.http11  # noqa: F401  (its time grows with the modules that are there: first)
from hypothesis import settings

from tests.browsers import skip_without_browser
from tests.crawlers import Crawlers
from twinlink.compiled import ahead
from twinlink.spiders import crawling

# One core of a busy machine may be slow: no example fails for its time. The gate tries the same examples each time.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, database=None, print_blob=True)
settings.load_profile("local")


LONGEST_ID = 100
"""Characters of a parameter that are part of a test's name; each process sends the names of all tests."""


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name a long text or body by its length; None: as usual."""
    return f"{argname} of {len(val):,}" if isinstance(val, str | bytes) and len(val) > LONGEST_ID else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    skip_without_browser(items)
    for item in items:
        if item.get_closest_marker("xdist_group") is None and shares_a_fixture(item):
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


def shares_a_fixture(item: pytest.Item) -> bool:
    """Tell whether a test needs what is made once for its module: each process that runs such a test would make it."""
    fixtures = getattr(item, "_fixtureinfo", None)
    return fixtures is not None and any(
        made.scope == "module" for same_name in fixtures.name2fixturedefs.values() for made in same_name
    )


@pytest.fixture(scope="session", autouse=True)
def _crawlers() -> Iterator[None]:
    """Fork the processes of crawls, except in tests that replace ``subprocess.Popen``."""
    popen, start, forked = subprocess.Popen, crawling._start, Crawlers()

    def started(log: IO[bytes]) -> Any:
        return forked.start(log) if subprocess.Popen is popen else start(log)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crawling, "_start", started)
        yield
    forked.close()


@pytest.fixture(scope="session", autouse=True)
def _no_helpers() -> Iterator[None]:
    """Commands called here start no processes that compile all kernels, where a test has an empty folder for code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ahead, "start_helpers", lambda n: None)
        yield
