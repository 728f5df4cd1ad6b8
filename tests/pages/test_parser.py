"""Pages: decoding, text blocks, tags, links, claimed language."""

from __future__ import annotations

from html.parser import HTMLParser
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlink.pages import elements, parser
from twinlink.pages.content import SAFE_DEPTH
from twinlink.pages.decoding import decode
from twinlink.pages.elements import MAX_ANCHOR_LENGTH
from twinlink.pages.parser import (
    MAX_ADDRESS_CHARACTERS,
    MAX_MARKS,
    Link,
    ParsedPage,
    parse_page,
    run_parser,
)
from twinlink.pages.tags import OTHER_TAG, TAG_CODES

pytestmark = pytest.mark.usefixtures("parser_in")

URL = "http://www.example.org/en/page.html"

# Bytes that steer the parser more often than arbitrary ones do.
MARKUP = st.lists(
    st.sampled_from(
        b"< > </ /> <!-- --> <![CDATA[ <?xml =\" ' &# &amp; \0 \xa4 <html\tlang=en> <title> </title> <script> </script>"
        b" <svg> </svg> <table> <td> <a\thref=x> </a> <p> </p> <b> </b> <img\talt=i\tsrc=y> <base\thref='//'>"
        b" <iframe> <meta\tcharset=utf-16> <meta\tcharset=hex> <template> <noscript> <textarea> text \x0b".split(b" ")
    ),
    max_size=40,
).map(b"".join)


def parse(markup: str, **headers: str) -> ParsedPage:
    return parse_page(markup.encode(), URL, **headers)


def tag_names(page: ParsedPage) -> list[str]:
    names = {code: name for name, code in TAG_CODES.items()}
    return [names.get(code, "?") for code in page.tags]


# ---- decoding


CANTONESE = "立法會的會議紀錄,佢哋嘅嘢喺咗嚟啲度。行政長官"
MANDARIN = "立法会的会议记录在这里,行政长官说的话我们都听见了。"
JAPANESE = "日本語のテキストです。会議の記録を読むことができます。"
KOREAN = "한국어 텍스트입니다. 회의 기록을 읽을 수 있습니다."
RUSSIAN = "Привет, как дела? Это русский текст о работе совета."


@pytest.mark.parametrize(
    ("text", "codec", "label", "charset"),
    [
        (CANTONESE, "big5hkscs", "Big5", "big5hkscs"),
        (CANTONESE, "big5hkscs", "big5-hkscs", "big5hkscs"),
        (CANTONESE, "big5hkscs", "cp950", "big5hkscs"),
        (MANDARIN, "gbk", "gb2312", "gb18030"),
        (MANDARIN, "gbk", "GBK", "gb18030"),
        (MANDARIN + "㐀𠀀", "gb18030", "gb18030", "gb18030"),
        (JAPANESE, "cp932", "Shift_JIS", "cp932"),
        (JAPANESE, "euc_jp", "euc-jp", "euc_jp"),
        (KOREAN, "cp949", "euc-kr", "cp949"),
        (RUSSIAN, "cp1251", "windows-1251", "cp1251"),
        ("naïve “quotes” cost €5", "cp1252", "iso-8859-1", "cp1252"),  # browsers read Latin-1 as Windows' superset
        (CANTONESE, "utf-8", "UTF-8", "utf-8"),
    ],
)
@pytest.mark.parametrize("place", ["header", "meta", "old meta", "XML declaration"])
def test_declared_encodings(text: str, codec: str, label: str, charset: str, place: str) -> None:
    declaration = {
        "header": "",
        "meta": f"<meta charset={label}>",
        "old meta": f'<meta http-equiv="Content-Type" content="text/html; charset={label}">',
        "XML declaration": f'<?xml version="1.0" encoding="{label}"?>',
    }[place]
    page = parse_page(
        f"{declaration}<title>{text}</title><p>{text}</p>".encode(codec),
        URL,
        f"text/html; charset={label}" if place == "header" else "text/html",
    )
    assert (page.title, page.blocks, page.charset) == (text, (text,), charset)


