"""Pages that are read together say what each of them says by itself."""

from __future__ import annotations

from collections.abc import Sequence
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.markup import ENDS, TAGS, TEXTS
from twinlink.pages import libxml2
from twinlink.pages.libxml2 import compiled_parser
from twinlink.pages.parser import parse_page
from twinlink.pages.repeated import Repeated
from twinlink.toy import toy_site

URLS = (
    "http://www.example.org/en/page.html",
    "http://www.example.org/en/",
    "http://www.example.org/zh/page.html?id=/3",
    "http://www.example.org/en/other.html",
    "https://www.example.org",
)
CHARSETS = ("utf-8", "big5hkscs")
LINKS = (
    "<a href='b.html'>b</a>",
    "<a href='?q=\u4e2d'>\u4e2d</a>",
    "<a href='#top'>top</a>",
    "<a href='mailto:a@b'>mail</a>",
    "<a href='b.html' title=t><img src=i.png alt=one></a>",
    "<a href='b.html' title=t><img src=j.png alt=two></a>",
    "<a href='b.html' title=t><img src=j.png></a>",
    "<a href='b.html'>text<img src=i.png alt=one></a>",
    "<a href='//x'><form><input name=lang value=en type=submit></form></a>",
    "<link rel=canonical href=c.html>",
    "<link rel=stylesheet href=c.css>",
    "<meta name=ROBOTS content=NoIndex><meta name=robot content=x><meta name=description content=y>",
    "<meta http-equiv=Content-Language content=fr><meta property=robots content=z>",
    "<meta http-equiv=refresh content='1;url=r.html'>",
    "<base href='/base/'>",
    "<html lang=zh_hk>",
    "<form action=f><select name=lang><option value=en><option value=zh></select></form>",
    f"<a href='{'x' * 600}'>long</a>",
    "<title>one</title>",
)
PAGES = st.lists(st.one_of(st.sampled_from(LINKS), TAGS, ENDS, TEXTS), max_size=20).map("".join)


def check(texts: Sequence[tuple[str, str]]) -> None:
    """Check that pages, given their addresses, say together what they say alone in Python."""
    parser, repeated = compiled_parser(), Repeated()
    assert parser is not None
    found = parser.gather([text.encode() for text, _ in texts])
    first = 0
    for (text, url), end in zip(texts, found.ends, strict=True):
        for charset in CHARSETS:
            page = repeated.read(found.events[first : end.events].tolist(), found.attributes, first, url, charset, "zh")
            with (
                patch.object(libxml2, "compiled_parser", lambda: None),
                patch("twinlink.pages.parser.prepared", lambda body, _, charset=charset: (body, False, charset)),
            ):
                alone = parse_page(text.encode(), url, "", "zh")
            assert page.title == alone.title
            assert tuple(map(repeated.links.__getitem__, page.links)) == alone.links
            assert tuple(map(repeated.images.__getitem__, page.images)) == alone.images
            assert (page.declared_lang, page.canonical) == (alone.declared_lang, alone.canonical)
        first = end.events


@given(st.lists(st.tuples(PAGES, st.sampled_from(URLS)), max_size=5))
def test_they_say_what_each_says_alone(texts: list[tuple[str, str]]) -> None:
    check(texts)


@pytest.mark.parametrize("url", URLS)
def test_the_toy_site(url: str) -> None:
    check([(text, url) for text in toy_site().pages.values()])


def test_each_element_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parser, repeated = compiled_parser(), Repeated()
    assert parser is not None
    pages = [b"<a href=b>menu</a><img src=a.png><a href=c>content</a>" * 3] * 2
    found = parser.gather(pages)
    events = found.events.tolist()
    first = found.ends[0].events
    of_first = repeated.read(events[:first], found.attributes, 0, URLS[0], "utf-8", "")
    size = repeated.n_bytes
    monkeypatch.setattr("twinlink.pages.repeated.link_of", lambda *_: pytest.fail("read twice"))
    of_second = repeated.read(events[first:], found.attributes, first, URLS[0], "utf-8", "")
    assert of_first == of_second
    assert repeated.n_bytes == size
