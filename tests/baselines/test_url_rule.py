"""The URL rule: the paper's examples, spellings of one address, and a literal reading of the rule over all pairs."""

from __future__ import annotations

from urllib.parse import parse_qsl

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlink.baselines.url_rule import DIFFERENCES, url_pairs
from twinlink.config.baselines import UrlRuleSettings
from twinlink.urls import normalise


def difference(first: str, second: str) -> str:
    """Kind of the difference of two addresses; empty for more than one."""
    found = url_pairs([first], [second])
    assert not np.concatenate(found.crowded).any()
    return DIFFERENCES[found.pattern.toarray()[0, 0]]


def both_ways(first: str, second: str) -> str:
    kind = difference(first, second)
    assert difference(second, first) == kind
    return kind


class TestPaper:
    """The pairs of addresses printed in section 4.1."""

    @pytest.mark.parametrize(
        ("first", "second", "kind"),
        [
            ("http://www.gnu.org/home.ca.html", "http://www.gnu.org/home.en.html", "file"),
            ("http://www.ua.es/va/index.html", "http://www.ua.es/en/index.html", "directory"),
            ("http://www.ua.es/index.html", "http://www.ua.es/en/index.html", "more-directory"),
            ("http://www.dlsi.ua.es/index.html?id=val", "http://www.dlsi.ua.es/index.html?id=eng", "variable"),
            ("http://www.dlsi.ua.es/index.html", "http://www.dlsi.ua.es/index.html?id=eng", "more-variable"),
        ],
    )
    def test_examples(self, first: str, second: str, kind: str) -> None:
        assert both_ways(first, second) == kind


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ("http://a.org/x/en/y", "http://a.org/x/y", "more-directory"),
        ("http://a.org/x/y/en/", "http://a.org/x/y/", "more-directory"),
        ("http://a.org/en/en/y", "http://a.org/en/y", "more-directory"),
        ("http://a.org/y?lang=en", "http://a.org/y?lingua=en", "variable"),
        ("http://a.org/y?a=1&lang=en", "http://a.org/y?lang=fr&a=1", "variable"),
        ("http://a.org/y?a=1&a=2", "http://a.org/y?a=3&a=1", "variable"),
        ("http://a.org/y?lang", "http://a.org/y?lang=fr", "variable"),
        ("http://a.org/y?a=1", "http://a.org/y?b=2&a=1", "more-variable"),
    ],
)
def test_one_difference(first: str, second: str, kind: str) -> None:
    assert both_ways(first, second) == kind


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("http://a.org/en/x/home", "http://a.org/fr/y/home"),  # two directories
        ("http://a.org/en/home-en", "http://a.org/fr/home-fr"),  # directory and file
        ("http://a.org/en/home-en", "http://a.org/home-fr"),  # one more directory and file
        ("http://a.org/a/b/c/x", "http://a.org/a/x"),  # two more directories
        ("http://a.org/x/y/", "http://a.org/y/x/"),  # order of directories
        ("http://a.org/x?en=1", "http://a.org/x?fr=2"),  # name and value
        ("http://a.org/x?a=1&b=2", "http://a.org/x"),  # two more variables
        ("http://a.org/x?a=1", "http://a.org/y?a=2"),  # file and variable
        ("http://a.org/en/x", "http://a.org/x?lang=en"),  # directory and variable
        ("http://en.a.org/x", "http://fr.a.org/x"),  # host
        ("http://a.org:8000/x", "http://a.org:8001/x"),  # port
        ("http://a.org/x/y", "http://a.org/xy"),  # parts are not run together
        ("http://a.org/x/a%2Fb", "http://a.org/x/a/c"),  # an escaped slash is no slash
    ],
)
def test_two_differences(first: str, second: str) -> None:
    assert both_ways(first, second) == ""


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("http://a.org/%7Euser/", "http://a.org/~user/"),
        ("http://a.org/caf%c3%a9", "http://a.org/caf%C3%A9"),
        ("http://a.org/中文/x", "http://a.org/%E4%B8%AD%E6%96%87/x"),
        ("http://a.org/x?q=a+b", "http://a.org/x?q=a%20b"),
        ("http://a.org:80/x", "http://a.org/x"),
        ("https://a.org:443/x", "https://a.org/x"),
        ("https://a.org/x", "http://a.org/x"),
        ("http://A.org/x", "http://a.org/x"),
        ("http://a.org/x?", "http://a.org/x"),
        ("http://a.org/x?&&a=1", "http://a.org/x?a=1"),
        ("http://a.org/x?b=2&a=1", "http://a.org/x?a=1&b=2"),
        ("http://a.org/x/index.html", "http://a.org/x/"),
        ("http://a.org/x/index.php", "http://a.org/x/Default.aspx"),
        ("http://a.org//x/", "http://a.org/x/"),
        ("http://a.org", "http://a.org/"),
        ("http://a.org/x#top", "http://a.org/x"),
    ],
)
def test_spellings_of_one_address(first: str, second: str) -> None:
    assert both_ways(first, second) == "none"


