"""Written forms of addresses, default documents, keys and their levels, rules: each by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

from tests.both_ways import both_ways  # noqa: F401  (kernels of this module)
from twinlink.patterns.kernels import HEAD, INSIDE, REPEATED, TAIL, TOKEN, key_hash
from twinlink.patterns.keys import Forms, Key, key_hashes, key_ranks, keys_of, read_forms, rule_of, side_hashes

HERE = "http://x.hk"


def texts_of(urls: Sequence[str]) -> list[str | None]:
    """Return the form of each address; None for what has no form."""
    forms = read_forms(urls)
    return [None if form < 0 else forms.part(form) for form in forms.form_of.tolist()]


# ---- forms


def test_every_address_has_a_form() -> None:
    urls = [f"{HERE}/b", "nothing", f"{HERE}/a#top", "https://X.hk/a", f"{HERE}/c/d"]
    forms = read_forms(urls)
    assert texts_of(urls) == ["/b", None, "/a", "/a", "/c/d"]
    assert len(forms) == 3
    assert forms.longest == len("/c/d")
    assert forms.form_of[1] == -1


@pytest.mark.parametrize("turned", [False, True])
def test_a_form_stands_for_the_first_of_its_addresses(turned: bool) -> None:
    """In the order of addresses, however they are listed."""
    urls = ["https://x.hk/a", f"{HERE}/a#top", f"{HERE}/b", "https://x.hk/a#top"]
    urls = urls[::-1] if turned else urls
    forms = read_forms(urls)
    assert {forms.part(form): urls[place] for form, place in enumerate(forms.places.tolist())} == {
        "/a": f"{HERE}/a#top", "/b": f"{HERE}/b",
    }  # fmt: skip


def test_the_front_page_of_a_site_has_a_form() -> None:
    assert texts_of([f"{HERE}/"]) == ["/"]
    assert texts_of([HERE]) == ["/"]


def test_a_host_with_and_without_www_is_one() -> None:
    """Where a site uses both; a third host keeps its label beside ``www``, which is part of its key."""
    urls = [f"{HERE}/en/", "http://www.x.hk/tc/", "http://X.hk/en/", "https://WWW.X.hk"]
    assert texts_of(urls) == ["/en/", "/tc/", "/en/", "/"]
    assert read_forms(urls).host.lower() == "www.x.hk"
    assert texts_of(["http://www.x.hk/a", "http://tc.x.hk/a", f"{HERE}/b"]) == ["www./a", "tc./a", "www./b"]
    assert texts_of(["http://www.x.hk/a", "http://tc.x.hk/a", "http://n.x.hk/"]) == ["www./a", "tc./a", "n./"]
    assert texts_of(["http://www.x.hk:80/a", "http://x.hk.org/b"]) == ["www.x.hk:80/a", "x.hk.org/b"]


@pytest.mark.parametrize("urls", [[], [""], ["nothing", "http://"]])
def test_sites_without_addresses_have_no_forms(urls: list[str]) -> None:
    forms = read_forms(urls)
    assert (len(forms), forms.longest) == (0, 0)
    assert forms.form_of.tolist() == [-1] * len(urls)


def test_addresses_are_read_from_columns_in_pieces() -> None:
    urls = [f"{HERE}/{name}" for name in ("a", "b/", "index.htm", "d")]
    whole = texts_of(urls[1:])
    assert whole == ["/b/index.htm", "/index.htm", "/d"]
    column = pa.array(["http://other.example/", *urls], pa.string()).slice(2)
    pieces = pa.chunked_array([pa.array(urls[1:2]), pa.array(urls[2:])])
    middle = pa.array(["http://other.example/", *urls, "http://other.example/"], pa.large_string()).slice(2, 3)
    for given in (column, pieces, middle):
        forms = read_forms(given)
        assert [forms.part(form) for form in forms.form_of.tolist()] == whole
    for given in (pa.chunked_array([], pa.string()), pa.array([], pa.string())):
        assert len(read_forms(given)) == 0


def test_parts_of_a_form() -> None:
    forms = read_forms([f"{HERE}/ab%FFc"])
    assert forms.part(0) == r"/ab\xffc"
    assert (forms.part(0, 1, 3), forms.part(0, 2), forms.part(0, end=2)) == ("ab", r"b\xffc", "/a")


# ---- default documents


def test_folders_get_the_default_document_that_is_the_most_frequent() -> None:
    urls = [f"{HERE}/{name}" for name in ("a/", "b/default.asp", "c/default.asp", "d/index.html", "e/?x=1", "f")]
    assert texts_of(urls) == [
        "/a/default.asp", "/b/default.asp", "/c/default.asp", "/d/index.html", "/e/default.asp?x=1", "/f",
    ]  # fmt: skip


def test_of_equally_frequent_default_documents_the_usual_one_counts() -> None:
    """``index`` before ``default``, ``html`` before ``htm``."""
    names = ["index.htm", "default.html", "index.html"]
    assert texts_of([f"{HERE}/a/", *(f"{HERE}/{name}" for name in names)])[0] == "/a/index.html"
    assert texts_of([f"{HERE}/a/", *(f"{HERE}/{name}" for name in names[:2])])[0] == "/a/index.htm"


def test_the_first_form_may_be_a_folder() -> None:
    assert texts_of([f"{HERE}/", "http://en.x.hk/index.html"]) == ["/index.html", "en./index.html"]


def test_invalid_address_gets_no_default_document() -> None:
    """Not even behind a folder's address."""
    assert texts_of([f"{HERE}/a/", "nothing", f"{HERE}/index.html"]) == ["/a/index.html", None, "/index.html"]


