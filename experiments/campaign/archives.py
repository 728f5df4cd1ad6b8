"""Thousands of damaged archives: each is read as far as possible, the rest is counted, without other effects.

    python -m experiments.campaign.archives FIRST COUNT SEED

reads COUNT archives in this process and prints the results as JSON; the campaign starts and watches it.
"""

from __future__ import annotations

import json
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec.structs import asdict

from experiments.campaign.damage import DAMAGES, damaged
from experiments.campaign.samples import MAKERS, Sample
from experiments.campaign.table import Trial
from experiments.campaign.watched import command, watch
from twinlink.errors import InputError
from twinlink.sources.documents import Document
from twinlink.sources.reading import read_path
from twinlink.tables import Reject

__all__ = ["Read", "choose", "damaged_archives", "read_damaged", "through_the_command_line"]

_LIMIT = 1_000_000
_BATCH = 1_000
_ALARM = 60  # seconds for one archive
_EXIT_CODES = (0, 2, 5)


class Read(msgspec.Struct, frozen=True):
    """Result of reading one damaged archive."""

    number: int
    kind: str
    seconds: float
    ended: bool
    """Whether it was read to its end or refused with a message."""
    wrong: tuple[str, ...]


class _NoEndError(Exception):
    """Reading took too long."""


def choose(number: int, seed: int) -> tuple[str, str, random.Random]:
    """Return the kinds of source and of damage of a number, and a random generator for the rest."""
    rng = random.Random(f"{seed} {number}")
    return list(MAKERS)[number % len(MAKERS)], rng.choice(list(DAMAGES)), rng


def read_damaged(sample: Sample, data: bytes, limit: int = _LIMIT) -> tuple[bool, list[str]]:
    """Read a sample whose file was replaced by ``data``; return whether reading ended, and what is wrong."""
    pages: dict[str, bytes] = {}
    n_rejects = 0
    try:
        for item in read_path(sample.source, limit, sample.base_url):
            if isinstance(item, Document):
                pages[item.url] = item.body
            else:
                assert isinstance(item, Reject)
                assert item.reason
                n_rejects += 1
    except InputError as error:
        n_rejects += 1
        if "\n" in str(error):
            return True, [f"an error of several lines: {error}"]
    except _NoEndError:
        return False, ["no end"]
    except Exception as error:  # noqa: BLE001  # that there is none is what is tried
        return False, [f"{type(error).__name__}: {error}"]
    missing = sorted(sample.whole(data) - pages.keys())
    wrong = [f"whole, and not read: {', '.join(missing)}"] if missing else []
    silent = sorted(sample.marked(data) - pages.keys() - set(missing))
    is_renamed = bool(pages.keys() - sample.units.keys())  # damage to an address gives another address
    if silent and not n_rejects and not is_renamed:
        wrong.append(f"lost without a word: {', '.join(silent)}")
    return True, wrong


def _too_long(*_: object) -> None:
    raise _NoEndError


def _batch(first: int, count: int, seed: int) -> Iterator[Read]:
    signal.signal(signal.SIGALRM, _too_long)
    with tempfile.TemporaryDirectory() as folder:
        samples = {}
        for name, make in MAKERS.items():
            place = Path(folder) / name
            place.mkdir()
            samples[name] = make(place)
        contents = {name: sample.file.read_bytes() for name, sample in samples.items()}
        for number in range(first, first + count):
            name, kind, rng = choose(number, seed)
            data = damaged(contents[name], kind, rng)
            samples[name].file.write_bytes(data)
            began = time.perf_counter()
            signal.alarm(_ALARM)
            ended, wrong = read_damaged(samples[name], data)
            signal.alarm(0)
            samples[name].file.write_bytes(contents[name])
            yield Read(number, f"{name}, {kind}", time.perf_counter() - began, ended, tuple(wrong))


def damaged_archives(n_archives: int, seed: int) -> Iterator[Trial]:
    """Read damaged archives, with one process per thousand; yield a trial per archive."""
    for first in range(0, n_archives, _BATCH):
        count = min(_BATCH, n_archives - first)
        words = [sys.executable, "-m", "experiments.campaign.archives", str(first), str(count), str(seed)]
        ended = watch(words, 30.0 * 60)
        if ended.code != 0:
            tail = ended.stderr.decode(errors="replace")[-500:]
            yield Trial(f"archives {first} to {first + count}", False, (tail,), 0, ended.peak, ended.seconds)
            continue
        for read in json.loads(ended.stdout):
            wrong = tuple(read["wrong"])
            name = f"archive {read['number']} of seed {seed} ({read['kind']})"
            yield Trial(name, read["ended"], wrong, 0, ended.peak, read["seconds"], read["seconds"], is_bound=False)


def through_the_command_line(n_archives: int, seed: int) -> Iterator[Trial]:
    """Read damaged archives with ``twinlink ingest``; yield a trial per archive."""
    for number in range(n_archives):
        name, kind, rng = choose(number, seed)
        with tempfile.TemporaryDirectory() as folder:
            sample = MAKERS[name](Path(folder))
            sample.file.write_bytes(damaged(sample.file.read_bytes(), kind, rng))
            base = ["--base-url", sample.base_url] if sample.base_url else []
            with tempfile.TemporaryDirectory() as out:
                ended = watch(command("ingest", sample.source, "-o", f"{out}/run", "-q", *base), 90)
        lost = [] if ended.is_said_plainly else ["terminal escapes in what it says"]
        fine = ended.in_time and ended.code in _EXIT_CODES and not ended.has_traceback
        if not fine:
            lost.append(f"exit code {ended.code}: {ended.stderr.decode(errors='replace')[-200:]}")
        title = f"archive {number} of seed {seed} ({name}, {kind})"
        yield Trial(title, fine, tuple(lost), 0, ended.peak, 0.0, ended.seconds, is_bound=False)


def main() -> None:
    """Read the archives of some numbers."""
    first, count, seed = map(int, sys.argv[1:])
    print(json.dumps([asdict(read) for read in _batch(first, count, seed)]))


if __name__ == "__main__":
    main()
