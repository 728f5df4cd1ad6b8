"""Start of a crawl: runs the crawler in a separate process, reports its progress, and raises its errors.

Twisted's reactor runs once in a process; a child for each crawl lets a notebook crawl twice. The child dies with its
parent.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

import msgspec
from msgspec.structs import replace

from twinlink import errors
from twinlink.config import CrawlSettings
from twinlink.errors import CrawlError, InputError, MissingStageError, RunError, RunLockedError
from twinlink.files import write_text
from twinlink.redaction import redacted
from twinlink.run_files import CRAWL_LOG, CRAWL_REPORT
from twinlink.sources.resources import MAX_RESOURCE_BYTES
from twinlink.spiders.browser.chromium import check_browser
from twinlink.spiders.frontier import FrontierReader, SiteCounts, so_far
from twinlink.spiders.scope import Scope
from twinlink.system.locks import own_command
from twinlink.urls import normalise

_SITES_SHOWN = 10
_POLL = 0.2
"""Seconds between two looks at the ledger."""
_PATIENCE = 15.0
"""Seconds that a crawl gets to complete requests in flight after it was asked to stop."""
_ALL = 2**53


class CrawlProgress(msgspec.Struct, frozen=True):
    """Progress of a crawl; all counts include earlier runs in the same folder, since the last start from scratch."""

    fetched: int
    """Pages in the archive."""
    redirects: int
    """Redirects in the archive, which have no page."""
    queued: int
    """Addresses known and not fetched, those in flight included."""
    rejected: int
    """Addresses dropped, with a reason each."""
    bytes: int
    """Size of the responses as transferred."""
    seconds: float
    """Duration of this run."""
    reasons: Mapping[str, int] = msgspec.field(default_factory=dict)
    """Addresses dropped by reason, the most frequent first."""
    langs: Mapping[str, int] = msgspec.field(default_factory=dict)
    """Pages by the language that they declare, ``und`` for none, the most frequent first."""
    sites: tuple[SiteCounts, ...] = ()
    """The sites with the most pages, ten at most; ``crawl.json`` has all."""
    n_sites: int = 0
    """All sites, those of earlier calls with them."""
    n_without_pages: int = 0
    """At the end: sites that gave no page, the reasons of which are in ``crawl.json``."""
    ended: Mapping[str, int] = msgspec.field(default_factory=dict)
    """Sites that a budget ended before all pages were fetched, by the name of the budget."""
    wait: str = ""
    """Why the crawl sends no request at the moment, or sends them slowly; empty: it does not wait."""
    again: Mapping[str, int] = msgspec.field(default_factory=dict)
    """At the end of a repeated crawl: pages by result, see `FrontierReader.again`."""
    end: str = ""
    """At the end: how it ended, see `FrontierReader.end`."""


def crawl(
    starts: Sequence[str],
    folder: Path,
    settings: CrawlSettings,
    on_progress: Callable[[CrawlProgress], None] | None = None,
    pause: Path | None = None,
) -> CrawlProgress:
    """Crawl the sites of the start pages into WARC files, or go on with a crawl that was stopped.

    The crawl stays on the sites of ``starts`` and of earlier calls in the folder, and keeps to robots.txt. Sites take
    turns; on each host likely partners of fetched pages come first, or it goes breadth first (``settings.order``). It
    ends when nothing is left to fetch, every site has spent its budget, or ``settings.max_pages`` are fetched. It can
    be interrupted or killed at any moment: the next call with the same folder fetches again only what was in flight
    (and robots.txt). A call after the end fetches nothing, or, with ``settings.again``, asks again for all that was
    requested: for pages with what the server gave as their ETag and date, so that unchanged ones are not sent. Of those
    the archive gets a record that refers to the earlier one (``revisit``). A page that fails for a passing reason (no
    response, 5xx) stays what it was.

    Parameters
    ----------
    starts : sequence of str
        Addresses of start pages, with http:// or https://. Those of earlier calls need not be repeated beside new ones;
        with ``settings.again`` all may be left out.
    folder : Path
        Gets ``warc/*.warc.gz`` (WARC/1.1), ``ledger.sqlite`` (read by `FrontierReader`), ``crawl.log``, and at the end
        ``crawl.json``: counts by site and reason, and how each site ended.
    settings : CrawlSettings
        Limits and politeness.
    on_progress : callable, optional
        Called with a `CrawlProgress` a few times a second, and once at the end.
    pause : Path, optional
        While this file requests a pause (`twinlink.system.pausing`), nothing is fetched but what is in flight.

    Returns
    -------
    CrawlProgress
        The state at the end.

    Raises
    ------
    InputError
        If a start page is not a web address, none is given, or the settings ask for a browser that is not there.
    RunLockedError
        If another crawl works in the folder.
    RunError
        If the folder cannot be written to, or holds something else.
    CrawlError
        If no page could be fetched, or the crawler died.
    KeyboardInterrupt
        After Ctrl-C, once what was in flight has come in.
    """
    urls = _checked(_given(starts, folder, settings.again))
    scope = Scope(urls, settings)
    check_browser(settings)
    job = _job("site", urls, (), folder, settings)
    began = time.monotonic()

    def report(ended: bool = False) -> CrawlProgress:
        progress = _progress(folder, scope.n_sites, time.monotonic() - began, ended)
        if on_progress is not None:
            on_progress(progress)
        return progress

    try:
        _run_child(job, folder, report, pause)
    except RunLockedError:
        raise  # it is the other crawl's report that belongs there
    except BaseException:
        _write_report(folder, time.monotonic() - began)
        raise
    _write_report(folder, time.monotonic() - began)
    progress = report(ended=True)
    if progress.fetched == 0:
        raise CrawlError(_nothing_fetched(folder))
    return progress


def crawl_chosen(
    urls: Sequence[str],
    starts: Sequence[str],
    folder: Path,
    settings: CrawlSettings,
    on_wait: Callable[[], object] = lambda: None,
    pause: Path | None = None,
) -> None:
    """Fetch chosen addresses without following links, with the politeness and the archive format of `crawl`.

    Their outcomes are in a separate ledger (`twinlink.spiders.frontier.CHOSEN_LEDGER`), which is resumed: an address
    that was requested is not requested again.

    Parameters
    ----------
    urls : sequence of str
        Normalised addresses on the sites of ``starts``.
    starts : sequence of str
        Pages of the sites; only their hosts may have private addresses.
    folder : Path
        As for `crawl`; archives are named ``recover-*.warc.gz``.
    settings : CrawlSettings
        Sitemaps are not looked for, and ``order``, ``max_pages``, ``max_site_pages`` and ``max_failed_per_page`` do
        not count: guessed addresses may all fail.
    on_wait : callable
        Called a few times a second.
    pause : Path, optional
        As for `crawl`.

    Raises
    ------
    RunLockedError, RunError, CrawlError, KeyboardInterrupt
        As for `crawl`, but that nothing was found is not an error.
    """
    check_browser(settings)
    limits = replace(
        settings,
        order="breadth",
        sitemaps=False,
        again=False,
        max_pages=_ALL,
        max_site_pages=None,
        max_failed_per_page=None,
    )
    _run_child(_job("chosen", _checked(starts), urls, folder, limits), folder, on_wait, pause)


def crawl_parts(
    urls: Sequence[str],
    starts: Sequence[str],
    folder: Path,
    settings: CrawlSettings,
    on_progress: Callable[[CrawlProgress], None] = lambda progress: None,
    pause: Path | None = None,
) -> CrawlProgress:
    """Fetch style sheets and pictures of pages, with the politeness, limits and archive format of `crawl`.

    Parameters
    ----------
    urls : sequence of str
        Normalised addresses, the most important first; known ones are not requested again.
    starts : sequence of str
        Start pages of the crawl that the pages are from.
    folder : Path
        As for `crawl`, and another one; archives are named ``parts-*.warc.gz``.
    settings : CrawlSettings
        ``page_parts`` and ``max_site_parts`` count, and the limits of a site in bytes and minutes.
    on_progress, pause
        As for `crawl`.

    Raises
    ------
    RunLockedError, RunError, CrawlError, KeyboardInterrupt
        As for `crawl`, but that nothing was found is not an error.
    """
    limits = replace(
        settings,
        order="breadth",
        sitemaps=False,
        again=False,
        browser="never",
        max_pages=_ALL,
        max_site_pages=settings.max_site_parts,
        max_failed_per_page=None,
        max_page_bytes=min(settings.max_page_bytes, MAX_RESOURCE_BYTES),
    )
    began = time.monotonic()

    def report() -> CrawlProgress:
        progress = _progress(folder, 0, time.monotonic() - began, ended=False)
        on_progress(progress)
        return progress

    _run_child(_job("parts", _checked(starts), urls, folder, limits), folder, report, pause)
    return report()


def _job(
    kind: str, starts: Sequence[str], chosen: Sequence[str], folder: Path, settings: CrawlSettings
) -> dict[str, object]:
    return {
        "kind": kind,
        "starts": list(starts),
        "chosen": list(chosen),
        "folder": str(folder.resolve()),
        "settings": msgspec.to_builtins(settings),
    }


def _progress(folder: Path, n_sites: int, seconds: float, ended: bool) -> CrawlProgress:
    """Return the progress of the crawl in a folder; empty without a ledger, or with a damaged one."""
    nowhere = CrawlProgress(0, 0, 0, 0, 0, seconds, n_sites=n_sites)
    with suppress(MissingStageError, RunError), FrontierReader(folder) as frontier:
        counts = frontier.counts()
        return replace(
            nowhere,
            fetched=counts.done,
            redirects=counts.moved,
            queued=counts.queued + counts.flight,
            rejected=counts.rejected,
            bytes=counts.bytes,
            reasons=frontier.tally(),
            langs=frontier.langs(),
            sites=tuple(frontier.sites(_SITES_SHOWN)),
            n_without_pages=frontier.n_without_pages() if ended else 0,
            ended=frontier.ended(),
            wait="" if ended else frontier.wait(),
            again=frontier.again() if ended else {},
            end=frontier.end() if ended else "",
        )
    return nowhere


def _given(starts: Sequence[str], folder: Path, again: bool) -> list[str]:
    """Return the start pages, with those of the crawl in the folder: pages of its sites may still be queued."""
    given = [starts] if isinstance(starts, str) else list(starts)  # a string is a sequence of strings, too
    nothing: list[str] = []
    if given:
        return list(dict.fromkeys([*given, *so_far(folder, FrontierReader.starts, nothing)]))
    if again:
        return FrontierReader(folder).starts()
    known = so_far(folder, FrontierReader.starts, nothing)
    more = f", such as {known[0]}, from which {folder} was crawled" if known else ""
    raise InputError(f"no start page given; expected at least one web address (http://… or https://…){more}")


def _checked(starts: Sequence[str]) -> list[str]:
    urls = []
    for start in starts:
        url = normalise(start)
        if url is None:
            raise InputError(
                f"not a web address: {redacted(start)!r}; expected one that begins with http:// or https://"
            )
        urls.append(url)
    return urls


def _run_child(job: dict[str, object], folder: Path, report: Callable[[], object], pause: Path | None) -> None:
    about_us = {
        "parent": os.getpid(),
        "command": f"crawler of process {os.getpid()} ({own_command()})",
        "pause": str(pause.resolve()) if pause else None,
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        log = (folder / CRAWL_LOG).open("ab")
    except OSError as error:
        raise RunError(f"{folder}: cannot be written to ({error.strerror})") from error
    with log:
        child = _start(log)
    try:
        _send(child, json.dumps({**job, **about_us}))
        while child.poll() is None:
            report()
            _wait(child, _POLL)
    except KeyboardInterrupt:
        _send(child, "stop")
        _wait(child, _PATIENCE)
        raise
    finally:
        child.kill()  # nothing is lost by it; no effect when it has ended
        child.wait()
        answer = _read_all(child.stdout)
        _close(child.stdin)
    if child.returncode != 0:
        raise _error_of(answer, child.returncode, folder)


def _start(log: IO[bytes]) -> subprocess.Popen[bytes]:
    # A new session: Ctrl-C comes to this process alone, which then asks the child to stop.
    return subprocess.Popen(
        [sys.executable, "-m", "twinlink.spiders.process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        start_new_session=True,
    )


def _write_report(folder: Path, seconds: float) -> None:
    """Write ``crawl.json`` atomically; a crawl that could not begin has none."""
    with suppress(MissingStageError, RunError, OSError):  # a broken ledger, a full disk: the crawl itself says so
        report = {"format": 1, **FrontierReader(folder).report(), "seconds_of_last_run": round(seconds, 3)}
        write_text(folder / CRAWL_REPORT, json.dumps(report, ensure_ascii=False, indent=1) + "\n")


def _send(child: subprocess.Popen[bytes], line: str) -> None:
    assert child.stdin is not None
    with suppress(BrokenPipeError):  # it has ended, and its exit code says why
        child.stdin.write(line.encode() + b"\n")
        child.stdin.flush()


def _wait(child: subprocess.Popen[bytes], seconds: float) -> None:
    with suppress(subprocess.TimeoutExpired):
        child.wait(seconds)


def _read_all(pipe: IO[bytes] | None) -> bytes:
    assert pipe is not None
    with pipe:
        return pipe.read()


def _close(pipe: IO[bytes] | None) -> None:
    assert pipe is not None
    with suppress(BrokenPipeError):  # what was not written in time
        pipe.close()


def _error_of(answer: bytes, code: int, folder: Path) -> errors.TwinlinkError:
    """Return the error that the child sent, or one for a child that sent none."""
    try:
        name, message = json.loads(answer)
        kind = getattr(errors, name)
    except (ValueError, TypeError, AttributeError):
        log = folder / CRAWL_LOG
        last = log.read_bytes().decode(errors="replace").strip().rpartition("\n")[2]
        how = f"was ended by signal {-code}" if code < 0 else f"failed: {last}"
        return CrawlError(f"the crawler {how}. Fetched pages are kept, and the same call resumes the crawl. Log: {log}")
    error: errors.TwinlinkError = kind(message)
    return error


def _nothing_fetched(folder: Path) -> str:
    with FrontierReader(folder) as frontier:
        failures = frontier.failures()
    causes = "; ".join(f"{url}: {reason}{f' ({detail})' if detail else ''}" for url, _, reason, detail in failures)
    reasons = {failure.reason for failure in failures}
    if "moved" in reasons:
        advice = "Start at the address that it moved to"
    elif reasons <= {"robots", "robots-unreachable"}:
        advice = "The site's robots.txt forbids it, or cannot be read"
    elif "needs-browser" in reasons:
        advice = "Its pages are built by scripts"
    elif reasons == {"blocked-port"}:
        advice = "Browsers block this port, too: it belongs to another protocol. Serve the site on another port"
    elif reasons == {"private-address"}:
        advice = "The name leads to a private address: set crawl.allow_private if this is intended"
    elif reasons <= {"http-401", "http-403"}:
        advice = "The site asks for a login or refuses the crawler; names and passwords in addresses are not sent"
    elif reasons == {"redirect-loop"}:
        advice = "The site may want cookies, and the crawler keeps none"
    else:
        advice = "Check the address, and that this machine reaches it"
    return f"no page could be fetched. {causes}. {advice}"
