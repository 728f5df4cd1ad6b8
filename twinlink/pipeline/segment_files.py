"""What stage `align` hands to other programs: TMX, TSV and the like, and the learned lexicon."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from pathlib import Path

import pyarrow.compute as pc

from twinlink.bitext.exports import ENDINGS, Row, open_for_writing, write_jsonl, write_moses, write_tmx, write_tsv
from twinlink.bitext.filters import SEGMENT
from twinlink.bitext.knowledge import Knowledge
from twinlink.bitext.wordlist import learned_lexicon, most_frequent, write_lexicon
from twinlink.bitext_config import BitextSettings, Compression
from twinlink.rundir import twinlink_version
from twinlink.tables import SEGMENTS, iter_parts, read_table

__all__ = ["export_rows", "export_segments", "export_words"]


def export_words(
    folder: Path,
    langs: tuple[str, str],
    known: Knowledge,
    forms: Counter[tuple[int, str, str]],
    *,
    compress: Compression,
) -> None:
    """Write the lexicon that two languages of a run have taught, each word in its most frequent form."""
    of_side = [
        most_frequent(Counter({(key, form): count for (side, key, form), count in forms.items() if side == number}))
        for number in (0, 1)
    ]
    with open_for_writing(_file(folder, langs, "lexicon.tsv", compress=compress)) as file:
        write_lexicon(learned_lexicon(known.words, *of_side), file)


def _file(folder: Path, langs: tuple[str, str], ending: str, *, compress: Compression) -> Path:
    return folder / f"{'-'.join(langs)}.{ending}{ENDINGS[compress]}"


def export_rows(segments: Path, langs: tuple[str, str]) -> Iterator[Row]:
    """Yield the segments of two languages that are handed out, from the table of a run, a site at a time.

    Parameters
    ----------
    segments : Path
        Folder ``RUN/align/segments``.
    langs : pair of str
    """
    for part in iter_parts(segments / "-".join(langs)):
        table = read_table(part, SEGMENTS)
        keep = pc.equal(table["verdict"], SEGMENT)
        for batch in table.filter(keep).select(Row._fields).to_batches(max_chunksize=4096):
            yield from (Row(*row) for row in zip(*(column.to_pylist() for column in batch.columns), strict=True))


def export_segments(folder: Path, langs: tuple[str, str], settings: BitextSettings, created: datetime) -> None:
    """Write the segments of two languages in the formats of the settings."""
    rows = partial(export_rows, folder / "segments", langs)
    path = partial(_file, folder, langs, compress=settings.compress)
    if "tmx" in settings.formats:
        with open_for_writing(path("tmx")) as file:
            write_tmx(rows(), file, langs, twinlink_version(), created)
    if "tsv" in settings.formats:
        with open_for_writing(path("tsv")) as file:
            write_tsv(rows(), file)
    if "jsonl" in settings.formats:
        with open_for_writing(path("jsonl")) as file:
            write_jsonl(rows(), file, langs)
    if "moses" in settings.formats:
        with open_for_writing(path(langs[0])) as source, open_for_writing(path(langs[1])) as target:
            write_moses(rows(), source, target)