def test_spelling_and_one_difference() -> None:
    assert both_ways("http://a.org:80/en/index.html?", "http://a.org/%E4%B8%AD%E6%96%87/") == "directory"
    assert both_ways("http://a.org/ñ/x", "http://a.org/%C3%B1/y") == "file"
    assert both_ways("http://a.org:8000/en/", "http://a.org:8000/fr/") == "directory"


def test_names_that_only_look_like_default_documents() -> None:
    assert both_ways("http://a.org/index.ca.html", "http://a.org/") == "file"
    assert both_ways("http://a.org/en/index.ca.html", "http://a.org/") == ""


def test_normalised_international_host() -> None:
    first, second = normalise("http://bücher.example/en/"), normalise("http://BÜCHER.example/de/")
    assert first is not None
    assert second is not None
    assert both_ways(first, second) == "directory"


@pytest.mark.parametrize("broken", ["", "x", "http://", "http://a.org:x/", "http://[::1/", "http://a.org:99999/"])
def test_what_is_no_address_has_no_partner(broken: str) -> None:
    assert both_ways(broken, "http://a.org/") == ""
    assert difference(broken, broken) == ""


def test_empty_lists() -> None:
    assert url_pairs([], []).pattern.shape == (0, 0)
    assert url_pairs(["http://a.org/"], []).pattern.shape == (1, 0)
    assert url_pairs([], ["http://a.org/"]).counts() == dict.fromkeys(DIFFERENCES[1:], 0)


# Few parts, so that many addresses are near to each other.
PART = st.sampled_from(["en", "fr", "x"])
ADDRESS = st.builds(
    lambda host, directories, file, variables: (host, tuple(directories), file, tuple(sorted(variables))),
    st.sampled_from(["a.org", "b.org"]),
    st.lists(PART, max_size=3),
    st.sampled_from(["", "en", "x"]),
    st.lists(st.tuples(st.sampled_from(["l", "m"]), st.sampled_from(["en", "fr"])), max_size=3),
)
Address = tuple[str, tuple[str, ...], str, tuple[tuple[str, str], ...]]


def written(address: Address) -> str:
    host, directories, file, variables = address
    query = "&".join(f"{name}={value}" for name, value in variables)
    assert parse_qsl(query) == list(variables)
    return f"http://{host}/{''.join(part + '/' for part in directories)}{file}{'?' if query else ''}{query}"


def one_removed(parts: tuple[object, ...]) -> set[tuple[object, ...]]:
    return {parts[:k] + parts[k + 1 :] for k in range(len(parts))}


def one_variable_differs(x: Address, y: Address) -> bool:
    for k, (name, value) in enumerate(x[3]):
        for m, (other_name, other_value) in enumerate(y[3]):
            rest = x[3][:k] + x[3][k + 1 :] == y[3][:m] + y[3][m + 1 :]
            if rest and (name == other_name) != (value == other_value):
                return True
    return False


def directory_difference(x: Address, y: Address) -> str:
    if len(x[1]) == len(y[1]):
        return "directory" if sum(a != b for a, b in zip(x[1], y[1], strict=True)) == 1 else ""
    return "more-directory" if x[1] in one_removed(y[1]) or y[1] in one_removed(x[1]) else ""


def variable_difference(x: Address, y: Address) -> str:
    if one_variable_differs(x, y):
        return "variable"
    return "more-variable" if x[3] in one_removed(y[3]) or y[3] in one_removed(x[3]) else ""


