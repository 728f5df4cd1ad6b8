"""Canonical addresses: a page keeps the address that it was read under, the canonical one stands beside it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tests.made_sites import BASE, page, write_pages
from tests.review.app.test_security import ask
from tests.review.conftest import Served, serving
from twinlink import mine
from twinlink.evaluation.gold import Gold
from twinlink.ingest.twin_addresses import Twins
from twinlink.labels.book import LabelBook
from twinlink.review.reading.run_view import RunView
from twinlink.run import Run

LIVE = "https://www.live.example"
NAMES = ("fees", "hours", "staff", "news", "rooms")
ENGLISH = "The {} of the library of the town: readers find here what they ask for, number {}."
FRENCH = "Le texte {} de la bibliothèque de la ville : les lecteurs y trouvent ce qu'ils demandent, numéro {}."


def named(address: str, body: str) -> str:
    """Write a canonical address into a page."""
    return body.replace("<title>", f"<link rel=canonical href='{address}'><title>")


def mined(folder: Path, pages: dict[str, str], base_url: str = BASE) -> Run:
    site = write_pages(folder / "site", pages)
    return mine(str(site), out=folder / "run", langs=("en", "fr"), ingest__base_url=base_url)


def library(host: str, ending: str = "") -> dict[str, str]:
    """Return five pages in two languages that link to each other, and name themselves, under addresses of no file."""
    pages = {}
    for side, text in (("en", ENGLISH), ("fr", FRENCH)):
        for number, name in enumerate(NAMES):
            links = [f"{host}/{side}/{other}{ending}" for other in NAMES if other != name]
            body = page(text.format(name, 100 + number) * 3, *links, title=f"{side} {name}")
            pages[f"{side}/{name}.html"] = named(f"{host}/{side}/{name}{ending}", body)
    return pages


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return mined(tmp_path_factory.mktemp("library"), library(LIVE))


def test_pages_keep_the_addresses_that_were_read(run: Run) -> None:
    assert set(run.pages["url"]) == {f"{BASE}/{side}/{name}.html" for side in ("en", "fr") for name in NAMES}
    assert dict(zip(run.pages["url"], run.pages["canonical_url"], strict=True)) == {
        f"{BASE}/{side}/{name}.html": f"{LIVE}/{side}/{name}" for side in ("en", "fr") for name in NAMES
    }


def test_links_to_canonical_addresses_resolve(run: Run) -> None:
    assert run.links["target"].notna().all()
    between = run.links[run.links["rel"] == ""]
    assert len(between) == 2 * len(NAMES) * (len(NAMES) - 1)
    assert (between["source"] != between["target"]).all()


def test_pairs_have_both_addresses(run: Run) -> None:
    assert len(run.pairs) == len(NAMES)
    for side, lang in (("a", "en"), ("b", "fr")):
        own = run.pairs[f"url_{side}"].str.removeprefix(f"{BASE}/{lang}/").str.removesuffix(".html")
        assert set(own) == set(NAMES)
        assert list(run.pairs[f"canonical_{side}"]) == [f"{LIVE}/{lang}/{name}" for name in own]
    head, *rows = (run.path / "pairs.tsv").read_text(encoding="utf-8").splitlines()
    assert {row.split("\t")[head.split("\t").index("canonical_a")] for row in rows} == set(run.pairs["canonical_a"])


@pytest.mark.parametrize("links", [LIVE, BASE])
def test_a_folder_with_an_address_keeps_its_names_whatever_its_links_are(tmp_path: Path, links: str) -> None:
    run = mined(tmp_path, library(links))
    gold = Gold(tuple((f"/en/{name}.html", f"/fr/{name}.html") for name in NAMES))
    assert run.evaluate(gold).f1 == 1
    assert run.links["target"].notna().all()


@pytest.mark.parametrize("ending", ["", ".html"])
def test_gold_may_name_either_address(run: Run, ending: str) -> None:
    gold = Gold(tuple((f"/en/{name}{ending}", f"/fr/{name}.html") for name in NAMES))
    assert run.evaluate(gold).f1 == 1
    assert run.precision_coverage(gold)["recall"].max() == 1


def test_gold_of_the_report_and_of_the_command_may_name_either_address(run: Run, tmp_path: Path) -> None:
    from twinlink.cli.evaluation import judge
    from twinlink.review.report.stage import report_data
    from twinlink.rundir.directory import RunDirectory

    file = tmp_path / "gold.tsv"
    file.write_text("".join(f"/en/{name}\t/fr/{name}\n" for name in NAMES), encoding="utf-8")
    told = judge(run, file, labels=False, langs="", curve=False)
    assert (told.right, told.not_in_run) == (len(NAMES), [])
    assert report_data(RunDirectory(run.path), file).measured[0].precision == 1


def test_a_canonical_address_of_another_page_is_no_name_of_this_one(tmp_path: Path) -> None:
    pages = {name: page(f"English words {name}") for name in ("a.html", "x.html")}
    run = mined(tmp_path, pages | {"b.html": named(f"{BASE}/a.html", page("Other words"))})
    gold = run.addresses.known_pairs(Gold((("/a.html", "/x.html"),)))
    assert gold.key(f"{BASE}/b.html") == "/b.html"


def test_what_several_pages_claim_is_the_address_of_none(tmp_path: Path) -> None:
    pages = {
        "en.html": named(f"{BASE}/home", page("English words of the page", f"{BASE}/home")),
        "fr.html": named(f"{BASE}/home", page("Des mots de la page", f"{BASE}/home")),
    }
    run = mined(tmp_path, pages)
    assert len(run.pages) == 2
    assert run.links["target"].isna().all()


def test_a_canonical_page_that_was_read_stays_a_page_of_its_own(tmp_path: Path) -> None:
    pages = {
        "a.html": page("English words of the page", title="A"),
        "b.html": named(f"{BASE}/a.html", page("Other English words", f"{BASE}/a.html", title="B")),
    }
    run = mined(tmp_path, pages)
    urls = dict(zip(run.pages["page_id"], run.pages["url"], strict=True))
    assert sorted(urls.values()) == [f"{BASE}/a.html", f"{BASE}/b.html"]
    assert {urls[target] for target in run.links["target"]} == {f"{BASE}/a.html"}


@pytest.mark.parametrize("canonical", [f"{BASE}/page.html", f"{LIVE}/page"])
def test_the_same_bytes_with_the_same_canonical_address_are_one_page(tmp_path: Path, canonical: str) -> None:
    body = named(canonical, page("English words of the page", title="A"))
    run = mined(tmp_path, dict.fromkeys(("page.html", "page-print.html", "page-mobile.html"), body))
    kept = "page.html" if canonical.startswith(BASE) else "page-mobile.html"
    assert list(run.pages["url"]) == [f"{BASE}/{kept}"]
    dropped = run.rejects[run.rejects["reason"] == "duplicate-page"]
    assert len(dropped) == 2
    assert set(dropped["detail"]) == {f"{BASE}/{kept}"}


def test_copies_of_another_host_are_no_copies() -> None:
    twins = Twins()
    twins.add("http://a.example/1", b"body", "http://c.example/")
    twins.add("http://b.example/1", b"body", "http://c.example/")
    twins.add("http://c.example/", b"body")
    assert list(twins.groups()) == []


def test_explain_knows_both_addresses(run: Run) -> None:
    own, live = f"{BASE}/en/fees.html", f"{LIVE}/en/fees"
    by_own, by_live = run.explain(own), run.explain(live)
    assert str(by_own) == str(by_live)
    assert by_own.url == own
    assert f"{own} names {live} as its canonical address" in str(by_own)
    assert live in by_own._repr_html_()


def test_report_and_review_show_both_addresses(run: Run) -> None:
    text = run.report(run.path.parent / "report.html").read_text(encoding="utf-8")
    row: pd.Series = run.pairs.iloc[0]
    with serving(RunView(run.path), LabelBook(run.path)) as made:
        shown = _text(made, f"/pair/{row['page_a']}/{row['page_b']}")
    for column in ("url_a", "url_b", "canonical_a", "canonical_b"):
        assert row[column] in text
        assert row[column] in shown


def _text(served: Served, path: str) -> str:
    return ask(served, path).text  # type: ignore[attr-defined]