# ---- keys


@pytest.mark.parametrize(
    ("key", "level"),
    [
        (("en", "tc"), TOKEN), (("", "en"), TOKEN), (("lang=en", "lang=tc"), TOKEN),
        (("c*", "e*"), HEAD), (("*", "e*"), HEAD),
        (("*c", "*e"), TAIL), (("*", "*e"), TAIL),
        (("*c*", "*e*"), INSIDE),
    ],
)  # fmt: skip
def test_stars_tell_the_level_of_a_key(key: tuple[str, str], level: int) -> None:
    assert Key(*key).level == level


def test_hashes_of_keys_are_those_of_their_sides_without_stars() -> None:
    keys = [Key("c", "e"), Key("c*", "e*"), Key("*c", "*e"), Key("*c*", "*e*"), Key("e", "c")]
    sources, targets, both = key_hashes(keys)
    assert len(set(sources[:4].tolist())) == len(set(targets[:4].tolist())) == 1
    assert (sources[4], targets[4]) == (targets[0], sources[0])
    assert len(set(both.tolist())) == len(keys)
    levels = TOKEN, HEAD, TAIL, INSIDE
    assert both[:4].tolist() == [key_hash(level, sources[0], targets[0]) for level in levels]


def test_hashes_of_sides_are_those_of_the_keys() -> None:
    forms, (one, span, other, other_span) = forms_and_spans("x/en/a", (1, 3), "x/tc/a", (1, 3), REPEATED)
    sources, targets, _ = key_hashes([Key("en", "tc")])
    assert side_hashes(forms, np.array([one]), np.array([span])) == sources
    assert side_hashes(forms, np.array([other, one]), np.array([other_span, 3 << 16 | 3])).tolist() == [*targets, 0]


def forms_and_spans(
    a: str, span_a: tuple[int, int], b: str, span_b: tuple[int, int], mark: int = 0
) -> tuple[Forms, tuple[int, int, int, int]]:
    """Return the forms of two addresses, and form and span of each; a span is written as the kernels write it.

    The text of a third one follows, which is no part of theirs.
    """
    forms = read_forms([f"http://{a}", f"http://{b}", "http://x/z"])
    one, other, _ = forms.form_of.tolist()
    spans = [(begin | mark) << 16 | end for begin, end in (span_a, span_b)]
    return forms, (one, spans[0], other, spans[1])


