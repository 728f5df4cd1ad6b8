"""Crawling again: unchanged pages are not sent, what has changed is found, what is gone is dropped, no kill harms."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from fastwarc.warc import WarcRecordType
from warcio.archiveiterator import ArchiveIterator
from warcio.cli import main as warcio_main

from tests.loopback import Answer, Server, serving
from twinlink.config import CrawlSettings
from twinlink.errors import MissingStageError
from twinlink.spiders.crawling import CrawlProgress, crawl
from twinlink.spiders.frontier import LEDGER_NAME, Frontier, FrontierReader

SETTINGS = CrawlSettings(retries=0, browser="never")
AGAIN = msgspec.structs.replace(SETTINGS, again=True)
DATE = "Sat, 03 Jan 2026 00:00:00 GMT"
LATER = "Sun, 04 Jan 2026 00:00:00 GMT"
IDENTICAL = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"


def page(text: str, *hrefs: str, **headers: str) -> Answer:
    body = f"<p>{text}" + "".join(f"<p><a href='{href}'>{href}</a>" for href in hrefs)
    return Answer(body.encode(), headers={name.replace("_", "-"): value for name, value in headers.items()})


KINDS = ("etag", "dated", "both", "plain")
"""Servers that give an ETag, Last-Modified, both, or neither."""


def kinds(version: int) -> dict[str, Answer]:
    """Pages of every kind of server, unchanged and changed ones."""
    pages = {}
    for changed in (False, True):
        v = version if changed else 1
        name = "changed" if changed else "same"
        tag, date = f'W/"{name}{v}"', DATE if v == 1 else LATER
        headers = {"etag": {"ETag": tag}, "dated": {"Last_Modified": date}, "plain": {}}
        headers["both"] = {**headers["etag"], **headers["dated"]}
        for kind in KINDS:
            pages[f"/{name}-{kind}"] = page(f"{name} {v}", *([f"/new-{kind}"] if v > 1 else []), **headers[kind])
    return pages


@dataclass
class Site:
    """What a server has; it can be changed between two crawls."""

    pages: dict[str, Answer | None]
    seen: list[str] = field(default_factory=list)

    def answer(self, path: str) -> Answer | None:
        return self.pages.get(path, Answer(b"<p>not found", status=404))


def first_site() -> dict[str, Answer | None]:
    pages = kinds(1)
    others = ["/gone", "/taken", "/moved", "/back", "/broken", "/dropped", "/hidden", "/old"]
    return {
        "/": page("start", *pages, *others, ETag='"start"'),
        **pages,
        **{name: page(name, ETag=f'"{name}"') for name in others},
        "/back": Answer(b"<p>not yet", status=404),
        "/old": Answer(status=301, headers={"Location": "/same-etag"}),
    }


def second_site() -> dict[str, Answer | None]:
    return {
        **first_site(),
        **kinds(2),
        **{f"/new-{kind}": page(f"new {kind}") for kind in KINDS},
        "/gone": Answer(b"<p>not found", status=404),
        "/taken": Answer(b"<p>gone", status=410),
        "/moved": Answer(status=301, headers={"Location": "/same-etag"}),
        "/back": page("back"),
        "/broken": Answer(b"<p>later", status=500),
        "/dropped": None,
        "/hidden": Answer(b"<meta name=robots content=noindex><p>hidden"),
    }


class Twice(msgspec.Struct, frozen=True):
    folder: Path
    site: Server
    first: CrawlProgress
    second: CrawlProgress
    asked: list[tuple[str, str | None, str | None]]
    """By the second crawl."""

    def archives(self) -> list[Path]:
        return sorted((self.folder / "warc").iterdir())


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twice]:
    folder = tmp_path_factory.mktemp("twice")
    site = Site(first_site())
    with serving(site.answer) as server:
        first = crawl([server.url], folder, SETTINGS)
        n_asked = len(server.conditions)
        site.pages = second_site()
        second = crawl([], folder, AGAIN)
        yield Twice(folder, server, first, second, server.conditions[n_asked:])


def records(path: Path, *kinds: str) -> dict[str, tuple[str, dict[str, str], str, bytes]]:
    """Return the records of some kinds by the path of their address: kind, headers, HTTP status, payload."""
    found = {}
    with path.open("rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            if record.rec_type in kinds:
                target = record.rec_headers["WARC-Target-URI"]
                status = record.http_headers.get_statuscode()
                body = record.raw_stream.read()
                found["/" + target.split("/", 3)[3]] = (record.rec_type, dict(record.rec_headers.headers), status, body)
    return found


def test_pages_are_asked_for_with_what_the_server_gave(twice: Twice) -> None:
    asked = {path: conditions for path, *conditions in twice.asked}
    assert asked["/same-etag"] == ['W/"same1"', None]
    assert asked["/same-dated"] == [None, DATE]
    assert asked["/same-both"] == ['W/"same1"', DATE]
    assert asked["/same-plain"] == asked["/robots.txt"] == asked["/new-etag"] == [None, None]
    assert asked["/changed-etag"] == ['W/"changed1"', None]
    # A connection that breaks off is tried once more by Twisted: the server may have closed it while it was idle.
    assert {path for path, n in Counter(path for path, *_ in twice.asked).items() if n > 1} <= {"/dropped"}


def test_records_say_what_was_found(twice: Twice) -> None:
    first, second = (records(path, "response", "revisit") for path in twice.archives())
    for path, profile in (
        *((f"/same-{kind}", NOT_MODIFIED) for kind in ("etag", "dated", "both")),
        ("/same-plain", IDENTICAL),
        ("/", NOT_MODIFIED),
    ):
        kind, fields, status, body = second[path]
        assert (kind, fields["WARC-Profile"], body) == ("revisit", profile, b"")
        assert status == ("304" if profile == NOT_MODIFIED else "200")
        assert fields["WARC-Refers-To-Target-URI"] == fields["WARC-Target-URI"]
        assert fields["WARC-Refers-To-Date"] == first[path][1]["WARC-Date"]
        assert fields["WARC-Payload-Digest"] == first[path][1]["WARC-Payload-Digest"]
    for kind in KINDS:
        assert second[f"/changed-{kind}"][0] == second[f"/new-{kind}"][0] == "response"
        assert second[f"/changed-{kind}"][3] == second_site()[f"/changed-{kind}"].body  # type: ignore[union-attr]
    assert Counter(kind for kind, *_ in second.values())["revisit"] == 5


def test_archives_are_sound(twice: Twice) -> None:
    assert len(twice.archives()) == 2
    for path in twice.archives():
        with pytest.raises(SystemExit) as done:
            warcio_main(["check", str(path)])
        assert not done.value.code


def test_another_library_reads_the_same(twice: Twice) -> None:
    path = twice.archives()[1]
    mine = records(path, "revisit")
    with path.open("rb") as file:
        fast = {
            "/" + record.headers["WARC-Target-URI"].split("/", 3)[3]: dict(record.headers)
            for record in FastIterator(file, record_types=WarcRecordType.revisit, verify_digests=False)
        }
    assert fast.keys() == mine.keys()
    for name, fields in fast.items():
        for key in ("WARC-Profile", "WARC-Refers-To-Date", "WARC-Payload-Digest", "WARC-Date"):
            assert fields[key] == mine[name][1][key]


def test_pages_that_are_gone_are_reported(twice: Twice) -> None:
    rejected = {
        reject.url.removeprefix(twice.site.url): reject.reason for reject in FrontierReader(twice.folder).rejects()
    }
    assert rejected == {"/gone": "http-404", "/taken": "http-410", "/hidden": "noindex"}


def test_counts(twice: Twice) -> None:
    n_first = len(first_site()) - 2  # /back and /old
    assert (twice.first.fetched, twice.first.redirects, twice.first.rejected, twice.first.again) == (n_first, 1, 1, {})
    # Without /gone, /taken, /hidden, /moved; /broken and /dropped stay what they were.
    assert twice.second.fetched == n_first - 4 + 1 + len(KINDS)
    again = {"unchanged": 5, "changed": 4, "new": 5, "gone": 4, "kept": 2, "open": 0}
    assert twice.second.again == FrontierReader(twice.folder).again() == again
    report = json.loads((twice.folder / "crawl.json").read_text())
    assert (report["visit"], report["again"], report["end"]) == (2, again, "complete")
    assert FrontierReader(twice.folder).report()["pages"] == twice.second.fetched
    assert FrontierReader(twice.folder).starts() == [twice.site.url + "/"]


def test_a_third_time(twice: Twice, tmp_path: Path) -> None:
    """Unchanged pages refer to where their body lies, not to the visit before; nothing else is left of that one."""
    site = Site(first_site())
    with serving(site.answer) as server:
        crawl([server.url], tmp_path, SETTINGS)
        crawl([], tmp_path, AGAIN)
        progress = crawl([], tmp_path, AGAIN)
    assert progress.again == {"unchanged": progress.fetched, "changed": 0, "new": 0, "gone": 0, "kept": 0, "open": 0}
    first, second, third = (records(path, "response", "revisit") for path in sorted((tmp_path / "warc").iterdir()))
    for path in ("/same-etag", "/same-plain"):
        assert second[path][1]["WARC-Refers-To-Date"] == first[path][1]["WARC-Date"]
        assert third[path][1]["WARC-Refers-To-Date"] == first[path][1]["WARC-Date"]


def test_without_being_asked_to_nothing_is_done_again(tmp_path: Path) -> None:
    site = Site(first_site())
    with serving(site.answer) as server:
        crawl([server.url], tmp_path, SETTINGS)
        before = list(server.log)
        assert crawl([server.url], tmp_path, SETTINGS).again == {}
        assert server.log == before


def test_a_first_crawl_that_is_asked_to_repeat_one_is_a_first_crawl(tmp_path: Path) -> None:
    with serving(Site(first_site()).answer) as server:
        assert crawl([server.url], tmp_path, AGAIN).again == {}
        assert max(server.fetched().values()) == 1
    with pytest.raises(MissingStageError, match="no crawl here"):
        crawl([], tmp_path / "none", AGAIN)


def test_a_site_that_is_down_loses_nothing(tmp_path: Path) -> None:
    site = Site(first_site())
    with serving(site.answer) as server:
        first = crawl([server.url], tmp_path, SETTINGS)
    rejects = list(FrontierReader(tmp_path).rejects())
    second = crawl([], tmp_path, AGAIN)
    assert second.fetched == second.again["kept"] == first.fetched
    assert {reject.url for reject in FrontierReader(tmp_path).rejects()} > {
        reject.url for reject in rejects
    }  # the redirect


def test_old_pages_come_before_new_ones_where_there_is_a_limit(tmp_path: Path) -> None:
    site = Site(first_site())
    with serving(site.answer) as server:
        n_pages = crawl([server.url], tmp_path, SETTINGS).fetched
        site.pages = second_site() | {name: first_site()[name] for name in ("/gone", "/taken", "/hidden", "/moved")}
        site.pages["/back"] = Answer(status=404)
        crawl([], tmp_path, msgspec.structs.replace(AGAIN, max_pages=n_pages))
    assert FrontierReader(tmp_path).again() == {"unchanged": 9, "changed": 4, "new": 0, "gone": 0, "kept": 2, "open": 0}
    assert FrontierReader(tmp_path).summary().reasons == {
        "http-404": 1,
        "page-limit": 1 + len(KINDS),
    }  # and the redirect


N_PAGES = 40
ALL = {"/", *(f"/p/{n}" for n in range(N_PAGES))}


def numbered(path: str) -> Answer:
    n = 0 if path == "/" else int(path[3:])
    time.sleep(0.005)
    return page(path, *(f"/p/{target % N_PAGES}" for target in (3 * n + 1, 3 * n + 2, 3 * n + 3)), ETag=f'"{n}"')


SCRIPT = """
import json, sys, msgspec
from pathlib import Path
from twinlink.config import CrawlSettings
from twinlink.spiders.crawling import crawl
starts, folder, settings = json.loads(sys.argv[1])
crawl(starts, Path(folder), msgspec.convert(settings, CrawlSettings))
"""


def test_killed_while_it_asks_again_it_loses_nothing(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(AGAIN, concurrency=3)
    moments = sorted(random.Random(2026).sample(range(1, N_PAGES), 3))
    with serving(numbered) as site:
        crawl([site.url], tmp_path, SETTINGS)
        before = len(site.log)
        job = json.dumps([[], str(tmp_path), msgspec.to_builtins(settings)])
        for moment in moments:
            parent = subprocess.Popen([sys.executable, "-c", SCRIPT, job], start_new_session=True)
            while sum(path != "/robots.txt" for path in site.log[before:]) < moment and parent.poll() is None:
                time.sleep(0.001)
            os.killpg(parent.pid, signal.SIGKILL)
            assert parent.wait() == -signal.SIGKILL
            assert list(FrontierReader(tmp_path).rejects()) == []  # the page of every address holds on
        progress = crawl([], tmp_path, settings)
        asked = Counter(path for path in site.log[before:] if path not in ("/robots.txt", "/sitemap.xml"))
    assert progress.again == {"unchanged": len(ALL), "changed": 0, "new": 0, "gone": 0, "kept": 0, "open": 0}
    assert set(asked) == ALL
    assert sum(asked.values()) - len(ALL) <= settings.concurrency * len(moments)
    found: Counter[str] = Counter()
    for path in sorted((tmp_path / "warc").iterdir()):
        with pytest.raises(SystemExit) as done:
            warcio_main(["check", str(path)])
        assert not done.value.code
        found.update(records(path, "revisit").keys())
    assert found == Counter(ALL)  # cut back to what was booked: each once


def test_archives_that_were_lost_are_fetched_whole(tmp_path: Path) -> None:
    with serving(numbered) as site:
        crawl([site.url], tmp_path, SETTINGS)
        crawl([], tmp_path, AGAIN)
        (tmp_path / "warc" / "crawl-00001.warc.gz").unlink()
        progress = crawl([site.url], tmp_path, SETTINGS)
        assert (progress.fetched, progress.queued) == (len(ALL), 0)
        last = tmp_path / "warc" / "crawl-00001.warc.gz"  # the name is free again
        assert records(last, "response").keys() >= ALL
        crawl([], tmp_path, AGAIN)  # and they refer to where they lie now
    newest = max((tmp_path / "warc").iterdir())
    dates = {name: fields["WARC-Date"] for name, (_, fields, *_) in records(last, "response").items()}
    refers = {name: fields["WARC-Refers-To-Date"] for name, (_, fields, *_) in records(newest, "revisit").items()}
    assert refers == {name: dates[name] for name in ALL}


def test_a_stopped_crawl_goes_on_first(tmp_path: Path) -> None:
    with serving(numbered) as site:
        crawl([site.url], tmp_path, msgspec.structs.replace(SETTINGS, max_pages=5))
        with closing(Frontier(tmp_path / LEDGER_NAME)) as frontier:
            frontier._db.execute("DELETE FROM notes WHERE name = 'finished'")
        assert crawl([], tmp_path, AGAIN).again == {}
        assert site.fetched() == Counter(ALL)


def test_a_server_that_says_unmodified_unasked_loses_nothing(tmp_path: Path) -> None:
    """It was given no ETag and no date to compare with; so it cannot know, but the page that is there holds on."""
    site = Site({"/": page("start", "/a"), "/a": page("a")})
    with serving(site.answer) as server:
        crawl([server.url], tmp_path, SETTINGS)
        site.pages = {"/": page("start", "/a"), "/a": Answer(status=304)}
        progress = crawl([], tmp_path, AGAIN)
        assert (progress.fetched, progress.again["kept"], progress.again["gone"]) == (2, 1, 0)
        assert list(FrontierReader(tmp_path).rejects()) == []
        site.pages = {"/": page("start", "/a"), "/a": Answer(status=404)}
        assert crawl([], tmp_path, AGAIN).again["gone"] == 1


def test_another_site_is_found_by_links_of_pages_that_have_not_changed(tmp_path: Path) -> None:
    """Links off the sites are not kept; so pages are asked for whole once the sites are others."""
    with serving(lambda path: page(path, ETag='"o"'), host="127.0.0.2") as other:
        site = Site({"/": page("start", f"{other.url}/linked", ETag='"x"')})
        with serving(site.answer) as server:
            crawl([server.url], tmp_path, SETTINGS)
            assert other.log == []
            n_asked = len(server.conditions)
            progress = crawl([server.url, other.url], tmp_path, AGAIN)
            assert set(other.fetched()) == {"/", "/linked"}
            assert progress.again == {"unchanged": 1, "changed": 0, "new": 2, "gone": 0, "kept": 0, "open": 0}
            assert not any(any(conditions) for _, *conditions in server.conditions[n_asked:])
            n_asked = len(server.conditions)
            assert crawl([], tmp_path, AGAIN).again["unchanged"] == 3
            assert ("/", '"x"', None) in server.conditions[n_asked:]  # the sites are the same again


def test_what_is_excluded_since_is_not_asked_for_and_its_page_holds_on(tmp_path: Path) -> None:
    site = Site({"/": page("start", "/a", "/b"), "/a": page("a"), "/b": page("b")})
    with serving(site.answer) as server:
        crawl([server.url], tmp_path, SETTINGS)
        n_asked = len(server.log)
        progress = crawl([], tmp_path, msgspec.structs.replace(AGAIN, exclude=("/b",)))
        assert "/b" not in server.log[n_asked:]
        assert (progress.fetched, progress.rejected, progress.again["open"]) == (3, 0, 1)
        assert list(FrontierReader(tmp_path).rejects()) == []
        assert crawl([], tmp_path, AGAIN).again["unchanged"] == 3
