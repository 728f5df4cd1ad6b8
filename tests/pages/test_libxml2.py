"""The compiled callbacks of libxml2 gather what the target of lxml's parser does, and Python steps in for them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.markup import ENDS, TAGS, TEXTS
from twinlink.pages import libxml2
from twinlink.pages.content import SAFE_DEPTH
from twinlink.pages.libxml2 import CompiledParser, UnavailableError, compiled_parser
from twinlink.pages.parser import ParsedPage, parse_page
from twinlink.toy import toy_site

URL = "http://www.example.org/en/page.html"

STRICT = '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">'


def in_python(body: bytes) -> ParsedPage:
    with patch.object(libxml2, "compiled_parser", lambda: None):
        return parse_page(body, URL)


def compiled(body: bytes) -> ParsedPage:
    assert "twinlink.pages.libxml2" in sys.modules
    return parse_page(body, URL)


@pytest.fixture
def forgotten() -> Iterator[None]:
    """Let the parser of this process be made anew."""
    compiled_parser.cache_clear()
    yield
    compiled_parser.cache_clear()


def test_it_is_available() -> None:
    assert compiled_parser() is not None


@given(st.sampled_from(["", "<!DOCTYPE html>", STRICT]), st.lists(TAGS | ENDS | TEXTS, max_size=40).map("".join))
def test_it_finds_what_python_finds(declared: str, markup: str) -> None:
    body = (declared + markup).encode()
    assert compiled(body) == in_python(body)


@pytest.mark.parametrize(
    "markup",
    [
        *toy_site().pages.values(),
        "<a href=1><img src=i.png alt=one><img src=j.png alt=two></a><img src=k.png alt=three><a href=2></a>",
        "<a href=1>x<img src=i.png alt=one><a href=2><img src=j.png alt=two></a>",
        "<a href=1 title=t><form><input type=hidden name=x value=y></form></a>",
        "<p> a <a href=1> b <p> c </a> d <p> e",
        "<title> one \n two </title><title>three</title><p>four",
        "<p>a<title>t</title>b",
        "<a href=1>open" + "<b>" * (SAFE_DEPTH + 10) + "</i>" * 1_000_000,
        "<p>" + "&nGt;" * 1_000 + "<a href='" + "&nGt;" * 100 + "'>x</a>",
        "<a b c d e f g h>" * 100,
        "".join(f"<a href={number}>{number}</a> " for number in range(20_000)),
        "<p>" + "word " * 50_000,
    ],
)
def test_pages_that_need_care(markup: str) -> None:
    body = markup.encode()
    assert compiled(body) == in_python(body)


def test_each_character_of_the_text_counts_as_in_python() -> None:
    """White space of any kind parts words once, control and invisible characters are left out, accents composed."""
    characters = [chr(code) for code in range(1, 0x11000) if not 0xD800 <= code < 0xE000 and chr(code) not in "<&"]
    body = "".join(f"<p>a{each}b {each} {each}c{each}" for each in characters).encode()
    page = compiled(body)
    assert page == in_python(body)
    assert {block for block in page.blocks if block.isascii() and len(block) < 7} >= {"a b c", "ab c"}


def test_invisible_characters_break_no_word_and_make_no_block() -> None:
    """The two joiners of U+200C and U+200D are part of words, as in Persian."""
    body = "<p>жаға&shy;лау e\u0301t&#x200b;e\u0301\u200f<p>\u202e\ufeff<p>می\u200cخواهم<p>e&shy;\u0301".encode()
    assert compiled(body) == in_python(body)
    assert compiled(body).blocks == ("жағалау \u00e9t\u00e9", "می\u200cخواهم", "\u00e9")


def test_pages_are_gathered_as_if_each_was_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = compiled_parser()
    assert parser is not None
    deep = "<b>" * (SAFE_DEPTH + 10) + "deep"
    texts = ["<a href=1>open", "", "<p>x", " y", deep, "<title>t</title>", deep + "</i>" * 1_000_000, "<p>z<a href=2>"]
    together = parser.gather([text.encode() for text in texts])
    events, tags, text = together.events.tolist(), together.tags.tobytes(), together.text.tobytes()
    before = libxml2.Sizes(0, 0, 0, 0)
    for each, end, is_deep in zip(texts, together.ends, together.is_deep, strict=True):
        alone = parser.gather([each.encode()])
        assert is_deep == alone.is_deep[0] == (len(each) > 10**6)
        assert text[before.text : end.text] == alone.text.tobytes()
        assert tags[before.tags : end.tags] == alone.tags.tobytes()
        words = [together.attributes[first:after] for _, first, after, _ in events[before.events : end.events]]
        assert words == [alone.attributes[first:after] for _, first, after, _ in alone.events.tolist()]
        before = end


def test_a_page_without_room_leaves_nothing_among_others() -> None:
    parser = compiled_parser()
    assert parser is not None
    pages = [b"<p>one", b"<p>" + b"&nGt;" * 10_000, b"<p>two"]
    with patch.object(libxml2, "_Room", partial(_small_room, libxml2._Room)):
        found = parser.gather(pages)
    assert found.is_deep == [False, None, False]
    assert found.text.tobytes() == b"one\0two\0"


def _small_room(room: Callable[[int, int], object], _n_bytes: int, n_pages: int) -> object:
    return room(1_000, n_pages)


def test_a_page_that_gives_more_than_its_room_is_read_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    room = libxml2._Room
    monkeypatch.setattr(libxml2, "_Room", lambda _n_bytes, n_pages: room(10, n_pages))
    parser = compiled_parser()
    assert parser is not None
    for body in (b"<p>" + b"text " * 100, b"<a href=" + b"x" * 200 + b">", b"<b>" * 400, b"<a href=1>x</a>" * 300):
        assert parser.parse(body) is None
        assert compiled(body) == in_python(body)


@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize("missing", [AttributeError("undefined symbol: htmlParseChunk"), OSError("no such file")])
def test_python_reads_where_lxml_does_not_show_its_library(missing: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise missing

    monkeypatch.setattr(libxml2, "_functions", fail)
    with pytest.raises(UnavailableError, match=str(missing)):
        CompiledParser()
    assert compiled_parser() is None
    assert compiled(b"<p>text").blocks == ("text",)


@pytest.mark.usefixtures("forgotten")
def test_an_old_library_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libxml2, "OLDEST", (99, 0))
    with pytest.raises(UnavailableError, match="libxml2"):
        CompiledParser()
    assert compiled_parser() is None


def test_stored_code_does_the_same_in_another_process() -> None:
    compiled(b"<p>x")  # compiled and stored, if it was not
    program = (
        "import sys; from twinlink.pages import libxml2, parse_page\n"
        f"page = parse_page(b'<title>t</title><p>text <a href=b>link</a>', {URL!r})\n"
        "print(page.title, page.blocks, [link.anchor for link in page.links], 'numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "t ('text link',) ['link'] False"
