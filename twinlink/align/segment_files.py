"""Exports of stage `align`: TMX, TSV and other formats, and the learned lexicon."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from twinlink.align.formats.exports import (
    ENDINGS,
    Row,
    open_for_reading,
    open_for_writing,
    write_jsonl,
    write_moses,
    write_tmx,
    write_tsv,
)
from twinlink.align.knowledge import Knowledge
from twinlink.align.words.learned_lexicon import learned_lexicon, most_frequent, write_lexicon
from twinlink.config.align import BitextSettings, Compression
from twinlink.files import write_text
from twinlink.tables import SEGMENT, SEGMENTS, iter_parts, read_table
from twinlink.version import __version__

__all__ = ["export_again", "export_all", "export_rows", "export_words", "is_exported"]

RECORD = "exports.json"
"""Record of the formats written beside the tables."""
_FRESH = ".fresh"


def export_words(
    folder: Path,
    langs: tuple[str, str],
    known: Knowledge,
    forms: Counter[tuple[int, str, str]],
    *,
    compress: Compression,
) -> None:
    """Write the learned lexicon of two languages of a run, each word in its most frequent form."""
    of_side = [
        most_frequent(Counter({(key, form): count for (side, key, form), count in forms.items() if side == number}))
        for number in (0, 1)
    ]
    with open_for_writing(_file(folder, langs, "lexicon.tsv", compress=compress)) as file:
        write_lexicon(learned_lexicon(known.words, *of_side), file)


def _file(folder: Path, langs: tuple[str, str], ending: str, *, compress: Compression) -> Path:
    return folder / f"{'-'.join(langs)}.{ending}{ENDINGS[compress]}"


def is_exported(segments: pa.Table, min_score: float) -> pa.ChunkedArray:
    """Return which rows of `SEGMENTS` go into files: those that are kept, of this score (`Row.score`) or more."""
    keep = pc.equal(segments["verdict"], SEGMENT)
    if not min_score:
        return keep
    score = pc.coalesce(segments["chance"], segments["probability"])
    return pc.and_(keep, pc.greater_equal(score, pa.scalar(min_score, score.type)))


def export_rows(segments: Path, langs: tuple[str, str], min_score: float = 0.0) -> Iterator[Row]:
    """Yield the segments of two languages that are kept, from the table of a run, site by site.

    Parameters
    ----------
    segments : Path
        Folder ``RUN/align/segments``.
    langs : pair of str
    min_score : float
        Least score (`Row.score`).
    """
    for part in iter_parts(segments / "-".join(langs)):
        table = read_table(part, SEGMENTS)
        for batch in table.filter(is_exported(table, min_score)).select(Row._fields).to_batches(max_chunksize=4096):
            yield from (Row(*row) for row in zip(*(column.to_pylist() for column in batch.columns), strict=True))


def export_all(folder: Path, languages: Sequence[tuple[str, str]], settings: BitextSettings, created: datetime) -> None:
    """Write the segments of each two languages in the formats of the settings, and a record of what was written."""
    for langs in languages:
        _export_segments(folder, folder, langs, settings, created)
    write_text(folder / RECORD, _wanted(settings))


def export_again(
    folder: Path, languages: Sequence[tuple[str, str]], settings: BitextSettings, created: datetime
) -> None:
    """Write the wanted formats from the tables, unless their files exist already.

    Parameters
    ----------
    folder : Path
        ``RUN/align``; files of formats that are not wanted are removed.
    languages : sequence of pairs of str
    settings : BitextSettings
    created : datetime
        Creation date in the TMX, in UTC.
    """
    record = folder / RECORD
    is_recorded = record.exists() and record.read_bytes() == _wanted(settings).encode()
    if is_recorded and all(file.exists() for langs in languages for file in _pair_files(folder, langs, settings)):
        return
    fresh = folder / _FRESH
    shutil.rmtree(fresh, ignore_errors=True)  # by an earlier call that was stopped
    fresh.mkdir()
    try:  # an error leaves the files as they were
        for langs in languages:
            _recompress(folder, fresh, langs, compress=settings.compress)
            _export_segments(folder, fresh, langs, settings, created)
        record.unlink(missing_ok=True)  # if interrupted from here, the next call completes the work
        for file in sorted(fresh.iterdir()):
            file.replace(folder / file.name)
        for langs in languages:
            for file in _all_files(folder, langs) - _wanted_files(folder, langs, settings):
                file.unlink(missing_ok=True)
        write_text(record, _wanted(settings))
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _wanted(settings: BitextSettings) -> str:
    wanted = {"formats": sorted(settings.formats), "compress": settings.compress, "min_score": settings.min_score}
    return json.dumps({**wanted, "tool": __version__})


def _endings(langs: tuple[str, str]) -> dict[str, tuple[str, ...]]:
    """Return what the names of the files of each format end in."""
    return {"tmx": ("tmx",), "tsv": ("tsv",), "jsonl": ("jsonl",), "moses": langs}


def _all_files(folder: Path, langs: tuple[str, str]) -> set[Path]:
    names = ("lexicon.tsv", *chain(*_endings(langs).values()))
    return {_file(folder, langs, name, compress=compress) for name in names for compress in ENDINGS}


def _wanted_files(folder: Path, langs: tuple[str, str], settings: BitextSettings) -> set[Path]:
    return {_file(folder, langs, "lexicon.tsv", compress=settings.compress), *_pair_files(folder, langs, settings)}


def _pair_files(folder: Path, langs: tuple[str, str], settings: BitextSettings) -> set[Path]:
    """Return the wanted files of sentence pairs, which the tables have all of; they have no lexicon."""
    names = chain(*(_endings(langs)[form] for form in settings.formats))
    return {_file(folder, langs, name, compress=settings.compress) for name in names}


def _recompress(folder: Path, fresh: Path, langs: tuple[str, str], *, compress: Compression) -> None:
    """Write the lexicon as it is wanted, from as it is."""
    wanted = _file(folder, langs, "lexicon.tsv", compress=compress)
    there = [_file(folder, langs, "lexicon.tsv", compress=other) for other in ENDINGS]
    found = next((file for file in there if file.exists()), None)
    if found and not wanted.exists():
        with open_for_reading(found) as old, open_for_writing(fresh / wanted.name) as new:
            shutil.copyfileobj(old, new)


def _export_segments(
    folder: Path, target: Path, langs: tuple[str, str], settings: BitextSettings, created: datetime
) -> None:
    rows = partial(export_rows, folder / "segments", langs, settings.min_score)
    path = partial(_file, target, langs, compress=settings.compress)
    if "tmx" in settings.formats:
        with open_for_writing(path("tmx")) as file:
            write_tmx(rows(), file, langs, __version__, created)
    if "tsv" in settings.formats:
        with open_for_writing(path("tsv")) as file:
            write_tsv(rows(), file)
    if "jsonl" in settings.formats:
        with open_for_writing(path("jsonl")) as file:
            write_jsonl(rows(), file, langs)
    if "moses" in settings.formats:
        with open_for_writing(path(langs[0])) as one, open_for_writing(path(langs[1])) as other:
            write_moses(rows(), one, other)