@pytest.mark.parametrize(
    ("a", "span_a", "b", "span_b", "level", "key", "rule"),
    [
        ("x/en/a", (1, 3), "x/tc/a", (1, 3), TOKEN, ("en", "tc"), "/en/ ↔ /tc/"),
        ("x/a/en", (3, 5), "x/a/tc", (3, 5), TOKEN, ("en", "tc"), "/en ↔ /tc"),
        ("en.x/a", (0, 2), "tc.x/a", (0, 2), TOKEN, ("en", "tc"), "//en. ↔ //tc."),
        ("x/a?en", (3, 5), "x/a?tc", (3, 5), TOKEN, ("en", "tc"), "?en ↔ ?tc"),
        ("x/en?a", (1, 3), "x/tc?a", (1, 3), TOKEN, ("en", "tc"), "/en ↔ /tc"),  # a query may follow, or none
        ("x/ac.h", (2, 3), "x/ae.h", (2, 3), TAIL, ("*c", "*e"), "*c. ↔ *e."),
        ("x/a.h", (2, 2), "x/ae.h", (2, 3), TAIL, ("*", "*e"), "*. ↔ *e."),
        ("x/ca.h", (1, 2), "x/ea.h", (1, 2), HEAD, ("c*", "e*"), "/c* ↔ /e*"),
        ("x/1c2.h", (2, 3), "x/1e2.h", (2, 3), INSIDE, ("*c*", "*e*"), "*c* ↔ *e*"),
        # cut out with the separator behind it
        ("x/a.h", (0, 0), "x/en/a.h", (1, 3), TOKEN, ("", "en"), "/ ↔ /en/"),
        ("x/a.h", (0, 0), "tc.x/a.h", (0, 2), TOKEN, ("", "tc"), "// ↔ //tc."),
        # cut out with the separator before it
        ("x/a/b", (2, 2), "x/a/en/b", (3, 5), TOKEN, ("", "en"), "/ ↔ /en/"),
        ("x/a.h", (2, 2), "x/a_en.h", (3, 5), TOKEN, ("", "en"), ". ↔ _en."),
        ("x/a", (2, 2), "x/a/en", (3, 5), TOKEN, ("", "en"), "… ↔ …/en"),
        ("x/a", (2, 2), "x/a?id=e", (3, 7), TOKEN, ("", "id=e"), "… ↔ …?id=e"),
    ],
)
def test_rules_contain_the_context_of_a_key(
    a: str,
    span_a: tuple[int, int],
    b: str,
    span_b: tuple[int, int],
    level: int,
    key: tuple[str, str],
    rule: str,
) -> None:
    forms, (one, of_one, other, of_other) = forms_and_spans(a, span_a, b, span_b)
    columns = [np.array([each]) for each in (one, other, of_one, of_other, level)]
    assert keys_of(forms, columns) == [Key(*key)]
    assert rule_of(forms, one, of_one, other, of_other, level) == rule


def test_a_repeated_key_is_shown_at_two_places() -> None:
    """The mark of its span is no part of its place."""
    forms, pair = forms_and_spans("x/en/a_en", (1, 3), "x/tc/a_tc", (1, 3), REPEATED)
    assert rule_of(forms, *pair, TOKEN) == "en … en ↔ tc … tc"


@pytest.mark.parametrize("more", ["中", "%E9"], ids=["letters", "bytes of another encoding"])
def test_tokens_rank_before_letters_then_shorter_keys_then_by_letters(more: str) -> None:
    """As their texts are sorted one by one; the size of a key is its number of characters, stars included."""
    names = ["en", "e", "c", "zh", "z", "英文", "english", more]
    forms = read_forms([f"{HERE}/{name}" for name in names])
    spans = [(1 << 16) | int(last - first) for first, last in zip(forms.starts, forms.lasts, strict=True)]
    pairs = [(u, v, level) for level in (TAIL, TOKEN, INSIDE, HEAD) for u in range(len(forms)) for v in range(u)]
    sources, targets, levels = (np.array(column) for column in zip(*pairs, strict=True))
    columns = (sources, targets, np.array(spans)[sources], np.array(spans)[targets], levels)
    keys = keys_of(forms, columns)
    ranked = sorted(range(len(keys)), key=lambda k: (levels[k] != TOKEN, sum(map(len, keys[k])), keys[k]))
    assert np.argsort(key_ranks(forms, columns)).tolist() == ranked


def test_no_keys_have_no_ranks() -> None:
    assert key_ranks(read_forms([f"{HERE}/a"]), [np.zeros(0, np.int64)] * 5).tolist() == []
