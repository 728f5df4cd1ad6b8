"""Probed sites whose text another site has."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.baselines.test_methods import CHINESE, ENGLISH
from tests.loopback import Answer, links, serving
from twinlink.config import Config
from twinlink.jobs.discover import discover
from twinlink.jobs.site_copies import COPIED, Copy, find_copies
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.rounds import Rounds

EN, ZH = pa.array([ENGLISH[:4], ENGLISH[4:]]), pa.array([CHINESE[:4], CHINESE[4:]])


def test_of_sites_with_one_text_the_first_is_kept() -> None:
    sites = {site: {"en": EN, "zh": ZH} for site in ("b.hk", "a.hk", "c.hk")}
    assert find_copies(sites, []) == {"a.hk": Copy("b.hk", 1.0), "c.hk": Copy("b.hk", 1.0)}
    assert find_copies(sites, [("x.hk", pa.chunked_array([EN, ZH]))]) == dict.fromkeys(sites, Copy("x.hk", 1.0))
    assert find_copies({}, [("x.hk", EN)]) == find_copies({"x.hk": {}}, [("y.hk", EN)]) == {}


def test_a_translation_of_another_site_is_no_copy() -> None:
    """Its English text is on the other site, its Chinese text is not."""
    assert find_copies({"x.hk": {"en": EN, "zh": ZH}}, [("x.org", EN)]) == {}
    assert find_copies({"x.org": {"en": EN}, "x.hk": {"en": EN, "zh": ZH}}, []) == {}


def test_numbers_and_capitals_make_no_difference() -> None:
    """Pages of a farm differ in prices, dates and names of hosts, in which numbers are counted up."""
    own = pa.array([["Pills for 12.99 at HOST17.com", "Offer of 7 May 2026"]])
    other = pa.array([["pills for 8.49 at host3.com"], ["offer of 11 May 2025"]])
    assert find_copies({"host17.com": {"en": own}}, [("host3.com", other)]) == {"host17.com": Copy("host3.com", 1.0)}


def test_what_is_shared_counts_by_its_letters() -> None:
    """Menus and notices of the same system are no copy."""
    menu = ["Home", "Contact", "Sitemap", "Privacy policy", "Powered by a well known content management system"]
    sites = {"a.hk": {"en": pa.array([[*menu, *ENGLISH[:4]]])}, "b.hk": {"en": pa.array([[*menu, *ENGLISH[4:]]])}}
    assert find_copies(sites, []) == {}


@pytest.mark.parametrize(("n", "is_copy"), [(8, True), (7, False)])
def test_a_copy_may_differ_a_little(n: int, is_copy: bool) -> None:
    blocks = [letter * 10 for letter in "abcdefghij"]
    shared = pa.array([blocks[:n]])
    assert (
        (find_copies({"x.hk": {"en": pa.array([blocks])}}, [("y.hk", shared)]) != {}) == is_copy == (n / 10 >= COPIED)
    )


def test_the_known_site_with_most_of_the_text_counts() -> None:
    blocks = [letter * 10 for letter in "abcdefghij"]
    known = [(f"{n}.hk", pa.array([blocks[:n]])) for n in (8, 10, 9)]
    assert find_copies({"x.hk": {"en": pa.array([blocks])}}, known) == {"x.hk": Copy("10.hk", 1.0)}


def bilingual(path: str, *hrefs: str, number: int = 0) -> Answer | None:
    """Six pages in two languages, which differ from those of another number."""
    if path == "/":
        return links(*(f"/{lang}/{n}.htm" for lang in ("en", "tc") for n in range(3)), *hrefs)
    lang, _, name = path.strip("/").partition("/")
    if lang not in ("en", "tc") or name not in ("0.htm", "1.htm", "2.htm"):
        return None
    texts = ENGLISH if lang == "en" else CHINESE
    text = f"{texts[int(name[0]) + number]} {texts[int(name[0]) + 3 + number]}"
    return Answer(f"<p>{text}".encode())


def test_discovery_adds_one_of_several_copies(tmp_path) -> None:
    """The seed links to a copy of itself and to two sites with one text, which are told apart by their addresses."""
    with (
        serving(bilingual) as mirror,
        serving(lambda path: bilingual(path, number=2)) as first,
        serving(lambda path: bilingual(path, number=2)) as second,
    ):
        others = [mirror.url, first.url, second.url]
        with serving(lambda path: bilingual(path, *others)) as seed:
            options = {"langs": ["en", "zh"], "crawl.delay": 0.0, "crawl.retries": 0, "crawl.autothrottle": False}
            config = Config().override({**options, "crawl.sitemaps": False, "crawl.allow_private": True})
            run = RunDirectory.create(tmp_path / "run")
            _, row = discover([seed.url], run, config).to_pylist()
            every = RunDirectory.create(tmp_path / "every")
            discover([seed.url], every, config.override({"discover.accept": "all"}))
    rows = {row["site"]: row for row in Rounds(run).verdicts(1).to_pylist()}
    hosts = [url.split("/")[2] for url in (seed.url, *others)]
    assert (rows[hosts[1]]["verdict"], rows[hosts[1]]["copy_of"], rows[hosts[1]]["added"]) == ("copy", hosts[0], False)
    assert rows[hosts[1]]["reason"].startswith(f"{hosts[0]} has 100% of its text; en 3, zh 3; /en/ ↔ /tc/ pairs 6")
    twins = sorted((rows[host] for host in hosts[2:]), key=lambda row: row["place"])
    assert [(row["verdict"], row["copy_of"], row["added"]) for row in twins] == [
        ("bilingual", "", True),
        ("copy", twins[0]["site"], False),
    ]
    assert (row["tried"], row["added"], row["copies"], row["one_language"]) == (3, 1, 2, 0)
    verdicts = Rounds(every).verdicts(1).to_pylist()
    assert [(row["verdict"], row["added"]) for row in verdicts] == [("bilingual", True)] * 3
