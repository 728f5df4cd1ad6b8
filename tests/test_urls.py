"""Addresses."""

from __future__ import annotations

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st
from w3lib.url import safe_url_string

from twinlink.urls import MAX_URL_LENGTH, _site_of_any_origin, join, normalise, page_id, page_key, site_of

BASE = "http://www.example.org/en/dir/page.html?x=1"

# Addresses that look like real ones, with everything that a spelling can vary.
ADDRESSES = st.builds(
    lambda host, path, query: f"http://{host}.example.org/{path}{query}",
    st.from_regex(r"[a-zA-Z0-9]{1,8}", fullmatch=True),
    st.text("aB0/._-~%7e()é中 ", max_size=20),
    st.one_of(st.just(""), st.text("ab=&;1%é+ ", max_size=20).map("?".__add__)),
)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://example.org", "http://example.org/"),
        ("HTTP://WWW.Example.ORG:80/A", "http://www.example.org/A"),
        ("https://example.org:443/", "https://example.org/"),
        ("http://example.org:443/", "http://example.org:443/"),
        ("http://example.org/a/./b/../c", "http://example.org/a/c"),
        ("http://example.org/#top", "http://example.org/"),
        ("http://example.org/a#b#c?d", "http://example.org/a"),
        ("  http://example.org/a\r\n", "http://example.org/a"),
        ("ht\ntp://exam\tple.org/a\nb", "http://example.org/ab"),
        ("http:\\\\example.org\\a", "http://example.org/a"),
        ("http://example.org/a b?c d", "http://example.org/a%20b?c%20d"),
        ("http://example.org/中?中", "http://example.org/%E4%B8%AD?%E4%B8%AD"),
        ("http://香港.香港/", "http://xn--j6w193g.xn--j6w193g/"),
        ("http://user:secret@example.org/a@b", "http://example.org/a@b"),
        ("http://[::1]:8000/", "http://[::1]:8000/"),
        ("http://example.org/?b=2&a=1", "http://example.org/?b=2&a=1"),
    ],
)
def test_normalise(url: str, expected: str) -> None:
    assert normalise(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/relative",
        "www.example.org/",
        "mailto:a@example.org",
        "javascript:void(0)",
        "ftp://example.org/",
        "data:text/html,<p>",
        "http://",
        "http://exa mple.org/",
        "http://[::1",
        "http://example.org:99999/",
        "\ud800",
        "http://example.org/" + "a" * MAX_URL_LENGTH,
        "http://example.org/" + "中" * (MAX_URL_LENGTH // 4),  # short as written, too long once encoded
    ],
)
def test_what_is_not_a_usable_address_gives_none(url: str) -> None:
    assert normalise(url) is None


def test_the_longest_usable_address() -> None:
    url = "http://example.org/".ljust(MAX_URL_LENGTH, "a")
    assert normalise(url) == url


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("", "http://www.example.org/en/dir/page.html?x=1"),
        ("#part", "http://www.example.org/en/dir/page.html?x=1"),
        ("other.html", "http://www.example.org/en/dir/other.html"),
        ("../../tc/", "http://www.example.org/tc/"),
        ("../../../../up.html", "http://www.example.org/up.html"),
        ("/root.html", "http://www.example.org/root.html"),
        ("//cdn.example.com/a", "http://cdn.example.com/a"),
        ("?y=2", "http://www.example.org/en/dir/page.html?y=2"),
        (" a b.html\n", "http://www.example.org/en/dir/a%20b.html"),
        ("http://other.example/", "http://other.example/"),
        ("mailto:a@example.org", None),
        ("javascript:history.back()", None),
        ("http://", None),
        ("x" * (MAX_URL_LENGTH + 1), None),
    ],
)
def test_join(href: str, expected: str | None) -> None:
    assert join(BASE, href) == expected


def test_join_on_a_broken_base_is_none() -> None:
    assert join("no address", "a.html") is None


@pytest.mark.parametrize(
    ("encoding", "text"),
    [("big5hkscs", "搜尋嘅"), ("gb18030", "搜索"), ("cp932", "検索"), ("cp1251", "поиск"), ("cp1252", "café")],
)
def test_a_query_is_encoded_as_the_page_is(encoding: str, text: str) -> None:
    href = f"/{text}?q={text}&r=1#{text}"
    expected = safe_url_string(f"http://www.example.org{href}", encoding=encoding, path_encoding="utf8")
    assert join(BASE, href, encoding) == expected.partition("#")[0]


def test_what_the_encoding_lacks_becomes_a_character_reference() -> None:
    # The URL Standard, "percent-encode after encoding": &#number; with its three marks percent-encoded.
    assert join(BASE, "?q=é中", "cp1252") == "http://www.example.org/en/dir/page.html?q=%E9%26%2320013%3B"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_query_of_a_utf16_page_is_utf8(encoding: str) -> None:
    assert join("http://example.org/", "?q=中", encoding) == "http://example.org/?q=%E4%B8%AD"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://example.org/?a=1&b=2", "http://example.org/?b=2&a=1"),
        ("http://example.org/?a=1&", "http://example.org/?a=1"),
        ("http://example.org/?", "http://example.org/"),
        ("http://example.org/%7euser/", "http://example.org/~user/"),
        ("http://example.org/%e4%b8%ad", "http://example.org/%E4%B8%AD"),
        ("http://example.org/a%28b%29", "http://example.org/a(b)"),
    ],
)
def test_spellings_of_one_page(one: str, other: str) -> None:
    assert page_key(one) == page_key(other)
    assert page_id(one) == page_id(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://example.org/?a=1&a=2", "http://example.org/?a=2&a=1"),  # a list has an order
        ("http://example.org/a", "http://example.org/A"),
        ("http://example.org/a", "http://example.org/a/"),
        ("http://example.org/a%2Fb", "http://example.org/a/b"),
        ("http://example.org/?a=%26b", "http://example.org/?a=&b"),
        ("http://example.org/", "https://example.org/"),
        ("http://example.org/?lang=en", "http://example.org/?lang=tc"),
    ],
)
def test_different_pages(one: str, other: str) -> None:
    assert page_key(one) != page_key(other)
    assert page_id(one) != page_id(other)


