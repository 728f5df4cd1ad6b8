"""Writing of the report of a run, ``RUN/report.html``, from the tables of all finished stages."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from twinlink.errors import GoldError, InputError, RunError
from twinlink.evaluation.gold import Gold, as_gold, curve_points, evaluate
from twinlink.files import real_path, write_text
from twinlink.ingest.page_addresses import PageAddresses
from twinlink.labels.book import UNLABELLED, LabelBook, label_codes
from twinlink.labels.precision import estimate
from twinlink.review.reading.columns import floats, read_sites
from twinlink.review.report.data import Measured, ReportData
from twinlink.review.report.document import render_report
from twinlink.review.report.found import shown_pairs
from twinlink.review.report.reading import (
    candidate_sums,
    count_languages,
    count_look_alikes,
    count_pages,
    count_rejects,
    count_sentences,
    read_crawl,
    read_example_titles,
    read_filters,
    read_patterns,
    read_titles,
    read_weights,
    site_graphs,
)
from twinlink.review.report.trust import CUTS
from twinlink.review.templating import shortened
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.rounds import FOLDER, ROUNDS_FILE, Rounds
from twinlink.rundir.signature import Signature, file_digest
from twinlink.system.disk import disk_problem
from twinlink.tables import FILTERS, PAIRS, WEIGHTS
from twinlink.version import __version__

_STAGES = ("ingest", "match", "align", "patterns")
_STAMP = re.compile(r'<meta name="twinlink-made-from" content="([^"]*)">')
_HEAD_BYTES = 4096  # they contain the stamp
_OF_LAST_CALL = "seconds_of_last_run"  # differs even if nothing else does


def write_report(
    run: RunDirectory, target: Path | None = None, gold: Path | Gold | None = None, *, is_held: bool = False
) -> Path:
    """Write the report of a run and return where it is.

    Parameters
    ----------
    run : RunDirectory
        With stage `ingest` done; results of other stages are shown if they exist.
    target : Path, optional
        The file; ``report.html`` in the run by default.
    gold : Path or Gold, optional
        Known pairs, or their file (see `twinlink.evaluation.gold`), for precision and recall.
    is_held : bool, optional
        Whether the caller has the lock of the run. Its temporary name is always the same, so that nothing of a killed
        job stays; that of any other caller is its own, since nobody waits for anybody.

    Raises
    ------
    MissingStageError
        If no pages have been read yet.
    GoldError
        If the gold file cannot be read as one.
    InputError
        If the file cannot be written, or is a file of the run or the list of known pairs.
    RunError
        If the disk is full, or can only be read.
    """
    target = run.report_file if target is None else target
    run.check_target(target)
    if isinstance(gold, Path) and real_path(target) == real_path(gold):
        raise InputError(f"{target}: this is the list of known pairs; choose another file for the report")
    stamp = report_stamp(run)  # before the data: a label that comes meanwhile must make the report out of date
    text = render_report(report_data(run, gold), stamp)
    try:
        write_text(target, text, "" if is_held else secrets.token_hex(4))
    except OSError as error:
        if problem := disk_problem(error, target):
            raise RunError(f"{target}: {problem}") from error
        raise InputError(f"{target}: cannot be written ({error.strerror})") from error
    return target


def refresh_report(run: RunDirectory) -> Path:
    """Write the report of a run, whose lock the caller has, unless it is up to date; return where it is."""
    try:
        with run.report_file.open("rb") as file:
            found = _STAMP.search(file.read(_HEAD_BYTES).decode(errors="replace"))
    except OSError:
        found = None
    return run.report_file if found and found[1] == report_stamp(run) else write_report(run, is_held=True)


def report_in_review(run: RunDirectory) -> str:
    """Return the report of a run as a review shows it: with links to its pairs.

    Raises
    ------
    MissingStageError
        If no pages have been read yet.
    """
    return render_report(replace(report_data(run), is_in_review=True))


def report_stamp(run: RunDirectory) -> str:
    """Return a digest of everything that the report is made from."""
    labels, rounds = LabelBook(run.path).file, run.path / FOLDER / ROUNDS_FILE
    digests = [file_digest(path, path.name) if path.is_file() else "" for path in (labels, rounds)]
    crawl = {name: value for name, value in read_crawl(run).items() if name != _OF_LAST_CALL}
    stages = [str(run.read_signature(stage)) for stage in _STAGES]
    return str(Signature.of("report", {}, [*stages, *digests, repr(crawl), _settings(run)]))


def _settings(run: RunDirectory) -> str:
    return run.config_file.read_text(encoding="utf-8", errors="replace") if run.config_file.is_file() else ""


def report_data(run: RunDirectory, gold: Path | Gold | None = None) -> ReportData:
    """Read the data of the report."""
    sites, fetched = count_pages(run)
    is_matched = run.read_signature("match") is not None
    pairs = read_sites(run.path / "match" / "pairs", PAIRS) if is_matched else PAIRS.empty_table()
    scores, evidence, n_candidates = candidate_sums(run, pairs) if is_matched else (None, {}, 0)
    patterns, pattern_verdicts = read_patterns(run)
    labels = label_codes(pairs["url_a"], pairs["url_b"], LabelBook(run.path).current())
    look_alikes, rejects = count_look_alikes(run, pairs), count_rejects(run)
    columns = (look_alikes["url"], look_alikes["partner"], rejects["url"], patterns["example_a"], patterns["example_b"])
    examples = [address for column in columns for address in column.to_pylist()]
    return ReportData(
        name=run.path.resolve().name,
        made=datetime.now(UTC),
        version=__version__,
        signatures={stage: str(found) for stage in _STAGES if (found := run.read_signature(stage))},
        is_matched=is_matched,
        sites=sites,
        languages=count_languages(run, pairs),
        pairs=pairs,
        titles=_shown_titles(run, pairs),
        example_titles=read_example_titles(run, examples),
        scores=scores,
        evidence=evidence,
        n_candidates=n_candidates,
        weights=read_weights(run) if is_matched else WEIGHTS.empty_table(),
        filters=read_filters(run) if is_matched else FILTERS.empty_table(),
        patterns=patterns,
        pattern_verdicts=pattern_verdicts,
        rejects=rejects,
        crawl=read_crawl(run),
        fetched=fetched,
        sentences=count_sentences(run),
        rounds=Rounds(run).table(),
        graphs=site_graphs(run, pairs),
        measured=[*_by_gold(run, pairs, gold), *_by_labels(pairs, labels)],
        labels=labels,
        settings=_settings(run),
        look_alikes=look_alikes,
    )


def _shown_titles(run: RunDirectory, pairs: pa.Table) -> dict[int, str]:
    if not len(pairs):
        return {}
    shown = pairs.take(np.concatenate(shown_pairs(pairs)))
    pages = pa.chunked_array([*shown["page_a"].chunks, *shown["page_b"].chunks])
    return read_titles(run, shown["site"], pages)


def _by_gold(run: RunDirectory, pairs: pa.Table, given: Path | Gold | None) -> Sequence[Measured]:
    """Return precision and recall by a gold list; empty without one."""
    if given is None:
        return []
    gold = _known_pairs(run, given)
    addresses = list(zip(pairs["url_a"].to_pylist(), pairs["url_b"].to_pylist(), strict=True))
    found = evaluate(addresses, gold)
    has_probabilities = pairs["probability"].null_count < len(pairs)
    ranks = pc.fill_null(pairs["probability"], 1.0) if has_probabilities else pairs["score"]  # null: accepted
    curve = curve_points(addresses, ranks.to_pylist(), gold)
    places, scores, precisions, _ = np.array(curve, np.float64).reshape(-1, 4).T
    kept = {cut: int((scores >= cut).sum()) for cut in CUTS} if has_probabilities else {}
    return [
        Measured(
            source=f"the list {shortened(given.name, 40)}" if isinstance(given, Path) else "the known pairs",
            precision=found.precision,
            n=found.n_right + found.n_wrong,
            recall=found.recall,
            coverage=places / max(len(pairs), 1),
            precisions=precisions,
            cuts={cut: float(precisions[n_kept - 1]) for cut, n_kept in kept.items() if n_kept},
        )
    ]


def _known_pairs(run: RunDirectory, given: Path | Gold) -> Gold:
    """Return known pairs of the run's pages; refuse a list that has none of them, since all pairs would be wrong."""
    pages = PageAddresses(run.stage_folder("ingest"))
    gold = pages.known_pairs(as_gold(given))
    known = gold.known()
    if not any(gold.key(url) in known for url in pages.own):
        name = given if isinstance(given, Path) else "known pairs"
        raise GoldError(f"{name}: none of its {len(known)} addresses is in the run; is it this site's gold?")
    return gold


def _by_labels(pairs: pa.Table, labels: npt.NDArray[np.int8]) -> Sequence[Measured]:
    """Return the precision estimated from labels; empty without labels."""
    if not (labels != UNLABELLED).any():
        return []
    probabilities = floats(pairs["probability"])
    whole = estimate(probabilities, labels)
    judged = [cut for cut in CUTS if (labels[probabilities >= cut] != UNLABELLED).any()]
    cuts = {cut: estimate(probabilities[probabilities >= cut], labels[probabilities >= cut]) for cut in judged}
    return [Measured("labels", whole, whole.n, cuts=cuts)]
