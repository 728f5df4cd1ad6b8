"""Pages shown as they looked: nothing runs, fetches or leads anywhere, and what was to be seen is still there."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.review.hostile import OWN_PICTURE, VECTORS, faults, faults_of_css, hostile_page, text_of
from twinlink.review.records import Document, Resource
from twinlink.review.safe_html.embedding import MAX_EMBEDDED_BYTES, Embedding, look_offline
from twinlink.review.safe_html.look import look
from twinlink.review.safe_html.markup import MAX_MARKUP
from twinlink.review.safe_html.style_sheets import read_sheet, read_style

TRAP = "http://trap.example"
URL = "http://www.example.org/dir/page.html"


def shown(text: str, url: str = URL, pictures: bool = False) -> str:
    return look(Document(url, text), lambda address: OWN_PICTURE if pictures else None)


def body(text: str) -> str:
    found = re.search(r"<body[^>]*>(.*)</body></html>$", shown(text), re.DOTALL)
    assert found
    return found[1]


def test_corpus_is_large_and_hostile_as_it_stands() -> None:
    assert len(VECTORS) >= 100
    harmless = {name for name in VECTORS if not faults(hostile_page(name, TRAP))}
    # texts and attributes that only other parsers would take for something, and what lxml does not read itself
    assert len(harmless) <= 8, sorted(harmless)


@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.parametrize("pictures", [False, True])
def test_hostile_page_is_harmless(name: str, pictures: bool) -> None:
    page = shown(hostile_page(name, TRAP), pictures=pictures)
    assert faults(page) == []
    assert faults(shown(page, pictures=pictures)) == []  # and so it is when it goes through twice
    without_notes = re.sub(r' (?:title|data-link)="[^"]*"', "", page)
    for place in re.findall(r"<[^>]*trap\.example[^>]*>", without_notes):
        assert re.search(r' (?:alt|value)="', place), place


_WRAPS = ("<table><tr><td>{}</td></tr></table>", "<svg>{}</svg>", "<math><mtext>{}</mtext></math>", "<!--{}-->",
          "<select>{}</select>", "<noscript>{}</noscript>", "<style>{}</style>", "<b title='{}'>x</b>",
          '<b title="{}">x</b>', "<textarea>{}</textarea>", "<template>{}</template>", "<p>{}")  # fmt: skip


@pytest.mark.parametrize("wrap", _WRAPS)
def test_hostile_pages_are_harmless_inside_other_elements(wrap: str) -> None:
    for name in VECTORS:
        assert faults(shown(wrap.format(hostile_page(name, TRAP)))) == [], name


def test_all_hostile_pages_together_are_harmless() -> None:
    assert faults(shown("\n".join(hostile_page(name, TRAP) for name in VECTORS))) == []


_PIECES = st.sampled_from(
    "< > </ /> <!-- --> --!> <![CDATA[ ]]> \" ' = & &lt; &quot; &#x3c; \0 \ufdd1 \ud800 <svg <math <style </style> <p"
    " <a </p> <table <select <textarea </textarea> <title </title> <noscript </noscript> <template <img <b </b> <form"
    " <input href= src= onerror=x style= title= url( @import { } ; : javascript:x \\ /* */ x <script </script>"
    " <plaintext <body <html <base <xmp </xmp> xlink:href= \n \t".split(" ")
)


@given(st.lists(_PIECES | st.text(max_size=3), max_size=30).map("".join))
def test_any_text_is_harmless(text: str) -> None:
    assert faults(shown(text, pictures=True)) == []


@pytest.mark.parametrize(
    "css", [r"a{b:url( 'x')}", r"a{b:u\72l('x')}", r"a\"{b:url(x)}c[d='\"e']{}", "a{b:url(/* ' */x)}"]
)
def test_an_address_would_be_noticed(css: str) -> None:
    assert list(faults_of_css(css))
    assert list(faults_of_css(f'{css}f[g="h"]{{}}'))


@given(st.lists(_PIECES | st.text(max_size=4), max_size=20).map("".join))
@example('"url("{')  # a text, not an address
def test_any_style_is_harmless(css: str) -> None:
    assert list(faults_of_css(read_sheet(css).fill(lambda url: None))) == []
    assert list(faults_of_css(read_style(css).fill(lambda url: None))) == []


class TestLinks:
    def test_lead_nowhere_and_tell_where_they_led(self) -> None:
        page = body('<a href="../other.html?a=1&amp;b=2#top" title="Other">text</a>')
        address = "http://www.example.org/other.html?a=1&amp;b=2#top"
        assert page == f'<a title="Other — {address}" data-link="{address}">text</a>'

    def test_of_other_schemes_keep_their_text(self) -> None:
        assert body('<a href="javascript:run()">text</a>') == '<a data-link="">text</a>'
        assert 'title="mailto:a@example.org"' in body('<a href="mailto:a@example.org">text</a>')

    def test_are_relative_to_the_base_element(self) -> None:
        assert 'title="http://b.example/c/d"' in body('<base href="http://b.example/c/"><a href=d>text</a>')
        assert f'title="{URL}"' in body('<base href="javascript:x"><a href="page.html">text</a>')

    def test_look_like_links(self) -> None:
        page = shown("<style>a:link{color:red} :any-link:hover{color:blue} a[href^='http']{color:green}</style>")
        assert 'a[data-link]{color:red;}[data-link]:hover{color:blue;}a[data-link^="http"]{color:green;}' in page
        assert ":where(a[data-link])" in page

    def test_colours_of_the_body_element_hold(self) -> None:
        assert ":where(a[data-link]){color:#123456}" in shown("<body link=#123456 text=black>")
        assert "}</style>" not in shown("<body link='red}</style>'>").partition("<title>")[0]


class TestPictures:
    def test_come_through_the_archive_alone(self) -> None:
        asked: list[str] = []

        def picture(url: str) -> str:
            asked.append(url)
            return "/resource/1"

        page = look(
            Document(URL, "<img src=a.png><td background=//h.example/b.gif><b style='background:url(\"c.gif\")'>"),
            picture,
        )
        assert asked == [
            "http://www.example.org/dir/a.png",
            "http://h.example/b.gif",
            "http://www.example.org/dir/c.gif",
        ]
        assert faults(page, frozenset({"/resource/1"})) == []
        assert '<img src="/resource/1">' in page
        assert 'style="background:url(&quot;/resource/1&quot;);"' in page

    def test_that_are_not_there_show_their_text(self) -> None:
        assert body('<img src=a.png alt="A picture" width=10>') == '<img alt="A picture" width="10">'

    def test_in_the_page_itself_stay(self) -> None:
        assert f'<img src="{OWN_PICTURE}">' in shown(f"<img src='{OWN_PICTURE}'>")
        assert "svg" not in body("<img src='data:image/svg+xml,x'>")

    def test_address_of_ours_cannot_break_out(self) -> None:
        page = look(
            Document(URL, "<img src=a><style>b{background:url(a)}</style>"), lambda url: '"><script>x</script>)'
        )
        assert "<script" not in page


class TestLooks:
    def test_text_of_forms_stays(self) -> None:
        page = shown(
            "<form><label>Name <input type=text value=V></label><textarea>T</textarea><button>Go</button></form>"
        )
        assert text_of(page) == "Name TGo"
        assert 'value="V"' in page
        assert "<form" not in page

    def test_language_direction_and_classes_stay(self) -> None:
        page = shown('<html lang="ar" dir=rtl class=a><body class="b" bgcolor=#fff onload=x><p lang=en dir=ltr>x')
        assert page.startswith('<html lang="ar" dir="rtl" class="a"><head><meta charset="utf-8">')
        assert '<body class="b" bgcolor="#fff"><p lang="en" dir="ltr">x</p></body>' in page

    @pytest.mark.parametrize(
        ("written", "kept"),
        [
            ("<!doctype html><p>", "<!doctype html>"),
            ("<p>", ""),
            (
                '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN"><p>',
                '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">',
            ),
            ('<!doctype html SYSTEM "x" [<!ENTITY a SYSTEM "file:///etc/passwd">]><p>', ""),
        ],
    )
    def test_layout_mode_stays(self, written: str, kept: str) -> None:
        assert shown(written).startswith(f"{kept}<html")

    def test_style_sheets_stay_in_their_order(self) -> None:
        sheets = {"http://www.example.org/s.css": "p{color:blue;background:url(p.gif)}"}
        text = "<style>p{color:red}</style><link rel=stylesheet media=print href=/s.css><style>p{color:green}</style>"
        page = look(Document(URL, text), lambda url: f"/x?{url}", sheets.get)
        found = re.findall(r"<style[^>]*>.*?</style>", page)[1:]
        assert found == [
            "<style>p{color:red;}</style>",
            '<style media="print">p{color:blue;background:url("/x?http://www.example.org/p.gif");}</style>',
            "<style>p{color:green;}</style>",
        ]

    def test_title_is_text(self) -> None:
        assert "<title>a &lt; b &amp; c</title>" in shown("<title>a &lt; b &amp; c</title>")

    def test_characters_stay_what_they_were(self) -> None:
        assert body("<p title='&lt;&amp;&quot;&amp;lt;'>a &lt; b &amp;amp; &eacute; &#20013; 中</p>") == (
            '<p title="&lt;&amp;&quot;&amp;lt;">a &lt; b &amp;amp; é 中 中</p>'
        )

    def test_what_scripts_would_have_hidden_is_left_out(self) -> None:
        assert text_of(shown("a<noscript>b</noscript><template>c</template><svg><text>d</text></svg>e")) == "ae"

    def test_text_after_an_empty_svg_stays(self) -> None:
        assert text_of(shown("a<svg/>b<p>c")) == "abc"


class TestSheets:
    @pytest.mark.parametrize(
        ("css", "expected"),
        [
            ("a > b , c::before{content:'\\201c';top:0!important}", 'a > b , c::before{content:"“";top:0!important;}'),
            ("@media (min-width:5px) and print{a{color:red}}", "@media (min-width:5px) and print{a{color:red;}}"),
            ("@keyframes k{from{top:0}50%{top:1px}}", "@keyframes k{from{top:0;}50%{top:1px;}}"),
            ("a{color:rgb(1,2,3);width:calc(100% - 2px)}", "a{color:rgb(1,2,3);width:calc(100% - 2px);}"),
            ("a{--x: {b:c};color:var(--x,red)}", "a{--x:{b:c};color:var(--x,red);}"),
            ("@layer a,b;@layer a{c{d:e}}", "@layer a,b;@layer a{c{d:e;}}"),
            ("a{color:red;&:hover{color:blue}}", "a{color:red;&:hover{color:blue;}}"),
            ("a{position:fixed;top:0}b{position:var(--p)}", "a{position:absolute;top:0;}b{}"),
            ("@media (width < 5px){a{color:red}}", "@media (width < 5px){a{color:red;}}"),
            ("a{b:c", "a{b:c;}"),
        ],
    )  # fmt: skip
    def test_harmless_css_stays(self, css: str, expected: str) -> None:
        assert read_sheet(css).fill(lambda url: None) == expected

    def test_depth_is_harmless(self) -> None:
        assert read_sheet("a{b:" + "(" * 20_000) == ("a{}", ())
        assert list(faults_of_css(read_sheet("@media all{" * 5_000).text)) == []


class TestBulk:
    def test_five_megabytes_of_table_are_cut_with_a_note(self) -> None:
        row = '<tr><td class="c" style="color:red"><a href="/a">cell</a></td><td onclick=run()>other</td></tr>\n'
        page = shown(f"<table>{row * (5_000_000 // len(row))}</table>")
        assert MAX_MARKUP / 2 < len(page) < 3 * MAX_MARKUP
        assert "This page is cut here" in page
        assert page.endswith("</p></body></html>")
        assert "onclick" not in page

    @pytest.mark.parametrize(
        "text",
        ["<div>" * 100_000, "<b>" * 100_000, "<table><td>" * 30_000, "<ul><li>" * 50_000, "<svg>" * 50_000,
         "<p>" * 100_000, "</b>" * 100_000, "<!--" * 100_000, '<a x="' * 100_000, "<" * 200_000, "&" * 200_000,
         "&amp;" * 100_000, "<script>" * 50_000, "<a " + "b " * 200_000 + ">", f"<p title='{'x' * 1_000_000}'>x",
         "\0" * 100_000,
         "<p>" + "".join(f"<font id={k}>" for k in range(500)) + "</p><p>x" * 20_000, "<select><option>" * 30_000],
        ids=lambda text: text[:12].strip(),
    )  # fmt: skip
    def test_bulk_and_depth_stay_small(self, text: str) -> None:
        page = shown(text)
        assert len(page) < 8 * len(text) + 10_000
        depth = max(map(len, re.findall(r"(?:<[a-z]+[^>]*>)+", page)), default=0)
        assert depth < 200_000

    def test_unclosed_formatting_does_not_multiply(self) -> None:
        page = shown("<p>" + "".join(f"<font id={k}>" for k in range(250)) + "</p><p>x" * 10_000)
        assert "This page is cut here" in page
        assert len(page) < 20_000_000

    def test_references_to_large_numbers_are_no_error(self) -> None:
        assert body(f"a&#{'9' * 10_000};b") == "a\ufffdb"


class TestEmbedding:
    def test_pictures_become_part_of_the_page(self) -> None:
        found = {"http://www.example.org/a.gif": Resource(b"GIF89a", "image/gif")}
        page = look_offline(Document("http://www.example.org/", "<img src=a.gif><img src=b.gif>"), found.get)
        assert '<body><img src="data:image/gif;base64,R0lGODlh"><img></body>' in page

    def test_other_types_do_not(self) -> None:
        embedding = Embedding(lambda url: Resource(b"<svg onload=x>", "image/svg+xml"))
        assert embedding.picture("http://a.example/") is None
        assert embedding.style_sheet("http://a.example/") is None

    def test_pages_stay_small(self) -> None:
        embedding = Embedding(lambda url: Resource(bytes(MAX_EMBEDDED_BYTES // 2), "image/png"))
        assert embedding.picture("a") is not None
        assert embedding.picture("b") is None
        assert embedding.picture("a") is None

    def test_style_sheets_are_decoded_as_they_say(self) -> None:
        sheet = Resource('@charset "big5"; p{content:"中"}'.encode("big5"), "text/css")
        page = look_offline(Document(URL, "<link rel=stylesheet href=a.css>"), lambda url: sheet)
        assert 'p{content:"中";}' in page
