"""Stage `patterns`: the URL patterns of every site of a run, and a library for other runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import pyarrow as pa

from twinlink.config import Config
from twinlink.config.patterns import PatternSettings
from twinlink.damage import damaged
from twinlink.language.stage import language_tables
from twinlink.languages import UNDETERMINED
from twinlink.patterns.credibility import credible_keys
from twinlink.patterns.learning import SitePatterns, learn_patterns
from twinlink.patterns.library import PatternLibrary, read_libraries, read_library, write_library
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.remembered import keep_with, remember
from twinlink.rundir.signature import Signature, file_digest
from twinlink.tables import (
    LANGUAGES,
    PAGES,
    PATTERNS,
    is_part,
    iter_parts,
    part_like,
    part_writer,
    read_table,
    tsv_lines,
)

__all__ = [
    "CROWDED_FILE",
    "LIBRARY",
    "PAIRS_FILE",
    "PATTERNS_FILE",
    "export_library",
    "learn_run",
    "n_crowded",
    "paired_by_patterns",
    "pattern_table",
]

LIBRARY = "library.parquet"
PATTERNS_FILE = "patterns.tsv"
PAIRS_FILE = "pairs.tsv"
CROWDED_FILE = "crowded.tsv"

_N_COLUMNS = 3

Site = tuple[str, list[str], list[str] | None]
"""Name, addresses, languages if they are known."""


def learn_run(run: RunDirectory, config: Config, on_site: Callable[[int, int], None] | None = None) -> Signature:
    """Learn the URL patterns of every site of a run.

    Where stage `match` or `languages` has been done, the languages that it found are respected. Every site is learned
    twice: the statistics of the first pass rescue weak keys in the second. Memory is that of the largest site. Writes,
    below ``RUN/patterns``, the table `PATTERNS` (``patterns/SITE.parquet``, and all of it in ``patterns.tsv``), the
    pairs of credible and rescued patterns (``pairs.tsv``), the contribution of this run to a library
    (``library.parquet``), and the sites with places in which more than ``max_group`` addresses differ
    (``crowded.tsv``).

    Parameters
    ----------
    run : RunDirectory
        With stage `ingest` done.
    config : Config
        Its ``match.patterns`` is used.
    on_site : callable, optional
        Called after each site with the number of sites done and of all sites.

    Raises
    ------
    MissingStageError
        If the pages have not been ingested.
    InputError
        If a library cannot be read.
    """
    settings = config.match.patterns
    parts = list(iter_parts(run.stage_folder("ingest") / "pages"))
    imported = read_libraries(settings.libraries)
    known_langs = language_tables(run)
    inputs = [str(run.read_signature("ingest")), str(known_langs and known_langs[1])]
    inputs += [file_digest(Path(path)) for path in settings.libraries]
    signature = Signature.of("patterns", {"patterns": settings}, inputs)
    if run.is_done(signature):
        remember(run, config, "patterns")
        return signature
    n_steps = len(parts) * (2 if len(parts) > 1 else 1)
    prior = credible_keys(imported, settings)
    own = PatternLibrary()
    for done, part in enumerate(parts, 1):
        _, urls, langs = _site(run, part)
        own.add(learn_patterns(urls, langs, settings, prior))
        if on_site and len(parts) > 1:
            on_site(done, n_steps)
    known = PatternLibrary()
    known.merge(imported)
    known.merge(own)
    with run.writing(signature) as folder:
        write_library(own, folder / LIBRARY)
        for done in _write_sites(run, parts, folder, known, settings):
            if on_site:
                on_site(n_steps - len(parts) + done, n_steps)
        keep_with(run, folder, config, "patterns")
    return signature


def _write_sites(
    run: RunDirectory,
    parts: Sequence[Path],
    folder: Path,
    known: PatternLibrary,
    settings: PatternSettings,
) -> Iterator[int]:
    """Learn each site with the statistics of all, write its patterns and pairs, and yield the number of sites done."""
    credible = credible_keys(known, settings)
    with (
        (folder / PATTERNS_FILE).open("w", encoding="utf-8") as table,
        (folder / PAIRS_FILE).open("w", encoding="utf-8") as pairs,
        (folder / CROWDED_FILE).open("w", encoding="utf-8") as crowded,
        part_writer() as writer,
    ):
        crowded.write("site\tplaces\taddresses\n")
        table.writelines(f"{line}\n" for line in tsv_lines(PATTERNS.empty_table()))
        for done, part in enumerate(parts, 1):
            name, urls, langs = _site(run, part)
            found = learn_patterns(urls, langs, settings, credible)
            rows = pattern_table(name, found, urls, known)
            writer.write([rows], PATTERNS, part_like(folder / "patterns", part))
            table.writelines(f"{line}\n" for line in list(tsv_lines(rows))[1:])
            pairs.writelines(f"{line}\n" for line in _pair_lines(found, urls))
            if found.n_crowded:
                crowded.write(f"{name}\t{found.n_crowded}\t{found.n_crowded_masks}\n")
            yield done


def _site(run: RunDirectory, part: Path) -> Site:
    """Read the addresses of a site, and the languages of its pages if they are known."""
    pages = read_table(part, PAGES, ("page_id", "site", "url"))
    known = language_tables(run)
    langs: list[str] | None = None
    if known is not None and is_part(of_pages := part_like(known[0], part)):
        table = read_table(of_pages, LANGUAGES, ("page_id", "lang"))
        lang_of = dict(zip(table["page_id"].to_pylist(), table["lang"].to_pylist(), strict=True))
        langs = [lang_of.get(number, UNDETERMINED) for number in pages["page_id"].to_pylist()]
    return pages["site"][0].as_py(), pages["url"].to_pylist(), langs


def pattern_table(site: str, found: SitePatterns, urls: Sequence[str], library: PatternLibrary) -> pa.Table:
    """Return the patterns of a site as rows of `PATTERNS`, with what a library says of their keys."""
    rows = []
    for each in found.patterns:
        sums = library[each.key]
        rows.append(
            {
                "site": site,
                "rule": each.rule,
                "source": each.key.source,
                "target": each.key.target,
                "n_pages": each.n_pages,
                "n_pairs": each.n_pairs,
                "local": each.credibility,
                "global": sums.credibility,
                "mean": sums.mean,
                "n_sites": sums.n_sites,
                "verdict": each.verdict,
                "rescued": each.verdict == "rescued",
                "source_lang": each.source_lang,
                "target_lang": each.target_lang,
                "example_a": urls[each.example[0]],
                "example_b": urls[each.example[1]],
                "site_pages": found.n_pages,
                "site_credibility": found.credibility,
            }
        )
    return pa.Table.from_pylist(rows, schema=PATTERNS)


def _pair_lines(found: SitePatterns, urls: Sequence[str]) -> Iterator[str]:
    """Yield the pairs of credible and rescued patterns, ordered by address."""
    if not found.patterns:
        return
    used = found.used()
    yield from sorted(
        f"{urls[a]}\t{urls[b]}\t{found.patterns[k].rule}"
        for a, b, k in zip(
            found.sources[used].tolist(), found.targets[used].tolist(), found.pattern_of[used].tolist(), strict=True
        )
    )


def paired_by_patterns(run: RunDirectory) -> Iterator[tuple[str, str, str]]:
    """Yield the addresses that the run's patterns pair, each two with their rule.

    Raises
    ------
    MissingStageError
        If the patterns have not been learned.
    DamagedError
        If the file cannot be read.
    """
    yield from _rows(run.stage_folder("patterns") / PAIRS_FILE, "two addresses and a rule")


def n_crowded(run: RunDirectory) -> int:
    """Return the number of places in addresses in which more of them differ than were compared, on all sites.

    Raises
    ------
    MissingStageError
        If the patterns have not been learned.
    DamagedError
        If the file cannot be read.
    """
    path = run.stage_folder("patterns") / CROWDED_FILE
    try:
        return sum(int(places) for _, places, _ in islice(_rows(path, "a site and two numbers"), 1, None))
    except ValueError as error:
        raise damaged(path, error) from error


def _rows(path: Path, expected: str) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of a file of the stage, each of three columns separated by tabs."""
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                columns = line.rstrip("\n").split("\t")
                if len(columns) != _N_COLUMNS:
                    raise damaged(path, f"line {number}: expected {expected}, got {len(columns)} columns")
                yield columns[0], columns[1], columns[2]
    except (OSError, UnicodeDecodeError) as error:
        raise damaged(path, error) from error


def export_library(run: RunDirectory, path: Path) -> int:
    """Write what the run adds to a library to a separate file (TSV, or Parquet by its ending); return its size.

    Imported libraries are not included, so that libraries of several runs can be merged without counting a site twice.
    """
    library = read_library(run.stage_folder("patterns") / LIBRARY)
    write_library(library, path)
    return len(library)
