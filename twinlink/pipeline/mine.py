"""The whole job: crawl what is an address, read what is a path, match. Each stage is skipped when it is done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from twinlink.config import Config
from twinlink.errors import InputError
from twinlink.pipeline.ingest import ingest
from twinlink.pipeline.match import match
from twinlink.rundir import RunDirectory, write_text
from twinlink.spiders.crawl import CrawlProgress, crawl
from twinlink.spiders.urls import normalise

__all__ = ["Report", "crawl_stage", "ingest_stage", "match_stage", "mine_stages", "split_inputs"]

Report = Callable[[str, int, int | None], None]
"""Called with a stage's name, how much of it is done, and out of how much (None: not known)."""


def silent(stage: str, done: int, total: int | None) -> None:
    """Report nothing."""


def split_inputs(inputs: Sequence[str]) -> tuple[list[str], list[Path]]:
    """Tell addresses from paths.

    >>> split_inputs(["https://www.example.org", "mirror"])
    (['https://www.example.org/'], [PosixPath('mirror')])

    Raises
    ------
    InputError
        If an address is of another scheme than http and https, or there is no such path.
    """
    urls, paths = [], []
    for text in inputs:
        if "://" in text:
            url = normalise(text)
            if url is None:
                raise InputError(f"{text}: not a usable address; expected http://HOST/… or https://HOST/…")
            urls.append(url)
        elif Path(text).exists() or not _looks_like_host(text):
            paths.append(Path(text))
        else:
            raise InputError(f"{text}: no such file or folder; if a site is meant, write https://{text}")
    return urls, paths


def _looks_like_host(text: str) -> bool:
    return "." in text and normalise(f"http://{text}") is not None and not text.startswith((".", "/"))


def mine_stages(inputs: Sequence[str], run: RunDirectory, config: Config, report: Report = silent) -> None:
    """Do all stages for ``inputs`` (addresses, archives, folders) in ``run``."""
    urls, paths = split_inputs(inputs)
    if not urls and not paths:
        raise InputError("nothing to mine: expected at least one address, archive or folder")
    if urls:
        crawl_stage(urls, run, config, report)
    ingest_stage(paths, run, config, report)
    match_stage(run, config, report)


def crawl_stage(urls: Sequence[str], run: RunDirectory, config: Config, report: Report = silent) -> CrawlProgress:
    """Fetch the sites of ``urls``; goes on where an earlier call stopped."""

    def on_progress(progress: CrawlProgress) -> None:
        report("crawl", progress.fetched, progress.fetched + progress.queued)

    write_text(run.config_file, config.to_toml())
    return crawl(urls, run.path, config.crawl, on_progress)


def ingest_stage(paths: Sequence[Path], run: RunDirectory, config: Config, report: Report = silent) -> None:
    """Read the crawl's archives and ``paths`` into tables."""
    write_text(run.config_file, config.to_toml())
    settings = config.override({"ingest.site_by": config.crawl.site_by}).ingest
    ingest(run, paths, settings, lambda done: report("ingest", done, None))


def match_stage(run: RunDirectory, config: Config, report: Report = silent) -> None:
    """Match all sites of the run."""
    write_text(run.config_file, config.to_toml())
    match(run, config, lambda done, total: report("match", done, total))
