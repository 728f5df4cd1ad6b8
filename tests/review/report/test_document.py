"""The report: self-contained, escaped, and right in its numbers, whatever the run has and lacks."""

from __future__ import annotations

import base64
import hashlib
import re
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import lxml.html
import numpy as np
import pyarrow as pa
import pytest
from msgspec.structs import replace

from twinlink.labels.precision import Estimate, labels_needed
from twinlink.review.charts.facing import facing
from twinlink.review.report.data import Means, Measured, ReportData, ScoreCounts, SiteGraph
from twinlink.review.report.document import render_report, report_sections
from twinlink.review.report.found import MAX_PAIRS, shown_pairs
from twinlink.tables import EVIDENCE_FIELDS, FILTERS, PAIRS, PATTERNS, ROUNDS, WEIGHTS

HOSTILE = "</script></style><img src=x onerror=alert(1)><svg onload=alert(2)>\u202e\x00&amp;'\""


ALIKE_COLUMNS = [
    "site",
    "lang",
    "facing_lang",
    "group",
    "n_pages",
    "n_paired",
    "n_doubtful",
    "n_facing",
    "url",
    "partner",
]


def pair_table(n: int, title: str = "", **columns: Any) -> pa.Table:
    """Return n pairs of the site a.example, the k-th of probability 1 - k/(2n)."""
    values: dict[str, Any] = {
        "url_a": [f"https://a.example/en/{k}{title}" for k in range(n)],
        "url_b": [f"https://a.example/tc/{k}{title}" for k in range(n)],
        "lang_a": "en",
        "lang_b": "zh-Hant",
        "probability": 1 - np.arange(n) / (2 * max(n, 1)),
        "score": 0.9,
        "rival": 0.1,
        "content": 0.5,
        "site": "a.example",
        "page_a": np.arange(n),
        "page_b": np.arange(n) + 10_000_000,
        "verdict": "pair",
        "signature": "match:0.1.0:abc",
        **columns,
    }
    rows = {name: values.get(name) for name in PAIRS.names}
    columns = {name: [row] * n if row is None or np.ndim(row) == 0 else list(row) for name, row in rows.items()}
    return pa.table(columns, schema=PAIRS)


def table_of(columns: list[str]) -> pa.Table:
    """Return a table without rows; columns of names and addresses are texts, others numbers."""
    texts = {"site", "stage", "reason", "url", "lang", "facing_lang", "lang_a", "lang_b"}
    return pa.schema([(name, pa.string() if name in texts else pa.int64()) for name in columns]).empty_table()


def report_data(n_pairs: int = 0, **given: Any) -> ReportData:
    """Return what a run of one site with n pairs has, and nothing else."""
    empty = ReportData(
        name="run",
        made=datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
        version="0.1.0",
        signatures={"match": "match:0.1.0:abc"},
        is_matched=True,
        sites=pa.table({"site": ["a.example"], "n_pages": [2 * n_pairs + 1]}),
        languages=pa.table({"lang": ["en"], "n_pages": [2 * n_pairs + 1], "n_paired": [2 * n_pairs]}),
        pairs=pair_table(n_pairs),
        titles={},
        example_titles={},
        scores=None,
        evidence={},
        n_candidates=0,
        weights=WEIGHTS.empty_table(),
        filters=FILTERS.empty_table(),
        patterns=PATTERNS.empty_table(),
        pattern_verdicts={},
        rejects=table_of(["stage", "reason", "n", "url"]),
        crawl={},
        fetched=np.zeros(0, np.int64),
        sentences=table_of(["site", "lang_a", "lang_b", "n", "n_known", "chance"]),
        rounds=ROUNDS.empty_table(),
        graphs=[],
        measured=[],
        labels=np.full(n_pairs, -1, np.int8),
        settings="",
        look_alikes=table_of(ALIKE_COLUMNS),
    )
    return replace(empty, **given)


