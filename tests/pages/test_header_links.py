"""Links in the headers of a response."""

from __future__ import annotations

import time

import pytest

from twinlink.pages.elements import RawLink
from twinlink.pages.header_links import MAX_HEADER_LINKS, header_elements
from twinlink.pages.parser import Link, parse_page

URL = "http://a.org/en/page"


def found(link: str) -> list[RawLink]:
    return [*header_elements(link, "").links]


def test_links_of_a_header_are_those_of_link_elements() -> None:
    header = (
        '</fr>; rel="alternate"; hreflang="FR", <de?a=1,2;3> ; hreflang=de;Rel=alternate , </x>;rel=shortlink,'
        ' </feed>; rel=alternate; type="application/rss+xml", <next>; rel="next"'
    )
    assert found(header) == [
        RawLink("/fr", "", "alternate", "fr"),
        RawLink("de?a=1,2;3", "", "alternate", "de"),
        RawLink("next", "", "next", ""),
    ]


def test_quoted_values_may_hold_everything() -> None:
    assert found('</fr>; title="a \\"<b>\\", </x>; rel=next"; rel=alternate; hreflang=fr') == [
        RawLink("/fr", 'a "<b>", </x>; rel=next', "alternate", "fr")
    ]


def test_the_first_parameter_of_a_name_counts() -> None:
    assert found("</fr>; rel=alternate; rel=stylesheet; hreflang=fr; hreflang=de") == [
        RawLink("/fr", "", "alternate", "fr")
    ]


def test_links_of_another_page_are_left_out() -> None:
    assert found('</fr>; rel=alternate; hreflang=fr; anchor="/other"') == []


@pytest.mark.parametrize("header", ["", "nonsense", "<", "</fr", "</fr>", "</fr>;", "</fr>; =; rel=alternate"])
def test_broken_headers_have_no_links(header: str) -> None:
    assert found(header) == []


@pytest.mark.parametrize(
    "header", ["<" * 250_000, "<a>" + "; " * 125_000, '<a>;x="' * 40_000, "<a>; a=" + " " * 250_000]
)
def test_a_long_header_takes_no_time(header: str) -> None:
    start = time.process_time()
    assert found(header) == []
    assert time.process_time() - start < 1


def test_a_header_has_so_many_links_at_most() -> None:
    assert len(found(", ".join(f"<{n}>; rel=alternate" for n in range(2 * MAX_HEADER_LINKS)))) == MAX_HEADER_LINKS


def test_a_page_has_the_links_of_its_headers_behind_its_own() -> None:
    body = b"<base href=/other/><link rel=alternate hreflang=fr href=/fr/page><p>text <a href=b>b</a>"
    header = "</fr/page>; rel=alternate; hreflang=fr, <de>; rel=alternate; hreflang=de"
    page = parse_page(body, URL, link=header, refresh="0;url=/moved")
    assert page.links == (
        Link("http://a.org/fr/page", "", "alternate", "fr"),
        Link("http://a.org/other/b", "b"),
        Link("http://a.org/en/de", "", "alternate", "de"),
        Link("http://a.org/moved", "", "refresh"),
    )


def test_a_canonical_address_in_a_header_counts_where_the_page_names_none() -> None:
    header = "</canonical>; rel=canonical"
    assert parse_page(b"<p>text", URL, link=header).canonical == "http://a.org/canonical"
    assert parse_page(b"<link rel=canonical href=/own><p>text", URL, link=header).canonical == "http://a.org/own"
