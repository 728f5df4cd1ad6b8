"""The order of a crawl: likely partners first, languages in balance, unwanted ones last."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.loopback import Answer, serving
from twinlink.config import CrawlSettings
from twinlink.pages.parser import Link
from twinlink.spiders.crawling import crawl
from twinlink.spiders.frontier import LEDGER_NAME, Frontier, FrontierEntry, FrontierReader, Outcome
from twinlink.spiders.frontier.partners import (
    UNKNOWN,
    UNWANTED,
    Sides,
    difference,
    language_tag,
    named_language,
    swap,
    text_sample,
)
from twinlink.spiders.frontier.schema import NEXT_HOST, TAKE
from twinlink.spiders.frontier.urgency import BY_KEY, BY_PLACE, LAST, SURE
from twinlink.spiders.scope import Scope

SITE = "http://a.org"
DONE = Outcome("done", status=200, bytes=10)
EN, ZH = 1, 2
LANGS = ("en", "zh")
SETTINGS = CrawlSettings(langs=LANGS)


class Crawl:
    """A crawl without a network: takes addresses from a ledger and books the links that it is told."""

    def __init__(
        self, ledger: Frontier, *starts: str, langs: Sequence[str] | None = LANGS, order: str = "pairs"
    ) -> None:
        self.ledger = ledger
        self.scope = Scope([f"{SITE}{start}" for start in starts], CrawlSettings(order=order))  # type: ignore[arg-type]
        ledger.seed([self.scope.start(f"{SITE}{start}") for start in starts], 50, 30, langs=langs)

    def page(self, side: int, *links: str, partner: str = "", partner_side: int = 0) -> str:
        """Fetch the next page, find it to be of a side, and return its path."""
        entry = self.ledger.take(100)
        assert entry is not None
        entry = entry._replace(side=side)
        entries = self.scope.links(entry, [f"{SITE}{link}" for link in links])
        if partner:
            (found,) = self.scope.links(entry, [f"{SITE}{partner}"])
            entries.append(found._replace(side=partner_side, urgency=SURE, place=entry.place))
        self.ledger.settle(entry, DONE, entries)
        return path(entry)

    def rest(self, sides: dict[str, int]) -> list[str]:
        """Fetch everything that is left; pages bring no links; their side is told by the second letter of the path."""
        left = []
        while (entry := self.ledger.take(100)) is not None:
            self.ledger.settle(entry._replace(side=sides[path(entry)[1]]), DONE)
            left.append(path(entry))
        return left


def path(entry: FrontierEntry) -> str:
    return entry.url.removeprefix(SITE)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Frontier]:
    with closing(Frontier(tmp_path / LEDGER_NAME)) as ledger:
        yield ledger


BOTH = {"a": EN, "b": ZH, "c": UNWANTED}


def test_the_side_with_fewer_pages_comes_first(ledger: Frontier) -> None:
    crawl = Crawl(ledger, "/a", "/b")
    crawl.page(EN, *(f"/a{n}" for n in range(6)))
    crawl.page(ZH, *(f"/b{n}" for n in range(3)))
    # Alternating as long as there are two; the start pages have one page each.
    assert [name[1] for name in crawl.rest(BOTH)] == list("abababaaa")


def test_without_an_order_it_is_breadth_first(ledger: Frontier) -> None:
    crawl = Crawl(ledger, "/a", "/b", langs=None, order="breadth")
    crawl.page(UNKNOWN, "/a1", "/a2")
    crawl.page(UNKNOWN, "/b1", "/b2")
    assert crawl.rest(dict.fromkeys("ab", UNKNOWN)) == ["/a1", "/a2", "/b1", "/b2"]


def test_links_at_the_same_position_are_fetched_together(ledger: Frontier) -> None:
    crawl = Crawl(ledger, "/a", "/b")
    crawl.page(EN, "/a1", "/a2", "/a3", "/a4")
    crawl.page(ZH, "/b-x", "/b-y", "/b-z")
    # The fourth link has no counterpart, so it comes last; its being known changes nothing for the others.
    assert crawl.rest(BOTH) == ["/a1", "/b-x", "/a2", "/b-y", "/a3", "/b-z", "/a4"]


def test_places_go_on_below_pages_of_one_place(ledger: Frontier) -> None:
    crawl = Crawl(ledger, "/a", "/b")
    crawl.page(EN, "/a1", "/a2", "/a3")
    crawl.page(ZH, "/b1", "/b2", "/b3")
    assert crawl.page(EN, "/a/other", "/a1/1") == "/a1"
    assert crawl.page(ZH, "/b/other", "/b1/1") == "/b1"
    assert crawl.rest(BOTH) == ["/a2", "/b2", "/a3", "/b3", "/a/other", "/b/other", "/a1/1", "/b1/1"]


def test_the_page_that_a_language_link_names_comes_first(ledger: Frontier) -> None:
    crawl = Crawl(ledger, "/a")
    crawl.page(EN, "/a1", "/a2", "/a3")
    crawl.page(EN, partner="/b9", partner_side=ZH)
    assert crawl.rest(BOTH)[0] == "/b9"


def test_a_language_link_to_a_queued_page_raises_it(ledger: Frontier) -> None:
    crawl = Crawl(ledger, "/a")
    crawl.page(EN, "/a1", "/b1", "/b2", "/b3")
    assert crawl.page(EN, partner="/b3", partner_side=ZH) == "/a1"
    assert crawl.rest(BOTH) == ["/b3", "/b1", "/b2"]


def test_how_addresses_of_partners_differ_is_learned(ledger: Frontier) -> None:
    crawl = Crawl(ledger, "/en/", langs=())  # no wanted languages: addresses must do
    crawl.page(UNKNOWN, "/en/1", "/en/2", "/x/3", "/tc/2", "/tc/1", partner="/tc/")
    assert crawl.page(UNKNOWN) == "/tc/"
    assert crawl.rest(dict.fromkeys("etx", UNKNOWN)) == ["/en/1", "/tc/1", "/en/2", "/tc/2", "/x/3"]


def test_languages_of_address_parts_are_learned(ledger: Frontier) -> None:
    crawl = Crawl(ledger, "/a/", "/b/")
    crawl.page(EN, "/a/1", "/a/2", "/b/9")  # whose place is on the English side
    crawl.page(ZH)
    crawl.page(EN, partner="/b/1", partner_side=ZH)
    crawl.page(ZH)
    crawl.page(EN, "/b/7")
    with sqlite3.connect(ledger._db.execute("PRAGMA database_list").fetchone()[2]) as db:
        sides = dict(db.execute("SELECT key, side FROM frontier"))
    assert sides[f"{SITE}/b/7"] == ZH


def test_links_of_unwanted_pages_come_last_and_are_counted(ledger: Frontier, tmp_path: Path) -> None:
    crawl = Crawl(ledger, "/c", "/a")
    crawl.page(UNWANTED, "/c1", "/c2", "/a9")
    crawl.page(EN, "/a1", "/a9")  # the second is reached from a wanted page, too
    assert crawl.page(EN, "/a2") == "/a9"
    report = FrontierReader(tmp_path).report()
    assert report["unwanted"] == {"pages": 1, "put_last": 2}
    assert [name[1] for name in crawl.rest(BOTH)] == ["a", "a", "c", "c"]


def test_hosts_with_nothing_wanted_come_last(ledger: Frontier) -> None:
    def entry(host: str, n: int, urgency: int) -> FrontierEntry:
        url = f"http://{host}.a.org/{n}"
        return FrontierEntry(url, url, f"{host}.a.org", 1, site="a.org", urgency=urgency)

    start = FrontierEntry(f"{SITE}/", f"{SITE}/", "a.org", site="a.org", place=1)
    ledger.seed([start], 50, 30, langs=LANGS)
    assert ledger.take(9) is not None
    links = [entry(host, n, LAST if host == "de" else 0) for n in range(3) for host in ("de", "en", "fr")]
    ledger.settle(start, DONE, links)
    taken = [found.host[:2] for found in iter(lambda: ledger.take(9), None)]
    assert taken == ["en", "fr", "en", "fr", "en", "fr", "de", "de", "de"]


def test_urgency_survives_a_kill(tmp_path: Path) -> None:
    for attempt in range(2):
        with closing(Frontier(tmp_path / LEDGER_NAME)) as ledger:
            if attempt == 0:
                crawl = Crawl(ledger, "/a")
                crawl.page(EN, "/a1", "/b1", "/b2", "/b3")
                crawl.page(EN, partner="/b3", partner_side=ZH)
            else:
                ledger.seed([], 50, 30, langs=LANGS)
            taken = ledger.take(9)  # and never settled
            assert taken is not None
            assert path(taken) == "/b3"


def test_other_languages_or_another_order_begin_anew(ledger: Frontier, tmp_path: Path) -> None:
    crawl = Crawl(ledger, "/a")
    crawl.page(UNWANTED, "/a1", "/a2")
    assert FrontierReader(tmp_path).report()["unwanted"]["put_last"] == 2
    ledger.seed([], 50, 30, langs=None)
    assert FrontierReader(tmp_path).report()["unwanted"] == {"pages": 0, "put_last": 0}
    assert crawl.rest({"a": 0}) == ["/a1", "/a2"]


def test_a_kept_page_counts_for_the_side_that_it_declares_when_languages_change(ledger: Frontier) -> None:
    start = FrontierEntry(f"{SITE}/", f"{SITE}/", "a.org", site="a.org")
    ledger.seed([start], 50, 30, langs=("en", "fr"))
    assert ledger.take(9) is not None
    ledger.settle(start._replace(side=UNWANTED), DONE._replace(lang="zh-TW"))
    ledger.seed([], 50, 30, langs=("en", "zh"))
    assert dict(ledger._db.execute("SELECT side, fetched FROM sides WHERE fetched > 0")) == {ZH: 1}


def test_balances_count_what_is_in_flight_and_fetched(ledger: Frontier) -> None:
    crawl = Crawl(ledger, "/a", "/b")
    crawl.page(EN, *(f"/a{n}" for n in range(4)))
    crawl.page(ZH, *(f"/b{n}" for n in range(4)))
    for _ in range(4):
        ledger.take(100)
    ledger.settle(
        FrontierEntry(f"{SITE}/a0", f"{SITE}/a0", "a.org", site="a.org", side=EN), Outcome("rejected", "http-404")
    )
    counted = "SELECT side, fetched FROM sides ORDER BY side"
    real = (
        "SELECT s.side, (SELECT count(*) FROM frontier AS f WHERE f.side = s.side AND f.state IN ('done', 'flight'))"
        " FROM sides AS s ORDER BY s.side"
    )
    assert ledger._db.execute(counted).fetchall() == ledger._db.execute(real).fetchall() == [(0, 0), (1, 2), (2, 3)]


PARAMETERS: dict[str, tuple[object, ...] | dict[str, int]] = {
    TAKE: ("a.org", "a.org"),
    NEXT_HOST: {"per_host": 1, "max_pages": 1},
    BY_KEY: ("http://a.org/",),
    BY_PLACE: (1, 2, 3),
}


@pytest.mark.parametrize("statement", PARAMETERS, ids=["take", "next-host", "by-key", "by-place"])
def test_the_choice_never_scans_the_frontier(ledger: Frontier, statement: str) -> None:
    parameters = PARAMETERS[statement]
    plan = [row[3] for row in ledger._db.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)]
    assert plan
    assert not [step for step in plan if step.startswith("SCAN") and "frontier" in step]


@pytest.mark.parametrize(
    ("langs", "tag", "side"),
    [
        (("en", "zh"), "zh-TW", 2),
        (("zh-Hant", "zh-Hans"), "zh-HK", 1),
        (("zh-Hant", "zh-Hans"), "zh-CN", 2),
        (("zh-Hant", "zh-Hans"), "zh", UNKNOWN),
        (("en", "pt"), "pt_BR", 2),
        (("eng", "zh_TW"), "zh-Hant-HK", 2),
        (("en", "zh-TW"), "zh-cn", UNWANTED),
        (("en", "iw"), "he", 2),
        (("en", "zho"), "cmn-Hans-CN", 2),
        (("en-US", "pt-BR"), "en_GB", 1),
        (("en", "fr"), "de", UNWANTED),
        (("en", "fr"), "", UNKNOWN),
        ((), "en", UNKNOWN),
    ],
)
def test_the_side_of_a_tag(langs: tuple[str, ...], tag: str, side: int) -> None:
    assert Sides(langs).of_tag(tag) == side


ENGLISH = "This page is about the opening hours of public libraries and what they charge for late books."
CHINESE = "本頁介紹公共圖書館的開放時間以及逾期還書的收費。讀者可於網上續借圖書，亦可致電查詢。" * 2
BENGALI = "সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা এবং অধিকার নিয়ে জন্মগ্রহণ করে। তাঁদের বিবেক এবং বুদ্ধি আছে।" * 2
RUSSIAN = "На этой странице указаны часы работы библиотек и плата за несвоевременный возврат книг."


@pytest.mark.parametrize(
    ("langs", "declared", "text", "guess", "side"),
    [
        (("en", "zh"), "en", CHINESE, 0, 2),  # a template that declares the wrong language
        (("en", "zh"), "", CHINESE, 1, 2),
        (("en", "zh"), "", ENGLISH * 3, 2, 1),  # no Chinese, though it was expected to be
        (("en", "fr"), "", ENGLISH * 3, 2, 2),  # a script of both
        (("en", "zh"), "fr", ENGLISH * 3, 0, UNWANTED),
        (("en", "zh"), "", RUSSIAN, 1, UNWANTED),
        (("ru", "kk"), "en", RUSSIAN, 2, 2),
        (("en", "bn"), "", BENGALI, 0, 2),
        (("en", "bn"), "en", BENGALI, 0, 2),
        (("en", "fr"), "", BENGALI, 1, UNWANTED),
        (("en", "fr"), "fr", "short", 1, 2),
        (("en", "fr"), "", "short", 1, 1),
        ((), "fr", CHINESE, 0, UNKNOWN),
    ],
)
def test_the_side_of_a_page(langs: tuple[str, ...], declared: str, text: str, guess: int, side: int) -> None:
    assert Sides(langs).of_page(declared, text_sample([text]), guess) == side


def test_partners_are_named_by_hreflang_or_by_text() -> None:
    links = [
        Link("http://a.org/1", "News"),
        Link("http://a.org/2", "", "alternate", "zh-hant"),
        Link("http://a.org/3", "简体"),
        Link("http://a.org/4", "English"),
        Link("http://a.org/5", "Deutsch"),
        Link("http://a.org/6", "", "alternate", "x-default"),
        Link("http://a.org/7", "", "alternate", "X-Default"),
        Link("http://a.org/8", "", "alternate", "en_GB"),
    ]
    tagged = [(link.url, language_tag(link)) for link in links]
    assert Sides(("en", "zh")).partners(tagged, "en", EN) == {
        "http://a.org/2": ZH,
        "http://a.org/3": ZH,
        "http://a.org/5": UNWANTED,
    }
    assert set(Sides(()).partners(tagged, "en", UNKNOWN)) == {f"http://a.org/{n}" for n in (2, 3, 5)}


@pytest.mark.parametrize(
    ("anchor", "tag"),
    [
        ("Français", "fr"),
        ("[ EN ]", "en"),
        ("繁體", "zh-Hant"),
        ("xx", ""),
        ("English law", ""),
        ("", ""),
        ("x" * 99, ""),
    ],
)
def test_names_of_languages(anchor: str, tag: str) -> None:
    assert named_language(anchor) == tag


@pytest.mark.parametrize(
    ("url", "other"),
    [
        ("http://a.org/en/b/c.html", "http://a.org/zh_CN/b/c.html"),
        ("http://a.org/b/c-en.html", "http://a.org/b/c-fr.html"),
        ("http://a.org/c.html.en", "http://a.org/c.html.fr"),
        ("http://a.org/c?lang=en", "http://a.org/c?lang=fr"),
        ("http://a.org/c?lang=en&x=1", "http://a.org/c?lang=fr&x=1"),
        ("http://en.a.org/c", "http://fr.a.org/c"),
        ("http://a.org/c/d", "http://a.org/fr/c/d"),
        ("http://a.org/", "http://a.org/fr/"),
    ],
)
def test_a_difference_leads_from_one_address_to_the_other_and_back(url: str, other: str) -> None:
    found = difference(url, other)
    assert found is not None
    before, after = found
    assert swap(url, before, after) == other
    assert swap(other, after, before) == url


@pytest.mark.parametrize(
    "other",
    ["http://a.org/fr/", "http://a.org/en/b/c.html", "http://b.com/x/y?z=1", f"http://a.org/{'x' * 30}/b/c.html"],
)
def test_other_differences_teach_nothing(other: str) -> None:
    assert difference("http://a.org/en/b/c.html", other) is None


def document(lang: str, *links: str, head: str = "") -> Answer:
    text = CHINESE if lang == "zh" else ENGLISH
    anchors = "".join(f"<a href='{link}'>{link}</a> " for link in links)
    return Answer(f"<html lang={lang}><head>{head}</head><p>{text}</p>{anchors}".encode())


def branches(hidden: bool) -> dict[str, Answer]:
    """Thirteen pages in each of English and Chinese, three levels; addresses say nothing if ``hidden``."""
    names: dict[tuple[str, str], str] = {}
    keys = ["", *"123", *(f"{a}{b}" for a in "123" for b in "123")]
    for lang in ("en", "zh"):
        for number, key in enumerate(keys):
            blurred = (number * 7 + (5 if lang == "zh" else 0)) % 13 + (13 if lang == "zh" else 0)
            names[lang, key] = f"/p/{blurred}" if hidden else f"/{lang}/{key}"
    return {
        name: document(lang, *(names[lang, below] for below in keys if below[:-1] == key and below))
        for (lang, key), name in names.items()
    } | {"/": document("en", names["en", ""], names["zh", ""])}


@pytest.mark.parametrize("hidden", [True, False])
def test_a_budget_yields_more_pairs_than_breadth_first(tmp_path: Path, hidden: bool) -> None:
    site = branches(hidden)
    english = [name for name, answer in site.items() if b"lang=en" in answer.body and name != "/"]
    chinese = [name for name, answer in site.items() if b"lang=zh" in answer.body]
    pairs = list(zip(english, chinese, strict=True))
    found = {}
    with serving(site.get) as server:
        starts = [server.url + pairs[0][0], server.url + pairs[0][1]]
        for order in ("breadth", "pairs"):
            server.log.clear()
            settings = CrawlSettings(order=order, langs=LANGS, concurrency=1, max_pages=14)  # type: ignore[arg-type]
            crawl(starts, tmp_path / order, settings)
            fetched = server.fetched()
            assert sum(fetched.values()) == 14
            found[order] = sum(a in fetched and b in fetched for a, b in pairs)
        crawl(starts, tmp_path / "pairs", CrawlSettings(langs=LANGS))
        assert set(server.fetched()) >= {*english, *chinese}
    assert found["pairs"] == 7 > found["breadth"]


def test_pages_in_unwanted_languages_are_not_expanded_before_all_else(tmp_path: Path) -> None:
    alternate = "<link rel=alternate hreflang=de href=/de/0><link rel=alternate hreflang=zh href=/zh/0>"
    site = {
        "/": document("en", "/de/1", "/zh/1", "/en/1", head=alternate),
        **{f"/de/{n}": document("de", *(f"/de/{10 * n + k}" for k in range(9))) for n in range(30)},
        **{f"/en/{n}": document("en", f"/en/{n + 1}") for n in range(1, 6)},
        **{f"/zh/{n}": document("zh", f"/zh/{n + 1}") for n in range(6)},
    }
    with serving(lambda wanted: site.get(wanted, Answer(status=404))) as server:
        crawl([server.url], tmp_path, CrawlSettings(langs=LANGS, concurrency=1, max_pages=13))
        fetched = [name for name in server.fetched() if not name.startswith(("/en/6", "/zh/6"))]
        assert fetched[1] == "/zh/0"
        assert [name for name in fetched if name.startswith("/de/")] == ["/de/1"]  # nobody had said that it is German
    report = FrontierReader(tmp_path).report()
    assert report["unwanted"]["pages"] == 1
    assert report["unwanted"]["put_last"] >= 9
    assert not FrontierReader(tmp_path).summary().counts.flight
