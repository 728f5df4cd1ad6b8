"""Stage `languages`: the language of each page by its text alone, for runs that are not matched.

`match` is more accurate: it also uses the site's other pages, links and addresses. This stage is one quick test per
page.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from twinlink.language.identify import identify_text
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.signature import Signature
from twinlink.tables import LANGUAGES, PAGES, iter_parts, part_like, part_writer, read_table

MAX_LETTERS = 20_000
"""Maximum number of letters of a page used to identify its language."""


def identify_pages(run: RunDirectory, on_site: Callable[[int, int], None] | None = None) -> Signature:
    """Find the language of every page of a run, unless that is done; tables `LANGUAGES` below ``RUN/languages``.

    Raises
    ------
    MissingStageError
        If the pages have not been ingested.
    """
    parts = list(iter_parts(run.stage_folder("ingest") / "pages"))
    signature = _signature(run)
    if run.is_done(signature):
        return signature
    with run.writing(signature) as folder, part_writer() as writer:
        for done, part in enumerate(parts, 1):
            writer.write([_languages(part)], LANGUAGES, part_like(folder, part))
            if on_site is not None:
                on_site(done, len(parts))
    return signature


def _signature(run: RunDirectory) -> Signature:
    return Signature.of("languages", {"letters": MAX_LETTERS}, [str(run.read_signature("ingest"))])


def _languages(part: Path) -> pa.Table:
    pages = read_table(part, PAGES, ("page_id", "blocks"))
    found = [identify_text(" ".join(blocks)[:MAX_LETTERS]) for blocks in pages["blocks"].to_pylist()]
    langs, scores = [lang for lang, _ in found], [score for _, score in found]
    columns = {"page_id": pages["page_id"], "lang": langs, "lang_score": pa.array(scores, pa.float32())}
    return pa.table(columns, schema=LANGUAGES)


def language_tables(run: RunDirectory) -> tuple[Path, Signature] | None:
    """Return where the languages of a run's pages are, a table `LANGUAGES` a site, and what they came from.

    Those of `match` take precedence over those of this stage, which are valid only while the pages are the same.
    None: unknown.
    """
    matched = run.read_signature("match")
    if matched is not None:
        return run.path / "match" / "languages", matched
    signature = _signature(run)
    return (run.path / "languages", signature) if run.is_done(signature) else None
