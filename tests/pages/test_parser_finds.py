"""Links that stand in forms and menus, and what a page asks of robots."""

from __future__ import annotations

import pytest

from twinlink.pages.parser import parse_page

pytestmark = pytest.mark.usefixtures("parser_in")

URL = "http://www.example.org/en/a.html"


def found(html: str, rel: str) -> list[str]:
    page = parse_page(html.encode(), URL)
    return [link.url.removeprefix("http://www.example.org") for link in page.links if link.rel == rel]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            (
                "<form action=/switch?old=1><input type=hidden name=page value='a b'><select name=lang>"
                "<option value=en>English<option value=zh-HK>中文</select></form>"
            ),
            ["/switch?page=a+b&lang=en", "/switch?page=a+b&lang=zh-HK"],
        ),
        ("<form><select name=site_language><option value=kazakh>Қазақша</select></form>", ["?site_language=kazakh"]),
        ("<form method=GET><button name=locale value=pt_BR>Português</button></form>", ["?locale=pt_BR"]),
        ("<form action=a.php><input type=submit name=lang value=fr><input type=radio name=lang value=2>", ["fr", "2"]),
        ("<form action=/x><input type=hidden name=lang value=en><button name=lang value=tc></form>", ["/x?lang=tc"]),
    ],
)
def test_forms_that_choose_a_language(html: str, expected: list[str]) -> None:
    assert [url[-len(want) :] for url, want in zip(found(html, "form"), expected, strict=True)] == expected


@pytest.mark.parametrize(
    "html",
    [
        "<form method=post><select name=lang><option value=en></select></form>",
        "<form action=/search><input name=q><select name=topic><option value=en></select></form>",
        "<form><select name=lang><option value=''>choose<option>English</select></form>",
        "<select name=lang><option value=en></select>",
        "<form><select name=lang><option value='javascript:go()'></select></form>",
        "<form>" + "".join(f"<button name=lang value={n}>" for n in range(200)),
    ],
)
def test_forms_that_choose_none(html: str) -> None:
    assert found(html, "form") == []


def test_menus_that_lead_elsewhere() -> None:
    html = (
        "<select onchange='location=this.value'><option value=''>Language<option value=../tc/a.html>中文"
        "<option value=/sc/>简体<option value='a.php?x=1'>x<option value=en>en<option value='javascript:x'>y</select>"
    )
    assert found(html, "option") == ["/tc/a.html", "/sc/", "/en/a.php?x=1"]
    assert found("<select><option value=/tc/>中文</select>", "option") == []


def test_text_and_tags_of_forms_are_what_they_were() -> None:
    page = parse_page(
        b"<p>a<form>b<select name=lang><option value=en>c<option>d</select>e<button>f</button></form>g", URL
    )
    assert page.blocks == ("a", "b", "c d", "e f", "g")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<meta name=Robots content='NoIndex, follow'>", "noindex, follow"),
        ("<meta name=robots content=noindex><meta name=robots content=nofollow>", "noindex,nofollow"),
        ("<meta name=description content=noindex>", ""),
        ("<meta name=robots>", ""),
    ],
)
def test_robots(html: str, expected: str) -> None:
    assert parse_page(html.encode(), URL).robots == expected