@pytest.mark.parametrize(
    ("text", "codec", "charset"),
    [
        (CANTONESE, "utf-8", "utf-8"),
        (CANTONESE, "big5hkscs", "big5hkscs"),
        (MANDARIN, "gbk", "gb18030"),
        (JAPANESE, "cp932", "cp932"),
        (JAPANESE, "euc_jp", "euc_jp"),
        (KOREAN, "cp949", "cp949"),
        (RUSSIAN, "cp1251", "cp1251"),
        ("plain ASCII", "ascii", "utf-8"),
    ],
)
def test_encodings_without_any_label(text: str, codec: str, charset: str) -> None:
    page = parse_page(f"<p>{text}</p><p>{text}</p>".encode(codec), URL)
    assert (page.blocks, page.charset) == ((text, text), charset)


@pytest.mark.parametrize(
    ("codec", "mark", "charset"),
    [
        ("utf-8", b"\xef\xbb\xbf", "utf-8"),
        ("utf-16-le", b"\xff\xfe", "utf-16-le"),
        ("utf-16-be", b"\xfe\xff", "utf-16-be"),
    ],
)
def test_a_byte_order_mark_beats_every_label(codec: str, mark: bytes, charset: str) -> None:
    body = mark + f"<meta charset=big5><p>{CANTONESE}".encode(codec)
    page = parse_page(body, URL, "text/html; charset=gbk")
    assert (page.blocks, page.charset) == ((CANTONESE,), charset)


def test_the_header_beats_the_page() -> None:
    page = parse_page(f"<meta charset=gbk><p>{CANTONESE}".encode("big5hkscs"), URL, "text/html;charset=big5")
    assert page.blocks == (CANTONESE,)


def test_a_page_that_can_be_read_cannot_be_utf16() -> None:
    page = parse_page(f"<meta charset=utf-16><p>{CANTONESE}".encode(), URL)
    assert (page.blocks, page.charset) == ((CANTONESE,), "utf-8")


@pytest.mark.parametrize(
    "label", ["hex", "rot13", "idna", "punycode", "unicode_escape", "undefined", "utf-7", "no-such"]
)
def test_labels_that_are_no_text_encoding_are_not_believed(label: str) -> None:
    text, charset = decode(f"<meta charset={label}>中".encode(), f"text/html; charset={label}")
    assert (text[-1], charset) == ("中", "utf-8")


def test_undecodable_bytes_are_replaced() -> None:
    assert parse_page(b"<p>a\xffb", URL, "text/html; charset=utf-8").blocks == ("a\ufffdb",)


# ---- text


@pytest.mark.parametrize(
    ("markup", "blocks"),
    [
        ("", ()),
        ("   ", ()),
        ("plain", ("plain",)),
        ("<p>one<p>two", ("one", "two")),
        ("<p>one <b>bold</b> <a href=x>link</a>, <i>end</i>.</p>", ("one bold link, end.",)),
        ("<p>行<a href=x>政長</a>官</p>", ("行政長官",)),
        ("<p>one<br>two<br/>three</p>", ("one two three",)),
        ("<div>before<p>inside</p>after</div>", ("before", "inside", "after")),
        ("<ul><li>a<li>b<ul><li>c</ul>d</ul>", ("a", "b", "c", "d")),
        ("<table><tr><td>a<td>b<tr><th>c</table>d", ("a", "b", "c", "d")),
        ("<select><option>English<option>中文</select>", ("English 中文",)),
        ("<p>a\n\t b\u00a0c\u3000d</p>", ("a b c d",)),
        ("<p>\u3000</p><p>&nbsp;</p>", ()),
        ("<p>a<script>var x='<p>no</p>';</script>b<style>p{}</style>c</p>", ("abc",)),
        ("<p>a<!-- <p>no</p> -->b</p>", ("ab",)),
        ("<p>a<svg><title>no</title><text>no</text></svg>b<template><p>no</p></template>c", ("abc",)),
        ("<noscript><p>menu</p></noscript>", ("menu",)),
        ("<iframe src=x><p>no</p></iframe><textarea>  kept </textarea>", ("kept",)),
        ("<p>a<img alt='no'>b</p>", ("ab",)),
        ("<p>&lt;b&gt; &amp; &#20013;&#x6587; &eacute;</p>", ("<b> & 中文 é",)),
        ("<p>a&#1;b\x02c\x00d\x7f</p>", ("abcd",)),
        ("<p>&#145;quoted&#146;</p>", ("‘quoted’",)),
        ("<new-tag>a<other>b</other></new-tag>", ("ab",)),
        ("<h1>Head</h1>text<hr>more", ("Head", "text", "more")),
        ("<p>a</div></span>b</p></p>", ("ab",)),
    ],
)
def test_blocks(markup: str, blocks: tuple[str, ...]) -> None:
    assert parse(f"<body>{markup}</body>").blocks == blocks
    assert parse(markup).blocks == blocks  # a page need not say that it has a body


