"""Linearised pages: which markup gives a token, and what a chunk is."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlink.pages.content import SAFE_DEPTH
from twinlink.pages.linearise import Linearised, linearise
from twinlink.pages.tags import OTHER_TAG, TAG_CODES

NAMES = {code: name for name, code in TAG_CODES.items()}
INLINE = "a b strong i em font span nobr sup sub acronym option".split()

MARKUP = st.lists(
    st.sampled_from(
        b"< > </ /> <!-- --> <![CDATA[ &amp; \0 \xa4 <html> <title> </title> <script> </script> <style> </style> <svg>"
        b" <table> <td> <a\thref=x> </a> <p> </p> <b> </b> <br> <option> <x-y> text \x01 \xc2\xa0 \xe4\xb8\xad".split(
            b" "
        )
    ),
    max_size=40,
).map(b"".join)


def readable(page: Linearised) -> str:
    """Tokens as words: ``<p 5 >p`` is a paragraph with five characters."""

    def word(token: int) -> str:
        if token > 0:
            return str(token)
        code, end = divmod(-token - 1, 2)
        return (">" if end else "<") + NAMES.get(code, "?")

    return " ".join(word(token) for token in page.tokens.tolist())


def linear(markup: str) -> str:
    """Tokens within the body, which the parser supplies."""
    inside = readable(linearise(markup.encode()))
    assert inside.startswith("<html <body ")
    assert inside.endswith(" >body >html")
    return inside.removeprefix("<html <body ").removesuffix(" >body >html")


def test_page_of_the_papers_figure_1() -> None:
    """Figure 2 has the same tokens, without what the parser supplies: the head, and the ends of body and html.

    It counts 23, 23 and 72 characters, for it counts no spaces, of which there are 3, 3 and 13.
    """
    page = linearise(
        b"<HTML>\n<TITLE>The\nRepublic\nof\nKazakhstan</TITLE>\n<BODY>\n<H1>The\nRepublic\nof\nKazakhstan</H1>\n"
        b"The Republic of\nKazakhstan is a\nunitary state with a\npresidential form of\ngovernment."
    )
    assert readable(page) == "<html <head <title 26 >title >head <body <h1 26 >h1 85 >body >html"
    assert page.words.tolist() == [4, 4, 14]
    assert page.tokens.dtype == page.words.dtype == np.int32
    assert not page.cut


@pytest.mark.parametrize(
    ("markup", "tokens"),
    [
        ("<p>one</p>", "<p 3 >p"),
        ("<p>  one \n\t two&nbsp;&nbsp; </p>", "<p 7 >p"),
        ("<div> <p>&nbsp;</p>\n</div>", "<div <p >p >div"),
        ("<div>one<p>two</p>three</div>", "<div 3 <p 3 >p 5 >div"),
        ("<p class=x id='one two'>one", "<p 3 >p"),
        ("<p>one<br>two", "<p 3 <br >br 3 >p"),
        ("<hr><img src=x alt=text>", "<hr >hr <img >img"),
        ("<p>one<!-- <b>two</b> -->three", "<p 8 >p"),
        ("<p>one<script>var two = '<p>'</script>three", "<p 8 >p"),
        ("<p>one<style>p { two }</style>three", "<p 8 >p"),
        ("<script>one</script><p>two", ""),
        ("<p>one<meta name=x>two<link rel=y>three", "<p 11 >p"),
        ("<noscript><p>one</p></noscript>", "<noscript <p 3 >p >noscript"),
        ("<foo>one</foo>", "<? 3 >?"),
        ("<select><option>one<option>two</select>", "<select 7 >select"),
        ("<p>one<a href=x>two</a>three", "<p 13 >p"),
        ("<p>one <a href=x> two </a> three", "<p 13 >p"),
        ("<p>x<sup>2</sup>y", "<p 3 >p"),
        ("<p>\N{GRINNING FACE}é", "<p 2 >p"),
        ("<p>\x01</p>", "<p >p"),
    ],
)
def test_tokens(markup: str, tokens: str) -> None:
    if tokens:
        assert linear(markup) == tokens
    else:
        assert readable(linearise(markup.encode())) == "<html <head >head <body <p 3 >p >body >html"


@pytest.mark.parametrize("tag", INLINE)
def test_tags_inside_a_line_give_no_token(tag: str) -> None:
    length = 11 if tag in {"a", "option"} else 9
    assert linear(f"<p>one<{tag}>two</{tag}>six</p>") == f"<p {length} >p"


def test_empty_pages() -> None:
    for body in (b"", b"  \n", b"<!-- nothing -->"):
        page = linearise(body)
        assert page.words.size == 0
        assert (page.tokens < 0).all()
    assert linearise(b"").tokens.tolist() == []


def test_codes_are_the_parsers() -> None:
    html, body, p = (TAG_CODES[tag] for tag in ("html", "body", "p"))
    expected = [-2 * html - 1, -2 * body - 1, -2 * p - 1, 3, -2 * p - 2, -2 * body - 2, -2 * html - 2]
    assert linearise(b"<p>one").tokens.tolist() == expected
    assert linearise(b"<foo>").tokens.tolist()[2:4] == [-2 * OTHER_TAG - 1, -2 * OTHER_TAG - 2]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("one two", 2),
        ("один два-три", 2),
        ("한국어 낱말", 2),
        ("你好世界", 4),
        ("你好，世界。", 4),
        ("Python 语言 3", 4),
        ("ひらがなとカタカナ", 9),
        ("々〆", 2),
        ("ไทย", 3),
        ("，。", 1),
        ("𠀀𠀁", 2),
    ],
)
def test_words_of_a_chunk(text: str, words: int) -> None:
    assert linearise(f"<p>{text}</p>".encode()).words.tolist() == [words]


def test_encoding_is_the_headers() -> None:
    assert linear("<p>Привет") == "<p 6 >p"
    page = linearise("<p>Привет".encode("koi8-r"), "text/html; charset=koi8-r")
    assert readable(page) == "<html <body <p 6 >p >body >html"


def test_deep_nesting_is_cut() -> None:
    depth = 200_000
    page = linearise(b"<div>" * depth + b"</i>" * depth)
    assert page.cut
    assert SAFE_DEPTH <= np.count_nonzero(page.tokens < 0) < 2 * depth
    assert not linearise(b"<div>" * SAFE_DEPTH).cut


def test_a_script_without_end_takes_the_rest_of_the_page() -> None:
    assert readable(linearise(b"<p>one<script>two")) == "<html <body <p 3 >p >body >html"


@given(st.binary(max_size=200) | MARKUP)
def test_any_bytes_give_a_page(body: bytes) -> None:
    page = linearise(body)
    chunks = page.tokens[page.tokens > 0]
    assert (page.tokens != 0).all()
    assert (page.tokens >= -2 * OTHER_TAG - 2).all()
    assert len(page.words) == len(chunks)
    assert (page.words >= 1).all()
    assert (page.words <= chunks).all()
    adjacent = (page.tokens[1:] > 0) & (page.tokens[:-1] > 0)
    assert not adjacent.any()  # two chunks have a tag between them


@given(MARKUP)
def test_each_start_has_its_end(body: bytes) -> None:
    open_tags = []
    for token in linearise(body).tokens.tolist():
        if token < 0 and token % 2:
            open_tags.append(token)
        elif token < 0:
            assert open_tags.pop() == token + 1
    assert open_tags == []


class Plain(HTMLParser):
    """Reference for markup that needs no repair: another parser, and the rules read off once more."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.parts.append(" " if tag == "a" else "" if tag in INLINE else f"\0<{tag}\0")

    def handle_endtag(self, tag: str) -> None:
        self.parts.append(" " if tag == "a" else "" if tag in INLINE else f"\0>{tag}\0")

    def handle_data(self, data: str) -> None:
        self.parts.append(data)

    def tokens(self) -> str:
        pieces = (" ".join(piece.split()) for piece in "".join(self.parts).split("\0"))
        return " ".join(piece if piece[0] in "<>" else str(len(piece)) for piece in pieces if piece)


ELEMENT = st.recursive(
    st.sampled_from(["one", " two ", "\n", "three four", "&nbsp;", "five", "<a>six</a>"]),
    lambda inner: st.tuples(st.sampled_from("div ul b span sup".split()), st.lists(inner, max_size=3)).map(
        lambda made: f"<{made[0]}>{''.join(made[1])}</{made[0]}>"
    ),
    max_leaves=12,
)


@given(st.lists(ELEMENT, max_size=4).map("".join))
def test_equals_a_plain_reading_of_whole_markup(markup: str) -> None:
    markup = f"<html><body><div>{markup}</div></body></html>"
    plain = Plain()
    plain.feed(markup)
    assert readable(linearise(markup.encode())) == plain.tokens()