def test_page_id_never_changes() -> None:
    # Stored tables hold it. Value: b2sum -l 64 of the address, read as a signed big-endian number.
    assert page_id("http://www.example.org/") == -3_619_881_674_265_528_174


@pytest.mark.parametrize(
    ("url", "domain", "host"),
    [
        ("http://www.info.gov.hk/a", "info.gov.hk", "www.info.gov.hk"),
        ("http://www.gov.hk/", "www.gov.hk", "www.gov.hk"),
        ("http://gov.hk/", "gov.hk", "gov.hk"),
        ("https://a.b.example.co.uk/", "example.co.uk", "a.b.example.co.uk"),
        ("http://user.github.io/", "user.github.io", "user.github.io"),
        ("http://example.org:8080/", "example.org", "example.org:8080"),
        ("http://example.org./", "example.org", "example.org."),
        ("http://127.0.0.1:8000/", "127.0.0.1:8000", "127.0.0.1:8000"),
        ("http://10.0.0.1/", "10.0.0.1", "10.0.0.1"),
        ("http://[::1]:8000/", "[::1]:8000", "[::1]:8000"),
        ("http://localhost:8000/", "localhost:8000", "localhost:8000"),
        ("http://intranet/", "intranet", "intranet"),
        ("http://xn--j6w193g.xn--j6w193g/", "xn--j6w193g.xn--j6w193g", "xn--j6w193g.xn--j6w193g"),
        ("http://www..com/", "www..com", "www..com"),  # slips of the pen are no part of a site called ".com"
        ("http://.example.org:8080/", ".example.org:8080", ".example.org:8080"),
        ("no address", "", ""),
    ],
)
def test_site_of(url: str, domain: str, host: str) -> None:
    assert site_of(url) == domain
    assert site_of(url, "host") == host


LABELS = st.sampled_from(
    ["a", "www", "com", "co", "uk", "kobe", "jp", "xn--p1ai", "xn--a", "1", "0x7f", "-", "_b", "", "A"]
)


@given(st.lists(LABELS, min_size=1, max_size=4).map(".".join), st.sampled_from(["", ":80", ":8080", "."]))
def test_the_site_of_a_plain_name_is_that_of_the_parser(host: str, end: str) -> None:
    for url in {f"http://{host}{end}/a", normalise(f"http://{host}{end}/a")} - {None}:
        for site_by in ("domain", "host", "path"):
            assert site_of(url, site_by) == _site_of_any_origin(f"http://{url.split('/')[2]}", site_by)


def test_the_parser_of_addresses_is_not_asked_about_plain_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ada_url, "URL", None)
    assert site_of("https://www.never-seen-before.gov.hk/a?b") == "never-seen-before.gov.hk"


@given(st.one_of(st.text(), ADDRESSES))
def test_normalise_is_stable_and_safe(url: str) -> None:
    once = normalise(url)
    if once is not None:
        assert normalise(once) == once
        assert join(once, once) == once
        assert once.isascii()
        assert "#" not in once
        assert site_of(once)
        assert -(2**63) <= page_id(once) < 2**63


@given(ADDRESSES)
def test_page_key_is_stable(url: str) -> None:
    normal = normalise(url)
    assert normal is not None
    key = page_key(normal)
    assert page_key(key) == key
    assert normalise(key) == key  # a key is an address of the same form


@given(ADDRESSES, st.text(max_size=40), st.sampled_from(["utf-8", "big5hkscs", "cp1252", "utf-16-le"]))
def test_join_never_fails(base: str, href: str, encoding: str) -> None:
    joined = join(base, href, encoding)
    assert joined is None or normalise(joined) == joined


PIECES = "a b.html .. . / // ? # : \\ http: HTTPS:// host.example [::1] :80 %2e %2f & = ; @ c| ~ 中".split()


@given(
    st.sampled_from([BASE, "http://example.org/", "https://example.org:8080/a//b/?q=/c/d", "http://[::1]/a;b/c@d"]),
    st.lists(st.sampled_from([*PIECES, " ", "\t", "\n", "\0"]), max_size=6).map("".join),
)
def test_join_to_the_folder_of_a_page_is_join_to_the_page(base: str, href: str) -> None:
    try:
        whole = normalise(ada_url.join_url(base, href))
    except ValueError:
        whole = None
    assert join(base, href) == whole


@pytest.mark.parametrize(("href", "expected"), [("a/b", "http://example.org/a/b"), ("?a", "http://example.org/?a")])
def test_join_to_a_host_without_a_path(href: str, expected: str) -> None:
    assert join("http://example.org", href) == expected
