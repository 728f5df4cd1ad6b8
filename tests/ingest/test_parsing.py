"""Batches of pages become the same tables with the compiled parser as with Python's."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone

import pyarrow as pa
import pytest

from twinlink.ingest import page_columns
from twinlink.ingest.captures import Capture
from twinlink.ingest.page_columns import ParsedBatch, forget_repeated, parse_together
from twinlink.ingest.parsing import parse_batch
from twinlink.pages import libxml2, repeated
from twinlink.sources.documents import Document
from twinlink.toy import toy_site
from twinlink.urls import SiteBy, page_id


def capture(
    url: str, text: str, content_type: str = "", language: str = "", fetched: datetime | None = None
) -> Capture:
    body = text.encode("big5hkscs" if "big5" in content_type else "utf-8")
    document = Document(url, 200, content_type, language, "", body, fetched, f"of {url}", len(body))
    return Capture(document, url, page_id(url), hashlib.sha1(body, usedforsecurity=False).digest(), b"")


def in_python(captures: Sequence[Capture], site_by: SiteBy = "domain") -> ParsedBatch:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(libxml2, "compiled_parser", lambda: None)
        return parse_batch(captures, site_by)


def sorted_rows(batch: ParsedBatch) -> dict[str, tuple[pa.Table, pa.Table]]:
    """Return the tables of each site in an order that does not depend on that of the rows; links keep theirs."""
    by_source = {
        site: links.append_column("place", pa.array(range(len(links)))).sort_by(
            [("source", "ascending"), ("place", "ascending")]
        )
        for site, (_, links) in batch.tables.items()
    }
    return {
        site: (pages.sort_by("url").combine_chunks(), by_source[site].drop_columns("place").combine_chunks())
        for site, (pages, _) in batch.tables.items()
    }


def check(captures: Sequence[Capture], site_by: SiteBy = "domain") -> ParsedBatch:
    """Check that both parsers give the same, and return it."""
    expected, found = in_python(captures, site_by), parse_batch(captures, site_by)
    assert found.facts == expected.facts
    rows, expected_rows = sorted_rows(found), sorted_rows(expected)
    assert rows == expected_rows
    for tables in rows.values():
        for table in tables:
            table.validate(full=True)
    return found


TOY = [capture(f"http://www.example.org/{name}", text) for name, text in toy_site().pages.items()]
EMPTY = capture("http://www.example.org/empty.html", "<title>only a title</title>")
OTHERS = [
    capture("http://sub.example.org/a.html", "<p>a\u3000b<a href=b.html?q=\u4e2d>c</a>", "text/html; charset=big5"),
    capture("https://example.com/", "<a href=/x>y<a href=http://example.org/>", language="zh-HK"),
    capture(
        "http://10.0.0.1/", "<img src=a.png><p>text", fetched=datetime(2001, 2, 3, tzinfo=timezone(timedelta(hours=8)))
    ),
    capture("http://example.com/late", "<p>text", fetched=datetime(2001, 2, 3, 4, 5, 6, tzinfo=UTC)),
]


def test_the_compiled_parser_is_used() -> None:
    found = parse_together(TOY, "domain")
    assert None not in found.facts
    assert list(found.tables) == ["example.org"]


@pytest.mark.parametrize("site_by", ["domain", "host"])
def test_tables_are_those_of_python(site_by: SiteBy) -> None:
    forget_repeated()
    check(TOY, site_by)
    batch = check([*OTHERS[:2], EMPTY, *TOY, *OTHERS[2:]], site_by)
    assert sum(facts.is_empty for facts in batch.facts) == 1
    assert {"example.com", "10.0.0.1"} < batch.tables.keys()


def test_there_may_be_no_page() -> None:
    assert check([]).tables == {}
    assert check([EMPTY]).tables == {}


def test_pages_without_any_link_image_or_text() -> None:
    batch = check([capture("http://example.org/a", "<p>text"), capture("http://example.org/b", "<a href=c></a>")])
    assert [len(table) for table in batch.tables["example.org"]] == [2, 1]


def test_a_page_that_does_not_fit_in_is_parsed_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated, "MAX_EVENTS", 50)
    large = capture("http://www.example.org/large", "".join(f"<a href={n}>{n}</a>" for n in range(100)))
    captures = [*TOY[:3], large, *TOY[3:]]
    assert parse_together(captures, "domain").facts.count(None) >= 1
    check(captures)
    check([large])


def test_what_pages_repeat_is_forgotten_when_it_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_repeated()
    parse_batch(TOY, "domain")
    known = page_columns._repeated()
    parse_batch(TOY, "domain")
    assert page_columns._repeated() is known
    assert known.n_bytes > 2_000
    monkeypatch.setattr(page_columns, "MOST_REMEMBERED", 2_000)
    check(TOY)
    assert page_columns._repeated() is not known
    assert page_columns._repeated().n_bytes == 0


@pytest.mark.parametrize(
    "element",
    [
        "<a href='data:image/png;base64,{number}" + "A" * 50_000 + "'>x</a>",
        "<img src=/i/{number}.png alt='" + "x" * 50_000 + "'>",
        "<area href='/{number}?" + "y" * 1_900 + "'>" * 20,
    ],
)
def test_what_is_remembered_is_counted_in_bytes(element: str) -> None:
    """Also long addresses that lead nowhere, and elements that are too long to be remembered as a whole."""
    forget_repeated()
    texts = ["<p>text" + element.format(number=number) for number in range(20)]
    check([capture(f"http://example.org/{number}/", text) for number, text in enumerate(texts)])
    repeated = page_columns._repeated()
    held = [link.href for link, _ in repeated._raw_links] + repeated.images + [link.url for link in repeated.links]
    assert sum(map(len, held)) < repeated.n_bytes < 200_000
    assert len(repeated._led) == len(texts)
    assert repeated.n_bytes > 20 * 300
