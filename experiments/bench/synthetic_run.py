"""A synthetic run directory of any size, in the format of the stages.

What is in its tables is drawn at random, but hangs together: links lead to pages that are there, beads lie within the
blocks of their pages, candidates hold the pairs. One site has half of all pages, the others share the rest.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from twinlink.config import Config, IngestSettings
from twinlink.damage import SOURCES_NAME
from twinlink.ingest.page_spool import body_digest
from twinlink.rundir.directory import RunDirectory, site_file
from twinlink.rundir.signature import Signature
from twinlink.spiders.warc_writer import WarcWriter, Written
from twinlink.tables import (
    CANDIDATES,
    CHECKS,
    EVIDENCE_FIELDS,
    FILTERS,
    LANGUAGES,
    LINKS,
    LOOK_ALIKES,
    PAGES,
    PAIRS,
    REJECTS,
    SEGMENTS,
    WEIGHTS,
    write_table,
)
from twinlink.urls import page_id

__all__ = ["Size", "write_run"]

ALIKE = 10
"""Pages per group of near-duplicates."""
LANGS = ("en", "zh-Hant")
N_TEXTS = 4_000  # blocks to draw from, in each language
N_REJECTS = 20_000
HEADERS = [("Content-Type", "text/html; charset=utf-8")]
Ints = npt.NDArray[np.int64]


class Size(msgspec.Struct, frozen=True):
    """Size of a run."""

    pairs: int = 100_000
    sites: int = 21
    """Number of sites; the first has half of the pairs."""
    blocks: int = 24
    """Blocks per page; each forms a bead with the block of the same number of the partner."""
    tags: int = 250
    links: int = 20
    """Links per page, one of them to the other language, one to the front page."""
    candidates: int = 20
    """Candidates per page, including its partner."""
    archived: int = 1_000
    """Number of pairs in an archive, evenly spaced."""


class _Site:
    """One site: its addresses, and the content of its tables."""

    def __init__(self, name: str, n: int, size: Size, rng: np.random.Generator) -> None:
        self.name, self.n, self.size, self.rng = name, n, size, rng
        self.urls = [
            [f"https://www.{name}/{lang}/section-{k // 100}/document-{k:06}.html" for k in range(n)]
            for lang in ("en", "tc")
        ]
        self.ids = np.array([[page_id(url) for url in side] for side in self.urls], np.int64)
        self.chosen = rng.integers(0, N_TEXTS, (2, n, size.blocks))

    def title(self, side: int, k: int) -> str:
        return f"Document {k} of {self.name}" if side == 0 else f"第{k}號文件 {self.name}"


def write_run(folder: Path, size: Size | None = None, seed: int = 0) -> RunDirectory:
    """Write a run.

    Parameters
    ----------
    folder : Path
        Created if it does not exist.
    size : Size, optional
    seed : int
        The same seed gives the same tables.
    """
    size = size or Size()
    rng = np.random.default_rng(seed)
    texts = _texts(rng)
    run = RunDirectory.create(folder)
    run.config_file.write_text(Config().to_toml(), encoding="utf-8")
    (folder / "warc").mkdir(exist_ok=True)
    settings = {"ingest": {"ingest": IngestSettings()}, "match": {}, "align": {}}
    signatures = [Signature.of(stage, given, [repr(size)]) for stage, given in settings.items()]
    with run.writing(signatures[0]) as ingest, run.writing(signatures[1]) as match, run.writing(signatures[2]) as align:
        (ingest / SOURCES_NAME).write_text("", encoding="utf-8")
        write_table(_rejects(), REJECTS, ingest / "rejects.parquet")
        write_table(REJECTS.empty_table(), REJECTS, match / "rejects.parquet")
        for number, n in enumerate(_shares(size)):
            site = _Site(f"site-{number:02}.example", n, size, rng)
            write_table(_pages(site, texts, folder / "warc"), PAGES, site_file(ingest / "pages", site.name))
            write_table(_links(site), LINKS, site_file(ingest / "links", site.name))
            _write_match(site, match, str(signatures[1]))
            langs = align / "segments" / "-".join(LANGS)
            write_table(_segments(site, texts), SEGMENTS, site_file(langs, site.name))
    return run


def _shares(size: Size) -> list[int]:
    first = size.pairs if size.sites == 1 else size.pairs // 2
    rest = size.pairs - first
    others = [rest // (size.sites - 1) + (k < rest % (size.sites - 1)) for k in range(size.sites - 1)]
    return [first, *others]


def _texts(rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """Return blocks of the two languages; a block and its translation have the same number."""
    lengths = rng.geometric(1 / 14, N_TEXTS)
    english = [" ".join(f"word{word}" for word in rng.zipf(1.3, n).clip(max=9_999).tolist()) for n in lengths.tolist()]
    chinese = ["".join(map(chr, rng.integers(0x4E00, 0x5E00, 2 * n).tolist())) for n in lengths.tolist()]
    return english, chinese


def _pages(site: _Site, texts: tuple[list[str], list[str]], archives: Path) -> pa.Table:
    n, size = 2 * site.n, site.size
    lists = []
    for side in (0, 1):
        flat = pa.array(texts[side]).take(pa.array(site.chosen[side].ravel()))
        lists.append(pa.ListArray.from_arrays(np.arange(0, len(flat) + 1, size.blocks, dtype=np.int32), flat))
    written, digests = _archive(site, texts, archives)
    tags = site.rng.integers(0, 60, (n, size.tags), dtype=np.uint8)
    return pa.table(
        {
            "page_id": site.ids.ravel(),
            "site": [site.name] * n,
            "url": site.urls[0] + site.urls[1],
            "canonical_url": pa.nulls(n, pa.string()),
            "title": [site.title(side, k) for side in (0, 1) for k in range(site.n)],
            "blocks": pa.chunked_array(lists),
            "tags": [row.tobytes() for row in tags],
            "images": pa.array([[]] * n, pa.list_(pa.string())),
            "declared_lang": [""] * n,
            "charset": ["utf-8"] * n,
            "bytes": np.full(n, 9_000),
            "digest": digests,
            "source": [each.archive for each in written],
            "offset": [each.start for each in written],
            "fetched": pa.nulls(n, pa.timestamp("s", tz="UTC")),
            "round": np.zeros(n, np.int16),
        }
    )


def _archive(site: _Site, texts: tuple[list[str], list[str]], folder: Path) -> tuple[list[Written], list[str]]:
    """Write some pages to an archive; return positions (null for pages not in it) and digests of all pages."""
    written, digests = [Written("gone.warc.gz", 0, 0)] * (2 * site.n), [""] * (2 * site.n)
    writer = WarcWriter(folder, "crawl")
    step = max(site.size.pairs // max(site.size.archived, 1), 1)
    for k in range(0, site.n, step) if site.size.archived else ():
        for side in (0, 1):
            blocks = "\n".join(f"<p>{texts[side][text]}</p>" for text in site.chosen[side, k].tolist())
            page = f"<!doctype html><title>{html.escape(site.title(side, k))}</title><h1>{k}</h1>\n{blocks}\n"
            url, body = site.urls[side][k], page.encode()
            path = "/" + url.split("/", 3)[3]
            row = side * site.n + k
            written[row] = writer.write(url, f"GET {path} HTTP/1.1", [], 200, HEADERS, body)
            digests[row] = body_digest(body)
    writer.close()
    return written, digests


def _links(site: _Site) -> pa.Table:
    """Return links within each language, one to the partner, and one to the front page."""
    n, k = site.n, site.size.links
    ends = site.rng.integers(0, n, (2, n, k))
    near = np.arange(n)[:, None] // 100 * 100 + site.rng.integers(0, 100, (2, n, k // 2))
    ends[:, :, : k // 2] = np.minimum(near, n - 1)  # half of them within the section
    ends[:, :, 0] = 0
    sides = np.broadcast_to(np.arange(2)[:, None, None], (2, n, k)).copy()
    sides[:, :, -1] = 1 - sides[:, :, -1]
    ends[:, :, -1] = np.arange(n)
    urls = pa.array(site.urls[0] + site.urls[1])
    flat = (sides * n + ends).ravel()
    total = len(flat)
    return pa.table(
        {
            "source": np.repeat(site.ids.ravel(), k),
            "target": site.ids.ravel()[flat],
            "target_url": urls.take(pa.array(flat)),
            "target_site": [site.name] * total,
            "anchor": pa.array([f"Link text {number}" for number in range(5_000)]).take(pa.array(flat % 5_000)),
            "rel": [""] * total,
            "hreflang": [""] * total,
        }
    )


def _write_look_alikes(site: _Site, folder: Path) -> None:
    """Write all pages as groups of ten near-duplicates."""
    n = site.n - site.n % ALIKE
    parts = [
        pa.table(
            {
                "site": [site.name] * n,
                "lang": [LANGS[side]] * n,
                "facing_lang": [LANGS[1 - side]] * n,
                "group": np.arange(n) // ALIKE + 1,
                "page_id": site.ids[side][:n],
                "url": site.urls[side][:n],
                "state": ["paired"] * n,
                "n_pages": np.full(n, ALIKE),
                "n_paired": np.full(n, ALIKE),
                "facing": np.arange(n) // ALIKE + 1,
                "n_facing": np.full(n, ALIKE),
            }
        )
        for side in (0, 1)
    ]
    write_table(pa.concat_tables(parts), LOOK_ALIKES, site_file(folder / "look_alikes", site.name))


def _write_match(site: _Site, folder: Path, signature: str) -> None:
    n, k, rng = site.n, site.size.candidates, site.rng
    codes = np.repeat([0, 1], n)
    languages = {"page_id": site.ids.ravel(), "lang": np.array(LANGS)[codes], "lang_score": np.ones(2 * n, np.float32)}
    write_table(pa.table(languages), LANGUAGES, site_file(folder / "languages", site.name))
    probabilities = (1 - np.minimum(rng.gamma(0.4, 0.12, n), 0.5)).astype(np.float32)
    scores = (rng.random((n, k)) * probabilities[:, None]).astype(np.float32)
    scores[:, 0] = probabilities
    partners = rng.integers(0, n, (n, k))
    partners[:, 0] = np.arange(n)
    candidates = {
        "page_a": np.repeat(site.ids[0], k),
        "page_b": site.ids[1][partners.ravel()],
        "score": scores.ravel(),
        **_evidence(rng, n * k),
        "filter": pa.nulls(n * k, pa.string()),
    }
    write_table(pa.table(candidates), CANDIDATES, site_file(folder / "candidates", site.name))
    pairs = {
        "url_a": site.urls[0],
        "url_b": site.urls[1],
        "lang_a": [LANGS[0]] * n,
        "lang_b": [LANGS[1]] * n,
        "probability": probabilities,
        "score": probabilities,
        "rival": scores[:, 1:].max(axis=1, initial=0.0),
        **_evidence(rng, n),
        "alike_a": rng.poisson(0.1, n),
        "alike_b": rng.poisson(0.1, n),
        "risk": np.zeros(n, np.float32),
        "canonical_a": pa.nulls(n, pa.string()),
        "canonical_b": pa.nulls(n, pa.string()),
        "site": [site.name] * n,
        "page_a": site.ids[0],
        "page_b": site.ids[1],
        "verdict": np.where(rng.random(n) < 0.02, "tie", "pair"),
        "signature": [signature] * n,
    }
    table = pa.table(pairs).take(pa.array(np.argsort(-probabilities, kind="stable")))
    write_table(table, PAIRS, site_file(folder / "pairs", site.name))
    kinds = ("content", "structure", "ets", "length")
    weights = [(site.name, *LANGS, kind, weight) for kind, weight in zip(kinds, (0.5, 0.2, 0.2, 0.1), strict=True)]
    write_table(_rows(weights, WEIGHTS), WEIGHTS, site_file(folder / "weights", site.name))
    write_table(FILTERS.empty_table(), FILTERS, site_file(folder / "filters", site.name))
    write_table(CHECKS.empty_table(), CHECKS, site_file(folder / "checks", site.name))
    _write_look_alikes(site, folder)


def _evidence(rng: np.random.Generator, n: int) -> dict[str, npt.NDArray[np.float32]]:
    return {field.name: rng.random(n, dtype=np.float32) for field in EVIDENCE_FIELDS}


def _segments(site: _Site, texts: tuple[list[str], list[str]]) -> pa.Table:
    """Return one bead per block."""
    n, k = site.n, site.size.blocks
    total = n * k
    pages, blocks = np.repeat(np.arange(n), k), np.tile(np.arange(k, dtype=np.int32), n)
    ends = [np.array([len(text) for text in texts[side]], np.int32)[site.chosen[side].ravel()] for side in (0, 1)]
    chance = site.rng.random(total, dtype=np.float32)
    return pa.table(
        {
            "site": [site.name] * total,
            "url_a": pa.array(site.urls[0]).take(pa.array(pages)),
            "url_b": pa.array(site.urls[1]).take(pa.array(pages)),
            "lang_a": [LANGS[0]] * total,
            "lang_b": [LANGS[1]] * total,
            "source": pa.array(texts[0]).take(pa.array(site.chosen[0].ravel())),
            "target": pa.array(texts[1]).take(pa.array(site.chosen[1].ravel())),
            "kind": ["1-1"] * total,
            **{name: np.ones(total, np.float32) for name in ("probability", "per_word", "held_out")},
            "chance": chance,
            **{f"block_{side}": blocks for side in "ab"},
            **{f"start_{side}": np.zeros(total, np.int32) for side in "ab"},
            "end_a": ends[0],
            "end_b": ends[1],
            "verdict": np.where(chance > 0.05, "segment", "weak"),
        }
    )


def _rejects() -> pa.Table:
    reasons = ("not-html", "http-404", "duplicate", "robots")
    rows = [(f"https://x.example/{k}", "ingest", reasons[k % len(reasons)], "") for k in range(N_REJECTS)]
    return _rows(rows, REJECTS)


def _rows(rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema)