def full_data(text: str = "text") -> ReportData:
    """Return a run that has everything, with ``text`` wherever a page or a file may put its own."""
    url = f"javascript:alert('{text}')"
    n = 12
    sentences = {"site": "a.example", "lang_a": "en", "lang_b": text, "n": 50, "n_known": 40, "chance": 30.0}
    weights = {"lang_a": "en", "lang_b": text, "evidence": "content"}
    rejects = {"stage": ["crawl", "match"], "reason": ["robots", text], "n": [1234, 1], "url": [url, text]}
    crawl = {"end": "interrupted", "queued": 7, "pages": 33, "bytes": 2_500_000, "sites": [{"site": text}, {}]}
    by_list = np.arange(1, 9) / 8, np.full(8, 0.75)
    return report_data(
        n,
        name=text,
        sites=pa.table({"site": [text, "a.example"], "n_pages": [3, 30]}),
        languages=pa.table({"lang": ["en", text], "n_pages": [20, 3], "n_paired": [8, 0]}),
        pairs=pair_table(n, url_a=url, lang_b=text, canonical_a=url, canonical_b=text),
        titles=dict.fromkeys([*range(n), *range(10_000_000, 10_000_000 + n)], text),
        scores=ScoreCounts(np.linspace(0, 1, 5), np.array([0, 0, 2, 10]), np.array([50, 30, 2, 0])),
        evidence={"content": Means(0.6, 0.1), "ets": Means(0.9, np.nan)},
        n_candidates=94,
        weights=pa.Table.from_pylist(
            [{"site": text, **weights, "weight": 0.5}, {"site": "b", **weights, "weight": 0.7}]
        ),
        filters=pa.table({"filter": ["length", "kept"], "n_pairs": [3, 4]}),
        patterns=pa.Table.from_pylist([a_pattern(text, url)]),
        pattern_verdicts={"weak": 1},
        rejects=pa.table(rejects),
        crawl=crawl,
        fetched=np.array([0, 60, 200]),
        sentences=pa.Table.from_pylist([sentences]),
        rounds=pa.Table.from_pylist([dict.fromkeys(ROUNDS.names, 2), dict.fromkeys(ROUNDS.names, 3)]),
        graphs=[a_graph(n, text)],
        measured=[
            Measured(f"the list {text}", 0.75, 8, 0.5, *by_list, cuts={0.5: 0.75, 0.9: 1.0}),
            Measured("labels", told(0.7, 0.8, 0.9), 5, cuts={0.5: told(0.7, 0.8, 0.9), 0.9: told(0.8, 0.9, 1.0)}),
        ],
        labels=np.array([1, 0] + [-1] * (n - 2), np.int8),
        settings=f"[match]\n# {text}",
        look_alikes=pa.Table.from_pylist([a_group(3, lang=text, url=url), a_group(12, site=text, facing_lang=text)]),
    )


def a_group(n_pages: int, **given: Any) -> dict[str, Any]:
    values = (
        "a.example",
        "en",
        "zh-Hant",
        1,
        n_pages,
        n_pages - 2,
        1,
        5,
        "https://a.example/en/0",
        "https://a.example/tc/0",
    )
    return {**dict(zip(ALIKE_COLUMNS, values, strict=True)), **given}


def told(low: float, middle: float, high: float, n: int = 5, of: int = 10) -> Estimate:
    return Estimate(middle, low, high, n, of)


def a_pattern(text: str, url: str) -> dict[str, Any]:
    known = {"n_pages": 4, "local": 0.5, "n_sites": 2, "example_a": url, "verdict": "weak"}
    return dict.fromkeys(PATTERNS.names, text) | known


def a_graph(n: int, text: str) -> SiteGraph:
    """Return a site whose pages are a chain in both languages."""
    chain = np.arange(n - 1)
    ends = np.concatenate([chain, chain + 100]), np.concatenate([chain + 1, chain + 101])
    return SiteGraph(
        text,
        ("en", text),
        facing(np.arange(n), np.arange(n) + 100, *ends),
        [text] * n,
        [text] * n,
        [(k, k + 100) for k in range(n)],
    )


