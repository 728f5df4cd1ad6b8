"""The mining job: crawl addresses, read paths, match. Each stage is skipped when done."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from twinlink.config import Config
from twinlink.errors import EmptyMatchError, InputError, TwinlinkError
from twinlink.jobs.origin import SourceMode, entering, origin_of, split_inputs
from twinlink.jobs.stages import ALL_CORES, align_stage, crawl_stage, ingest_stage, match_stage, report_stage, silent
from twinlink.language_names import check_two
from twinlink.languages import base_language
from twinlink.progress import Report
from twinlink.rundir.directory import RunDirectory
from twinlink.system.workers import Workers


def mine_stages(
    inputs: Sequence[str],
    run: RunDirectory,
    config: Config,
    report: Report = silent,
    how: SourceMode = "same",
    *,
    align: bool = False,
    workers: Workers = ALL_CORES,
) -> str:
    """Run all stages for ``inputs`` (addresses, archives, folders) in ``run``; return why there is no report, or "".

    Parameters
    ----------
    inputs : sequence of str
        Addresses, archives, folders.
    run : RunDirectory
    config : Config
    report : callable, optional
    how : {"same", "add", "replace"}
        Relation of the inputs to the sources of an existing run, see `twinlink.jobs.origin`.
    align : bool
        Whether to align the sentences of the pairs.
    workers : Workers, optional
        By default one process per core. The result is the same.
    """
    urls, paths = split_inputs(inputs)
    if not urls and not paths:
        known = str(origin_of(run))
        more = f"; {run.path} was made from {known}, which can be named again" if known else ""
        raise InputError(f"no sources: expected at least one address, archive or folder{more}")
    _check_match(config)
    if workers.cluster:  # a wrong address is found before hours of crawling
        with workers.executor(run.path):
            pass
    with entering(run, urls, paths, config, how) as (place, sources):
        if urls:
            crawl_stage(urls, place, config, report, run.pause_file)
        ingest_stage(sources, place, config, report, workers, partial(_load_match, config.langs))
        match_stage(place, config, report, workers)
        if place is not run:
            _check_replacement(place, config.langs)
        if align:
            _show(place, report)  # so that an error does not leave the report of the earlier pairs
            align_stage(place, config, report, workers)
        _load_parts(place, config, report)
    return _show(run, report)


def _load_parts(run: RunDirectory, config: Config, report: Report) -> None:
    """Fetch style sheets and pictures of the pages of pairs; a failure does not affect the results."""
    if config.crawl.page_parts == "none":
        return
    from twinlink.jobs.page_parts import fetch_page_parts

    try:
        fetch_page_parts(run, config, report)
    except TwinlinkError as error:
        report("page parts", 0, None, f"not fetched: {error}")


def _load_match(langs: Sequence[str]) -> None:
    """Load what the match of many pages in some languages needs, and the report."""
    import scipy.sparse.csgraph  # noqa: F401  (for groups of near-duplicates)

    import twinlink.match.stage
    import twinlink.review.report.stage  # noqa: F401

    if "zh" in map(base_language, langs):
        from twinlink.text.chinese import load_dictionary

        load_dictionary()


def _show(run: RunDirectory, report: Report) -> str:
    """Write the report; a failure does not affect the results, and is returned."""
    report("report", 0, None, "drawing")
    try:
        report_stage(run)
    except TwinlinkError as error:
        report("report", 0, None, f"not written: {error}")
        return f"the report was not written: {error}"
    return ""


def _check_match(config: Config) -> None:
    """Check the input of `match` now, to report errors before hours of crawling."""
    check_two(config.langs)
    if config.match.lexicons:
        from twinlink.similarity.lexicon_files import read_lexicon
        from twinlink.similarity.lexicon_sets import named_files

        for path in named_files(config.match.lexicons):
            read_lexicon(path)
    if config.match.method != "weighed":
        from twinlink.match.methods.registry import check_cut

        check_cut(config.match)
    if config.match.patterns.libraries:
        from twinlink.patterns.library import read_libraries

        read_libraries(config.match.patterns.libraries)


def _check_replacement(place: RunDirectory, langs: Sequence[str]) -> None:
    """Refuse to replace a run by one without pairs."""
    from twinlink.match.counts import count_match, why_none
    from twinlink.match.pairs_file import n_pairs

    folder = place.stage_folder("match")
    if not n_pairs(folder):
        counts = count_match(place, folder)
        why = why_none(counts.languages, langs, counts.reasons)
        ended = f"The run is unchanged; the new result is in {place.path}"
        raise EmptyMatchError(place.path, ended, counts, why)
