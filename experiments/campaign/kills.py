"""Stages that are killed at random moments, and restarted until they end.

Each trial copies a run as it is before a stage, kills the stage a few times, lets it run to its end, and
compares the results with those of the same stage without kills. The moments depend on the seed; what a command
does at that moment depends on the machine.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from experiments.campaign.digests import difference, made_by
from experiments.campaign.table import Trial
from experiments.campaign.watched import ROOT, command, crawlers, processes, watch
from experiments.campaign.web import Answer, Reply, Site, serving
from experiments.simweb.server import serving as serving_web
from experiments.simweb.world import WorldSettings, make_world
from twinlink.demo import write_site
from twinlink.demo.server import Pages
from twinlink.spiders.frontier import FrontierReader

__all__ = ["SHARES", "Stage", "kill_stage", "served", "stages"]

SHARES: Mapping[str, float] = {
    "crawl": 0.3, "crawl --again": 0.14, "ingest": 0.14, "match": 0.14, "align": 0.14, "recover": 0.1, "discover": 0.04,
}  # fmt: skip
"""Share of the kills by stage."""

PER_TRIAL = 5
"""Number of kills before a stage may run to its end."""
_MOST_TRIALS = 2  # attempts per kill: some kills come too late
_PAGES = 60  # a language
_CONCURRENCY = 4
_CRAWL = ("--exclude", "calendar|register", "--set", 'crawl.browser="never"', "--set", "crawl.autothrottle=false")
_LONGEST = 240.0
_WEB = WorldSettings(
    hosts=10, seeds=3, seed=101, topics=2, bilingual=0.6, articles=5, articles_spread=0.4, max_articles=8, weak=0.0,
    deep=0.0, spam=0.0, copies=0.0, dead=0.12, refused=0.12, errors=0.12, links=4.0, links_spread=0.3,
)  # fmt: skip
_DISCOVER = {
    "crawl.delay": 0.0, "crawl.retries": 0, "crawl.autothrottle": False, "crawl.sitemaps": False,
    "crawl.browser": "never", "discover.rounds": 1, "discover.top": 5, "discover.probe_pages": 40,
}  # fmt: skip


class Stage(msgspec.Struct, frozen=True):
    """A stage that is killed."""

    name: str
    arguments: Callable[[Path], tuple[object, ...]]
    """Function from a run directory to the command."""
    before: Path | None
    """The run before the stage; None if there is none yet."""
    environment: Mapping[str, str]
    expected: Counter[str]
    """Results without a kill."""
    seconds: float
    """Duration without a kill."""
    prepare: Callable[[], object] = lambda: None
    """Called before each trial."""
    is_over: Callable[[Path], bool] = lambda run: False
    """Whether a run must not be resumed, because the same command would do more."""


@contextmanager
def served(folder: Path) -> Iterator[tuple[Site, list[str], list[int]]]:
    """Serve a demo site; yield its server, its start pages, and the number of the visit, which can be changed."""
    demo = write_site(folder, _PAGES)
    pages, visit = Pages(demo.folder), [1]

    def answer(path: str) -> Reply:
        found = pages.answer(path)
        body = found.body
        if visit[0] > 1 and b"</body>" in body and sum(path.encode()) % 3 == 0:
            body = body.replace(b"</body>", b"<p>Changed since.</p></body>")
        headers = {"Location": found.location} if found.location else {}
        return Answer(body, f"{found.status} Said", found.content_type, headers)

    with serving(answer) as site:
        yield site, [site.url + path for path in demo.seeds], visit


def stages(folder: Path, names: Mapping[str, int], starts: list[str], visit: list[int]) -> Iterator[Stage]:
    """Run the job once without kills; yield the stages of these names, ready to be killed."""
    seeds = tuple(starts)
    done = folder / "crawled"
    yield from _stage("crawl", names, None, done, lambda run: ("crawl", *seeds, "-o", run, "-q", *_CRAWL))
    changed = Path(shutil.copytree(done, folder / "visited"))

    def prepare() -> None:
        visit[0] = 2

    prepare()
    yield from _stage(
        "crawl --again",
        names,
        done,
        changed,
        lambda run: ("crawl", "-o", run, "-q", "--again"),
        prepare=prepare,
        is_over=_is_visited,
    )
    visit[0] = 1
    steps: Mapping[str, Callable[[Path], tuple[object, ...]]] = {
        "ingest": lambda run: ("ingest", "-o", run, "-q"),
        "match": lambda run: ("match", run, "-q", "--langs", "en,zh"),
        "align": lambda run: ("align", run, "-q"),
        "recover": lambda run: ("recover", run, "-q"),
    }
    for name, arguments in steps.items():
        after = Path(shutil.copytree(done, folder / name))
        yield from _stage(name, names, done, after, arguments)
        done = after
    if names.get("discover"):
        yield from _discover(folder, names)


def _is_visited(run: Path) -> bool:
    """Return whether the second visit is complete, so that the same command would start a third one."""
    report = FrontierReader(run).report()
    return report.get("visit") == 2 and report["end"] == "complete"


def _discover(folder: Path, names: Mapping[str, int]) -> Iterator[Stage]:
    world = make_world(_WEB)
    seeds = [f"http://{world.host(int(number))}/" for number in world.seeds]
    options = [word for name, value in _DISCOVER.items() for word in ("--set", f"{name}={json.dumps(value)}")]
    with serving_web(_WEB, folder / "asked.tsv") as proxy:
        yield from _stage(
            "discover", names, None, folder / "discovered",
            lambda run: ("discover", *seeds, "-o", run, "-q", "--langs", "en,zh", *options), {"http_proxy": proxy},
        )  # fmt: skip


def _stage(
    name: str,
    names: Mapping[str, int],
    before: Path | None,
    after: Path,
    arguments: Callable[[Path], tuple[object, ...]],
    environment: Mapping[str, str] | None = None,
    prepare: Callable[[], object] = lambda: None,
    is_over: Callable[[Path], bool] = lambda run: False,
) -> Iterator[Stage]:
    """Run a stage without kills, and return its record."""
    ended = watch(command(*arguments(after)), _LONGEST, environment=environment)
    if ended.code != 0:
        raise RuntimeError(f"{name} ended with {ended.code} without a kill: {ended.stderr.decode()[-2000:]}")
    if names.get(name):
        expected = made_by(name, after)
        yield Stage(name, arguments, before, environment or {}, expected, ended.seconds, prepare, is_over)


def kill_stage(stage: Stage, n_kills: int, seed: int, folder: Path, site: Site) -> Iterator[Trial]:
    """Kill a stage several times; yield a trial for each time that it ran to its end.

    If a stage ends before its kill, it has become faster, because the machine is less busy. The following moments are
    drawn within the shorter time.
    """
    left, seconds = n_kills, stage.seconds
    numbers = itertools.count()  # number of the attempt, which determines the moment together with the seed
    for _ in range(_MOST_TRIALS * n_kills):
        if left <= 0:
            break
        stage.prepare()
        run = folder / "trial"
        shutil.rmtree(run, ignore_errors=True)
        if stage.before is not None:
            shutil.copytree(stage.before, run)
        site.asked.clear()
        n_done = 0
        silence = 0.0
        for _ in range(min(PER_TRIAL, left)):
            rng = random.Random(f"{seed} {stage.name} {next(numbers)}")
            took, orphaned = _kill_once(stage, run, rng.uniform(0.1, 1.0) * seconds, rng.random() < 0.5)
            if took is not None:
                seconds = min(seconds, took)
                break
            n_done += 1
            silence = max(silence, orphaned)
            if stage.is_over(run):
                break
        yield _finish(stage, run, n_done, site, silence)
        left -= n_done
    shutil.rmtree(folder / "trial", ignore_errors=True)


def _kill_once(stage: Stage, run: Path, moment: float, alone: bool) -> tuple[float | None, float]:
    """Start a stage and kill it.

    Its process alone is killed, and its crawler has to notice; or all of its processes are. Returns how long it took if
    it ended before that, and for how long a crawler outlived its parent.
    """
    began = time.monotonic()
    child = subprocess.Popen(
        command(*stage.arguments(run)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **stage.environment},
    )  # fmt: skip
    with suppress(subprocess.TimeoutExpired):
        child.wait(moment)
    was_running = child.poll() is None
    below = processes(child.pid) if was_running else {}
    for pid in [child.pid] if alone else below:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    child.wait()
    killed = time.monotonic()
    while crawlers(run) and time.monotonic() - killed < 30:
        time.sleep(0.05)
    return None if was_running else killed - began, time.monotonic() - killed


def _finish(stage: Stage, run: Path, n_kills: int, site: Site, silence: float) -> Trial:
    arguments = ("--version",) if stage.is_over(run) else stage.arguments(run)
    ended = watch(command(*arguments), _LONGEST, environment=stage.environment)
    lost = []
    if crawlers(run):
        lost.append("a crawler is left behind")
    if ended.code == 0 and (differs := difference(made_by(stage.name, run), stage.expected)):
        lost.append(f"another result than without a kill: {differs}")
    lost += [f"{path.name} left behind" for path in run.rglob("*") if path.name.endswith((".tmp", ".partial"))]
    twice = {path: count - 1 for path, count in site.asked.items() if count > 1 and path not in _ASIDE}
    extra = sum(twice.values()) if stage.before is None or "crawl" in stage.name else 0
    if extra > n_kills * _CONCURRENCY:
        lost.append(f"{extra} pages fetched again after {n_kills} kills")
    return Trial(
        f"{stage.name}, killed {n_kills} times",
        ended.in_time and ended.code == 0 and not ended.has_traceback,
        (*lost, *([f"exit code {ended.code}: {ended.stderr.decode()[-300:]}"] if ended.code else [])),
        extra, ended.crawler_peak or ended.peak, silence, ended.seconds, ended.crawler_peak > 0, n_kills,
    )  # fmt: skip


_ASIDE = ("/robots.txt", "/sitemap.xml")
