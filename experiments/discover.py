"""The loop of site discovery through HTTP on a simulated web, with kills, evaluated by the known truth.

::

    python -m experiments.discover [--hosts 20000] [--seeds 300] [--rounds 2] [--top 60] [--site-pages 20]
                                   [--probe-pages 10] [--score ours] [--accept pairs] [--pairs patterns]
                                   [--kills 5] [--seed 0] [--no-spam] [--keep FOLDER]

One local server responds for all hosts (`experiments.simweb`), as the HTTP proxy of the crawler; the real command,
``twinlink discover``, runs in a separate process. It is killed (SIGKILL) ``--kills`` times, after 4, 8, 12 … seconds of
work, and called again. This is a simulation; its assumptions are in `experiments.simweb.world`.

The first table has the sites that each round tried and added, the truly bilingual ones among them (without copies of
other sites), the pairs found on them and the share of right pairs. *Bilingual by chance* is the share among all
candidates of the round. The last table has all truly bilingual sites of the web by what became of them: added, tried
and missed with the verdict of the probe, linked to and not tried, or linked from no crawled site.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
from msgspec.structs import replace

from experiments.simweb.server import serving
from experiments.simweb.world import COPY, OK, SPAM, SitePages, World, WorldSettings, make_world
from experiments.tables import print_grid
from twinlink.patterns.stage import PAIRS_FILE
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.rounds import Rounds
from twinlink.tables import PAIRS, SITES, iter_parts, read_table
from twinlink.urls import site_of

KILL_STEP = 4.0  # seconds of work more before each further kill


class Judge:
    """The truth of the simulated web."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._site = cache(self._made)

    def _made(self, number: int) -> tuple[SitePages, dict[str, int]]:
        pages = self.world.pages(number)
        return pages, {url: k for k, url in enumerate(pages.urls)}

    def number(self, site: str) -> int:
        """Return the number of an existing host."""
        found = self.world.index(site)
        assert found is not None, site
        return found

    def is_bilingual(self, site: str) -> bool:
        """Return whether a site has pages in two languages, responds, and is no spam."""
        number = self.number(site)
        is_wanted = self.world.kind[number] != SPAM and self.world.state[number] == OK
        return bool(self.world.bilingual[number] and is_wanted)

    def is_right(self, a: str, b: str) -> bool:
        """Return whether two pages are translations of each other."""
        number = self.number(urlsplit(a).hostname or "")
        pages, page_of = self._site(number)
        if a not in page_of or b not in page_of:
            return False
        return pages.true_pair(page_of[a], page_of[b])


class Outcome(NamedTuple):
    """Cost of a run of the loop."""

    seconds: float
    kills: int
    code: int


def play(command: Sequence[str], kills: int, environment: dict[str, str], log: Path) -> Outcome:
    """Call a command until it ends without being killed; each kill comes some seconds later than the one before."""
    began, done = time.monotonic(), 0
    while True:
        with (
            log.open("ab") as output,
            subprocess.Popen(command, env=environment, stdout=output, stderr=output) as process,
        ):
            try:
                code = process.wait(KILL_STEP * (done + 1) if done < kills else None)
                return Outcome(time.monotonic() - began, done, code)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                done += 1


def candidates_share(run: RunDirectory, judge: Judge) -> tuple[int, float]:
    """Return how many sites are linked to and not crawled, and the share of them that is bilingual."""
    table = read_table(run.stage_folder("rank") / "sites.parquet", SITES, ("site", "state"))
    outside = [row["site"] for row in table.to_pylist() if row["state"] != "crawled"]
    return len(outside), sum(map(judge.is_bilingual, outside)) / max(1, len(outside))


def right_pairs(run: RunDirectory, judge: Judge) -> dict[str, list[bool]]:
    """Return, for each site, whether its pairs are right: those of a match if there is one, else of URL patterns."""
    found: dict[str, list[bool]] = defaultdict(list)
    for a, b in _matched_pairs(run) if run.read_signature("match") else _pattern_pairs(run):
        found[site_of(a)].append(judge.is_right(a, b))
    return found