def parsed(data: ReportData) -> Any:
    return lxml.html.document_fromstring(render_report(data).encode())


def words(root: Any, path: str = "//body") -> str:
    found = root.xpath(path)
    return " ".join(" ".join(str(each.text_content()).split()) for each in found).replace("\xa0", " ")


def table(root: Any, caption: str) -> list[list[str]]:
    """Return the cells of the table below a heading, its head first."""
    (found,) = root.xpath("//h3[starts-with(., $caption)]/following-sibling::div[1]/table", caption=caption)
    rows = found.xpath(".//tr")
    return [[str(cell.text_content()).replace("\xa0", " ").strip() for cell in row] for row in rows]


SECTIONS = [
    "found",
    "pairs",
    "languages",
    "trust",
    "evidence",
    "links",
    "look-alikes",
    "sites",
    "patterns",
    "rounds",
    "crawl",
    "rejects",
    "settings",
]


def test_a_full_run_has_every_section_and_an_empty_one_few() -> None:
    assert [section.name for section in report_sections(full_data())] == SECTIONS
    assert [section.name for section in report_sections(report_data())] == ["found", "languages", "settings"]
    root = parsed(full_data())
    assert [each.get("href") for each in root.xpath("//nav/a")] == [f"#{name}" for name in SECTIONS]
    assert [each.get("id") for each in root.xpath("//section")] == SECTIONS


def test_no_script_no_style_and_no_link_comes_from_a_page() -> None:
    root = parsed(full_data(HOSTILE))
    assert len(root.xpath("//script")) == len(root.xpath("//style")) == 1
    assert not root.xpath(
        "//img | //iframe | //object | //embed | //form | //base | //a[starts-with(@href, 'javascript')]"
    )
    assert not root.xpath("//@style")
    assert not [
        name for each in root.iter() if isinstance(each.tag, str) for name in each.attrib if str(name).startswith("on")
    ]
    assert "onerror=alert(1)" in words(root)  # as text
    assert "\x00" not in words(root)
    assert "\u202e" not in words(root)


def test_a_title_that_ends_the_report_is_text() -> None:
    data = full_data("</body></html><!-- ")
    assert len(parsed(data).xpath("//section")) == len(SECTIONS)


def test_only_http_addresses_are_links_and_give_nothing_away() -> None:
    root = parsed(replace(full_data(), pairs=pair_table(3), labels=np.full(3, -1, np.int8)))
    targets = root.xpath("//main//a")
    assert {each.get("href")[:18] for each in targets} == {"https://a.example/"}
    assert {each.get("rel") for each in targets} == {"noreferrer"}


def test_nothing_is_loaded() -> None:
    text = render_report(full_data())
    root: Any = lxml.html.document_fromstring(text.encode())
    assert not root.xpath("//@src | //@srcset | //@poster | //@data | //@action | //@background")
    assert [each.get("href") for each in root.xpath("//link")] == ["data:,"]
    assert not re.search(r"@import|url\(", words(root, "//style"))
    assert "http" not in words(root, "//script")


def test_the_policy_allows_its_own_style_and_script_and_nothing_else() -> None:
    text = render_report(full_data())
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
    rules = dict(rule.split(" ", 1) for rule in policy.replace("&#39;", "'").split("; "))
    for name, tag in (("style-src", "style"), ("script-src", "script")):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert rules.pop(name) == f"'sha256-{digest}'"
    assert rules == {"default-src": "'none'", "img-src": "data:", "base-uri": "'none'", "form-action": "'none'"}
    assert text.index("Content-Security-Policy") < text.index("<style>")


