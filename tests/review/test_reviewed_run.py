"""The review of a real run over HTTP: what it shows is what the tables have."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from lxml.html import fromstring

from tests.made_sites import BASE, page, write_pages
from tests.review.app.test_security import ask
from tests.review.conftest import Served, serving
from twinlink import mine
from twinlink.labels.book import Label, LabelBook
from twinlink.review.reading.run_view import RunView
from twinlink.run import Run
from twinlink.urls import page_id

NAMES = ("index", "fees", "hours", "staff", "news")
ENGLISH = "The {} of the library of the town: readers find here what they ask for, number {}."
FRENCH = "Le texte {} de la bibliothèque de la ville : les lecteurs y trouvent ce qu'ils demandent, numéro {}."


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A site whose first page links to four others, which do not link back, as in English so in French."""
    folder = tmp_path_factory.mktemp("reviewed")
    pages = {}
    for side, text in (("en", ENGLISH), ("fr", FRENCH)):
        for number, name in enumerate(NAMES):
            links = [f"{other}.html" for other in NAMES[1:]] if number == 0 else ["http://elsewhere.example/"]
            pages[f"{side}/{name}.html"] = page(text.format(name, 100 + number) * 3, *links, title=f"{side} {name}")
    site = write_pages(folder / "site", pages)
    return mine(str(site), out=folder / "run", langs=("en", "fr"), ingest__base_url=BASE)


@pytest.fixture(scope="module")
def served(run: Run) -> Iterator[Served]:
    with serving(RunView(run.path), LabelBook(run.path)) as made:
        yield made


def test_numbers_of_pages_are_of_both_signs(run: Run) -> None:
    targets = run.links["target"].dropna()
    assert (targets < 0).any()
    assert (targets > 0).any()


def test_link_explorer_shows_and_counts_every_page_around(run: Run, served: Served) -> None:
    links = run.links.dropna(subset=["target"])
    partners = dict(zip(run.pairs["page_a"], run.pairs["page_b"], strict=True))
    partners |= {b: a for a, b in partners.items()}
    numbers = set(run.pages["page_id"])
    assert len(partners) == len(numbers) == 2 * len(NAMES)
    for number in numbers:
        middle = {number, partners[number]}
        around, facing = (
            {*links.loc[links["source"] == each, "target"], *links.loc[links["target"] == each, "source"]} - middle
            for each in (number, partners[number])
        )
        n_matches = len({partners[each] for each in around} & facing)
        answer = ask(served, f"/graph/{number}").text
        told = re.search(r"(\d+) of the (\d+) pages? around .* (?:is|are) paired with one of the (\d+) pages?", answer)
        assert told is not None
        assert tuple(map(int, told.groups())) == (n_matches, len(around), len(facing))
        listed = answer.partition('class="cards"')[2].partition("<form")[0]
        assert {int(each) for each in re.findall(r"/graph/(-?\d+)", listed)} == around | facing


def test_links_open_with_the_picture_of_the_site(run: Run, served: Served) -> None:
    root = fromstring(ask(served, "/graph").text)
    assert [each.text_content() for each in root.xpath("//h1")] == [f"Links of {urlsplit(BASE).hostname}"]
    named = [tuple(each.xpath("./a/@href")) for each in root.xpath("//ol[contains(@class, 'names')]/li")]
    pairs = zip(run.pairs["page_a"], run.pairs["page_b"], strict=True)
    assert set(named) == {(f"/graph/{a}?facing={b}", f"/graph/{b}?facing={a}") for a, b in pairs}
    assert len(root.xpath("//figure[contains(@class, 'chart')]//*[local-name() = 'svg']")) == 2  # matrix and arcs
    for path in ("/graph?site=none.example", "/graph?q=fees"):
        assert not fromstring(ask(served, path).text).xpath("//figure")


def test_the_report_of_a_review_leads_to_its_pairs_and_the_file_does_not(run: Run, served: Served) -> None:
    answer = ask(served, "/report")
    assert "sha256-" in answer.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    root = fromstring(answer.text)
    paths = [f"/pair/{a}/{b}" for a, b in zip(run.pairs["page_a"], run.pairs["page_b"], strict=True)]
    assert sorted(root.xpath("//section[@id='pairs']//td/a[text()='Judge']/@href")) == sorted(paths)
    own = [path for path in root.xpath("//a/@href") if path.startswith("/")]
    assert [ask(served, path).status for path in own] == [303, *[200] * (len(own) - 1)]  # the first is the start page
    file = fromstring((run.path / "report.html").read_text())
    assert not [path for path in file.xpath("//a/@href") if not path.startswith(("http", "#"))]
    assert "twinlink review RUN" in file.xpath("string(//section[@id='pairs'])")


def test_a_label_is_in_the_report_of_the_review(run: Run, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(run.path, tmp_path / "run"))
    labels, pair = LabelBook(folder), run.pairs.iloc[0]
    with serving(RunView(folder), labels) as made:
        first = ask(made, "/report").text
        assert ask(made, "/report").text == first  # with the same time: it was not made again
        labels.add(Label(pair.url_a, pair.url_b, "accept", "ann", datetime.now(UTC)))
        assert "accepted" not in first
        assert "accepted" in ask(made, "/report").text


def test_what_is_reported_of_two_pages_is_true(run: Run, served: Served) -> None:
    """A page that is no candidate was perhaps compared in an earlier round: no cause is named."""
    candidates = run.candidates
    ends = set(zip(candidates["page_a"], candidates["page_b"], strict=True))
    pairs = set(zip(run.pairs["page_a"], run.pairs["page_b"], strict=True))
    in_a, in_b = (set(run.pairs[name]) for name in ("page_a", "page_b"))
    for a in in_a:
        for b in in_b:
            answer = ask(served, f"/pair/{a}/{b}").text
            assert ("These two pages are not among the candidates" in answer) == ((a, b) not in ends)
            assert ("Two pages that the run did not pair" in answer) == ((a, b) not in pairs)
            has_rival = any((a in pair) != (b in pair) for pair in ends)
            assert ("Neither page has another candidate" in answer) == (not has_rival)
            assert "more alike" not in answer


def test_weights_beside_the_evidence_are_those_of_site_and_languages(run: Run, served: Served) -> None:
    row = run.pairs.iloc[0]
    answer = ask(served, f"/pair/{row['page_a']}/{row['page_b']}").text
    table = fromstring(answer).xpath("//table[contains(@class, 'evidence')]")[0]
    cells = {line[0].xpath("span")[0].text.replace(" ", "_"): line[-1] for line in table.xpath(".//tbody/tr")}
    weights = dict(zip(run.weights["evidence"], run.weights["weight"], strict=True))
    assert set(cells) == set(weights)
    for name, cell in cells.items():
        shown = float(cell.text_content().strip("<> %\xa0\n"))
        assert shown == pytest.approx(100 * weights[name], abs=0.51)


def test_every_page_and_pair_can_be_opened_by_its_number(run: Run, served: Served) -> None:
    for number, title in zip(run.pages["page_id"], run.pages["title"], strict=True):
        assert title in ask(served, f"/graph/{number}").text
        assert ask(served, f"/look/{number}").status == 200
    for row in run.pairs.itertuples():
        assert page_id(row.url_a) == row.page_a
        answer = ask(served, f"/pair/{row.page_a}/{row.page_b}")
        assert answer.status == 200
        assert row.url_a in answer.text
        assert row.url_b in answer.text
