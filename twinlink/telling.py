"""What the command line says of a result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from twinlink.errors import NothingFoundError

if TYPE_CHECKING:
    from twinlink.evaluate import Evaluation
    from twinlink.pipeline.verify import Verified
    from twinlink.run import Run
    from twinlink.spiders.crawl import CrawlProgress

__all__ = [
    "tell_crawl",
    "tell_discovery",
    "tell_evaluation",
    "tell_pairs",
    "tell_round",
    "tell_segments",
    "tell_verdicts",
    "write_verdicts",
]

_SITES_SHOWN = 5  # of a round, by verdict


def tell_crawl(progress: CrawlProgress, out: Path) -> None:
    """Say what a crawl brought in, and what it left out why; a line a site where there are several."""
    if progress.n_sites > 1:
        for site in progress.sites:
            ended = f", ended by {site.ended}" if site.ended else ""
            typer.echo(f"  {site.site}: {site.pages} pages, {site.rejected} rejected, {site.queued} queued{ended}")
        if progress.n_sites > len(progress.sites):
            typer.echo(f"  … {progress.n_sites} sites in all, see {out}/crawl.json")
    for reason, count in progress.reasons.items():
        typer.echo(f"  rejected: {reason} {count}")
    if progress.again:
        typer.echo("asked again: " + ", ".join(f"{name} {count}" for name, count in progress.again.items() if count))
    typer.echo(f"{progress.fetched} pages fetched, {progress.rejected} rejected → {out}/warc, {out}/crawl.json")


def tell_pairs(found: Run) -> None:
    """Say what came out; no pair at all is an error that shows the counts."""
    pages, rejects = found.pages, found.rejects
    langs = ", ".join(f"{lang} {count}" for lang, count in pages["lang"].value_counts().items()) if len(pages) else ""
    typer.echo(f"{len(pages)} pages" + (f" ({langs})" if langs else ""))
    counts = Counter(zip(rejects["stage"], rejects["reason"], strict=True))
    for (stage, reason), count in sorted(counts.items()):
        typer.echo(f"  rejected in {stage}: {reason} {count}")
    filters = found.filters.groupby("filter", sort=False)["n_pairs"].sum()
    if len(filters):
        counts_of = {"passed all" if name == "kept" else name: count for name, count in filters.items()}
        typer.echo("candidates by filter: " + ", ".join(f"{name} {count}" for name, count in counts_of.items()))
    if found.pairs.empty:
        raise NothingFoundError(
            f"0 pairs: {_why_none(found)}. The reasons above count every page; tables: {found.path}"
        )
    chances = found.pairs["probability"]
    claim = "no expected precision (the method tells none)"
    if chances.notna().all():
        claim = f"expected precision {chances.mean():.3f}"
    typer.echo(f"{len(found.pairs)} pairs, {claim} → {found.path / 'pairs.tsv'}")


def _why_none(found: Run) -> str:
    if found.pages.empty:
        return "no page was kept"
    there = set(found.pages["lang"])
    if len(there) < 2:
        return "all pages are in one language"
    for tag in found.config.langs:
        if not any(f"{lang}-".lower().startswith(f"{tag}-".lower()) for lang in there):
            return f"no page is in {tag}"
    return "no page of one wanted language has a partner in another"


def tell_segments(path: Path) -> None:
    """Say how many sentence pairs of which languages came out, and what was left out why."""
    from twinlink.tables import SEGMENTS, read_table

    stage = path / "align"
    total = 0
    for folder in sorted((stage / "segments").glob("*")):
        verdicts = Counter(read_table(folder, SEGMENTS, ("verdict",))["verdict"].to_pylist())
        kept = verdicts.pop("segment", 0)
        total += kept
        left_out = ", ".join(f"{reason} {count}" for reason, count in verdicts.most_common())
        typer.echo(f"{folder.name}: {kept} sentence pairs" + (f"; left out: {left_out}" if left_out else ""))
    if not total:
        raise NothingFoundError(f"0 sentence pairs: the run has no page pairs, or all were left out; tables: {stage}")
    typer.echo(f"{total} sentence pairs → {stage}")


def write_verdicts(verified: Verified, target: Path) -> None:
    """Write verdicts as tab-separated lines."""
    from twinlink.rundir import write_text
    from twinlink.tables import tsv_lines

    write_text(target, "".join(f"{line}\n" for line in tsv_lines(verified.table)))


def tell_verdicts(verified: Verified, target: Path) -> None:
    """Say what each method makes of the pairs; not one that could be judged is an error."""
    for summary in verified.summaries:
        counts = ", ".join(f"{verdict} {count}" for verdict, count in summary.counts.items())
        found = "".join(f", {name} {value:.4g}" for name, value in summary.found.items())
        notes = f" ({', '.join(summary.notes)})" if summary.notes else ""
        typer.echo(f"{summary.method:12}  {counts}{found}{notes}")
    missing = Counter(row["verdict"] for row in verified.table.to_pylist() if row["method"] is None)
    for reason, count in missing.items():
        typer.echo(f"not judged: {reason} {count}")
    if not verified.summaries:
        raise NothingFoundError(f"no pair could be judged: of none are both pages there; verdicts: {target}")
    typer.echo(f"verdicts → {target}")


def tell_round(row: Mapping[str, int], out: Path) -> None:
    """Say how a round of discovery went, with the sites that gave nothing and why."""
    from twinlink.pipeline.rounds import VERDICTS_FILE, Rounds
    from twinlink.rundir import RunDirectory

    rounds = Rounds(RunDirectory(out))
    verdicts = rounds.verdicts(row["round"])
    failed = [each for each in verdicts.to_pylist() if not each["pages"]] if verdicts is not None else []
    for each in failed[:_SITES_SHOWN]:
        typer.echo(f"  {each['site']}: {each['verdict']} ({each['reason']})")
    if len(failed) > _SITES_SHOWN:
        typer.echo(f"  … {len(failed)} sites in all gave no page, see {rounds.folder / VERDICTS_FILE}")
    typer.echo(
        f"round {row['round']}: {row['tried']} sites tried, {row['added']} added, {row['one_language']} not bilingual,"
        f" {row['refused']} refused, {row['dead']} dead, {row['unreadable']} unreadable; {row['pairs']} pairs on"
        f" {row['with_pairs']} of its sites; so far {row['sites']} sites, {row['all_pairs']} pairs"
    )


def tell_discovery(out: Path, wanted: int) -> None:
    """Show the table of all rounds, where it lies, and whether there were as many rounds as wanted."""
    from twinlink.pipeline.roundplot import PLOT_FILE
    from twinlink.pipeline.rounds import ROUNDS_FILE, VERDICTS_FILE, Rounds
    from twinlink.rundir import RunDirectory

    rounds = Rounds(RunDirectory(out))
    table = rounds.table()
    rows = [table.column_names, *([str(value) for value in row.values()] for row in table.to_pylist())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        typer.echo("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))
    if table.num_rows <= wanted:
        typer.echo("no site is left to try")
    typer.echo(
        f"rounds → {rounds.folder / ROUNDS_FILE}, {PLOT_FILE}; verdicts → {rounds.folder / VERDICTS_FILE};"
        f" pairs → {out / 'patterns' / 'pairs.tsv'}; next sites → {out / 'rank' / 'sites.tsv'}"
    )


def tell_evaluation(result: Evaluation) -> None:
    """Say the counts and the three measures."""
    typer.echo(
        f"gold {result.n_gold}, predicted {result.n_predicted}, right {result.n_right}, wrong {result.n_wrong}, "
        f"not scored {result.n_unscored}"
    )
    typer.echo(f"precision {result.precision:.4f}  recall {result.recall:.4f}  F1 {result.f1:.4f}")
