"""Readers and parser on any bytes, and on good files with some bytes changed: no crash, no hang, bounded memory.

A reader either yields documents and rejects or says with `InputError` that the file is none of its kind. The number of
examples is a share of what Hypothesis's profile says, which is small (``pytest --hypothesis-profile=NAME`` for more).
"""

from __future__ import annotations

import resource
import tempfile
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from experiments.campaign.samples import BODIES, MAKERS, Sample
from twinlink.errors import InputError
from twinlink.pages.parser import parse_page
from twinlink.sources.documents import Document
from twinlink.sources.reading import read_path, source_files
from twinlink.tables import Reject
from twinlink.toy import toy_site

LIMIT = 2_000
MAX_MEMORY = 30_000_000
MAX_SECONDS = 2  # of processor time for one file of some 10 kB; they take milliseconds
URL = "http://www.example.org/"

Change = tuple[float, int, bytes]  # place (share of the length), bytes removed there, bytes put there
CHANGES = st.lists(
    st.tuples(
        st.floats(0, 1),
        st.sampled_from([0, 0, 1, 1, 2, 8, 64, 10_000]),
        st.one_of(
            st.binary(max_size=8),
            st.sampled_from(
                [
                    b"\x1f\x8b\x08", b"PK\x01\x02", b"PK\x03\x04", b"\r\n\r\n", b"\n", b"\0", b"\xff" * 8, b"-1",
                    b"9" * 20, b"../", b"{", b'"', b"\t",
                    b"WARC/1.0\r\n", b"Content-Length: 0\r\n", b"Content-Length: 99999999999\r\n",
                    b"Transfer-Encoding: chunked\r\n", b"Content-Encoding: gzip\r\n", b"ffffffff\r\n",
                ]
            ),
        ),
    ),
    max_size=6,
)  # fmt: skip


def changed(data: bytes, changes: list[Change]) -> bytes:
    for share, n_removed, put in changes:
        place = int(share * len(data))
        data = data[:place] + put + data[place + n_removed :]
    return data


@pytest.fixture(scope="module", params=MAKERS)
def sample(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Sample, bytes]:
    """Return what is to be read, with the content of the file in it that is to be changed."""
    made = MAKERS[request.param](tmp_path_factory.mktemp("sample"))
    return made, made.file.read_bytes()


def check(source: Path, base_url: str = "") -> None:
    """Read a source; see that it gives documents and rejects, or the error, in bounded time and memory."""
    seconds = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    tracemalloc.reset_peak()
    try:
        items = list(read_path(source, LIMIT, base_url))
        files = source_files(source)
    except InputError:
        pass
    else:
        assert files
        for item in items:
            assert isinstance(item, Reject) or len(item.body) <= LIMIT
            assert isinstance(item, Document) or (item.stage == "ingest" and item.reason)
            for text in item[:4] if isinstance(item, Reject) else (item.url, item.location, item.source):
                text.encode()  # it goes into a table
    assert tracemalloc.get_traced_memory()[1] < MAX_MEMORY
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - seconds < MAX_SECONDS


@pytest.fixture(scope="module", autouse=True)
def _traced() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


SHARE = max(1, settings.default.max_examples * 2 // 5)
FEW = settings(max_examples=SHARE, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@FEW
@given(CHANGES)
def test_files_with_some_bytes_changed(sample: tuple[Sample, bytes], changes: list[Change]) -> None:
    made, data = sample
    made.file.write_bytes(changed(data, changes))
    check(made.source, made.base_url)
    made.file.write_bytes(data)


@FEW
@given(
    st.sampled_from(["a.warc", "a.warc.gz", "a.arc", "a.wacz", "a.cdx", "a.cdxj", "a.tsv", "a"]), st.binary(), CHANGES
)
def test_any_bytes(name: str, data: bytes, changes: list[Change]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(changed(data, changes))
        check(path)


# ---- pages

PAGES = [*(html.encode() for html in toy_site().pages.values()), *BODIES, BODIES[0].decode("big5").encode("utf-16")]
MARKUP = st.sampled_from(
    [
        b"<", b">", b"</", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"&", b"&#x110000;", b"&#0;", b"\0", b"\xff", b'"',
        b"<script>", b"</script>", b"<table>", b"<svg>", b"<template>", b"<title>", b"<frameset>", b"<plaintext>",
        b"<a href='//[::1'>", b"<a href=http://x:99999>", b"<base href='javascript:'>", b"<meta charset=utf-16>",
        b"<meta charset=utf-7>", b"<?xml version='1.0' encoding='hex'?>", b"<!DOCTYPE x [<!ENTITY a 'b'>]>",
        b"<b>" * 3_000, b"'",
        b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff\0\0", b"\x1b$B", b"\xa4", b"~{",
    ]
)  # fmt: skip
HEADERS = st.sampled_from(["", "text/html; charset=big5", "text/html; charset=utf-16", '; charset="', "x" * 5_000])


@FEW
@given(
    st.sampled_from(PAGES),
    st.lists(st.tuples(st.floats(0, 1), st.sampled_from([0, 0, 1, 3, 50]), st.one_of(MARKUP, st.binary(max_size=5)))),
    HEADERS,
)
def test_pages_with_some_bytes_changed(body: bytes, changes: list[Change], header: str) -> None:
    body = changed(body, changes)
    tracemalloc.reset_peak()
    page = parse_page(body, URL, header, header)
    assert tracemalloc.get_traced_memory()[1] < MAX_MEMORY
    for text in (page.title, *page.blocks, *(link.anchor for link in page.links), *page.images):
        assert text == " ".join(text.split())
        text.encode()
    assert all(page.blocks)
    assert all(link.url.startswith(("http://", "https://")) for link in page.links)
    assert page == parse_page(body, URL, header, header)
