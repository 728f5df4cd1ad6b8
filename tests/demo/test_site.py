"""The demo site has what makes real sites hard, and its truth is true."""

from __future__ import annotations

import datetime
import json
import random
import re
import time
from collections import Counter
from functools import cached_property
from itertools import combinations
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import lxml.html
import pytest
from w3lib.encoding import html_to_unicode

from twinlink.demo import read_site, write_site
from twinlink.demo.layout import Anchor
from twinlink.demo.odd import pdf
from twinlink.demo.text import Text, all_phrases, fillers
from twinlink.demo.truth import visible_text
from twinlink.demo.values import SLOTS, Writer, date_text
from twinlink.errors import InputError

HAN = re.compile("[\u3400-\u9fff]")


class Site:
    """A written site with its files read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows = {row[0]: row[1:] for row in self.table("pages.tsv")}
        self.gold = [tuple(row) for row in self.table("gold.tsv")]
        self.ignored = [tuple(row) for row in self.table("ignore.tsv")]
        self.settings = json.loads((folder / "server.json").read_text())
        self.seeds = (folder / "seeds.txt").read_text().split()

    def table(self, name: str) -> list[list[str]]:
        return [line.split("\t") for line in (self.folder / name).read_text(encoding="utf-8").splitlines()]

    def body(self, url: str) -> bytes:
        return (self.folder / f"site{url}").read_bytes()

    def html(self, url: str) -> str:
        """Decode as a crawler does: header first, then what the page says."""
        return html_to_unicode(self.settings["content_types"].get(url, "text/html"), self.body(url))[1]

    def links(self, url: str) -> list[str]:
        tree = lxml.html.document_fromstring(self.html(url).replace("\0", ""))
        return [urljoin(url, href) for href in tree.xpath("//a/@href")]

    @cached_property
    def reached(self) -> set[str]:
        """Every page that links between files lead to from the seeds; redirects are not followed."""
        seen, queue = set(self.seeds), list(self.seeds)
        while queue:
            for url in self.links(queue.pop()):
                if url in self.rows and url not in seen and (self.folder / f"site{url}").is_file():
                    seen.add(url)
                    queue.append(url)
        return seen

    @cached_property
    def all_links(self) -> set[str]:
        return {link for url in self.reached for link in self.links(url)}

    def pages(self, side: str) -> set[str]:
        closed = {url for pair in self.ignored for url in pair}
        return {url for url, row in self.rows.items() if row[0] == side} - closed


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("demo") / "demo"
    write_site(folder)
    return Site(folder)


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# The site as a whole


def test_same_seed_same_bytes_and_other_seed_others(site, tmp_path):
    write_site(tmp_path / "again")
    write_site(tmp_path / "other", seed=1)
    assert files_of(tmp_path / "again") == files_of(site.folder)
    other = Site(tmp_path / "other")
    assert len(set(other.gold) & set(site.gold)) < len(site.gold) / 2


def test_made_fast_and_small(site, tmp_path):
    start = time.process_time()
    write_site(tmp_path / "demo")
    assert time.process_time() - start < 2
    assert sum(map(len, files_of(site.folder).values())) < 8 * 2**20


@pytest.mark.parametrize("pages", [60, 140, 333])
def test_sides_have_the_pages_asked_for_and_15_percent_are_alone(pages, tmp_path):
    write_site(tmp_path / "demo", pages=pages, seed=2)
    site = Site(tmp_path / "demo")
    paired = {url for pair in site.gold for url in pair}
    for side in "AB":
        alone = site.pages(side) - paired
        assert len(site.pages(side)) == pages
        assert 0.13 <= len(alone) / pages <= 0.17


def test_gold_pairs_two_sides_and_no_page_twice(site):
    assert len(site.gold) == 119
    assert all(site.rows[a][0] == "A" and site.rows[b][0] == "B" for a, b in site.gold)
    assert max(Counter(url for pair in site.gold for url in pair).values()) == 1


def test_gold_pages_exist_and_are_reached_from_the_seeds(site):
    paired = {url for pair in site.gold for url in pair}
    assert all((site.folder / f"site{url}").is_file() for url in paired)
    assert paired <= site.reached
    assert site.pages("A") | site.pages("B") <= site.reached


def test_record_says_what_was_written(site):
    record = read_site(site.folder)
    assert record.n_pairs == len(site.gold)
    assert record.n_pages == len(site.pages("A")) + len(site.pages("B"))
    assert [*record.seeds] == site.seeds == ["/en/index.html", "/tc/index.html"]
    assert record.lexicon.is_file()
    meta = json.loads((site.folder / "meta.json").read_text())
    assert meta["gold_pairs"] == len(site.gold)
    assert meta["unpaired_a"] == meta["unpaired_b"] == 21


def test_url_list_and_site_map_hold_all_files(site):
    urls = (site.folder / "urls.txt").read_text().split()
    assert urls == sorted(
        f"/{p.relative_to(site.folder / 'site').as_posix()}" for p in site.folder.glob("site/**/*.htm*")
    )
    open_urls = site.pages("A") | site.pages("B")
    in_map = re.findall("<loc>http://[^/]+(.*)</loc>", (site.folder / "site/sitemap.xml").read_text())
    assert sorted(in_map) == sorted(open_urls)


@pytest.mark.parametrize("name", ["notes.txt", "meta.json"])
def test_a_folder_with_something_else_is_left_alone(name, tmp_path):
    (tmp_path / name).write_text('{"name": "mine"}')
    with pytest.raises(InputError, match="demo site"):
        write_site(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_an_older_demo_site_is_replaced(tmp_path):
    write_site(tmp_path / "demo", pages=80)
    write_site(tmp_path / "demo", pages=60)
    write_site(tmp_path / "fresh", pages=60)
    assert files_of(tmp_path / "demo") == files_of(tmp_path / "fresh")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["demo", "fresh"]


def test_too_few_pages_are_refused(tmp_path):
    with pytest.raises(InputError, match="at least 60"):
        write_site(tmp_path / "demo", pages=59)


# Pairs are translations of each other


def test_pages_are_in_their_languages(site):
    for url in site.pages("A"):
        text = visible_text(re.sub('(?s)<a class="lang".*?</a>', "", site.html(url).replace("\0", "")))
        assert not HAN.search(text), url
    for url in site.pages("B"):
        text = visible_text(site.html(url))
        assert len(HAN.findall(text)) > 0.4 * len(re.sub(r"\s", "", text)), url


def test_partners_share_telephone_numbers(site):
    phones = {
        url: set(re.findall(r"\b[23]\d{3} \d{4}\b", visible_text(site.html(url)))) for pair in site.gold for url in pair
    }
    with_phone = [(a, b) for a, b in site.gold if phones[a] and phones[b]]
    assert len(with_phone) > 10
    assert all(phones[a] & phones[b] for a, b in with_phone)
    by_number = Counter(frozenset(phones[a]) for a, _ in with_phone)
    assert max(by_number.values()) == 1


def test_partners_differ_in_structure_now_and_then(site):
    def tags(url: str) -> list[str]:
        html = site.html(url)
        return re.findall("<(p|li|h2|tr)", html[html.index("<body") :] if "<body" in html else html)

    utf8 = [(a, b) for a, b in site.gold if site.rows[a][4] == "utf-8"]
    different = sum(tags(a) != tags(b) for a, b in utf8)
    assert 0.2 * len(utf8) < different < 0.9 * len(utf8)


def test_no_slot_is_left_open(site):
    assert not [url for url in site.reached if re.search(r"\{\w+\}", visible_text(site.html(url).replace("\0", "")))]


# What makes real sites hard: one test each


def test_menu_is_shared_by_all_pages(site):
    for side in "AB":
        common = set.intersection(*(set(site.links(url)) for url in site.pages(side) if site.rows[url][5] != "broken"))
        assert len(common & site.pages(side)) >= 20


def test_press_releases_share_one_skeleton_and_say_little(site):
    press = [url for url in site.pages("A") if site.rows[url][5] == "press"]
    assert len(press) >= 20

    own = [site.html(url).partition('<div id="text">')[2].partition("</div>")[0] for url in press]
    assert {" ".join(re.findall("</?[a-z0-9]+", html)) for html in own} == {"<h1 </h1" + " <p </p" * 4}
    assert max(len(visible_text(html).split()) for html in own) < 80


def test_lone_pages_are_like_paired_ones(site):
    paired = {url for pair in site.gold for url in pair}
    for side in "AB":
        lone = Counter(site.rows[url][5] for url in site.pages(side) - paired)
        both = Counter(site.rows[url][5] for url in site.pages(side) & paired)
        assert lone["press"] >= 3
        assert all(both[kind] for kind in lone)


def test_near_duplicate_pages(site):
    urls = [url for url in site.pages("A") if site.rows[url][5] == "district"]
    offices = [Counter(visible_text(site.html(url)).split()) for url in urls]
    alike = [(a & b).total() / max(a.total(), b.total()) for a, b in combinations(offices, 2)]
    assert sum(share > 0.75 for share in alike) > len(alike) / 4
    assert max(alike) < 1


def test_equal_pages_are_one_group_a_side(site):
    groups: dict[str, list[str]] = {}
    for group, side, url in site.table("equiv.tsv"):
        assert site.rows[url][0] == side
        groups.setdefault(group, []).append(url)
    assert sorted(map(len, groups.values())) == [3, 3]
    texts = {url: visible_text(site.html(url).replace("\0", "")) for url in site.reached}
    for urls in groups.values():
        assert {url for url, text in texts.items() if text == texts[urls[0]]} == set(urls)


def test_three_schemes_of_addresses(site):
    schemes = Counter()
    for a, b in site.gold:
        if a.startswith("/en/"):
            schemes["folder"] += b == a.replace("/en/", "/tc/")
        elif a.endswith("_e.htm"):
            schemes["suffix"] += b == a.replace("_e.htm", "_c.htm")
        else:
            assert re.fullmatch(r"/doc/\d{6}\.html", a)
            assert re.fullmatch(r"/doc/\d{6}\.html", b)
            schemes["opaque"] += 1
    assert schemes.total() == len(site.gold)
    assert min(schemes.values()) >= 20


def test_language_switch_on_some_pages_only(site):
    partner = dict(site.gold) | {b: a for a, b in site.gold}
    with_switch = {url for url in site.reached if 'class="lang"' in site.html(url)}
    assert 0.1 < len(with_switch) / len(site.reached) < 0.6
    right = [url for url in with_switch if partner.get(url) in site.links(url)]
    assert len(right) > 0.8 * len(with_switch)
    assert any(url not in partner for url in with_switch)  # it leads to the other side's home page


def test_hreflang_on_some_pages_only_and_true(site):
    found = 0
    for url in site.reached:
        alternates = re.findall('<link rel="alternate" hreflang="([^"]+)" href="([^"]+)">', site.html(url))
        if alternates:
            found += 1
            assert [lang for lang, _ in alternates] == ["en", "zh-Hant"]
            assert tuple(href for _, href in alternates) in site.gold
    assert 0.03 < found / len(site.reached) < 0.4


def test_section_in_big5_hkscs_declared_as_big5(site):
    pages = [url for url in site.pages("B") if url.startswith("/environment/")]
    assert len(pages) >= 5
    beyond = 0
    for url in pages:
        assert url not in site.settings["content_types"]
        assert b"charset=big5" in site.body(url)
        assert site.body(url).decode("big5hkscs") == site.html(url)
        try:
            site.body(url).decode("big5")
        except UnicodeDecodeError:
            beyond += 1
    assert beyond == len(pages)
    assert set("埗涌鰂脷鱲茘") & set("".join(map(site.html, pages)))


def test_cantonese_is_quoted_in_the_stock():
    quotes = "".join(text.zh for topic, _, text in all_phrases() if topic == "environment")
    assert set("嘅喺咗嚟哋啲") & set(quotes) >= set("喺咗嚟哋啲")


def test_section_in_gbk_declared_as_gb2312(site):
    pages = [url for url in site.pages("B") if url.startswith("/business/")]
    assert len(pages) >= 5
    for url in pages:
        assert site.settings["content_types"][url] == "text/html; charset=gb2312"
        assert site.body(url).decode("gbk") == site.html(url)
        with pytest.raises(UnicodeDecodeError):
            site.body(url).decode("gb2312")


def test_all_pages_decode_as_declared_without_a_server(site):
    for url in site.pages("A") | site.pages("B"):
        decoded = html_to_unicode(None, site.body(url), auto_detect_fun=lambda _: "utf-8")[1]
        assert decoded == site.html(url), url
        assert site.rows[url][5] == "broken" or "\ufffd" not in decoded


def test_robots_close_a_section_that_is_linked(site):
    robots = (site.folder / "site/robots.txt").read_text()
    assert "Disallow: /en/internal/\nDisallow: /tc/internal/\n" in robots
    assert len(site.ignored) == 3
    for pair in site.ignored:
        assert [url.split("/")[2] for url in pair] == ["internal", "internal"]
        assert all((site.folder / f"site{url}").is_file() for url in pair)
    assert {url for pair in site.ignored for url in pair} & site.all_links
    assert not {url for pair in site.ignored for url in pair} & {url for pair in site.gold for url in pair}


def test_redirects_are_linked_and_lead_to_pages_some_in_two_steps(site):
    moved = {url: target for url, (_, target) in site.settings["redirects"].items()}
    assert {status for status, _ in site.settings["redirects"].values()} == {301, 302}
    linked = site.all_links & moved.keys()
    assert len(linked) >= 15
    final = [moved.get(moved[url], moved[url]) for url in linked if not url.startswith("/go/round")]
    assert all((site.folder / f"site{url}").is_file() for url in final)
    assert any(moved[url] in moved for url in linked if not url.startswith("/go/round"))
    assert moved[moved["/go/round"]] == "/go/round"  # without end


def test_dead_links(site):
    known = set(site.rows) | set(site.settings["redirects"])
    local = {urlsplit(link).path for link in site.all_links if link.startswith("/")}
    dead = {path for path in local - known if not (site.folder / f"site{path}").is_file()}
    assert len(dead) >= 5
    assert all("/archive/" in path for path in dead)


def test_calendar_and_large_page_are_linked_and_not_scored(site):
    unscored = (site.folder / "unscored.txt").read_text().split()
    assert unscored == ["/en/calendar", "/tc/calendar", "/en/records/register.html", "/tc/records/register.html"]
    assert set(unscored) <= site.all_links
    assert all(site.rows[url][0] == "N" for url in unscored)


def test_broken_page_is_broken_and_has_a_partner(site):
    (broken,) = [url for url in site.pages("A") if site.rows[url][5] == "broken"]
    body = site.body(broken)
    assert broken in {a for a, _ in site.gold}
    assert b"\0" in body
    assert body.count(b"<div>") >= 300 > body.count(b"</div>")
    assert b"</html>" not in body
    with pytest.raises(UnicodeDecodeError):
        body.decode("utf-8")
    assert b"Rubbish weighing" in body


def test_pdf_files_are_linked(site):
    pdfs = {link for link in site.all_links if link.endswith(".pdf")}
    assert len(pdfs) >= 6
    for link in pdfs:
        assert site.body(link).startswith(b"%PDF-1.4\n")
        assert site.body(link).endswith(b"%%EOF\n")


# Phrases and values


def test_stock_is_rich():
    assert len([kind for _, kind, _ in all_phrases() if kind == "s"]) >= 200
    assert len({topic for topic, kind, _ in all_phrases() if kind == "stat"}) >= 12
    assert len({text.en for _, _, text in all_phrases()}) > 650


def test_both_sides_of_a_phrase_have_the_same_slots_and_parts():
    for _, _, text in all_phrases():
        slots = [set(re.findall(r"\{(\w+)\}", side)) for side in text]
        assert slots[0] == slots[1], text
        assert all(slot in SLOTS or slot.rstrip("2") in SLOTS or slot == "topic" for slot in slots[0]), text
        assert len(text.split()) >= 1


def test_phrases_are_in_their_languages():
    for _, kind, text in all_phrases():
        assert not HAN.search(text.en), (kind, text)
        assert HAN.search(text.zh), (kind, text)


def test_names_are_filled_for_every_named_slot():
    assert all(fillers(slot) for slot in ("place", "hk", "street", "estate", "dept", "post", "hospital", "weekday"))


def test_a_slot_has_one_value_in_both_languages():
    writer = Writer(random.Random(7))
    for _ in range(200):
        text = writer.fill(Text("{n} {phone} {form} {n}", "{n} {phone} {form} {n}"))
        assert text.en == text.zh
        assert text.en.split()[0] == text.en.split()[-1]


def test_two_places_of_a_phrase_differ():
    writer = Writer(random.Random(3))
    for _ in range(200):
        writer.new_page()
        first, second = writer.fill(Text("{place}|{place2}", "{place}|{place2}")).en.split("|")
        assert first != second


def test_full_stop_is_not_doubled_after_pm():
    text = Writer(random.Random(0)).fill(Text("Closed from {time2}.", "{time2}起關閉。"))
    assert text.en.endswith("p.m.")
    assert not text.en.endswith("..")


@pytest.mark.parametrize(
    ("slot", "en", "zh"),
    [
        ("money", r"\$[\d.]+ (million|billion)", r"[\d.]+(萬|億)元"),
        ("big", r"\d+,000", r"[\d.]+萬"),
        ("month", r"[A-Z][a-z]+ 2026", r"2026年\d+月"),
        ("time", r"\d+(:\d\d)? (a|p)\.m\.", r"上午\d+時(\d\d分)?"),
        ("person", r"(Mr|Ms) [A-Z]\S+ [A-Z]\S+", r"[㐀-鿿]{3}(先生|女士)"),
    ],
)
def test_values_in_each_languages_own_manner(slot, en, zh):
    for seed in range(50):
        text = SLOTS[slot](random.Random(seed), ",")
        assert re.fullmatch(en, text.en), text
        assert re.fullmatch(zh, text.zh), text


def test_money_is_the_same_amount_in_both_languages():
    units = {"million": 10**6, "billion": 10**9, "萬元": 10**4, "億元": 10**8}
    for seed in range(100):
        text = SLOTS["money"](random.Random(seed), ",")
        number, unit = text.en.lstrip("$").split()
        amount = re.fullmatch(r"([\d.]+)(\D+)", text.zh)
        assert float(number) * units[unit] == pytest.approx(float(amount[1]) * units[amount[2]])


def test_month_names_do_not_depend_on_the_locale():
    assert date_text(datetime.date(2026, 5, 1)) == ("1 May 2026", "2026年5月1日")


def test_pdf_tells_where_its_objects_are():
    body = pdf(Anchor("Form A(1)", "/files/a.pdf"))
    start = int(re.search(rb"startxref\n(\d+)", body)[1])
    assert body[start:].startswith(b"xref\n0 6\n")
    for number, offset in enumerate(re.findall(rb"(\d{10}) 00000 n", body), start=1):
        assert body[int(offset) :].startswith(b"%d 0 obj" % number)


# Lexicon


def test_lexicon_knows_some_of_the_words(site):
    rows = site.table("lexicon.tsv")
    assert all(len(row) == 2 and HAN.search(row[0]) and not HAN.search(row[1]) for row in rows)
    assert len(rows) == len({tuple(row) for row in rows}) > 500
    heads = {row[0] for row in rows}
    chinese = "".join(text.zh for _, _, text in all_phrases())
    assert sum(head in chinese for head in heads) > 0.85 * len(heads)