def by_the_rule(x: Address, y: Address) -> str:
    """The rule, read part by part."""
    other = [k for k in range(4) if x[k] != y[k]]
    if not other:
        return "none"
    if len(other) > 1 or other == [0]:
        return ""
    return {1: directory_difference(x, y), 2: "file", 3: variable_difference(x, y)}[other[0]]


@given(st.lists(ADDRESS, max_size=6), st.lists(ADDRESS, max_size=6))
def test_equals_the_rule_over_all_pairs(a: list[Address], b: list[Address]) -> None:
    found = url_pairs([written(x) for x in a], [written(y) for y in b])
    expected = [[by_the_rule(x, y) for y in b] for x in a]
    assert [[DIFFERENCES[kind] for kind in row] for row in found.pattern.toarray().tolist()] == expected
    assert found.pattern.has_sorted_indices
    assert sum(found.counts().values()) == found.pattern.nnz
    assert not np.concatenate(found.crowded).any()


class TestCrowdedKeys:
    def test_one_token_of_the_file_name_may_differ(self) -> None:
        """All files meet under the masked name; those that differ in the language alone are left."""
        english = [f"http://a.org/{k % 3}/news-{k}-en.html" for k in range(90)]
        french = [f"http://a.org/{k % 3}/news-{k}-fr.html" for k in reversed(range(90))]
        found = url_pairs(english, french, UrlRuleSettings(max_others=20))
        assert found.pattern.nnz == 90
        assert found.pattern.toarray()[:, ::-1].diagonal().tolist() == [DIFFERENCES.index("file")] * 90
        assert np.concatenate(found.crowded).all()

    def test_up_to_the_limit_all_are_kept(self) -> None:
        english = [f"http://a.org/news-{k}-en.html" for k in range(20)]
        french = [f"http://a.org/news-{k}-fr.html" for k in range(20)]
        found = url_pairs(english, french, UrlRuleSettings(max_others=20))
        assert found.pattern.nnz == 400
        assert not np.concatenate(found.crowded).any()

    def test_nothing_is_left_where_names_say_nothing(self) -> None:
        first, second = ([f"http://a.org/p/{k}.html" for k in range(start, 60, 2)] for start in (0, 1))
        found = url_pairs(first, second, UrlRuleSettings(max_others=20))
        assert (found.pattern.nnz, np.concatenate(found.crowded).all()) == (0, True)

    def test_without_a_bound_all_pairs_of_one_folder_are_kept_as_printed(self) -> None:
        """150 × 150 pages of one folder: all 22,500 differ in the file name alone."""
        first, second = ([f"http://a.org/p/{k:03}{side}.html" for k in range(150)] for side in "ab")
        found = url_pairs(first, second, UrlRuleSettings(max_others=0))
        assert found.counts()["file"] == 22_500
        assert not np.concatenate(found.crowded).any()

    def test_addresses_whose_pairs_are_bounded_are_marked(self) -> None:
        first = [*(f"http://a.org/p/{k}.html" for k in range(0, 60, 2)), "http://a.org/q/only.html"]
        second = [*(f"http://a.org/p/{k}.html" for k in range(1, 60, 2)), "http://a.org/q/other.html"]
        found = url_pairs(first, second, UrlRuleSettings(max_others=20))
        assert [marks.tolist() for marks in found.crowded] == [[True] * 30 + [False]] * 2
        assert found.pattern.nnz == 1

    def test_a_page_above_very_many_directories_has_none_of_them(self) -> None:
        below = [f"http://a.org/{k}/" for k in range(30)]
        found = url_pairs(["http://a.org/"], below, UrlRuleSettings(max_others=20))
        assert (found.pattern.nnz, np.concatenate(found.crowded).all()) == (0, True)

    def test_other_keys_still_join(self) -> None:
        """Files are crowded in either directory, the directory is not."""
        english = [f"http://a.org/en/{k}" for k in range(30)]
        french = [f"http://a.org/fr/{k}" for k in range(30)]
        found = url_pairs(english, french, UrlRuleSettings(max_others=20))
        assert found.counts()["directory"] == found.pattern.nnz == 30
