"""The ledger: what is booked stays booked, what is in flight is queued again, and nothing disappears."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy import Request

from twinlink.config import CrawlSettings
from twinlink.errors import MissingStageError, RunError
from twinlink.spiders.frontier import (
    LEDGER_NAME,
    SAME_PAGE,
    SITEMAP_KEY,
    SPARE_PAGES,
    Body,
    Budget,
    Counts,
    Frontier,
    FrontierEntry,
    FrontierReader,
    Outcome,
    so_far,
)
from twinlink.spiders.frontier.partners import OF_SITEMAPS
from twinlink.spiders.scheduler import SqliteScheduler
from twinlink.spiders.traps import form
from twinlink.tables import Reject

DONE = Outcome("done", status=200, bytes=10)


def page(name: str, depth: int = 0, chain: int = 0, host: str = "a.org", reason: str = "") -> FrontierEntry:
    url = f"http://{host}/{name}"
    return FrontierEntry(url, url, host, depth, chain, 0, reason)


def names(entries: list[FrontierEntry]) -> list[str]:
    return [entry.url.rpartition("/")[2] for entry in entries]


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Frontier]:
    with closing(Frontier(tmp_path / LEDGER_NAME)) as ledger:
        yield ledger


def seeded(ledger: Frontier, *entries: FrontierEntry, max_depth: int = 50, max_chain: int = 30) -> Frontier:
    ledger.seed(entries, max_depth, max_chain)
    return ledger


def drain(ledger: Frontier, per_host: int = 100) -> list[FrontierEntry]:
    return list(iter(lambda: ledger.take(per_host), None))


def test_take_is_breadth_first_then_in_order(ledger: Frontier) -> None:
    seeded(ledger, page("start"))
    start = ledger.take(1)
    assert start is not None
    ledger.settle(start, DONE, [page("deep", 2), page("b", 1), page("a", 1)])
    assert names(drain(ledger)) == ["b", "a", "deep"]


def test_a_host_has_no_more_than_its_share_in_flight_and_the_idlest_comes_first(ledger: Frontier) -> None:
    seeded(ledger, page("1"), page("2"), page("3"), page("x", host="b.org"))
    assert [entry.host for entry in drain(ledger, per_host=2)] == ["a.org", "b.org", "a.org"]
    assert ledger.counts() == Counts(queued=1, flight=3)


def test_a_key_is_queued_once(ledger: Frontier) -> None:
    seeded(ledger, page("1"), page("1"))
    start = ledger.take(9)
    assert start is not None
    ledger.settle(start, DONE, [page("1", 1), page("2", 1), page("2", 1)])
    assert names(drain(ledger)) == ["2"]


def test_flight_is_queued_again_and_settled_stays_settled_after_a_kill(tmp_path: Path) -> None:
    killed = seeded(Frontier(tmp_path / LEDGER_NAME), page("1"), page("2"), page("3"))
    first, second = killed.take(9), killed.take(9)
    assert first is not None
    assert second is not None
    killed.settle(first, DONE, [page("4", 1)])
    killed.take(9)  # not committed
    killed._db.close()  # as a kill leaves it: no roll-back, no check point
    with closing(Frontier(tmp_path / LEDGER_NAME)) as ledger:
        assert ledger.counts() == Counts(queued=3, done=1, bytes=10)
        assert names(drain(ledger)) == ["2", "3", "4"]


def test_links_and_outcome_are_one_transaction(ledger: Frontier) -> None:
    seeded(ledger, page("1"))
    start = ledger.take(9)
    assert start is not None

    def links() -> Iterator[FrontierEntry]:
        yield page("2", 1)
        raise OSError("the machine went down here")

    with pytest.raises(OSError, match="went down"):
        ledger.settle(start, DONE, links())
    ledger._db.execute("ROLLBACK")
    assert ledger.counts() == Counts(queued=1)


def test_a_page_dropped_as_too_deep_is_queued_when_a_shorter_way_is_found(ledger: Frontier) -> None:
    seeded(ledger, page("1"), page("2"))
    first, second = drain(ledger)
    ledger.settle(
        first,
        DONE,
        [page("deep", 51, reason="depth"), page("month", 3, 31, reason="trap"), page("x.pdf", reason="not-html")],
    )
    assert ledger.counts().rejected == 3
    ledger.settle(second, DONE, [page("deep", 1), page("month", 1), page("x.pdf", 1)])
    assert names(drain(ledger)) == ["deep", "month"]
    assert ledger.counts().rejected == 1


def test_higher_limits_requeue_addresses_dropped_by_lower_ones(ledger: Frontier) -> None:
    seeded(ledger, page("1"))
    (start,) = drain(ledger)
    dropped = [page("deep", 3, reason="depth"), page("deeper", 4, reason="depth"), page("m", 1, 31, reason="trap")]
    ledger.settle(start, DONE, dropped)
    seeded(ledger, page("1"), max_depth=3, max_chain=40)
    assert names(drain(ledger)) == ["m", "deep"]


def test_addresses_of_one_and_the_same_page_are_not_queued_again(ledger: Frontier) -> None:
    seeded(ledger, page("1"))
    (start,) = drain(ledger)
    ledger.settle(start, DONE, [page("same", 1, reason="trap")._replace(detail=SAME_PAGE), page("m", 1, reason="trap")])
    seeded(ledger, max_chain=40)
    assert names(drain(ledger)) == ["m"]


def test_addresses_of_a_form_are_queued_again_as_far_as_the_settings_want_them(ledger: Frontier) -> None:
    ledger.seed([page("1")], 3, 30, is_excluded=lambda url: url.endswith("p9.html"))
    (start,) = drain(ledger)
    found = [("p1.html", 1, "trap"), ("p2.html", 4, "trap"), ("p9.html", 1, "trap"), ("q1.html", 1, "trap")]
    dropped = [page(name, depth, reason=reason)._replace(detail=SAME_PAGE) for name, depth, reason in found]
    ledger.settle(start, DONE, [*dropped, page("p3.html", 1, 31, reason="trap"), page("p4.html", 1, reason="nofollow")])
    ledger.readmit(lambda url: form(url) == "http://a.org/p#.html", 3)
    assert names(drain(ledger)) == ["p1.html"]
    assert ledger.counts().rejected == 5


def test_failed_starts_are_tried_again_only_while_nothing_was_fetched(ledger: Frontier) -> None:
    seeded(ledger, page("1"), page("2"))
    first, second = drain(ledger)
    ledger.settle(first, Outcome("rejected", "dns"))
    ledger.settle(second, Outcome("rejected", "timeout"))
    seeded(ledger, page("1"), page("2"))
    assert ledger.counts() == Counts(queued=2)
    first, second = drain(ledger)
    ledger.settle(first, DONE)
    ledger.settle(second, Outcome("rejected", "timeout"))
    seeded(ledger, page("1"), page("2"))
    assert ledger.counts() == Counts(done=1, rejected=1, bytes=10)


def test_an_archive_shorter_than_booked_gives_its_pages_back(ledger: Frontier) -> None:
    seeded(ledger, page("1"), page("2"))
    ledger.book_archive("a.warc.gz", 0)
    for entry, stop in zip(drain(ledger), (100, 200), strict=True):
        ledger.settle(entry, DONE._replace(archive="a.warc.gz", start=stop - 100, stop=stop))
    assert ledger.archives() == {"a.warc.gz": 200}
    assert ledger.lose_archive("a.warc.gz", 150) == 100
    assert ledger.archives() == {"a.warc.gz": 100}
    assert names(drain(ledger)) == ["2"]
    assert ledger.counts() == Counts(done=1, flight=1, bytes=10)


def test_rejects_and_summary_account_for_everything(tmp_path: Path, ledger: Frontier) -> None:
    seeded(ledger, page("1"), page("2"), page("3"), page("4"))
    first, second, third, _ = drain(ledger)
    ledger.settle(first, DONE)
    ledger.settle(second, Outcome("moved", detail="to http://a.org/1", status=301))
    ledger.settle(third, Outcome("rejected", "http-404", status=404))
    expected = [Reject("http://a.org/3", "crawl", "http-404"), Reject("http://a.org/4", "crawl", "interrupted")]
    assert list(FrontierReader(tmp_path).rejects()) == expected
    assert not FrontierReader(tmp_path).summary().finished
    ledger.finish("page-limit")
    assert [reject.reason for reject in FrontierReader(tmp_path).rejects()] == ["http-404", "page-limit"]
    summary = FrontierReader(tmp_path).summary()
    assert summary.finished
    assert summary.reasons == {"http-404": 1, "page-limit": 1}
    assert summary.counts.done + summary.counts.moved + sum(summary.reasons.values()) == 4
    with FrontierReader(tmp_path) as frontier:
        assert [reject.reason for reject in frontier.failures()] == ["http-404", "moved"]


def test_answers_within_a_block_are_of_one_moment(tmp_path: Path, ledger: Frontier) -> None:
    ledger.seed([page("0")], 50, 30)
    reader = FrontierReader(tmp_path)
    with reader:
        assert reader.counts().queued == 1
        ledger.bring(page("0"), [page("1", depth=1)])
        assert reader.counts() == Counts(queued=1)
        assert reader.report()["queued"] == 1
    assert reader.counts() == ledger.counts() == Counts(queued=2)


def test_a_folder_without_a_ledger(tmp_path: Path) -> None:
    assert so_far(tmp_path, FrontierReader.counts, Counts()) == Counts()
    with pytest.raises(MissingStageError, match="crawl first"):
        FrontierReader(tmp_path)


def test_a_file_that_is_no_ledger_is_refused(tmp_path: Path) -> None:
    (tmp_path / LEDGER_NAME).write_bytes(b"this is no data base, but long enough to look like one" * 100)
    with pytest.raises(RunError, match="not a usable ledger"):
        Frontier(tmp_path / LEDGER_NAME)
    for question in (FrontierReader.rejects, FrontierReader.summary, FrontierReader.starts):
        with pytest.raises(RunError, match="not a usable ledger"):
            list(question(FrontierReader(tmp_path)))  # type: ignore[call-overload]
    assert so_far(tmp_path, FrontierReader.counts, Counts()) == Counts()


def test_a_ledger_of_another_version_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / LEDGER_NAME)) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(RunError, match="version 99"):
        Frontier(tmp_path / LEDGER_NAME)


OUTCOMES = st.sampled_from((DONE, Outcome("moved"), Outcome("rejected", "http-404"), None))


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(OUTCOMES, st.lists(st.integers(0, 30), max_size=5), st.sampled_from(("", "open", "again"))),
        max_size=20,
    )
)
def test_counts_are_those_of_the_rows(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[Outcome | None, list[int], str]]
) -> None:
    path = tmp_path_factory.mktemp("ledger") / LEDGER_NAME
    ledger = seeded(Frontier(path), page("start"))
    for outcome, links, reopen in steps:
        entry = ledger.take(3)
        if entry is not None and outcome is not None:
            ledger.settle(entry, outcome, [page(str(n), entry.depth + 1, host=f"{n % 3}.org") for n in links])
        if reopen:
            ledger.close()
            ledger = Frontier(path)
        if reopen == "again":
            ledger.finish("page-limit")
            assert ledger.queue_again() == (ledger.counts() != Counts())
    rows = dict(ledger._db.execute("SELECT state, count(*) FROM frontier GROUP BY state"))
    received = ledger._db.execute("SELECT sum(bytes) FROM frontier").fetchone()[0]
    assert ledger.counts() == Counts(*(rows.get(state, 0) for state in Counts._fields[:-1]), bytes=received)
    for table, column, where in (("tally", "reason", "state = 'rejected'"), ("langs", "lang", "state = 'done'")):
        counted = dict(ledger._db.execute(f"SELECT {column}, sum(n) FROM {table} WHERE n <> 0 GROUP BY 1"))
        assert counted == dict(ledger._db.execute(f"SELECT {column}, count(*) FROM frontier WHERE {where} GROUP BY 1"))
    ledger.close()


def body(name: str, stop: int, archive: str = "a.warc.gz") -> Outcome:
    """A page that is archived."""
    found = Body(archive, stop, f"http://a.org/{name}", "2026-01-01T00:00:00Z", "sha1:X", '"x"')
    return DONE._replace(archive=archive, start=stop - 100, stop=stop, lang="en", body=found)


def visited(ledger: Frontier) -> list[FrontierEntry]:
    """Two pages that are fetched, in an archive, and all of it queued again."""
    seeded(ledger, page("1"), page("2"))
    ledger.book_archive("a.warc.gz", 0)
    entries = drain(ledger)
    for number, entry in enumerate(entries, 1):
        ledger.settle(entry, body(str(number), 100 * number))
    ledger.finish("complete")
    assert ledger.queue_again()
    return drain(ledger)


@pytest.mark.parametrize(
    ("outcome", "state", "found"),
    [
        (Outcome("rejected", "timeout"), "done", "kept"),
        (Outcome("rejected", "http-503", status=503), "done", "kept"),
        (Outcome("rejected", "busy", status=429), "done", "kept"),
        (Outcome("rejected", "robots-unreachable"), "done", "kept"),
        (Outcome("rejected", "http-404", status=404), "rejected", "gone"),
        (Outcome("rejected", "robots"), "rejected", "gone"),
        (Outcome("rejected", "too-large"), "rejected", "gone"),
        (Outcome("rejected", "noindex", status=200), "rejected", "gone"),
        (Outcome("moved", status=301), "moved", "gone"),
    ],
)
def test_a_failure_that_may_pass_leaves_the_page(
    tmp_path: Path, ledger: Frontier, outcome: Outcome, state: str, found: str
) -> None:
    first, second = visited(ledger)
    known = ledger.earlier(first)
    assert known is not None
    assert known.etag == '"x"'
    ledger.settle(first, outcome)
    assert getattr(ledger.counts(), state) == 1
    assert FrontierReader(tmp_path).again()[found] == 1
    assert (ledger.earlier(first) is not None) == (found == "kept")
    assert ledger.earlier(second) is not None
    assert [reject.reason for reject in FrontierReader(tmp_path).rejects()] == (
        [outcome.reason] if state == "rejected" else []
    )
    assert FrontierReader(tmp_path).report()["langs"] == ({"en": 1} if state == "done" else {})


def test_addresses_that_were_never_requested_are_not_revisited(ledger: Frontier) -> None:
    reasons = ("not-html", "excluded", "trap", "depth", "nofollow", "redirect-loop", "robots")
    seeded(ledger, page("1"))
    (start,) = drain(ledger)
    links = [page(reason, 1, reason=reason) for reason in reasons]
    ledger.settle(start, Outcome("rejected", "not-html", status=200), links)
    ledger.finish("complete")
    assert ledger.queue_again()
    assert names(drain(ledger)) == ["1", "robots"]


def test_an_open_crawl_is_not_begun_again(ledger: Frontier) -> None:
    assert not ledger.queue_again()  # nothing is in it
    seeded(ledger, page("1"), page("2"))
    first = ledger.take(1)
    assert first is not None
    ledger.settle(first, DONE)
    assert not ledger.queue_again()
    ledger.finish("page-limit")
    assert ledger.queue_again()
    assert not ledger.queue_again()


def test_a_lost_body_is_asked_for_without_condition(ledger: Frontier) -> None:
    first, second = visited(ledger)
    ledger.book_archive("b.warc.gz", 0)
    for number, entry in enumerate((first, second), 1):  # unchanged: the records of this visit lie elsewhere
        known = ledger.earlier(entry)
        here = DONE._replace(archive="b.warc.gz", start=0, stop=number * 10)
        ledger.settle(entry, here._replace(body=known._replace(found="unchanged") if known else None))
    assert ledger.lose_archive("a.warc.gz", 150) == 100
    assert names(drain(ledger)) == ["2"]
    assert ledger.earlier(first) is not None
    assert ledger.earlier(second) is None


def test_sites_take_turns_and_hosts_in_a_site(ledger: Frontier) -> None:
    big = [page(str(n), host=f"{n % 2}.big.org")._replace(site="big.org") for n in range(6)]
    small = [page(str(n), host="small.org")._replace(site="small.org") for n in range(2)]
    seeded(ledger, *big, *small)
    order = []
    while entry := ledger.take(1):
        order.append(entry.host)
        ledger.settle(entry, DONE)
    assert order == [
        "0.big.org",
        "small.org",
        "1.big.org",
        "small.org",
        "0.big.org",
        "1.big.org",
        "0.big.org",
        "1.big.org",
    ]


def test_suspected_traps_come_last(ledger: Frontier) -> None:
    seeded(ledger, page("odd")._replace(suspect="calendar"), page("deep", 5), page("flat", 1))
    assert names(drain(ledger)) == ["flat", "deep", "odd"]


def test_host_without_room_gets_no_request(ledger: Frontier) -> None:
    seeded(ledger, page("1"), page("2"), page("3"), page("x", host="b.org"))
    ledger.limit_host("a.org", 0)
    assert names(drain(ledger)) == ["x"]
    assert ledger.counts().rejected == 0
    assert ledger.has_more()
    ledger.limit_host("a.org", 1)
    assert names(drain(ledger)) == ["1"]
    ledger.limit_host("a.org", None)
    assert names(drain(ledger)) == ["2", "3"]


@pytest.mark.parametrize(
    ("budget", "ended"),
    [
        (Budget(pages=2), "budget-pages"),
        (Budget(bytes=20), "budget-bytes"),
        (Budget(seconds=0.0), "budget-minutes"),
    ],
)
def test_a_budget_ends_its_site_and_a_larger_one_goes_on(tmp_path: Path, budget: Budget, ended: str) -> None:
    entries = [page(str(n)) for n in range(4)]
    with closing(Frontier(tmp_path / LEDGER_NAME)) as ledger:
        ledger.seed(entries, 50, 30, Budget(*(None if value is None else 3 * value + 9 for value in budget)))
        for _ in range(2):
            entry = ledger.take(1)
            assert entry is not None
            ledger.settle(entry, DONE)
        assert ledger.has_more()
        ledger.seed(entries, 50, 30, budget)
        assert not ledger.has_more()
        assert ledger.take(1) is None
        assert [reject.reason for reject in FrontierReader(tmp_path).rejects()] == [ended, ended]
        ledger.seed(entries, 50, 30)
        assert names(drain(ledger)) == ["2", "3"]


def test_a_site_ends_when_many_more_requests_fail_than_bring_pages(ledger: Frontier) -> None:
    failures = [
        Outcome("rejected", reason) for reason in ("http-404", "timeout", "connection", "dns", "tls", "http-500")
    ]
    n_allowed = 2 * (SPARE_PAGES + 1)
    ledger.seed([page(str(n)) for n in range(n_allowed + 20)], 50, 30, Budget(failures=2))
    outcomes = [DONE, *(Outcome("rejected", "robots") for _ in range(9)), *(failures * n_allowed)[: n_allowed - 1]]
    for outcome in outcomes:
        entry = ledger.take(1)
        assert entry is not None
        ledger.settle(entry, outcome)
    assert ledger.has_more(), "what robots.txt forbids is no failure"
    ledger.settle(ledger.take(1) or page(""), failures[0])
    assert (ledger.has_more(), ledger.take(1)) == (False, None)
    assert ledger.sites()[0].ended == "budget-failures"
    ledger.seed([], 50, 30, Budget(failures=3))
    assert ledger.has_more()


def test_the_addresses_of_a_form_are_put_last_and_back(ledger: Frontier) -> None:
    seeded(ledger, page("1.html"), page("x/1.html"), page("2.html"), page("3.html", host="b.org"))
    ledger.put_form_last(page("99.html"), True)
    (first,) = (ledger.take(1),)
    assert first is not None
    assert first.key.endswith("x/1.html")
    ledger.settle(first, DONE)
    ledger.put_form_last(page("99.html"), False)
    ledger.settle(page("99.html"), DONE, [page("y.html", 1)])
    assert [name for name in names(drain(ledger)) if "3" not in name] == ["1.html", "2.html", "y.html"]


def test_a_pause_does_not_count_against_a_budget(ledger: Frontier, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr("twinlink.spiders.frontier.writing.time", SimpleNamespace(monotonic=lambda: clock.now))
    ledger.seed([page(str(n)) for n in range(5)], 50, 30, Budget(seconds=10.0))

    def fetch(seconds: float) -> bool:
        entry = ledger.take(1)
        assert entry is not None
        clock.now += seconds
        ledger.settle(entry, DONE)
        return ledger.has_more()

    assert fetch(3.0)
    clock.now += 1_000.0
    ledger.skip_time()
    assert fetch(3.0)
    assert fetch(3.0)
    assert not fetch(3.0)


def test_pages_in_flight_count_against_a_budget_until_they_fail(ledger: Frontier) -> None:
    ledger.seed([page(str(n)) for n in range(4)], 50, 30, Budget(pages=2))
    first, second = drain(ledger)
    ledger.settle(first, DONE)
    ledger.settle(second, Outcome("rejected", "http-404"))
    assert names(drain(ledger)) == ["2"]


def test_temporary_and_outdated_rejects_are_queued_again(ledger: Frontier) -> None:
    reasons = ("robots-unreachable", "busy", "http-404", "excluded", "robots")
    seeded(ledger, page("start"), *(page(reason, 1, reason=reason) for reason in reasons))
    ledger.seed([], 50, 30, again=lambda reason, url: reason == "excluded" and url.endswith("excluded"))
    assert names(drain(ledger)) == ["start", "robots-unreachable", "busy", "excluded"]


def test_a_ledger_that_cannot_be_read_ends_the_crawl() -> None:
    """Scrapy logs what its scheduler raises, and would wait for ever."""
    ledger = SimpleNamespace(
        counts=lambda: Counts(queued=1),
        has_more=lambda: True,
        take=Mock(side_effect=sqlite3.OperationalError("disk I/O error")),
    )
    reading = SimpleNamespace(is_full=False)
    state = SimpleNamespace(frontier=ledger, limits=CrawlSettings(), fatal=None, pause=None, reading=reading)
    scheduler = SqliteScheduler(SimpleNamespace(crawl_state=state))  # type: ignore[arg-type]
    assert scheduler.has_pending_requests()
    assert scheduler.next_request() is None
    assert isinstance(state.fatal, sqlite3.OperationalError)
    scheduler.enqueue_request(Request("http://a.org/retry"))
    assert scheduler.next_request() is None
    assert not scheduler.has_pending_requests()


def sitemap(name: str, host: str = "a.org") -> FrontierEntry:
    entry = page(name, host=host)
    return entry._replace(key=f"{SITEMAP_KEY}{entry.key}", kind="sitemap", side=OF_SITEMAPS)


@pytest.mark.parametrize("langs", [None, ("en", "fr")])
def test_sitemaps_of_earlier_versions_get_keys_of_their_own(tmp_path: Path, langs: tuple[str, ...] | None) -> None:
    with closing(Frontier(tmp_path / LEDGER_NAME)) as old:
        seeded(old, page("1"))
        old.bring(page("1"), [sitemap("home")._replace(key=page("home").key), sitemap("a.xml")])
    with closing(Frontier(tmp_path / LEDGER_NAME)) as ledger:
        ledger.seed([], 50, 30, langs=langs)
        ledger.add([sitemap("home"), sitemap("a.xml")])
        assert ledger.counts() == Counts(queued=3)
        ledger.bring(page("1"), [page("home", 1)])
        assert ledger.counts() == Counts(queued=4)


def test_sitemaps_are_neither_pages_nor_rejects(tmp_path: Path, ledger: Frontier) -> None:
    seeded(ledger, page("1"))
    ledger.add([sitemap(name) for name in ("read.xml", "gone.xml", "left.xml")])
    one, read = ledger.take(9), ledger.take(9)
    assert one is not None
    assert read is not None
    assert ledger.take(9) is None  # a host's sitemaps come one at a time
    ledger.settle(one, DONE)
    assert ledger.take(9) is None
    ledger.settle(read, Outcome("aside"), [page("2", 1)])
    gone = ledger.take(9)
    assert gone is not None
    ledger.settle(gone, Outcome("aside", "http-404"))
    assert [reject.url for reject in FrontierReader(tmp_path).rejects()] == ["http://a.org/2"]
    ledger.finish("page-limit")
    assert FrontierReader(tmp_path).report()["sitemaps"] == {"http-404": 1, "not-needed": 1, "read": 1}
    assert FrontierReader(tmp_path).report()["rejects"] == {"page-limit": 1}
    seeded(ledger)
    assert names(drain(ledger)) == ["left.xml", "2"]


@pytest.mark.parametrize("langs", [None, ("en", "fr")])
def test_a_link_behind_very_many_others_counts_anew_on_another_page(
    ledger: Frontier, tmp_path: Path, langs: tuple[str, ...] | None
) -> None:
    ledger.seed([page("1"), page("2")], 50, 30, langs=langs)
    first, second = ledger.take(2), ledger.take(2)
    assert first is not None
    assert second is not None
    ledger.settle(first, DONE, [page("x", 1, reason="too-many-links")])
    assert FrontierReader(tmp_path).counts().rejected == 1
    ledger.settle(second, DONE, [page("x", 1)])
    assert names(drain(ledger)) == ["x"]
    assert ledger.counts().rejected == 0


def test_pages_have_their_turn_between_sitemaps(ledger: Frontier) -> None:
    seeded(ledger, page("1"))
    ledger.add([*(sitemap(f"{n}.xml") for n in range(99)), sitemap("other.xml", "b.org"), *map(page, "23456")])
    taken = names(drain(ledger, 4))
    assert sorted(taken) == ["0.xml", "1", "2", "3", "other.xml"]


def columns(db: sqlite3.Connection, query: str) -> dict[str, tuple[object, ...]]:
    return {name: tuple(values) for name, *values in db.execute(query)}


def test_size_of_a_site_and_of_its_sitemaps_is_counted(tmp_path: Path, ledger: Frontier) -> None:
    seeded(ledger, page("1"))
    ledger.bring(page("1"), [page("22"), page("22"), page("1"), page("x", reason="depth")])
    ledger.add([sitemap("a.xml"), sitemap("b.xml")])
    assert ledger.take(1) is not None
    taken = ledger.take(2)
    assert taken is not None
    ledger.settle(taken, Outcome("aside"))
    with closing(sqlite3.connect(tmp_path / LEDGER_NAME)) as db:
        names = [url for (url,) in db.execute("SELECT url FROM frontier")]
        assert len(names) == 5
        n_bytes = 2 * sum(map(len, names)) + 2 * len(SITEMAP_KEY)
        assert columns(db, "SELECT site, address_bytes FROM sites") == {"": (n_bytes,)}
        assert columns(db, "SELECT host, maps_queued, maps_flight FROM hosts") == {"a.org": (1, 0)}


def long(n: int) -> FrontierEntry:
    return page(f"{n:0>100}", 1)


@pytest.mark.parametrize("langs", [None, ("en", "fr")])
def test_links_for_which_a_site_has_no_room_are_dropped_and_counted(
    tmp_path: Path, ledger: Frontier, langs: tuple[str, ...] | None
) -> None:
    budget = Budget(address_bytes=2_200)  # nine such links, and the start page
    ledger.seed([page("1"), page("1", host="b.org")._replace(site="b")], 50, 30, budget, langs=langs)
    first = ledger.take(1)
    assert first is not None
    ledger.settle(first, DONE, [*map(long, [0, 0, 1, 1, 2]), page("1", host="b.org")._replace(site="b")])
    ledger.bring(first, [*map(long, range(20)), page("y", host="b.org")._replace(site="b")])
    assert FrontierReader(tmp_path).counts().queued == 9 + 2
    dropped = [reject for reject in FrontierReader(tmp_path).rejects() if reject.reason == "too-many-links"]
    assert [(reject.url, reject.detail) for reject in dropped] == [
        (long(9).url, "it and 10 links after it: the addresses of  reached 2200 bytes")
    ]
    ledger.bring(first, [*map(long, range(3))])  # all are known
    assert FrontierReader(tmp_path).counts().rejected == 1
    wider = ledger.seed([], 50, 30, Budget(), langs=langs)
    assert wider is None
    ledger.bring(first, [long(9)])
    assert FrontierReader(tmp_path).counts() == Counts(queued=9 + 3, done=1, bytes=10)


def test_what_was_read_in_sitemaps_is_limited_until_the_next_visit_or_a_higher_limit(ledger: Frontier) -> None:
    ledger.seed([page("1")], 50, 30, Budget(listed=100, listed_bytes=5_000))
    assert ledger.room_for_sitemaps("") == (100, 5_000)
    ledger.spend_on_sitemaps("", 40, 1_000)
    assert ledger.room_for_sitemaps("") == (60, 4_000)
    ledger.spend_on_sitemaps("", 70, 0)
    assert ledger.room_for_sitemaps("") == (0, 4_000)
    assert ledger.room_for_sitemaps("other") == (100, 5_000)
    ledger.add([sitemap("a.xml")])
    for name in ("1", "a.xml"):
        taken = ledger.take(9)
        assert taken is not None
        assert names([taken]) == [name]
        ledger.settle(taken, DONE if name == "1" else Outcome("rejected", "sitemap-budget"))
    for listed, queued in ((100, 0), (1_000, 1)):
        ledger.seed([], 50, 30, Budget(listed=listed, listed_bytes=5_000))
        assert ledger.counts().queued == queued
    ledger.finish("complete")
    assert ledger.queue_again()
    assert ledger.room_for_sitemaps("") == (1_000, 5_000)


def test_reader_returns_a_consistent_snapshot(tmp_path: Path, ledger: Frontier) -> None:
    seeded(ledger, page("1"), page("2"))
    with FrontierReader(tmp_path) as frontier:
        assert frontier.counts().queued == 2
        one = ledger.take(9)
        assert one is not None
        ledger.settle(one, Outcome("rejected", "http-404", status=404))
        assert (frontier.counts().queued, frontier.tally()) == (2, {})
    assert FrontierReader(tmp_path).counts().queued == 1