def _matched_pairs(run: RunDirectory) -> Iterator[tuple[str, str]]:
    for part in iter_parts(run.stage_folder("match") / "pairs"):
        yield from ((row["url_a"], row["url_b"]) for row in read_table(part, PAIRS, ("url_a", "url_b")).to_pylist())


def _pattern_pairs(run: RunDirectory) -> Iterator[tuple[str, str]]:
    with (run.stage_folder("patterns") / PAIRS_FILE).open(encoding="utf-8") as lines:
        for line in lines:
            a, b, _ = line.rstrip("\n").split("\t")
            yield a, b


def told(number: int, tried: Sequence[dict[str, Any]], pairs: dict[str, list[bool]], judge: Judge) -> str:
    """Return a round's row of the first table."""
    world = judge.world
    added = [row["site"] for row in tried if row["added"]]
    kinds = Counter(int(world.kind[judge.number(row["site"])]) for row in tried)
    truly = [site for site in added if judge.is_bilingual(site)]
    copies = sum(world.kind[judge.number(site)] == COPY for site in truly)
    missed = sum(judge.is_bilingual(row["site"]) for row in tried) - len(truly)
    judged = [right for site in added for right in pairs.get(site, [])]
    precision = f"{sum(judged) / len(judged):.4f}" if judged else "–"
    of_added = f"{len(truly) / len(added):.3f}" if added else "–"
    return (
        f"| {number} | {len(tried)} | {kinds[SPAM]} | {len(truly) + missed} | {len(added)} | {len(truly)} | {of_added} "
        f"| {copies} | {missed} | {len(judged)} | {precision} |"
    )


def failures(tried: Sequence[dict[str, Any]], judge: Judge) -> Iterator[str]:
    """Yield the rows of the second table: verdicts on hosts by their true kind."""
    names = ("answers", "dead", "refused", "errors")
    counts: Counter[tuple[str, str]] = Counter()
    for row in tried:
        counts[names[judge.world.state[judge.number(row["site"])]], row["verdict"]] += 1
    for (state, verdict), n in sorted(counts.items()):
        yield f"| {state} | {verdict} | {n} |"


def fates(linked: Collection[str], tried: Sequence[Mapping[str, Any]], judge: Judge) -> Counter[str]:
    """Count the truly bilingual sites of the web by what became of them, copies of other sites left out.

    Parameters
    ----------
    linked : collection of str
        Sites of the ranking: crawled ones, and those that they link to.
    tried : sequence of mapping
        Verdicts on the sites of all rounds, the start is round 0.
    """
    said = {row["site"]: row for row in tried}
    world = judge.world
    counts: Counter[str] = Counter()
    for number in np.flatnonzero(world.bilingual & (world.kind != COPY)).tolist():
        site = world.host(number)
        if judge.is_bilingual(site):
            counts[_fate(said.get(site), site in linked)] += 1
    return counts


def _fate(row: Mapping[str, Any] | None, is_linked: bool) -> str:
    """Return what became of a site.

    >>> _fate(None, True)
    'missed: linked to, not among the best'
    """
    if row is None:
        return "missed: linked to, not among the best" if is_linked else "missed: linked from no crawled site"
    if not row["round"]:
        return "start"
    return "found" if row["added"] else f"missed: tried, {row['verdict']}"


def requests(log: Path) -> str:
    """Return a line with the counts of the server's requests."""
    rows = [line.split("\t") for line in log.read_text(encoding="utf-8").splitlines()]
    asked = {url: int(count) for url, count in rows if not url.endswith(("/robots.txt", "/sitemap.xml"))}
    again, all_asked = sum(asked.values()) - len(asked), sum(int(count) for _, count in rows)
    return (
        f"{all_asked} requests, {sum(asked.values())} of them for {len(asked)} pages: {again} were asked for again "
        "(of added sites after their probes, and what was in flight at a kill)"
    )