@pytest.mark.parametrize(
    ("markup", "title"),
    [
        ("<title> A\n title </title>", "A title"),
        ("<head><title>first</title><title>second</title>", "first"),
        ("<p>text<title>late</title>more", "late"),
        ("<title><b>no element</b></title>", "<b>no element</b>"),
        ("<title/><p>text", ""),
        ("<svg><title>of a drawing</title></svg><p>text", ""),
        ("<p>text", ""),
    ],
)
def test_title(markup: str, title: str) -> None:
    page = parse(markup)
    assert page.title == title
    assert all("title" not in block for block in page.blocks)


def test_a_late_title_is_no_text() -> None:
    assert parse("<p>text<title>late</title>more").blocks == ("text", "more")


# ---- tags


def test_the_codes_are_distinct_and_leave_room_for_other_tags() -> None:
    assert sorted(TAG_CODES.values()) == list(range(len(TAG_CODES)))
    assert len(TAG_CODES) <= OTHER_TAG


def test_the_codes_never_change() -> None:
    # Stored tables hold them: new tags go to the end.
    assert (TAG_CODES["html"], TAG_CODES["div"], TAG_CODES["td"], TAG_CODES["image"]) == (0, 39, 95, 145)


def test_tags_in_document_order() -> None:
    markup = "<html><head><title>t</title><script>'<p>'</script></head><body><div><p>a<b>b</b><br><foo>c</foo></div>"
    assert tag_names(parse(markup)) == ["html", "head", "title", "script", "body", "div", "p", "b", "br", "?"]


def test_tags_inside_what_is_skipped_do_not_count() -> None:
    names = tag_names(parse("<body><svg><g><path></g></svg><template><p></p></template><!-- <p> --><i>x</i>"))
    assert names == ["html", "body", "svg", "template", "i"]


def test_end_tags_and_attributes_do_not_matter_to_tags() -> None:
    assert parse("<ul><li class=a>x</li><li>y</li></ul>").tags == parse("<ul><li>one<li id=b>two</ul>").tags


# ---- links


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<link rel=canonical href=b>", "http://www.example.org/en/b"),
        ("<base href=/x/><link rel='nofollow CANONICAL' href='b#top'>", "http://www.example.org/x/b"),
        ("<link rel=canonical href=b><link rel=canonical href='./b'>", "http://www.example.org/en/b"),
        ("<link rel=canonical href=b><link rel=canonical href=c>", ""),
        ("<link rel=canonical href=page.html>", ""),  # its own
        ("<link rel=canonical href=''>", ""),
        ("<link rel=canonical href='javascript:alert(1)'>", ""),
        ("<link rel=canonical>", ""),
        ("<a rel=canonical href=b>b</a>", ""),
        ("<link rel=next href=b>", ""),
    ],
)
def test_canonical_address(markup: str, expected: str) -> None:
    assert parse(markup).canonical == expected