def test_names_are_unique_and_every_reference_leads_somewhere() -> None:
    root = parsed(full_data())
    names = root.xpath("//@id")
    assert len(names) == len(set(names))
    referred = {name for value in root.xpath("//@aria-labelledby") for name in value.split()}
    referred |= {value[1:] for value in root.xpath("//a/@href") if value.startswith("#")}
    assert referred <= set(names)
    assert all(each.get("role") == "img" for each in root.xpath("//svg[not(@aria-hidden)]"))


def test_headings_go_down_one_step_at_a_time() -> None:
    levels = [int(str(each.tag)[1]) for each in parsed(full_data()).xpath("//h1 | //h2 | //h3 | //h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_the_first_sentence_and_the_figures_say_what_was_found() -> None:
    root = parsed(report_data(4))  # probabilities 1, .875, .75, .625: 3.25 of 4 are right
    said = words(root, "//section[@id='found']")
    assert "read 9 pages of 1 site and found 4 pairs of pages" in said
    assert "about 3 of them are right" in said
    assert "81.2 % of them expected to be right" in said
    assert "89 % of them in a pair" in said
    assert "sites" not in said


def test_one_is_not_several() -> None:
    root = parsed(report_data(1))
    said = words(root, "//section[@id='found']")
    assert "1 pair of pages" in said
    assert "it is right with a probability of 100" in said
    assert "It is in pairs.tsv" in words(root, "//section[@id='pairs']")
    assert "1 pairs" not in words(root, "//main")


def test_what_is_kept_by_each_least_probability() -> None:
    rows = table(parsed(report_data(4)), "What is kept")
    assert rows[0][1:] == ["Kept", "Of all", "Expected right", "Wrong"]
    assert rows[1:] == [
        ["0.500", "4", "100 %", "81.2 %", "1"],
        ["0.700", "3", "75.0 %", "87.5 %", "0"],
        ["0.800", "2", "50.0 %", "93.8 %", "0"],
        ["0.900", "1", "25.0 %", "100 %", "0"],
    ]


def test_pairs_stand_with_the_most_doubtful_first() -> None:
    rows = table(parsed(report_data(3)), "All pairs")
    assert [row[0] for row in rows] == ["Probability", "66.7 %", "83.3 %", "100 %"]
    assert rows[1][1].endswith("https://a.example/en/2")


def test_of_very_many_pairs_both_ends_are_shown() -> None:
    n = 2 * MAX_PAIRS + 1
    first, last = shown_pairs(pair_table(n))
    assert first.tolist() == list(range(n - 1, n - 1 - MAX_PAIRS, -1))
    assert last.tolist() == list(range(MAX_PAIRS))
    root = parsed(report_data(n))
    assert len(table(root, "The most doubtful pairs: 1,000 of 2,001")) == MAX_PAIRS + 1
    assert table(root, "The most probable pairs: 1,000 of 2,001")[1][0] == "100 %"
    assert "All 2,001 are in pairs.tsv" in words(root)
    assert len(root.xpath("//section[@id='pairs']//details[not(@open)]//table")) == 1
    assert len(root.xpath("//section[@id='pairs']//table[not(ancestor::details)]")) == 1


def test_the_size_is_bounded_however_many_pairs_and_however_long_their_addresses() -> None:
    long = "x" * 3000
    n = 100_000
    data = report_data(n, pairs=pair_table(n, title=long[:1]), titles=dict.fromkeys(range(n), long))
    assert len(render_report(data).encode()) < 3_000_000
    n = 2 * MAX_PAIRS
    data = report_data(n, pairs=pair_table(n, title=long), titles=dict.fromkeys(range(n), long))
    assert len(render_report(data).encode()) < 3_000_000


def test_a_method_without_probabilities_says_so() -> None:
    pairs = pair_table(3, probability=None, score=[0.1, 0.9, 0.5])
    root = parsed(report_data(3, pairs=pairs))
    assert "have no probabilities" in words(root, "//section[@id='trust']")
    assert "expected" not in words(root, "//section[@id='found']").lower()
    rows = table(root, "All pairs")
    assert rows[0][0] == "First page"
    assert [row[2] for row in rows[1:]] == ["0.100", "0.500", "0.900"]


def test_the_expected_precision_has_an_interval_where_the_method_knows_the_risk() -> None:
    told = [words(parsed(report_data(9, pairs=pair_table(9, probability=0.9, risk=risk))), "//section[@id='trust']")
            for risk in (0.0, 0.5, None)]  # fmt: skip
    assert "the expected precision, 90.0 % (90 % interval: 55.6 % to 100 %)." in told[0]
    assert "the expected precision, 90.0 % (90 % interval: 22.2 % to 100 %)." in told[1]
    assert "the expected precision, 90.0 %. Label" in told[2]
    found = words(parsed(report_data(9, pairs=pair_table(9, probability=0.9, risk=0.0))), "//section[@id='found']")
    assert "expected to be right (90 % interval: 55.6 % to 100 %)" in found


def test_no_pairs_and_no_match_are_distinguished() -> None:
    assert "found no pairs" in words(parsed(report_data()))
    said = words(parsed(report_data(is_matched=False)))
    assert "have not been matched yet" in said
    assert "pairs of pages" not in said


def test_precision_by_a_list_and_by_labels() -> None:
    root = parsed(full_data())
    said = words(root, "//section[@id='trust']")
    assert "By the list text, 75.0 % of the pairs are right; 8 were judged. 50.0 % of the pairs in the list" in said
    assert "By labels, 80.0 % of the pairs are right (95 % interval: 70.0 % to 90.0 %); 5 were judged." in said
    assert "70–90 % right by labels (95 % interval)" in words(root, "//section[@id='found']")
    rows = table(root, "What is kept")
    assert rows[0][-2:] == ["Right by the list text", "Right by labels"]
    assert rows[1][-2:] == ["75.0 %", "80.0 %"]
    judged = table(root, "All pairs")
    assert [row[judged[0].index("Judged")] for row in judged[-2:]] == ["rejected", "accepted"]
    curves = root.xpath("//section[@id='trust']//figure[h3='Precision and coverage']//polyline/@class")
    assert curves == ["line", "line b", "line good"]


def test_an_interval_that_says_nothing_is_not_drawn() -> None:
    """Neither is its middle told as if it were known, in words, in figures or in tables."""
    wide = Measured("labels", told(0.1, 0.6123, 0.95, 3, 400), 3, cuts={0.5: told(0.1, 0.6123, 0.95)})
    root = parsed(report_data(4, measured=[wide]))
    assert root.xpath("//figure[h3='Precision and coverage']//polyline/@class") == ["line"]
    said = words(root)
    assert "By labels, the precision is too uncertain (95 % interval: 10.0 % to 95.0 %);" in said
    assert f"about {labels_needed(0.6123, 400)} labels in random order are needed; 3 were judged." in said
    assert "– right by labels: too few" in words(root, "//section[@id='found']")
    assert table(root, "What is kept")[1][-1] == "–"
    assert "61.2" not in said


def test_evidence_comes_with_its_weight_the_heaviest_first() -> None:
    rows = table(parsed(full_data()), "Kinds of evidence")
    assert [row[0] for row in rows[1:]] == ["content", "ets"]
    assert rows[1][2:] == ["60.0 %", "0.600", "0.100"]
    assert rows[2][2:] == ["–", "0.900", "–"]


def test_every_kind_of_evidence_is_explained() -> None:
    evidence = {field.name: Means(0.6, 0.1) for field in EVIDENCE_FIELDS}
    rows = table(parsed(report_data(2, evidence=evidence)), "Kinds of evidence")
    assert len(rows) == len(EVIDENCE_FIELDS) + 1
    assert all(row[1] for row in rows)


def test_scores_are_there_as_a_table_too() -> None:
    rows = table(parsed(full_data()), "Candidates by score")
    assert rows[1:] == [
        ["0.000", "0.250", "0", "50"],
        ["0.250", "0.500", "0", "30"],
        ["0.500", "0.750", "2", "2"],
        ["0.750", "1.000", "10", "0"],
    ]


def test_rejects_say_what_they_mean() -> None:
    rows = table(parsed(full_data()), "Reasons")
    assert rows[1][:4] == ["robots", "1,234", "robots.txt asks not to fetch it", "while fetching"]
    assert rows[2][:2] == ["text", "1"]


def test_rejects_of_guessed_addresses_say_what_they_mean() -> None:
    rejects = pa.table({"stage": ["recover"], "reason": ["wrong-language"], "n": [2], "url": ["http://a.example/x"]})
    row = table(parsed(report_data(1, rejects=rejects)), "Reasons")[1]
    assert row[:2] == ["wrong-language", "2"]
    assert "not in the expected language" in row[2]
    assert row[3] == "while recovering pages"


def test_the_crawl_tells_how_it_ended_and_how_fast_it_was() -> None:
    said = words(parsed(full_data()), "//section[@id='crawl']")
    assert "was interrupted" in said
    assert "7 addresses are still queued" in said
    assert "Received2.5 MB" in said
    assert "minutes since the first page" in said
    assert "3 pages, the first 1970-01-01 00:00:00, the last 1970-01-01 00:03:20 (UTC)" in said


def test_pages_that_came_in_one_second_have_no_curve() -> None:
    root = parsed(report_data(1, fetched=np.array([5, 5])))
    assert "2 pages" in words(root, "//section[@id='crawl']")
    assert [section.name for section in report_sections(report_data(1, fetched=np.zeros(0, np.int64)))].count(
        "crawl"
    ) == 0


def test_groups_are_many_but_not_all_are_shown() -> None:
    groups = pa.Table.from_pylist([a_group(k + 2) for k in range(150)])
    rows = table(parsed(report_data(1, look_alikes=groups)), "Groups, the largest first: 100 of 150")
    assert [row[1] for row in rows[1:]] == [str(n) for n in range(151, 51, -1)]
    assert rows[1][:6] == ["en", "151", "149", "1", "1", "zh-Hant: 5 pages"]


def test_examples_have_their_titles_and_partners() -> None:
    one, other = "https://a.example/en/0", "https://a.example/tc/0"
    rejects = pa.table({"stage": ["match"], "reason": ["unpaired"], "n": [1], "url": [one]})
    data = report_data(
        1,
        example_titles={one: "Taxes", other: "稅項"},
        look_alikes=pa.Table.from_pylist([a_group(3), a_group(2, partner="")]),
        patterns=pa.Table.from_pylist([{**a_pattern("/en/", one), "example_b": other}]),
        pattern_verdicts={"weak": 1},
        rejects=rejects,
    )
    root = parsed(data)
    first, second = f"Taxes{one}", f"稅項{other}"
    assert [row[6:] for row in table(root, "Groups")[1:]] == [[first, second], [first, "–"]]
    assert table(root, "Patterns")[1][-2:] == [first, second]
    assert table(root, "Reasons")[1][-1] == first


def test_sites_are_many_but_not_all_are_shown() -> None:
    sites = pa.table({"site": [*(f"s{k}.example" for k in range(500)), "a.example"], "n_pages": [7] * 501})
    rows = table(parsed(report_data(2, sites=sites)), "Sites, those with the most pairs first: 300 of 501")
    assert len(rows) == 301
    assert rows[1][:4] == ["a.example", "7", "2", "57.1 %"]
    assert rows[2][2] == "0"


def test_what_is_not_known_is_not_called_none_or_nan() -> None:
    text = render_report(full_data())
    assert "None" not in text
    assert "nan" not in words(lxml.html.document_fromstring(text.encode()), "//main")


@pytest.mark.parametrize("name", ["2026-01-02 03:04 UTC", "match:0.1.0:abc"])
def test_what_made_the_numbers_is_reported(name: str) -> None:
    assert name in words(parsed(report_data(1)))
