"""The addresses that lead to the pages of a run: redirects, duplicates, canonical ones, likely spellings."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ingest.test_stage import document, read_from
from tests.made_sites import BASE, page
from twinlink.config import IngestSettings
from twinlink.evaluation.gold import Gold, evaluate
from twinlink.ingest.page_addresses import PageAddresses
from twinlink.ingest.stage import ingest
from twinlink.ingest.twin_addresses import only_alike
from twinlink.rundir.directory import RunDirectory

CANONICAL = "<link rel=canonical href=/home><p>"


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PageAddresses:
    """Return the addresses of a run that has redirects in a row, a duplicate, and one more redirect to that."""
    read_from(
        monkeypatch,
        document(f"{BASE}/", "", status=301, location="/en/"),
        document(f"{BASE}/en/", "", status=302, location="/en/a.html"),
        document(f"{BASE}/en/a.html", page("English words")),
        document(f"{BASE}/lost", "", status=301, location="/nowhere"),
        document(f"{BASE}/around", "", status=301, location="/about"),
        document(f"{BASE}/about", "", status=301, location="/around"),
        document(f"{BASE}/fr", "", status=301, location="/fr/"),
        document(f"{BASE}/fr/", page("Des mots")),
        document(f"{BASE}/fr/index.php", page("Des mots")),
        document(f"{BASE}/named.html", page("Named").replace("<p>", CANONICAL)),
        document(f"{BASE}/bare/index.html", page("Pretty")),
    )
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [run.path], IngestSettings())
    return PageAddresses(run.stage_folder("ingest"))


@pytest.mark.parametrize(
    ("address", "own"),
    [
        ("/en/a.html", "/en/a.html"),
        ("/", "/en/a.html"),
        ("/fr/", "/fr/index.php"),
        ("/fr", "/fr/index.php"),
        ("/home", "/named.html"),
        ("/named", "/named.html"),
        ("/bare/", "/bare/index.html"),
        ("/bare", "/bare/index.html"),
        ("/bare.html", "/bare/index.html"),
        ("/lost", None),
        ("/around", None),
        ("/bare?page=2", None),
    ],
)
def test_an_address_leads_to_its_page(pages: PageAddresses, address: str, own: str | None) -> None:
    assert pages.find([BASE + address]) == ({BASE + address: BASE + own} if own else {})
    turned = f"http://www.{BASE.partition('://')[2]}{own}"
    assert own is None or pages.find([turned]) == {turned: BASE + own}


@pytest.mark.parametrize("root", ["", BASE])
def test_known_pairs_may_have_any_address_of_a_page(pages: PageAddresses, root: str) -> None:
    gold = Gold((), with_host=bool(root))
    addresses = [("/", "/fr/"), ("/bare", "/home"), ("/lost", "/around")]
    listed = [(gold.key(root + one), gold.key(root + other)) for one, other in addresses]
    known = pages.known_pairs(Gold(tuple(listed), with_host=bool(root)))
    found = [(f"{BASE}/en/a.html", f"{BASE}/fr/index.php"), (f"{BASE}/named.html", f"{BASE}/bare/index.html")]
    assert (evaluate(found, known).n_right, evaluate(found, known).n_wrong) == (2, 0)


def test_a_page_that_the_list_has_under_its_own_address_has_no_other_one(pages: PageAddresses) -> None:
    known = pages.known_pairs(Gold((("/index.html", "/fr/index.php"), ("/en/a.html", "/fr/index.html"))))
    assert [known.key(f"{BASE}/{name}") for name in ("en/a.html", "fr/index.php")] == ["/en/a.html", "/fr/index.php"]


def test_an_address_that_is_spelled_like_those_of_two_pages_is_the_address_of_none() -> None:
    assert only_alike(["http://a.org/b"], ["http://a.org/b/index.html", "http://a.org/b.html"]) == {}
    closer = only_alike(["http://a.org/b/"], ["http://a.org/b/index.php", "http://a.org/b.html"])
    assert closer == {"http://a.org/b/": "http://a.org/b/index.php"}