@pytest.mark.parametrize(
    ("markup", "link"),
    [
        ("<a href=b.html>Text</a>", Link("http://www.example.org/en/b.html", "Text")),
        ("<a href=' /tc/\n'>  中\n文 </a>", Link("http://www.example.org/tc/", "中 文")),
        ("<a href='b?x=1&amp;y=2#z'>q</a>", Link("http://www.example.org/en/b?x=1&y=2", "q")),
        ("<a href=b><img src=e.gif alt=English></a>", Link("http://www.example.org/en/b", "English")),
        ("<a href=b><img alt=no> words</a>", Link("http://www.example.org/en/b", "words")),
        ("<a href=b title=Title aria-label=Label></a>", Link("http://www.example.org/en/b", "Title")),
        ("<a href=b aria-label=Label><svg><text>no</text></svg></a>", Link("http://www.example.org/en/b", "Label")),
        ("<a href=b></a>", Link("http://www.example.org/en/b", "")),
        ("<a href=b><div>one</div><div>two</div></a>", Link("http://www.example.org/en/b", "one two")),
        ("before <a href=b>in<p>side</p></a> after", Link("http://www.example.org/en/b", "in side")),
        (
            "<a href=b hreflang='ZH-hant' rel='Alternate  NoFollow'>中</a>",
            Link("http://www.example.org/en/b", "中", "alternate nofollow", "zh-hant"),
        ),
        ("<map><area href=b alt=Area></map>", Link("http://www.example.org/en/b", "Area")),
        ("<frameset><frame src=b title=Menu></frameset>", Link("http://www.example.org/en/b", "Menu")),
        ("<iframe src=b><a href=no>no</a></iframe>", Link("http://www.example.org/en/b", "")),
        (
            "<link rel=alternate hreflang=zh-HK href=/tc/ title=中文>",
            Link("http://www.example.org/tc/", "中文", "alternate", "zh-hk"),
        ),
        ("<link rel='CANONICAL' href=b>", Link("http://www.example.org/en/b", "", "canonical")),
        ("<link rel=next href=b>", Link("http://www.example.org/en/b", "", "next")),
        ("<noscript><a href=b>menu</a></noscript>", Link("http://www.example.org/en/b", "menu")),
        ("<meta http-equiv=Refresh content='0; URL=b'>", Link("http://www.example.org/en/b", "", "refresh")),
        ("<meta http-equiv=refresh content=\"5;url='b'\">", Link("http://www.example.org/en/b", "", "refresh")),
        ("<meta http-equiv=refresh content='0,b'>", Link("http://www.example.org/en/b", "", "refresh")),
        ("<meta http-equiv=refresh content='0 url=b'>", Link("http://www.example.org/en/b", "", "refresh")),
        ("<meta http-equiv=refresh content='0\n;b'>", Link("http://www.example.org/en/b", "", "refresh")),
        ("<meta http-equiv=refresh content=';url=b'>", Link("http://www.example.org/en/b", "", "refresh")),
        (
            '<meta http-equiv=refresh content="0;url=b?q=it\'s">',
            Link("http://www.example.org/en/b?q=it%27s", "", "refresh"),
        ),
        (
            "<meta http-equiv=refresh content='0;url=\"b\" and more'>",
            Link("http://www.example.org/en/b", "", "refresh"),
        ),
    ],
)
def test_links(markup: str, link: Link) -> None:
    assert parse(markup).links == (link,)


@pytest.mark.parametrize(
    "markup",
    [
        "<a>no address</a>",
        "<a name=x>place</a>",
        "<a href=#top>on the page</a>",
        "<a href='mailto:a@example.org'>mail</a>",
        "<a href='javascript:go()'>script</a>",
        "<a href='http://'>broken</a>",
        "<link rel=stylesheet href=s.css>",
        "<link rel='alternate stylesheet' href=s.css>",
        "<link rel=alternate type=application/rss+xml href=feed>",
        "<link rel='shortcut icon' href=i.ico>",
        "<meta http-equiv=refresh content=300>",
        "<meta http-equiv=refresh content='300;'>",
        "<meta http-equiv=refresh content='300 '>",
        "<meta http-equiv=refresh content='url=b'>",
        "<!-- <a href=b>comment</a> -->",
        "<script>'<a href=b>code</a>'</script>",
        "<template><a href=b>later</a></template>",
        "<img src=i.gif>",
    ],
)
def test_elements_that_are_not_links(markup: str) -> None:
    assert parse(markup).links == ()


def test_links_keep_their_order_and_repetitions_go() -> None:
    page = parse("<a href=b>B</a><a href=a>A</a><a href=b>B</a><a href=b>other text</a>")
    assert [(link.url[-1], link.anchor) for link in page.links] == [("b", "B"), ("a", "A"), ("b", "other text")]


def test_an_open_link_ends_at_the_next() -> None:
    page = parse("<a href=a>A<a href=b>B")
    assert [link.anchor for link in page.links] == ["A", "B"]


def test_an_anchor_text_has_a_limit() -> None:
    page = parse(f"<a href=b>{'x' * 2 * MAX_ANCHOR_LENGTH}</a><a href=c title={'y' * 2 * MAX_ANCHOR_LENGTH}></a>")
    assert [len(link.anchor) for link in page.links] == [MAX_ANCHOR_LENGTH, MAX_ANCHOR_LENGTH]


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("http://other.example/dir/", "http://other.example/dir/b"),
        ("/tc/", "http://www.example.org/tc/b"),
        ("../", "http://www.example.org/b"),
        ("javascript:x", "http://www.example.org/en/b"),
        ("", "http://www.example.org/en/b"),
    ],
)
def test_base(base: str, expected: str) -> None:
    xhtml = (
        '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" ""><html '
        f'xmlns="http://www.w3.org/1999/xhtml"><head><base href="{base}"/><base href="/no/"/></head>'
        '<body><p><a name="x"/>text <a href="b">B</a></p></body></html>'
    )
    page = parse(xhtml)
    assert page.links == (Link(expected, "B"),)
    assert page.blocks == ("text B",)


