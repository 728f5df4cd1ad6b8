"""Addresses that a key makes of another: where it stands, how it is written, and addresses in which it is not."""

from __future__ import annotations

import pytest

from twinlink.patterns.changes import changes
from twinlink.patterns.keys import Key

KEY = Key("en", "tc")


@pytest.mark.parametrize(
    ("url", "key", "found"),
    [
        ("http://a.hk/en/x.htm", KEY, ["http://a.hk/tc/x.htm"]),
        ("http://a.hk/EN/x.htm", KEY, ["http://a.hk/TC/x.htm"]),
        ("http://en.a.hk/x.htm", KEY, ["http://tc.a.hk/x.htm"]),
        ("http://en.a.hk", KEY, ["http://tc.a.hk/"]),
        ("http://a.hk/en/en.htm", KEY, ["http://a.hk/tc/en.htm", "http://a.hk/en/tc.htm", "http://a.hk/tc/tc.htm"]),
        ("http://a.hk/en/tc/en.htm", KEY, ["http://a.hk/tc/tc/en.htm", "http://a.hk/en/tc/tc.htm"]),
        (  # the bytes of a name in an address, which is all ASCII
            "http://a.hk/%E4%B8%AD%E6%96%87/x.htm",
            Key("中文", "英文"),
            ["http://a.hk/%E8%8B%B1%E6%96%87/x.htm"],
        ),
        ("http://a.hk/?lang=old+chinese", Key("lang=old chinese", "lang=english"), ["http://a.hk/?lang=english"]),
        ("http://a.hk/fr/x.htm", KEY, []),
        ("http://a.hk/end/x.htm", KEY, []),
        ("a.hk/en/x.htm", KEY, []),
    ],
)
def test_a_key_is_replaced_where_it_stands(url: str, key: Key, found: list[str]) -> None:
    assert [each.url for each in changes(url, "a.hk", key)] == found


def test_the_site_and_its_port_stay() -> None:
    assert [each.url for each in changes("http://en.en.hk:8080/x", "en.hk:8080", KEY)] == ["http://tc.en.hk:8080/x"]
