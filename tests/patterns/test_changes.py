"""Addresses that a key makes of another: where it stands, how it is written, and addresses in which it is not."""

from __future__ import annotations

import pytest

from twinlink.patterns.changes import Change, Place, changes
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
        (  # other capitals than those of ASCII stay as they are
            "http://a.hk/École/x.htm",
            Key("École", "school"),
            ["http://a.hk/school/x.htm"],
        ),
        ("http://a.hk/?l=en&p=1", Key("l=en", ""), ["http://a.hk/?p=1"]),
        ("http://a.hk/?p=1&l=en", Key("l=en", ""), ["http://a.hk/?p=1"]),
        ("http://a.hk/l=en/x.htm", Key("l=en", "l=tc"), []),  # no variable
        ("http://a.hk/?l=en", KEY, []),  # a whole value: a key of variables
        ("http://a.hk/?l=en-us", KEY, ["http://a.hk/?l=tc-us"]),
        ("http://a.hk/x-en?p=1", KEY, ["http://a.hk/x-tc?p=1"]),
        ("http://a.hk/x_en.htm", Key("en", ""), ["http://a.hk/x.htm"]),
        ("http://a.hk/en_x.htm", Key("en", ""), ["http://a.hk/x.htm"]),
        ("http://a.hk/en/x.htm", Key("en", ""), ["http://a.hk/x.htm"]),
        ("http://a.hk/fr/x.htm", KEY, []),
        ("http://a.hk/end/x.htm", KEY, []),
        ("a.hk/en/x.htm", KEY, []),
    ],
)
def test_a_key_is_replaced_where_it_stands(url: str, key: Key, found: list[str]) -> None:
    assert [each.url for each in changes(url, "a.hk", key)] == found


def test_the_site_and_its_port_stay() -> None:
    assert [each.url for each in changes("http://en.en.hk:8080/x", "en.hk:8080", KEY)] == ["http://tc.en.hk:8080/x"]


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("page", ["pagc"]),
        ("pagE", ["pagC"]),  # the letter counts, not the token
        ("page/x", ["pagc/x"]),
        ("page.shtme", ["pagc.shtme"]),
        ("page.shtme?n=1", ["pagc.shtme?n=1"]),
        ("x.note/1", ["x.notc/1"]),  # not at the end
        ("x.six6te", ["x.six6tc"]),  # six characters
        ("e", []),  # a whole token
    ],
)
def test_letters_are_replaced_but_in_the_ending_of_a_file(address: str, found: list[str]) -> None:
    """An ending has at most five characters between a point and the end of the path."""
    made = changes(f"http://a.hk/{address}", "a.hk", Key("*e", "*c"))
    assert [each.url for each in made] == [f"http://a.hk/{each}" for each in found]


@pytest.mark.parametrize(("token", "found"), [("1e2", ["1c2"]), ("e2", []), ("1e", []), ("1ee2", [])])
def test_letters_inside_stand_between_digits(token: str, found: list[str]) -> None:
    made = changes(f"http://a.hk/{token}/", "a.hk", Key("*e*", "*c*"))
    assert [each.url for each in made] == [f"http://a.hk/{each}/" for each in found]


def test_what_is_replaced_has_no_depth() -> None:
    (change,) = changes("http://a.hk/b/page.htm", "a.hk", Key("*e", "*c"))
    assert change.place == Place("*", ".", -1)


def test_letters_that_are_put_in_are_counted_from_the_end() -> None:
    """Three tokens, of which the last one is an ending: the second from the end is -3, the third -4."""
    assert changes("http://a.hk/b/PAGE.htm", "a.hk", Key("", "*c")) == [
        Change("http://a.hk/bc/PAGE.htm", Place("*", "/", -4)),
        Change("http://a.hk/b/PAGEC.htm", Place("*", ".", -3)),
    ]


def test_tokens_that_are_put_in_are_counted_from_either_end() -> None:
    """Beside the only token: behind it -2, before it -3. In folders: behind the first slash, and behind the last name.
    The host and a variable have one place each."""
    made = changes("http://a.hk/b", "a.hk", Key("", "tc"))
    beside = [
        change
        for mark in "._-"
        for change in (
            Change(f"http://a.hk/b{mark}tc", Place(mark, "", -2)),
            Change(f"http://a.hk/tc{mark}b", Place("/", mark, -3)),
        )
    ]
    assert made == [
        *beside,
        Change("http://tc.a.hk/b", Place("", ".", 0)),
        Change("http://a.hk/tc/b", Place("/", "/", 0)),
        Change("http://a.hk/b/tc", Place("/", "", -2)),
        Change("http://a.hk/b?tc", Place("?", "?", 0)),
    ]


def test_a_folder_is_put_in_before_the_query() -> None:
    assert Change("http://a.hk/b/tc?p=1", Place("/", "?", -2)) in changes("http://a.hk/b?p=1", "a.hk", Key("", "tc"))
