"""Pages that are empty without their scripts are told from those that are short, framed or moved."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlink.pages.scripted import is_blank, needs_scripts

BUNDLE = "<script src=/static/main.8f3a.js></script>"

EMPTY = {
    "react": f"<html lang=en><head><title>Town hall</title></head><body><div id=root></div>{BUNDLE}</body></html>",
    "vue with a notice": "<noscript><strong>We're sorry but this app doesn't work properly without JavaScript enabled."
    f"</strong></noscript><div id=app></div>{BUNDLE}",
    "angular": f"<body><app-root></app-root><script src=runtime.js type=module></script>{BUNDLE}</body>",
    "angular that waits": f"<app-root><p>Loading...</p></app-root>{BUNDLE}",
    "next without a server": "<div id=__next></div><script>self.__next_f=[]</script>",
    "mount, and a footer": f"<header>Town of Exampleton</header><div id=app></div><a href=/legal>Legal</a>{BUNDLE}",
    "notice alone": f"<div id=main></div><noscript>Please enable JavaScript to view this page.</noscript>{BUNDLE}",
    "notice in chinese": f"<div id=x></div><noscript>請啟用 JavaScript。</noscript>{BUNDLE}",
    "nothing but a bundle": f"<title>Shop</title><body>{BUNDLE}",
    "moved by a script": "<script>location.replace('/en/index.html')</script>",
    "written by a script": "<body><script>document.write('<a href=/a>a</a>')</script>",
    "waiting": f"<p>載入中…</p>{BUNDLE}",
    "template": f"<template><a href=/a>an item</a></template><div id=app></div>{BUNDLE}",
    "links to itself": f"<a href=#>menu</a><a href='javascript:void(0)'>open</a><div id=root></div>{BUNDLE}",
}

FULL = {
    "no scripts": "<div id=root></div>",
    "empty": "",
    "short": f"<h1>Closed</h1><p>We are closed on Mondays.</p>{BUNDLE}",
    "shortest": f"<p>ok</p>{BUNDLE}",
    "short and chinese": f"<p>今日休息</p>{BUNDLE}",
    "404": "<html><head><title>404</title></head><body><h1>Not Found</h1><script src=/count.js></script></body></html>",
    "frames": f"<frameset cols=20%,*><frame src=menu.html><frame src=main.html></frameset>{BUNDLE}",
    "iframe": f"<body>{BUNDLE}<iframe src=/content.html></iframe></body>",
    "meta refresh": f"<meta http-equiv=refresh content='0; url=/en/'>{BUNDLE}",
    "built on the server": f"<div id=__next><h1>Library</h1><p>Opens at 9:30.</p></div>{BUNDLE}",
    "angular in the body": f"<body ng-app=site><h1>Library hours</h1><p>Opens at 9:30.</p>{BUNDLE}</body>",
    "pictures that link": f"<a href=/en/><img src=en.png></a><a href=/tc/><img src=tc.png></a>{BUNDLE}",
    "a map that links": f"<map><area href=/en/></map>{BUNDLE}",
    "a mount beside text": f"<p>{'Opening hours and fees. ' * 20}</p><div id=app></div>{BUNDLE}",
    "a mount beside links": f"<a href=/1>1</a><a href=/2>2</a><a href=/3>3</a><div id=app></div>{BUNDLE}",
    "a long notice": f"<noscript>{'This site shows the timetable with JavaScript. ' * 20}</noscript>{BUNDLE}<p>Bus",
    "data, not scripts": '<script type="application/ld+json">{"name": "x"}</script><div id=app></div>',
    "a picture in a noscript": f"<p>Welcome</p><noscript><img src=/count.gif></noscript>{BUNDLE}",
}


@pytest.mark.parametrize("html", EMPTY.values(), ids=EMPTY)
def test_pages_filled_by_scripts(html: str) -> None:
    assert needs_scripts(html.encode(), "text/html; charset=utf-8")


@pytest.mark.parametrize("html", FULL.values(), ids=FULL)
def test_what_is_a_page_without_scripts(html: str) -> None:
    assert not needs_scripts(html.encode(), "text/html; charset=utf-8")


def test_a_filled_page_is_none_whatever_its_mount() -> None:
    shell = "<div id=root>{}</div>" + BUNDLE
    assert needs_scripts(shell.format("").encode())
    assert not needs_scripts(shell.format("<h2>Fees</h2><p>A ticket costs 17 dollars.</p>").encode())


@pytest.mark.parametrize(
    "html", ["<a href=/a></a>", "<frame src=/a>", "<p>今日休息", "<meta http-equiv=refresh content='0;url=/a'>"]
)
def test_a_page_is_blank_only_without_a_word_and_a_way_on(html: str) -> None:
    assert not is_blank(html.encode())
    assert is_blank(b"<div id=root><p>...</p><script>text</script><noscript>Enable JavaScript</noscript></div>")


@given(st.binary(max_size=300), st.sampled_from(["", "text/html", "text/html; charset=big5", "nonsense"]))
def test_any_bytes(noise: bytes, content_type: str) -> None:
    assert needs_scripts(b"<script src=a></script>" + noise, content_type) in (True, False)
