"""Error pages with status 200: made-up addresses, and what an answer has beyond them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlink.recover.error_pages import ErrorPages, made_up, shape_of, text_key

FRAME = ["City council", "Home", "About us", "Contact the office"]


def page(url: str, *lines: str) -> tuple[list[str], str]:
    return [*FRAME, *lines], url


@pytest.mark.parametrize(
    "url",
    [
        "http://x.hk/tc/a.htm",
        "http://x.hk/tc/a.b.html",
        "http://x.hk/tc/20070904.htm",
        "http://x.hk/tc/",
        "http://x.hk/tc/a",
        "http://x.hk/",
        "http://x.hk/?p=5",
        "http://x.hk/show.php?id=5&lang=tc",
        "http://x.hk/show.php?lang=tc",
    ],
)
def test_a_made_up_address_has_the_shape_of_its_model(url: str) -> None:
    made = {made_up(url, number, keep=["tc"]) for number in range(3)}
    assert len(made) == 3
    assert url not in made
    assert made == {made_up(url, number, keep=["tc"]) for number in range(3)}
    for each in made:
        assert shape_of(each)._replace(folder="") == shape_of(url)._replace(folder="")
        assert ("lang=tc" in each) == ("lang=tc" in url)


def test_shapes_differ_by_what_answers() -> None:
    urls = ["http://x.hk/tc/a.htm", "http://x.hk/tc/a.php", "http://x.hk/sc/a.htm", "http://tc.x.hk/tc/a.htm"]
    assert len({shape_of(url) for url in [*urls, "http://x.hk/tc/a.htm?id=1"]}) == 5
    assert shape_of("http://x.hk/tc/b/c.htm") == shape_of(urls[0])


def test_the_address_in_an_apology_and_the_time_do_not_count() -> None:
    wrong = ErrorPages([page("http://x.hk/tc/zq.htm", "The page zq.htm was not found", "It is 10:31:07")])
    assert wrong.explain(*page("http://x.hk/tc/vote.htm", "The page vote.htm was not found", "It is 10:32:55"))
    assert not wrong.explain(*page("http://x.hk/tc/vote.htm", "On Sunday the council is elected"))


def test_a_short_page_in_a_large_frame_is_a_page() -> None:
    frame = [f"menu entry {chr(97 + n)}{chr(97 + n // 26)}" for n in range(400)]
    wrong = ErrorPages([([*frame, "Not found"], "http://x.hk/zq.htm")])
    assert not wrong.explain([*frame, "Opening hours: nine to five"], "http://x.hk/a.htm")
    assert wrong.explain([*frame, "Not found"], "http://x.hk/a.htm")
    assert wrong.explain(frame, "http://x.hk/a.htm")


def test_what_two_wrong_answers_do_not_share_is_not_enough() -> None:
    """A different headline each time: only a page with more letters than that is one."""
    wrong = ErrorPages(
        [page("http://x.hk/zq", "Rain tomorrow on the coast"), page("http://x.hk/zw", "The bridge is closed")]
    )
    assert wrong.explain(*page("http://x.hk/a", "A tram for the port"))
    assert not wrong.explain(*page("http://x.hk/a", "The council meets on the first Monday of each month"))


def test_lines_that_several_answers_share_count_only_where_there_are_error_pages() -> None:
    common = text_key(["Rain tomorrow on the coast"], "http://x.hk/")
    shown = page("http://x.hk/a", "Rain tomorrow on the coast")
    assert ErrorPages([page("http://x.hk/zq", "Not found")], common=common).explain(*shown)
    assert not ErrorPages([page("http://x.hk/zq", "Not found")]).explain(*shown)
    assert not ErrorPages([], common=common).explain(*shown)


def test_a_site_that_answers_404_has_no_error_pages() -> None:
    assert not ErrorPages([]).explain([], "http://x.hk/a.htm")


def test_numbers_tell_pages_apart_only_when_asked_for() -> None:
    a, b = (text_key(["Results 2007"], "http://x.hk/a"), text_key(["Results 2008"], "http://x.hk/a"))
    assert a == b
    assert text_key(["Results 2007"], "http://x.hk/a", numbers=True) != text_key(
        ["Results 2008"], "http://x.hk/a", numbers=True
    )


@given(st.lists(st.text(max_size=30), max_size=5), st.lists(st.text(max_size=30), max_size=5))
def test_an_error_page_explains_itself_and_its_parts(blocks: list[str], others: list[str]) -> None:
    wrong = ErrorPages([(blocks, "http://x.hk/zq"), (others, "http://x.hk/zw")])
    assert wrong.explain(blocks, "http://x.hk/zq")
    assert wrong.explain(blocks[:2], "http://x.hk/zq")


def test_a_word_of_the_address_may_stand_in_the_frame() -> None:
    frame = ["Read the license of the city council before you use its pages", "Not found"]
    wrong = ErrorPages([(frame, "http://x.hk/zq.htm")])
    assert wrong.explain(frame, "http://x.hk/license.htm")
    assert ErrorPages([(frame, "http://x.hk/license.htm")]).explain(frame, "http://x.hk/zq.htm")
