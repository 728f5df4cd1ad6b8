"""The experiments run, on a small demo site, and their tables say what was measured."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pytest
from msgspec.structs import replace

from experiments import ablation, added_parts, calibration, coverage, links_alone, robustness, tables
from experiments.cases import case_words, find_lexicons, match_case, open_case, outcome_of, verdicts_of
from twinlink.demo.site import write_site
from twinlink.similarity.lexicon_files import Lexicon, LexiconEntry


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("experiments")
    site = write_site(folder / "sites" / "demo-opaque", pages=60)
    (folder / "lexicons").mkdir()
    shutil.copy(site.lexicon, folder / "lexicons" / "zh-en.tsv")
    return folder


@pytest.fixture(scope="module")
def case(place):
    with open_case(place / "sites" / "demo-opaque") as opened:
        yield opened


@pytest.fixture(scope="module")
def match(case):
    return match_case(case, case_words(case))


def f1_of_cell(cell: str) -> float:
    return float(cell.rsplit("; ", maxsplit=1)[-1].split(" ", maxsplit=1)[0])


def test_outcome_and_verdicts_agree(case, match):
    outcome = outcome_of(case, match)
    probabilities, right = verdicts_of(case, match)
    kept = probabilities >= 0.5
    assert right[kept].mean() == pytest.approx(outcome.precision)
    assert right[kept].sum() / len(case.gold.pairs) == pytest.approx(outcome.recall)
    assert 0.9 < outcome.f1 <= outcome.oracle + 1e-9


def test_nothing_handed_out_is_an_outcome(case, match):
    outcome = outcome_of(case, match, np.zeros(len(match.keep), np.bool_))
    assert outcome.f1 == outcome.recall == 0
    assert np.isnan(outcome.expected)
    assert tables.own_cut(outcome) == ".000 (.000 / –)"


def test_lexicon_is_cut_to_heads_with_all_their_translations():
    lexicon = Lexicon(tuple(LexiconEntry(f"h{i}", word) for i in range(50) for word in (f"a{i}", f"b{i}")))
    cut = links_alone.cut_lexicon(lexicon, 10)
    assert len(cut) == 20
    assert len({entry.head for entry in cut.entries}) == 10
    assert cut == links_alone.cut_lexicon(lexicon, 10) != links_alone.cut_lexicon(lexicon, 10, seed=2)
    assert links_alone.cut_lexicon(lexicon, 100) == lexicon


def test_links_alone_has_every_round_and_condition(case, place):
    column = links_alone.measure(case, find_lexicons(place / "lexicons", case.langs))
    assert [title[:3] for title in column] == ["(a)", "(b)", "(c)"]
    numbers = column["(b) numbers only"]
    assert list(numbers)[1:] == [
        f"{which} links, {rounds}" for which in ("with", "without") for rounds in ("first round", "all rounds")
    ]
    assert f1_of_cell(numbers["with links, all rounds"]) > 0.5
    assert len(links_alone.measure(case, [])) == 2  # no lexicon, no condition (a)


def test_links_and_lengths_see_no_word(case):
    words = case_words(case, (), "none")
    renamed = words.a._replace(vocabulary=[f"x{i}" for i in range(len(words.a.vocabulary))])
    first, told = links_alone.start_from_links(case, words)
    second, again = links_alone.start_from_links(case, replace(words, a=renamed))
    assert told == again
    assert (first.translation != second.translation).nnz == 0


def test_ablation_takes_each_kind_away(case, monkeypatch):
    monkeypatch.setattr(ablation, "DEFAULT_EVIDENCE", ("content", "structure"))
    monkeypatch.setattr(ablation, "ALONE", (("structure",),))
    column = ablation.measure(case, [])
    less = column["each kind taken away"]
    assert list(less)[:4] == ["all evidence", "without content", "without structure", "without any links"]
    assert column["these kinds alone"]["structure"] == less["without content"]


def test_calibration_prints_and_draws(place, capsys, tmp_path):
    calibration.main([str(place / "sites"), "--out", str(tmp_path)])
    printed = capsys.readouterr().out
    assert "|  | F1 | best F1 | true P | expected P |" in printed
    assert "| demo | " in printed
    assert (tmp_path / "reliability.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_half_a_side_is_a_smaller_site(case):
    half = robustness.half_of_b(case)
    assert len(half.side_b.urls) == half.between.direct.shape[1] == len(case.side_b.urls) // 2
    assert 0 < len(half.gold.pairs) < len(case.gold.pairs)
    found = match_case(half, case_words(half))
    assert {url for _, url in found.pairs()} <= set(half.side_b.urls)


def test_pages_that_are_kept_keep_their_partners(case):
    key = case.gold.key
    there_a, there_b = ({key(url) for url in side.urls} for side in (case.side_a, case.side_b))
    known = {pair for pair in case.gold.pairs if pair[0] in there_a and pair[1] in there_b}
    half, third = robustness.half_of_a(case), robustness.part_of_b(case, 1 / 3)
    assert len(half.side_a.urls) == half.between.hreflang.shape[0] == len(case.side_a.urls) // 2
    assert half.side_b.urls == case.side_b.urls
    assert len(third.side_b.urls) == third.side_b.graph.shape[0] == len(case.side_b.urls) // 3
    for smaller in (half, third):
        kept_a, kept_b = ({key(url) for url in side.urls} for side in (smaller.side_a, smaller.side_b))
        scored = {pair for pair in smaller.gold.pairs if pair in known}
        assert scored == {(a, b) for a, b in known if a in kept_a and b in kept_b}


def test_of_twenty_pairs_one_loses_a_page_on_each_side(case):
    few = robustness.few_pairs(case)
    key = case.gold.key
    there_a, there_b = ({key(url) for url in side.urls} for side in (few.side_a, few.side_b))
    assert len(there_a) == len(there_b) == 19
    partner = dict(case.gold.pairs)
    assert sum(partner[page] in there_b for page in there_a) == 18
    assert sum(a in there_a and b in there_b for a, b in few.gold.pairs) == 18


def test_one_template_leaves_no_structure(case):
    alike = robustness.one_template(case)
    assert len(set(alike.side_a.tags) | set(alike.side_b.tags)) == 1


def test_robustness_makes_the_site_worse_in_each_way(case, match, monkeypatch):
    sizes, drawn = [], []

    def case_words(each, _lexicons):
        drawn.append(each)
        sizes.append((len(each.side_b.urls), len(set(each.side_b.tags))))

    monkeypatch.setattr(robustness, "case_words", case_words)
    monkeypatch.setattr(robustness, "match_case", lambda each, words: match)
    monkeypatch.setattr(robustness, "outcome_of", lambda each, found: outcome_of(case, found))
    cells = robustness.measure(case, [])["made worse"]
    whole, n_tags = sizes[0]
    assert list(cells)[:4] == ["as it is", "half of side B removed", "all pages with one template", "both"]
    assert list(cells)[4:] == ["half of side A removed", "a third of side B left", "20 pairs alone"]
    assert [n for n, _ in sizes] == [whole, whole // 2, whole, whole // 2, whole, whole // 3, 19]
    assert n_tags > 1 == sizes[2][1] == sizes[3][1]
    sizes.clear()
    drawn.clear()
    robustness.measure(case, [], draws=3)
    assert len({tuple(each.side_b.urls) for each in drawn if len(each.side_b.urls) == whole // 2}) == 3
    assert [n for n, _ in sizes] == [
        n for n, times in ((whole, 1), (whole // 2, 3), (whole, 1), (whole // 2, 3)) for _ in range(times)
    ] + [whole] * 3 + [whole // 3] * 3 + [19] * 3


def test_coverage_says_how_often_the_true_precision_is_inside(case, match, monkeypatch):
    monkeypatch.setattr(coverage, "case_words", lambda each, _: None)
    monkeypatch.setattr(coverage, "match_case", lambda each, words: match)
    claim = coverage.claim_of(case, [])
    assert claim.holds
    assert str(claim).startswith(
        f"{tables.number(claim.precision)} / {claim.expected.precision:.3f}".replace("/ 0.", "/ .")
    )
    too_sure = claim._replace(precision=0.2)
    assert not too_sure.holds
    assert str(too_sure).endswith(") !")
    told = coverage.summary([("as it is", claim), ("half of side B removed", too_sure)])
    assert "1 of 2 intervals" in told
    assert "whole sites: median width" in told


def test_noise_is_mixed_in(place, tmp_path):
    site = place / "sites" / "demo-opaque"
    copy, share = robustness.with_noise(site, site, tmp_path)
    added = [path for path in (copy / "site" / "noise").rglob("*") if path.is_file()]
    n_pages = len((site / "pages.tsv").read_text(encoding="utf-8").splitlines())
    assert share == len(added) / (len(added) + n_pages) > 0.25
    assert len((copy / "gold.tsv").read_text(encoding="utf-8")) > 0
    links = [link for path in added for link in re.findall(rb'href="(/[^"]*)"', path.read_bytes())]
    assert links
    assert all(link.startswith(b"/noise/") for link in links)


def test_pages_of_either_side_of_another_site_are_added(place, capsys):
    site = place / "sites" / "demo-opaque"
    added_parts.main([str(site), "--other", str(site)])
    rows = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    labels = ["as it is", "with pages of side A of demo-opaque", "with pages of side B of demo-opaque"]
    assert [row[0].strip() for row in rows[2:]] == [*labels, "with demo-opaque"]


def test_all_pages_and_pairs_of_another_site_are_added(place, tmp_path):
    site = place / "sites" / "demo-opaque"
    other = shutil.copytree(site, tmp_path / "other")
    (other / "equiv.tsv").write_text("1\tA\t/x.html\n", encoding="utf-8")
    both = added_parts.with_site(other, other, tmp_path / "both")
    assert (both / "equiv.tsv").read_text(encoding="utf-8") == "1\tA\t/x.html\nnoise 1\tA\t/noise/x.html\n"
    n_pairs = len((site / "gold.tsv").read_text(encoding="utf-8").splitlines())
    pairs = [line.split("\t") for line in (both / "gold.tsv").read_text(encoding="utf-8").splitlines()]
    assert len(pairs) == 2 * n_pairs
    assert all((both / "site" / address.lstrip("/")).exists() for address, *_ in pairs)


def test_tables_are_markdown(capsys):
    tables.print_tables({"x-opaque": {"T": {"r": "1"}}, "y": {"T": {"r": "2", "s": "3"}, "U": {"r": "4"}}})
    lines = [line for line in capsys.readouterr().out.splitlines() if line]
    assert lines[:5] == ["**T**", "|  | x | y |", "| --- | --- | --- |", "| r | 1 | 2 |", "| s | – | 3 |"]
    assert lines[5:] == ["**U**", "|  | y |", "| --- | --- |", "| r | 4 |"]
    tables.print_tables({"x": {"T": {"r": "1", "s": "2"}}}, sites_down=True)
    assert "| x | 1 | 2 |" in capsys.readouterr().out