def show(run: RunDirectory, judge: Judge) -> None:
    """Print the tables."""
    pairs = right_pairs(run, judge)
    rounds = Rounds(run)
    verdicts = rounds.all_verdicts().to_pylist()
    header = "round|tried|spam|truly bilingual|added|truly bilingual|share|copies|missed|pairs|precision".split("|")
    print(f"| {' | '.join(header)} |\n|{'---|' * len(header)}")
    for number in range(1 + max(row["round"] for row in verdicts)):
        print(told(number, [row for row in verdicts if row["round"] == number], pairs, judge))
    all_pairs = [right for site in pairs.values() for right in site]
    print(f"\nall sites: {len(all_pairs)} pairs, precision {sum(all_pairs) / max(1, len(all_pairs)):.4f}")
    outside, share = candidates_share(run, judge)
    print(f"of the {outside} sites that are linked to and not crawled now, {share:.3f} are bilingual (by chance)\n")
    print("| host | verdict | sites |\n|---|---|---|")
    print("\n".join(failures([row for row in verdicts if row["round"]], judge)))
    ranked = read_table(run.stage_folder("rank") / "sites.parquet", SITES, ("site",)).to_pylist()
    counts = fates({row["site"] for row in ranked}, verdicts, judge)
    print_grid(
        "truly bilingual sites", [["what became of them", "sites"], *((k, str(n)) for k, n in sorted(counts.items()))]
    )


@contextmanager
def folder_of(keep: Path | None) -> Iterator[Path]:
    """Yield the working folder."""
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() if keep is None else nullcontext(keep) as folder:
        yield Path(folder)


def options(given: argparse.Namespace) -> list[str]:
    """Return the options of the command."""
    settings = {
        "crawl.delay": 0,
        "crawl.retries": 0,
        "crawl.autothrottle": "false",
        "discover.score": given.score,
        "discover.accept": given.accept,
        "discover.pairs": given.pairs,
        "discover.probe_pages": given.probe_pages,
    }
    sets = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    rounds = ["--rounds", str(given.rounds), "--top", str(given.top), "--max-site-pages", str(given.site_pages)]
    return ["--langs", "en,zh", "--quiet", *rounds, *sets]


def main() -> None:
    """Play the loop, and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--hosts", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--top", type=int, default=60)
    parser.add_argument("--site-pages", type=int, default=20)
    parser.add_argument("--probe-pages", type=int, default=10)
    parser.add_argument("--score", default="ours")
    parser.add_argument("--accept", default="pairs")
    parser.add_argument("--pairs", default="patterns", choices=("patterns", "match"))
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-spam", action="store_true")
    parser.add_argument("--keep", type=Path, help="folder to keep the run in")
    given = parser.parse_args()
    settings = WorldSettings(hosts=given.hosts, seeds=given.seeds, seed=given.seed)
    if given.no_spam:
        settings = replace(settings, spam=0.0)
    world = make_world(settings)
    with folder_of(given.keep) as folder:
        seeds, log, run = folder / "seeds.txt", folder / "requests.tsv", folder / "run"
        seeds.write_text("".join(f"http://{world.host(int(number))}/\n" for number in world.seeds))
        command = [sys.executable, "-m", "twinlink", "discover", str(seeds), "-o", str(run), *options(given)]
        with serving(settings, log) as proxy:
            environment = {**os.environ, "http_proxy": proxy}
            end = play(command, given.kills, environment, folder / "output.txt")
        print(f"{end.seconds:.0f} s, killed {end.kills} times, exit code {end.code}; {requests(log)}\n")
        if end.code == 0:
            show(RunDirectory(run), Judge(world))
        else:
            print((folder / "output.txt").read_text()[-2_000:])


if __name__ == "__main__":
    main()
