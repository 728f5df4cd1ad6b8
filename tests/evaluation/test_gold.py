"""Scoring by the rules of the site folders."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from twinlink.errors import GoldError, ShapeError
from twinlink.evaluation.gold import Gold, evaluate, judge_pairs, precision_coverage, read_gold


def folder(tmp_path, **files):
    for name, text in files.items():
        stem, _, suffix = name.rpartition("_")
        (tmp_path / f"{stem}.{suffix}").write_text(text, encoding="utf-8")
    return read_gold(tmp_path / "gold.tsv")


def counts(pairs, gold):
    result = evaluate(pairs, gold)
    return result.n_right, result.n_wrong, result.n_unscored


def test_scheme_host_and_index_are_left_out(tmp_path):
    gold = folder(tmp_path, gold_tsv="/en/index.html\t/fr/a%20b.html\n")
    assert counts([("https://x.org/en/", "http://y.org/fr/a b.html")], gold) == (1, 0, 0)


def test_hosts_count_where_the_gold_has_them(tmp_path):
    gold = folder(tmp_path, gold_tsv="http://en.x.org/\thttp://fr.x.org/\n")
    assert counts([("http://en.x.org/", "http://fr.x.org/")], gold) == (1, 0, 0)
    assert counts([("http://en.x.org/", "http://de.x.org/")], gold) == (0, 1, 0)


def test_queries_count_where_the_gold_has_them(tmp_path):
    gold = folder(tmp_path, gold_tsv="/p?id=1\t/p?id=2\n/p?id=3\t/p?id=4\n")
    assert counts([("http://x/p?id=1", "http://x/p?id=4")], gold) == (0, 1, 0)


def test_pairs_that_differ_in_the_query_alone_are_counted_apart_where_the_gold_has_none(tmp_path):
    gold = folder(tmp_path, gold_tsv="/p\t/q\n")
    result = evaluate([("http://x/p?id=1", "http://x/q?id=1"), ("http://x/p?id=2", "http://x/q?id=2")], gold)
    assert (result.n_predicted, result.n_right, result.n_alike) == (1, 1, 1)


def test_a_query_in_one_column_alone_counts_too(tmp_path):
    gold = folder(tmp_path, gold_tsv="/en/a\t/p?id=1\n/en/b\t/p?id=2\n")
    assert counts([("http://x/en/a", "http://x/p?id=2"), ("http://x/en/b", "http://x/p?id=2")], gold) == (1, 1, 0)


def test_addresses_in_another_encoding_than_utf8_stay_apart(tmp_path):
    gold = folder(tmp_path, gold_tsv="/en/a\t/%A4%A4.htm\n/en/b\t/%A4%E5.htm\n")
    assert counts([("http://x/en/a", "http://x/%A4%E5.htm"), ("http://x/en/b", "http://x/%a4%e5.htm")], gold) == (
        1,
        1,
        0,
    )


def test_a_line_of_column_names_and_paths_without_a_slash(tmp_path):
    gold = folder(tmp_path, gold_tsv="url_a\turl_b\na.html\tb.html\n")
    assert counts([("http://x/a.html", "http://x/b.html")], gold) == (1, 0, 0)
    assert len(gold.pairs) == 1


def test_the_host_s_case_does_not_matter(tmp_path):
    gold = folder(tmp_path, gold_tsv="http://X.org/a\thttp://x.org/b\n")
    assert counts([("http://x.org/a", "http://x.org/b")], gold) == (1, 0, 0)


@pytest.mark.parametrize(
    ("listed", "read"),
    [
        ("http://x.org/a  ", "http://x.org/a"),
        ("http://bücher.example/a", "http://xn--bcher-kva.example/a"),
        ("http://x.org:80/a", "http://x.org/a"),
        ("http://ann@x.org/a", "http://x.org/a"),
        ("http://x.org/a?q=中", "http://x.org/a?q=%e4%b8%ad"),
        ("http://x.org/a?lang=en&id=%7e", "http://x.org/a?id=~&lang=en"),
        ("/a?q=中&b=1", "http://x.org/a?b=1&q=%E4%B8%AD"),
    ],
)
def test_the_spelling_of_an_address_does_not_matter(tmp_path, listed, read):
    other = "http://x.org/b" if listed.startswith("http") else "/b"
    gold = folder(tmp_path, gold_tsv=f"{listed}\t {other}\n")
    assert counts([(read, "http://x.org/b")], gold) == (1, 0, 0)


def test_an_address_in_a_query_is_no_host(tmp_path):
    gold = folder(tmp_path, gold_tsv="/go?u=http://x.org/\t/b\n/go?u=http://y.org/\t/go?u=http://z.org/\n")
    assert not gold.with_host
    assert counts([("http://h/go?u=http://x.org/", "http://h/b")], gold) == (1, 0, 0)


def test_lines_end_where_files_break_them(tmp_path):
    gold = folder(tmp_path, gold_tsv="/a\u2028\x85\f1\t/x\r\n/b\t/y\r/c\t/z\n")
    assert len(gold.pairs) == 3


def test_a_gold_file_may_be_named_by_a_text(tmp_path):
    folder(tmp_path, gold_tsv="/a\t/x\n")
    assert read_gold(str(tmp_path / "gold.tsv")).pairs == (("/a", "/x"),)


def test_what_is_no_address_is_refused(tmp_path):
    with pytest.raises(GoldError, match="not an address"):
        folder(tmp_path, gold_tsv="http://[x\thttp://x/b\n")


@pytest.mark.parametrize("pages_tsv", ["/a\tA\ten\n/x\tB\tfr\n", ""])
def test_pairs_may_come_in_either_order(tmp_path, pages_tsv):
    beside = {"pages_tsv": pages_tsv} if pages_tsv else {}
    gold = folder(tmp_path, gold_tsv="/a\t/x\n/b\t/y\n", ignore_tsv="/c\t/z\n", **beside)
    assert counts([("/x", "/a"), ("/z", "/c"), ("/y", "/a"), ("/b", "/y")], gold) == (2, 1, 1)
    assert precision_coverage([("/x", "/a"), ("/y", "/a")], [0.9, 0.8], gold) == [(0.9, 1.0, 0.5), (0.8, 0.5, 0.5)]


def test_a_pair_and_the_same_turned_round_count_once(tmp_path):
    result = evaluate([("/a", "/x"), ("/x", "/a")], folder(tmp_path, gold_tsv="/a\t/x\n"))
    assert (result.n_predicted, result.n_right, result.n_wrong, result.n_alike) == (1, 1, 0, 0)


def test_ignored_and_unscored_pairs_are_neither_right_nor_wrong(tmp_path):
    gold = folder(tmp_path, gold_tsv="/a\t/x\n", ignore_tsv="/b\t/y\n", unscored_txt="/c\n/z\n")
    assert counts([("/b", "/y"), ("/c", "/z"), ("/c", "/x")], gold) == (0, 1, 2)


def test_equal_pages_are_equivalent_and_each_gold_pair_counts_once(tmp_path):
    gold = folder(tmp_path, gold_tsv="/a1\t/x\n", equiv_tsv="7\tA\t/a1\n7\tA\t/a2\n")
    assert counts([("/a2", "/x")], gold) == (1, 0, 0)
    assert counts([("/a2", "/x"), ("/a1", "/x")], gold) == (1, 1, 0)


def test_equal_pages_are_equivalent_in_either_order(tmp_path):
    groups = "1\tA\t/a1\n1\tA\t/a2\n1\tB\t/b1\n1\tB\t/b2\n"
    gold = folder(tmp_path, gold_tsv="/a1\t/b1\n/b2\t/a2\n", equiv_tsv=groups)
    assert counts([("/a1", "/b1"), ("/a2", "/b2")], gold) == (2, 0, 0)


def test_the_same_pair_under_another_host_is_not_wrong():
    gold = Gold((("/a", "/x"), ("/b", "/y")))
    pairs = [("http://h/a", "http://h/x"), ("http://www.h/a", "http://www.h/x"), ("http://h/b", "http://h/y")]
    assert judge_pairs(pairs, gold) == [True, None, True]
    assert precision_coverage(pairs, [0.9, 0.8, 0.7], gold) == [(0.9, 1.0, 0.5), (0.7, 1.0, 1.0)]
    assert (evaluate(pairs, gold).n_alike, evaluate(pairs, gold).n_unscored) == (1, 0)


def test_a_pair_given_twice_counts_once(tmp_path):
    gold = folder(tmp_path, gold_tsv="/a\t/x\n/b\t/y\n")
    assert counts([("/a", "/x"), ("/a", "/x")], gold) == (1, 0, 0)


def test_a_gold_pair_that_stands_in_the_file_twice_counts_once(tmp_path):
    gold = folder(tmp_path, gold_tsv="/a\t/x\n/b\t/y\n/x\t/a\n/a\t/x\n")
    assert gold.pairs == (("/a", "/x"), ("/b", "/y"))
    assert evaluate([("/a", "/x"), ("/b", "/y")], gold).recall == 1


def test_unknown_addresses_are_counted(tmp_path):
    gold = folder(tmp_path, gold_tsv="/a\t/x\n", pages_tsv="/a\tA\ten\n/x\tB\tfr\n")
    assert evaluate([("/a", "/nowhere")], gold).n_unknown == 1


def test_measures():
    gold = Gold((("/a", "/x"), ("/b", "/y"), ("/c", "/z"), ("/d", "/w")))
    result = evaluate([("/a", "/x"), ("/b", "/z")], gold)
    assert (result.precision, result.recall, result.f1) == (0.5, 0.25, pytest.approx(1 / 3))


def test_nothing_predicted_is_zero_not_an_error():
    result = evaluate([], Gold((("/a", "/x"),)))
    assert (result.precision, result.recall, result.f1) == (0.0, 0.0, 0.0)


def test_the_curve_goes_down_the_list():
    gold = Gold((("/a", "/x"), ("/b", "/y")))
    curve = precision_coverage([("/b", "/x"), ("/a", "/x"), ("/b", "/y")], [0.5, 0.9, 0.7], gold)
    assert curve == [(0.9, 1.0, 0.5), (0.7, 1.0, 1.0), (0.5, pytest.approx(2 / 3), 1.0)]


def test_pairs_without_a_score_are_the_last_of_the_curve():
    gold = Gold((("/a", "/x"), ("/b", "/y")))
    curve = precision_coverage([("/c", "/z"), ("/a", "/x"), ("/b", "/y")], [math.nan, 0.7, 0.9], gold)
    assert [score for score, _, _ in curve] == [0.9, 0.7, pytest.approx(math.nan, nan_ok=True)]


def test_the_curve_of_a_list_without_known_pairs():
    gold = Gold((), ignored=frozenset({("/a", "/x")}))
    assert precision_coverage([("/b", "/y"), ("/a", "/x")], [0.5, 0.9], gold) == [(0.5, 0.0, 0.0)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no pairs"),
        (b"/a\n", "line 1: expected 2"),
        (b"/a\t\n", "line 1: expected 2"),
        (b"/a\t/x\n\n/b\t\t/y\n", "line 3: expected 2"),
        (b"\xff\xfe\t\x00", "UTF-8"),
        (b"http://h/a\t/x\n", "/x has no host"),
    ],
)
def test_a_file_that_is_no_gold_is_refused(tmp_path, content, message):
    (tmp_path / "gold.tsv").write_bytes(content)
    with pytest.raises(GoldError, match=message):
        read_gold(tmp_path / "gold.tsv")


def test_a_gold_file_that_is_not_there(tmp_path):
    with pytest.raises(GoldError, match="no such gold file"):
        read_gold(tmp_path / "gold.tsv")


def test_labels_of_a_column_do_not_matter():
    gold, scores = Gold((("/a", "/x"),)), pd.Series([0.5, 0.9], index=[1, 0])
    pairs = [("/b", "/x"), ("/a", "/x")]
    assert precision_coverage(pairs, scores, gold) == precision_coverage(pairs, [0.5, 0.9], gold)


def test_pairs_may_be_a_table_and_known_ones_a_file_or_pairs(tmp_path):
    pairs = [("http://x.org/a", "http://x.org/b"), ("http://x.org/c", "http://x.org/d")]
    table = pd.DataFrame(pairs, columns=["url_a", "url_b"])
    path = tmp_path / "gold.tsv"
    path.write_text("http://x.org/a\thttp://x.org/b\n", encoding="utf-8")
    for gold in (path, str(path), read_gold(path), pairs[:1], table[:1]):
        found = evaluate(table, gold)
        assert (found.n_right, found.n_wrong) == (1, 1)


@pytest.mark.parametrize("given", ["ab", [("a",)], [("/a", None)], pd.DataFrame({"a": ["/a"], "b": ["/b"]})])
def test_what_is_no_pair_of_addresses_is_refused(given):
    with pytest.raises(GoldError, match="pairs: expected"):
        evaluate(given, Gold(()))
    with pytest.raises(GoldError, match=r"gold: expected|no such gold file"):
        evaluate([], given)


def test_a_curve_needs_a_score_for_each_pair():
    with pytest.raises(ShapeError, match="expected one for each of 1 pairs, got 2"):
        precision_coverage([("/a", "/b")], [0.5, 0.4], Gold(()))