def test_base_counts_for_links_before_it() -> None:
    page = parse("<a href=b>B</a><base href=http://other.example/>")
    assert page.links[0].url == "http://other.example/b"


def test_a_query_is_encoded_as_the_page_is() -> None:
    body = "<meta charset=big5><a href='/中?q=中'>x</a>".encode("big5")
    assert parse_page(body, URL).links[0].url == "http://www.example.org/%E4%B8%AD?q=%A4%A4"


def test_images() -> None:
    page = parse("<img src=/a/en.gif?v=1#x><img src=b%20c.png><img><img src='data:image/gif;base64,x'><img src=dir/>")
    assert page.images == ("en.gif", "b%20c.png")


# ---- language


@pytest.mark.parametrize(
    ("markup", "header", "lang"),
    [
        ("<html lang=en>", "", "en"),
        ("<html lang=zh_TW>", "", "zh-TW"),
        ("<html lang=ZH-HANT-hk>", "", "zh-Hant-HK"),
        ("<html lang=zh_CN.UTF-8>", "", "zh-CN"),
        ("<html xml:lang=fr>", "", "fr"),
        ("<html lang=en xml:lang=fr>", "de", "en"),
        ("<html lang=''><meta http-equiv=content-language content=pt-br>", "de", "pt-BR"),
        ("<html><body>", "kk", "kk"),
        ("<html><body>", "en, zh", ""),
        ("<html lang='en, zh'>", "", ""),
        ("<html lang=english>", "", ""),
        ("<html lang=english>", "zh-hk", "zh-HK"),
        ("<p lang=fr>un mot</p>", "", ""),
    ],
)
def test_declared_language(markup: str, header: str, lang: str) -> None:
    assert parse(markup, content_language=header).declared_lang == lang


# ---- hostile pages


def test_deep_nesting_that_is_closed_is_read() -> None:
    depth = SAFE_DEPTH - 10
    page = parse("<div>" * depth + "deep" + "</div>" * depth + "<p>end")
    assert (page.blocks, page.cut) == (("deep", "end"), False)


def test_deep_nesting_in_a_page_with_few_end_tags_is_read() -> None:
    page = parse("<font>" * 50_000 + "deep<p>end")
    assert (page.blocks, page.cut) == (("deep", "end"), False)


@pytest.mark.parametrize("end", ["</div>", "</i>"])
@pytest.mark.parametrize("start", ["", "<svg>", "<template>"])
def test_hostile_nesting_ends_the_page(start: str, end: str) -> None:
    # With </i>, libxml2 would compare 10^10 times.
    page = parse("<p>start</p>" + start + "<b>" * 100_000 + "deep" + end * 100_000)
    assert (page.blocks, page.cut) == (("start",), True)


def test_many_links() -> None:
    n_links = 20_000
    page = parse("".join(f"<a href=p{number}>x</a>" for number in range(n_links)))
    assert len(page.links) == n_links


@pytest.mark.parametrize("form", ["<a href=%d>", "<a href=%d>x</a>", "<area href=%d>", "<link rel=next href=%d>"])
def test_links_are_taken_up_to_a_number(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elements, "MAX_LINKS", 50)
    whole = parse("".join(form % (number % 50) for number in range(200)) + "</a><p>end")
    assert (len(whole.links), whole.blocks[-1][-3:], whole.cut) == (50, "end", False)
    more = parse("".join(form % number for number in range(200)) + "</a><p>end")
    assert (more.links, more.blocks[-1][-3:], more.cut) == (whole.links, "end", True)


@pytest.mark.parametrize("mark", ["<b>", "</b>", "<p>x", "<!---->", "< "])
def test_a_page_is_read_up_to_so_many_tags(mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser, "MAX_MARKS", 1_000)
    page = parse("<p>start</p>" + mark * 998 + "<p>end")  # the last one is the tag of the end
    assert (page.blocks[0], page.cut) == ("start", True)
    assert "end" not in page.blocks
    whole = parse("<p>start</p>" + mark * 997 + "<p>end")
    assert (whole.blocks[-1], whole.cut) == ("end", False)


