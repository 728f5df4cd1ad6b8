"""The gold list of a crawl of the demo site has the months of its calendar that were crawled in both languages."""

from __future__ import annotations

import lxml.html
import pytest

from twinlink.demo import write_crawled_truth, write_site
from twinlink.demo.odd import calendar_body
from twinlink.demo.text import phrases
from twinlink.evaluation.gold import evaluate, judge_pairs, read_gold

HOST = "http://127.0.0.1:8080"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return write_site(tmp_path_factory.mktemp("demo") / "site", pages=60)


def month(side: str, query: str = "") -> str:
    return f"{HOST}/{side}/calendar{query and '?month=' + query}"


def test_months_crawled_in_both_languages_are_gold(site):
    urls = [month("en", "2026-02"), month("tc", "2026-02"), month("en", "2026-03"), month("tc", "2027-01")]
    truth = write_crawled_truth(site, [*urls, f"{HOST}/en/index.html"])
    gold = read_gold(truth.gold)
    assert (truth.n_months, truth.n_calendar_pages) == (1, 4)
    assert len(gold.pairs) == site.n_pairs + 1
    assert judge_pairs([(urls[0], urls[1]), (urls[2], urls[1]), (urls[2], urls[3])], gold) == [True, False, False]


def test_every_address_of_the_calendar_is_known(site):
    urls = [month("en"), month("tc"), month("en", "2026-02"), month("tc", "2026-02")]
    result = evaluate(zip(urls[::2], urls[1::2], strict=True), read_gold(write_crawled_truth(site, urls).gold))
    assert (result.n_right, result.n_wrong, result.n_unscored, result.n_unknown, result.n_alike) == (2, 0, 0, 0, 0)


def test_the_month_without_a_query_is_january(site):
    urls = [month(side, query) for query in ("", "2026-01") for side in ("en", "tc")]
    gold = read_gold(write_crawled_truth(site, urls).gold)
    assert judge_pairs([(urls[0], urls[3]), (urls[2], urls[1])], gold) == [True, True]
    assert calendar_body(0, 2026, 1) != calendar_body(0, 2026, 2)


def test_a_crawl_without_the_calendar_has_the_list_of_the_site(site):
    truth = write_crawled_truth(site, [])
    assert (truth.n_months, truth.gold.read_text()) == (0, site.gold.read_text())


def test_an_earlier_crawl_leaves_nothing(site):
    write_crawled_truth(site, [month("en", "2026-02"), month("tc", "2026-02")])
    assert write_crawled_truth(site, []).gold.read_text() == site.gold.read_text()


@pytest.mark.parametrize("when", [(2026, 1), (2023, 12), (2028, 2)])
def test_the_same_month_says_the_same_in_both_languages(when):
    def events(side: int) -> list[int | None]:
        cells = lxml.html.fromstring(f"<div>{calendar_body(side, *when)}</div>").xpath("//td[2]")
        known = {event[side]: number for number, event in enumerate(phrases("calendar", "event"))}
        return [known[text] if (text := cell.text_content()) else None for cell in cells]

    assert events(0) == events(1)
    assert any(event is not None for event in events(0))
