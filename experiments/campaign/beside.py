"""24 hostile pages and 200 good ones on one server: all good ones are fetched."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, pairwise
from pathlib import Path

from experiments.campaign.case_packed import bombs, heavy_page, members_twice
from experiments.campaign.case_pages import long_bases, many_links, videos
from experiments.campaign.case_talks import ENDLESS, OK, SLOW, WRONG
from experiments.campaign.cases import KEPT, LIMITS
from experiments.campaign.crawled import outcomes
from experiments.campaign.table import Trial
from experiments.campaign.watched import command, watch
from experiments.campaign.web import Answer, Reply, endless, links, page, redirect, serving

__all__ = ["GOOD", "hostile_pages", "try_beside"]

GOOD = tuple(f"/good/{number}.html" for number in range(200))
SETTINGS: Mapping[str, object] = {**LIMITS, "timeout": 6, "max_page_bytes": 10 * 2**20, "max_site_pages": 5_000}
N_HOSTILE = 24


def hostile_pages() -> dict[str, Reply]:
    """Return 24 hostile responses by path."""
    heavy = heavy_page()
    packed, base, many = bombs(200, 30).answers, long_bases().answers, many_links().answers
    found: dict[str, Reply] = {
        **{f"/h/heavy{n}": heavy for n in range(6)},
        **{f"/h{path}": packed[path] for path in ("/gzip", "/gzip-of-gzip", "/br", "/members")},
        "/h/twice": members_twice().answers["/0"],
        **{f"/h/base{n}": base[f"/b{n}"] for n in range(2)},
        "/h/many": many["/many/"],
        **{f"/h/video{n}": videos("chunked").answers[f"/v{n}"] for n in range(2)},
        "/h/slow": SLOW["/body"][0],
        "/h/slow-head": SLOW["/head"][0],
        "/h/endless": ENDLESS["/body"][0],
        "/h/chunks": endless(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"5\r\nhello\r\n" * 500),
        "/h/headers": ENDLESS["/headers"][0],
        "/h/reset": WRONG["/reset"][0],
        "/h/round": redirect("/h/round"),
        "/h/deep": Answer(b"<title>x</title>" + b"<b><a href=/x>" * 250_000),
    }
    assert len(found) == N_HOSTILE
    return found


def try_beside(folder: Path, limit: float = 180.0, tell: Callable[[str], object] = lambda text: None) -> Trial:
    """Crawl the server of all these pages; every ninth link leads to a hostile one."""
    hostile = hostile_pages()

    def answer(path: str) -> Reply:
        if path == "/":
            return links(*_mixed(list(hostile)))
        if path in hostile:
            return hostile[path]
        return page(path) if path in GOOD else Answer(b"none", "404 Not Found", "text/plain")

    moments: list[float] = []
    with serving(answer) as site:
        options = [word for name, value in SETTINGS.items() for word in ("--set", f"crawl.{name}={json.dumps(value)}")]
        # Pages that hostile pages link to are not counted.
        options += ["--include", f"{site.url}({'|'.join([*hostile, *GOOD])})$"]
        ended = watch(command("crawl", f"{site.url}/", "-o", folder, "-q", "--json", *options), limit)
        moments = sorted(site.moments)
        found = outcomes(folder)
        lost = [f"{path}: {found.get(site.url + path)}" for path in GOOD if found.get(site.url + path) != KEPT]
        extra = sum(site.asked[path] - 1 for path in GOOD if site.asked[path])
    for path in hostile:
        tell(f"{path}: {found.get(site.url + path)}")
    gaps = [after - before for before, after in pairwise(moments)]
    fine = ended.in_time and ended.code == 0 and not ended.has_traceback
    name = f"{N_HOSTILE} hostile pages beside {len(GOOD)} good ones"
    return Trial(name, fine, tuple(lost), extra, ended.crawler_peak, max(gaps, default=0.0), ended.seconds)


def _mixed(hostile: list[str]) -> Iterator[str]:
    share = len(GOOD) // len(hostile)
    groups = [GOOD[n * share : (n + 1) * share] for n in range(len(hostile))]
    yield from chain.from_iterable((path, *group) for path, group in zip(hostile, groups, strict=True))
    yield from GOOD[len(hostile) * share :]
