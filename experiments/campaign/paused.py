"""Mining that is paused during the crawl, and whose process is ended in four ways: no process remains."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from experiments.campaign.crawled import outcomes
from experiments.campaign.table import Trial
from experiments.campaign.watched import ROOT, command, crawlers, watch
from experiments.campaign.web import Answer, Reply, links, page, serving
from twinlink.rundir.directory import RunDirectory
from twinlink.spiders.frontier import Counts, FrontierReader, so_far
from twinlink.system import pausing

__all__ = ["ENDS", "end_paused"]

ENDS = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGKILL)
PAGES = tuple(f"/{number}.html" for number in range(40))
_PATIENCE = 20.0  # seconds within which the crawler must detect the end of its parent
_STANDING = 3.0  # seconds without a request after which it counts as paused


def end_paused(end: signal.Signals, folder: Path) -> Trial:
    """Crawl, pause, end the main process, and resume."""

    def answer(path: str) -> Reply:
        if path == "/":
            return links(*PAGES)
        return page(path) if path in PAGES else Answer(status="404 Not Found")

    with serving(answer) as site:
        words = command("mine", f"{site.url}/", "-o", folder, "-q", "--langs", "en,zh", "--set", "crawl.delay=0.3")
        child = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # noqa: PLW1509  # nohup ignores it
        )  # fmt: skip
        lost = list(_pause(folder, child))
        began = time.monotonic()
        child.send_signal(end)
        with suppress(subprocess.TimeoutExpired):
            child.wait(_PATIENCE)
        while (left := crawlers(folder)) and time.monotonic() - began < _PATIENCE:
            time.sleep(0.05)
        silence = time.monotonic() - began
        if child.poll() is None:
            lost.append("the process itself did not end")
            child.kill()
            child.wait()
        pausing.take_back(RunDirectory(folder).pause_file)
        again = watch(command("crawl", f"{site.url}/", "-o", folder, "-q", "--set", "crawl.delay=0"), 60)
        if left:
            lost.append(f"{len(left)} crawler left behind")
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if again.code:
            lost.append(f"going on ended with {again.code}: {again.stderr.decode()[-200:].strip()}")
        found = outcomes(folder)
        lost += [f"{path} lost" for path in PAGES if found.get(site.url + path) != "page"]
        extra = sum(count - 1 for path, count in site.asked.items() if path in PAGES)
    return Trial(end.name, not left and again.code == 0, tuple(lost), extra, again.crawler_peak, silence, again.seconds)


def _pause(folder: Path, child: subprocess.Popen[bytes]) -> Iterator[str]:
    """Wait until pages are fetched, request a pause, and wait until no more pages are fetched; yield errors."""
    end = time.monotonic() + 60
    while so_far(folder, FrontierReader.counts, Counts()).done < 3 and time.monotonic() < end and child.poll() is None:
        time.sleep(0.05)
    pausing.ask(RunDirectory(folder).pause_file)
    n_done, since = -1, time.monotonic()
    while time.monotonic() - since < _STANDING:
        if time.monotonic() > end:
            yield "it did not pause"
            return
        if (now := so_far(folder, FrontierReader.counts, Counts()).done) != n_done:
            n_done, since = now, time.monotonic()
        time.sleep(0.1)
    if n_done > len(PAGES):
        yield "it was done before it could pause"
