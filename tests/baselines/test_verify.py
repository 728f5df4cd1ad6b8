"""Pairs from elsewhere: judged by every method, none lost."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from tests.baselines import mfa_kz as mfa_kz_pages
from tests.baselines.test_methods import CHINESE, CONFIG, ENGLISH, PAGES, write_site
from tests.cli.test_cli import twinlink
from tests.made_sites import BASE, write_pages
from twinlink.baselines.alignment import align
from twinlink.baselines.models.judge import MODELS, judge
from twinlink.baselines.verify import VERIFIERS, read_pairs, verify_pairs
from twinlink.errors import InputError
from twinlink.ingest.stage import ingest
from twinlink.pages.linearise import linearise
from twinlink.rundir.directory import RunDirectory

RIGHT = [(f"en/page-{n}.html", f"tc/page-{n}.html") for n in PAGES]
WRONG = ("en/page-1.html", "tc/page-8.html")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return write_site(tmp_path / "site")


def verdicts(verified, method):
    rows = [row for row in verified.table.to_pylist() if row["method"] == method]
    return {(row["a"], row["b"]): row["verdict"] for row in rows}


@pytest.mark.parametrize("method", VERIFIERS)
def test_a_pair_that_is_not_parallel_is_found_among_others(site, method):
    verified = verify_pairs([*RIGHT, WRONG], [method], folder=site)
    found = verdicts(verified, method)
    assert found[WRONG] != "parallel"
    least = 2 if method == "hc2" else 7  # the largest of many clusters is small here
    assert sum(found[pair] == "parallel" for pair in RIGHT) >= least
    (summary,) = verified.summaries
    assert sum(summary.counts.values()) == 9
    assert summary.counts["parallel"] == list(found.values()).count("parallel")


def test_overall_verdict_is_that_of_more_than_half_of_the_methods(site):
    verified = verify_pairs([*RIGHT, WRONG], ["strand", "jangeldin", "webmining", "weighed"], folder=site)
    rows = verified.table.to_pylist()
    for pair in (*RIGHT, WRONG):
        of_pair = [row for row in rows if (row["a"], row["b"]) == pair]
        votes = [row["verdict"] == "parallel" for row in of_pair[:-1]]
        assert (of_pair[-1]["method"], of_pair[-1]["score"]) == ("overall", sum(votes) / 4)
        assert (of_pair[-1]["verdict"] == "parallel") == (sum(votes) > 2)
    assert verified.summaries[-1].method == "overall"
    assert verify_pairs(RIGHT, ["strand"], folder=site).summaries[-1].method == "strand"


def test_the_default_method_gives_probabilities_and_reads_words(site):
    """All pages have one template, and pages 2 and 3 are interchanged: structure accepts them, words do not."""
    same = {f"{lang}/s-{n}.html": f"<title>{n}</title><p>{text} {17 * n}</p>" * 3
            for lang, texts in (("en", ENGLISH), ("tc", CHINESE)) for n, text in enumerate(texts)}  # fmt: skip
    write_pages(site, same)
    order = [0, 1, 3, 2, 4, 5, 6, 7]
    pairs = [(f"en/s-{n}.html", f"tc/s-{other}.html") for n, other in enumerate(order)]
    found = verdicts(verify_pairs(pairs, ["weighed"], folder=site), "weighed")
    assert [found[pair] == "parallel" for pair in pairs] == [n == other for n, other in enumerate(order)]
    rows = verify_pairs(pairs, ["weighed"], folder=site).table.to_pylist()
    assert all(0.5 <= row["score"] <= 1 for row in rows if row["verdict"] == "parallel")


def test_numbers_are_those_of_the_two_pages(site):
    (row,) = verify_pairs([WRONG], ["strand"], folder=site).table.to_pylist()
    a, b = (linearise((site / name).read_bytes()).tokens for name in WRONG)
    assert (row["tokens_a"], row["tokens_b"]) == (len(a), len(b))
    assert (row["length_a"], row["length_b"]) == (a[a > 0].sum(), b[b > 0].sum())
    assert row["cost_share"] == row["cost"] / (len(a) + len(b))


def test_pages_of_a_run_and_files_give_the_same_verdicts(site, tmp_path):
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [site], CONFIG.ingest)
    addresses = [(f"{BASE}/{a}", f"{BASE}/{b}") for a, b in [*RIGHT, WRONG]]
    of_run = verify_pairs(addresses, run=run).table
    of_files = verify_pairs([*RIGHT, WRONG], folder=site).table
    names = of_run.column_names[2:]
    pd.testing.assert_frame_equal(of_run.select(names).to_pandas(), of_files.select(names).to_pandas())


def test_pairs_with_a_page_that_is_missing_are_reported(site, tmp_path):
    verified = verify_pairs([RIGHT[0], ("en/none.html", "tc/page-1.html"), RIGHT[0]], ["hc1"], folder=site)
    rows = verified.table.to_pylist()
    assert [(row["method"], row["verdict"]) for row in rows] == [("hc1", "parallel"), (None, "no-such-file")]
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [site], CONFIG.ingest)
    verified = verify_pairs([("not an address", f"{BASE}/x.html")], run=run)
    assert verified.table["verdict"].to_pylist() == ["not-in-run"]
    assert verified.summaries == ()


def test_pages_of_a_run_may_have_any_address_that_leads_to_them(site, tmp_path):
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [site], CONFIG.ingest)
    pairs = [("/en/page-1", "/tc/page-1"), (f"{BASE}/en/page-2/", f"{BASE}/tc/page-2.htm")]
    verified = verify_pairs(pairs, ["hc1"], run=run)
    assert "not-in-run" not in verified.table["verdict"].to_pylist()
    assert verified.sets[0].size == len(pairs)


def test_a_page_may_be_in_several_pairs(site):
    pairs = [("en/page-3.html", f"tc/page-{n}.html") for n in PAGES]
    found = verdicts(verify_pairs(pairs, ["webmining"], folder=site), "webmining")
    assert list(found) == pairs
    assert found["en/page-3.html", "tc/page-3.html"] == "parallel"


@pytest.mark.parametrize(
    ("text", "message"), [("", "no pairs"), ("a.html\n", "line 1"), ("a.html\tb.html\nc.html\t\n", "line 2")]
)
def test_files_that_are_no_lists_of_pairs_are_refused(tmp_path, text, message):
    path = tmp_path / "pairs.tsv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_pairs(path)
    with pytest.raises(InputError, match="no such file"):
        read_pairs(tmp_path / "none.tsv")


def test_a_header_line_and_more_columns_are_passed_over(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("url_a\turl_b\tscore\na.html\tb.html\t0.5\n\n")
    assert read_pairs(path) == [("a.html", "b.html")]


def test_the_command_prints_a_line_a_method_and_writes_the_verdicts(site):
    lines = [f"{a}\t{b}" for a, b in [*RIGHT, WRONG, ("none.html", "tc/page-1.html")]]
    (site / "pairs.tsv").write_text("\n".join(lines))
    done = twinlink("verify", site / "pairs.tsv", "--method", "jangeldin", "--method", "webmining")
    assert done.returncode == 0, done.stderr
    assert "jangeldin" in done.stdout
    assert "overall" in done.stdout
    assert "parallel 8" in done.stdout
    assert "not judged: no-such-file 1" in done.stdout
    written = (site / "pairs.verdicts.tsv").read_text().splitlines()
    assert len(written) == 1 + 3 * 9 + 1
    assert written[0].split("\t")[:5] == ["a", "b", "method", "verdict", "score"]


def test_the_command_says_so_where_nothing_can_be_judged(tmp_path):
    (tmp_path / "pairs.tsv").write_text("a.html\tb.html\n")
    done = twinlink("verify", tmp_path / "pairs.tsv")
    assert done.returncode != 0
    assert "no pair could be judged" in done.stderr


def test_pairs_of_other_languages_are_another_set(site):
    """French texts as long as the English ones, beside Chinese ones of a third of their length."""
    french = "Le conseil municipal se réunit mercredi soir pour parler du budget des écoles de la ville."
    names = {f"fr/page-{n}.html": f"<title>{n}</title>" + f"<p>{french}</p>" * (30 + n) for n in range(20)}
    names |= {f"en2/page-{n}.html": f"<title>{n}</title>" + f"<p>{ENGLISH[n % 8]}</p>" * (30 + n) for n in range(20)}
    names |= {f"zh2/page-{n}.html": f"<title>{n}</title>" + f"<p>{CHINESE[n % 8]}</p>" * (30 + n) for n in range(20)}
    write_pages(site, names)
    to_french = [(f"en2/page-{n}.html", f"fr/page-{n}.html") for n in range(20)]
    to_chinese = [(f"zh2/page-{n}.html", f"en2/page-{n}.html") for n in range(20)]
    verified = verify_pairs([*to_french, *to_chinese], ["jangeldin", "mixture"], folder=site)
    assert [summary.counts["parallel"] for summary in verified.summaries] == [40, 40, 40]
    assert all("2-language-pairs" in summary.notes for summary in verified.summaries[:2])
    assert verified.sets == ((("en", "fr"), 20), (("zh-Hant", "en"), 20))  # the language with the shorter texts first
    found = verified.summaries[0].found
    assert {"threshold en-fr", "threshold zh-Hant-en", "equal en-fr", "equal zh-Hant-en"} <= set(found)
    assert found["mean zh-Hant-en"] < found["mean en-fr"] < 0


def test_the_order_of_a_pair_does_not_matter(site):
    turned = [pair[::-1] if n % 2 else pair for n, pair in enumerate(RIGHT)]
    straight, mixed = (verify_pairs(pairs, ["jangeldin"], folder=site) for pairs in (RIGHT, turned))
    assert straight.table["verdict"].to_pylist() == mixed.table["verdict"].to_pylist()
    rows = mixed.table.to_pylist()
    assert [row["length_difference"] > 0 for row in rows] == [n % 2 == 0 for n in range(8)]  # English is longer
    assert rows[1]["length_a"] < rows[1]["length_b"]


@pytest.mark.parametrize("is_turned", [False, True])
def test_a_page_of_misjudged_language_stands_as_its_pair_does(site, is_turned):
    """The numbers are those of the library on the same pairs in the same order: one page does not turn the others."""
    name = "en/page-3.html"
    (site / name).write_text(
        (site / "tc/page-3.html").read_text().replace("<p>", "<p>Le conseil municipal se réunit, ")
    )
    pairs = [pair[::-1] if is_turned else pair for pair in RIGHT]
    verified = verify_pairs(pairs, MODELS, folder=site)
    assert verified.sets == ((("zh-Hant", "en"), 8),)
    pairs = [pair[::-1] for pair in RIGHT]  # Chinese, whose texts are shorter, comes first in either case
    sides = [[linearise((site / name).read_bytes()).tokens for name in names] for names in zip(*pairs, strict=True)]
    alignment = align(*sides, range(len(pairs)), range(len(pairs)))
    for summary in verified.summaries[:-1]:
        judged = judge(alignment, summary.method)
        rows = [row for row in verified.table.to_pylist() if row["method"] == summary.method]
        assert [row["verdict"] == "parallel" for row in rows] == judged.parallel.tolist()
        sign, length = (1, "length_a") if is_turned else (-1, "length_b")
        differences = [sign * row["length_difference"] for row in rows]
        assert differences == pytest.approx(alignment.length_difference.tolist())
        assert [row[length] for row in rows] == alignment.length_a.tolist()
        assert dict(summary.found) == pytest.approx(dict(judged.found))


@pytest.fixture(scope="module")
def mfa_kz(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("mfa_kz")
    mfa_kz_pages.write_pages(folder)
    return folder


@pytest.mark.parametrize("order", ["kz-en", "en-kz", "mixed"])
def test_the_command_gives_the_numbers_of_the_paper(mfa_kz, order):
    """Table 3 prints .16; the counts follow from Table 2 and 94.4 % of 180 pairs; μ and 105 are those of its code."""
    sides = [("kz", "en") if order == "kz-en" or (order == "mixed" and n % 2) else ("en", "kz") for n in range(180)]
    names = [[f"{n}.{side}" for side in both] for n, both in zip(mfa_kz_pages.PAIRS, sides, strict=True)]
    (mfa_kz / "pairs.tsv").write_text("\n".join("\t".join(pair) for pair in names))
    methods = [word for name in ("strand", "hc1", "hc2", "jangeldin") for word in ("--method", name)]
    done = twinlink("verify", mfa_kz / "pairs.tsv", *methods, "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["sets"] == [{"langs": ["kk", "en"], "size": 180}]
    told = {each["method"]: each for each in result["methods"]}
    parallel = {name: each["counts"]["parallel"] for name, each in told.items()}
    assert parallel == {"strand": 173, "hc1": 167, "hc2": 53, "jangeldin": 176, "overall": parallel["overall"]}
    found = {name: round(value, 4) for name, value in told["jangeldin"]["found"].items()}
    assert found == {"similar": 180, "equal": 105, "mean": -0.0177, "threshold": 0.16, "loops": 15}
    written = pd.read_csv(mfa_kz / "pairs.verdicts.tsv", sep="\t").query("method == 'jangeldin'")
    assert (len(written), (written["cost_share"] == 0).sum(), (written["cost_share"] < 0.2).sum()) == (180, 105, 180)
    assert written[["a", "b"]].to_numpy().tolist() == names


def test_the_command_prints_a_line_for_each_method_with_its_numbers(mfa_kz):
    (mfa_kz / "all.tsv").write_text("\n".join(f"{n}.en\t{n}.kz" for n in mfa_kz_pages.PAIRS))
    done = twinlink("verify", mfa_kz / "all.tsv", "--method", "jangeldin", "--method", "strand")
    assert done.stdout.splitlines()[:3] == [
        "180 pairs kk-en; L_d is above 0 where the page in kk has the longer text",
        "strand        parallel 173, not-parallel 7",
        "jangeldin     parallel 176, not-parallel 4, similar 180, equal 105, mean -0.01766, threshold 0.16, loops 15",
    ]


def test_one_pair_is_no_pairs(mfa_kz):
    (mfa_kz / "one.tsv").write_text("1.en\t1.kz")
    assert twinlink("verify", mfa_kz / "one.tsv", "--method", "strand").stdout.startswith("1 pair kk-en; ")


def test_pages_of_one_language_keep_the_order_of_the_columns(site):
    pairs = [(f"en/page-{n}.html", f"en/page-{n + 1}.html") for n in range(1, 5)]
    (site / "pairs.tsv").write_text("\n".join(f"{a}\t{b}" for a, b in pairs))
    assert verify_pairs(pairs, ["jangeldin"], folder=site).sets == ((("en", "en"), 4),)
    done = twinlink("verify", site / "pairs.tsv", "--method", "jangeldin")
    assert done.stdout.startswith("4 pairs en-en; L_d is above 0 where the first page has the longer text\n")


def test_a_page_with_itself_and_empty_pages_are_not_judged(site):
    write_pages(site, {"empty.html": "", "none.html": "<img src=a.png>"})
    pairs = [
        *RIGHT,
        ("en/page-1.html", "./en/page-1.html"),
        ("empty.html", "tc/page-1.html"),
        ("none.html", "empty.html"),
    ]
    verified = verify_pairs(pairs, ["hc1"], folder=site)
    unjudged = [row["verdict"] for row in verified.table.to_pylist() if row["method"] is None]
    assert unjudged == ["same-page", "empty-page", "empty-page"]


def test_what_is_not_known_is_null(site):
    rows = verify_pairs(RIGHT[:1], ["strand"], folder=site).table.to_pylist()
    assert "nan" not in str(rows)


def test_the_command_does_not_write_over_its_input(site):
    (site / "pairs.tsv").write_text("en/page-1.html\ttc/page-1.html\n")
    for target in (site / "pairs.tsv", site, site / "none" / "x.tsv"):
        done = twinlink("verify", site / "pairs.tsv", "-o", target)
        assert done.returncode != 0
        assert "twinlink: error" in done.stderr
    assert (site / "pairs.tsv").read_text() == "en/page-1.html\ttc/page-1.html\n"


def test_paths_are_addresses_of_a_run_with_one_host(site, tmp_path):
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [site], CONFIG.ingest)
    verified = verify_pairs([("/en/page-1.html", "/tc/page-1.html")], ["hc1"], run=run)
    assert verified.table["verdict"].to_pylist() == ["parallel"]