def test_the_largest_page_makes_as_many_calls_as_it_may_have_tags() -> None:
    class Counter:
        n = 0

        def __init__(self, max_depth: int) -> None:
            self.data = str

        def start(self, tag: str, attributes: object) -> None:
            Counter.n += 1

        def end(self, tag: str) -> None:
            Counter.n += 1

        def close(self) -> None: ...

    _, cut, _ = run_parser(b"<p>" * 3_000_000, "", Counter)
    assert cut
    assert Counter.n <= 2 * MAX_MARKS + 4  # html and body are supplied


def test_a_form_of_endless_fields_costs_no_more_than_its_fields() -> None:
    fields = "".join(f"<input type=hidden name=f{number} value=x>" for number in range(300))
    choices = "".join(f"<input type=radio name=lang value=e{letter}>" for letter in "nstl")
    assert len(parse(f"<form action=/x>{choices}{fields[:2_000]}</form>").links) == 4
    assert parse(f"<form action=/x>{choices}{fields}</form>").links == ()  # their addresses would be too long


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\0" * 1000,
        bytes(range(256)) * 100,
        b"<" * 100_000,
        b"&" * 100_000,
        b"<!--" * 10_000,
        b"<title>" * 10_000,
        b"<a href='" + b"x" * 100_000,
        b"<meta http-equiv=refresh content='" + b" " * 100_000 + b"x'>",
        b"\xff\xfe" + "<p>中".encode("utf-16-le") + b"\xd8",
    ],
)
def test_junk_gives_a_page(body: bytes) -> None:
    assert parse_page(body, URL).url == URL


@given(st.one_of(st.binary(max_size=200), MARKUP, MARKUP.map(lambda m: "".join(map(chr, m)).encode("utf-16"))))
def test_no_bytes_are_refused(body: bytes) -> None:
    page = parse_page(body, URL)
    assert not page.cut
    assert "" not in page.blocks
    for text in (page.title, *page.blocks, *(link.anchor for link in page.links)):
        assert text == " ".join(text.split())
        assert not any(ord(character) < 32 for character in text)
    for link in page.links:
        assert link.url.startswith(("http://", "https://"))


@given(st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1), max_size=8))
def test_paragraphs_come_back_as_blocks(texts: list[str]) -> None:
    page = parse("".join(f"<p>{text}</p>" for text in texts))
    assert page.blocks == tuple(normalize("NFC", text) for text in texts)


class _Texts(HTMLParser):
    """All text of a page, by the standard library's parser."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    def handle_data(self, data: str) -> None:
        self.text += data


@given(
    st.lists(
        st.sampled_from(["<p>", "</p>", "<b>", "</b>", "<div>", "</div>", "<br>", "a ", "中", "<a href=x>", "</a>"])
    )
)
def test_no_text_is_lost_or_doubled(pieces: list[str]) -> None:
    other = _Texts()
    other.feed("".join(pieces))
    other.close()
    assert "".join("".join(parse("".join(pieces)).blocks).split()) == "".join(other.text.split())


def test_nul_does_not_break_a_block() -> None:
    page = parse_page(b"<p>a\0b&#0;c&#x0;d<p>e", URL)
    assert page.blocks == ("ab\ufffdc\ufffdd", "e")


def test_an_anchor_over_several_blocks() -> None:
    page = parse_page(b"<a href=b>one<div>two</div><p>three</a>four", URL)
    assert [link.anchor for link in page.links] == ["one two three"]
    assert page.blocks == ("one", "two", "three", "four")


def test_addresses_are_resolved_up_to_a_limit_of_their_characters() -> None:
    base = f"http://a.org/{'x' * 1_900}/"
    body = f"<base href='{base}'>".encode() + b"".join(b"<a href=%d>" % n for n in range(20_000)) + b"<p>text"
    page = parse_page(body, "http://a.org/")
    assert page.cut
    assert page.blocks == ("text",)
    n_most = MAX_ADDRESS_CHARACTERS // len(base)
    assert 0.99 * n_most < len(page.links) <= n_most
    again = parse_page(b"<a href=/a>1</a><a href=/a>2</a>" * 20_000, base)
    assert not again.cut
    assert len(again.links) == 2
