"""What looks like a trap, and what does not: addresses as real sites of many kinds write them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlink.config import CrawlSettings
from twinlink.spiders.scope import Scope
from twinlink.spiders.traps import MAX_PARAMETERS, MAX_SAME, MAX_SEGMENTS, form, suspicion, winds
from twinlink.urls import page_id, page_key

SITE = "http://www.example.org"

# Patterns of sites of governments, universities, newspapers, shops, wikis, forums and content managers.
REAL = [
    "/",
    "/en/about-us/",
    "/en/about/en/history/en.html",  # one folder in a folder of the same name
    "/tc/tc/tc/index.html",
    "/en/press/2014/05/13/p201405130456.htm",
    "/news/2014-05-13-water-supply.html",
    "/archive/2014/05/",
    "/2014/05/13/",
    "/eng/legco/yr13-14/english/panels/ea/papers/ea0526cb1-1449-1-e.htm",
    "/index.php?lang=en",
    "/index.php?lang=en&page=3",
    "/index.php?option=com_content&view=article&id=12&Itemid=34&lang=fr",
    "/node/1234?language=zh-hant",
    "/page.asp?sid=12&cid=4",
    "/story.php?sid=20140513&s=news",
    "/view.jsp?token=kk",
    "/search?q=water&start=20",
    "/products/list?category=shoes&page=2&size=40",
    "/product.php?id_product=77&id_lang=2",
    "/order?order=1234",
    "/wiki/index.php?title=Main_Page&oldid=12345",
    "/viewtopic.php?f=2&t=345&start=20",
    "/statistics?year=2014&quarter=2",
    "/report.html?year=2013",
    "/weather?d=1",
    "/bill.aspx?m=5&id=2",
    "/laws/chapter/1/part/2/section/3/paragraph/4/item/5",
    "/a/1/b/1/c/1/d/1/e/1",
    "/blog/category/travel/page/3/",
    "/events/spring-festival/",
    "/calendar/",
    "/calendar.html?view=public",
    "/doc/8f14e45fceea167a5a36dedd4bea2543.html",
    "/doc?id=8f14e45fceea167a5a36dedd4bea2543",
    "/files/report(1).html",
    "/departments/housing/housing/housing-news.html",
    "/~user/thesis/chapter01/section02/figure03.html",
    "/dir/sort/order/",
    "/help?direction=north",
]
TRAPS = {
    "/shop/item.jsp;jsessionid=9F3A0C1D2E4B?id=4": "session-id",
    "/(S(lit3py55t21z5v55vlm25s55))/default.aspx": "session-id",
    "/index.php?PHPSESSID=8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d&id=1": "session-id",
    "/index.php?sid=8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d": "session-id",
    "/shop?sessionid=AbCdEf0123456789AbCdEf0123": "session-id",
    "/files/?C=N;O=D": "sort-order",
    "/files/?C=M&O=A": "sort-order",
    "/files/?N=D": "sort-order",
    "/list?sort=price": "sort-order",
    "/list?page=2&orderby=date&dir=desc": "sort-order",
    "/index.php?view=items&filter_order_Dir=asc": "sort-order",
    "/list?sort_by=name&id=3": "sort-order",
    "/calendar?month=5&year=2024": "calendar",
    "/index.php?y=1987&m=12": "calendar",
    "/calendar.php?date=2024-05-13": "calendar",
    "/events/?tribe-bar-date=2031-01-02": "calendar",
    "/agenda?day=20240513": "calendar",
    "/events/2024/05/": "calendar",
    "/calendar/1971-11": "calendar",
    "/en/x/en/y/en/z/en/w.html": "endless-path",
    "/a" * 2 + "/b/a/b/a/c": "endless-path",
    "".join(f"/{n}" for n in range(30)): "endless-path",
    "/find?" + "&".join(f"facet{n}=x" for n in range(12)): "facets",
}


@pytest.mark.parametrize("path", REAL)
def test_real_pages_look_sound(path: str) -> None:
    assert suspicion(SITE + path) == ""
    assert not winds(SITE + path)


@pytest.mark.parametrize(("path", "kind"), TRAPS.items())
def test_traps_are_recognised(path: str, kind: str) -> None:
    assert suspicion(SITE + path) == kind


@pytest.mark.parametrize("path", TRAPS)
def test_suspicious_address_is_queued_last_and_not_dropped(path: str) -> None:
    scope = Scope([f"{SITE}/"], CrawlSettings())
    (entry,) = scope.links(scope.start(f"{SITE}/"), [SITE + path])
    assert entry.reason == ""
    assert entry.suspect


@given(st.text("abc/?&=.;()[]2019-05%S", max_size=60))
def test_any_address_can_be_looked_at(text: str) -> None:
    assert suspicion(f"{SITE}/{text}") in ("", "session-id", "calendar", "sort-order", "facets", "endless-path")


def test_the_limits_of_a_path() -> None:
    assert suspicion(SITE + "/x/a" * MAX_SAME) == ""
    assert suspicion(SITE + "/x/a" * (MAX_SAME + 1)) == "endless-path"
    assert suspicion(SITE + "".join(f"/{n}" for n in range(MAX_SEGMENTS))) == ""
    assert suspicion(SITE + "".join(f"/{n}" for n in range(MAX_SEGMENTS + 1))) == "endless-path"


def query(n: int) -> str:
    return f"{SITE}/find?" + "&".join(f"facet{i}=x" for i in range(n))


def test_the_limit_of_parameters() -> None:
    assert suspicion(query(1)) == suspicion(query(MAX_PARAMETERS)) == ""
    assert suspicion(query(MAX_PARAMETERS + 1)) == "facets"


def test_up_to_65_parameters_are_examined() -> None:
    assert suspicion(query(64) + "&sort=name") == "sort-order"
    assert suspicion(query(65) + "&sort=name") == "facets"


@pytest.mark.parametrize(
    ("address", "same"),
    [
        ("/a.jsp;jsessionid=0123ABCD?id=1", "/a.jsp?id=1"),
        ("/a.jsp;JSESSIONID=0123ABCD.node1", "/a.jsp"),
        ("/a.php?id=1&PHPSESSID=abc", "/a.php?id=1"),
        ("/a.php?phpsessid=abc", "/a.php"),
        ("/a.asp?ASPSESSIONIDQQRRSSTT=ABC&x=2", "/a.asp?x=2"),
        ("/shop.php?osCsid=1a2b&p=3", "/shop.php?p=3"),
        ("/(S(lit3py55t21z5v55vlm25s55))/a.aspx", "/a.aspx"),
    ],
)
def test_a_session_makes_no_other_page(address: str, same: str) -> None:
    assert page_key(SITE + address) == page_key(SITE + same)
    assert page_id(SITE + address) == page_id(SITE + same)


@pytest.mark.parametrize(
    "address", ["/a?sid=8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d", "/a?session=12", "/(S(x))/a", "/sessid/a"]
)
def test_possible_separate_pages_are_kept(address: str) -> None:
    assert page_key(SITE + address) == SITE + address


def obvious_form(path: str) -> str:
    """Blank words with digits as the docstring of `form` says, a word after the other."""
    words = re.split(r"([0-9a-zA-Z_-]+)", path)
    blanked = ["##" if len(word) >= 8 and re.search(r"\d", word) else word for word in words]
    return re.sub(r"\d+", "#", "".join(blanked))


@given(st.text(alphabet="aZ9_-/.~", max_size=40))
def test_form_blanks_numbers_and_words_that_have_some(path: str) -> None:
    assert form(f"{SITE}/{path}") == f"{SITE}/{obvious_form(path)}"


def test_long_words_without_a_digit_are_looked_at_once() -> None:
    word = "x" * 1_000_000  # a look from each of its characters to its end would take hours
    assert form(f"{SITE}/{word}") == f"{SITE}/{word}"
    assert suspicion(f"{SITE}/?{'a=1&' * 100_000}") == "facets"
