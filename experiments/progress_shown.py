"""What a terminal shows during a command: the longest silence, and how wrong the time left is.

    python -m experiments.progress_shown -- twinlink mine FOLDER --base-url http://x -o run --langs en,fr

The command runs on a pseudo-terminal. A silence is a time in which no stage shows another amount, step or total (clocks
run on, and do not count). For each stage of more than three seconds, the time left that is shown after 25, 50 and 75 %
of the stage's real time is compared with the time that was really left; the error is a share of the stage's time.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import struct
import sys
import termios
import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from experiments.tables import print_grid

__all__ = ["Shown", "lines_shown", "longest_silence", "record", "time_left_errors"]

QUARTERS = (0.25, 0.5, 0.75)
SHORTEST = 3.0  # seconds of a stage whose time left is judged: the terminal shows whole seconds

_STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_BAR = "━╺╸ "
_STAGES = "crawl|ingest|shapes|match|align|page parts|report|patterns|recover|host graph|rank|languages"
_LINE = re.compile(rf"({_STAGES}): (.*)")
_CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d\d)( left)?$")


class Shown(NamedTuple):
    """A line of a stage as the terminal showed it."""

    second: float
    stage: str
    left: float | None
    """Seconds that it says are left; None: nothing about it."""
    news: str
    """The line without clocks and rates."""


def record(command: Sequence[str]) -> tuple[list[tuple[float, str]], float, int]:
    """Run a command on a pseudo-terminal; return what it wrote, with the second of each part, its time, its status."""
    start = time.monotonic()
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(command[0], list(command))  # noqa: S606  (the command is the user's)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))
    written = []
    while True:
        try:
            part = os.read(terminal, 2**16)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        written.append((time.monotonic() - start, part.decode("utf-8", "replace")))
    _, status = os.waitpid(pid, 0)
    return written, time.monotonic() - start, os.waitstatus_to_exitcode(status)


def lines_shown(written: Iterable[tuple[float, str]]) -> list[Shown]:
    """Return the lines of the stages, as they were shown.

    >>> lines_shown([(1.5, "━━╸ match: 5 of 8 · 62 % · 9/s · 0:04 · 0:02 left · words")])
    [Shown(second=1.5, stage='match', left=2.5, news='5 of 8 · 62 % · words')]
    """
    lines = [(second, line) for second, text in written for line in re.split(r"[\r\n]+", _STYLE.sub("", text))]
    found = [(second, _LINE.fullmatch(line.strip(_BAR))) for second, line in lines]
    return [_line(second, *match.groups()) for second, match in found if match]


def _line(second: float, stage: str, text: str) -> Shown:
    left, news = None, []
    for part in text.split(" · "):
        clock = _CLOCK.fullmatch(part)
        if clock is None and not re.fullmatch(r"[\d.,]+/(s|min)", part):
            news.append(part)
        elif clock is not None and clock[4]:
            hours, minutes, seconds = (int(number or 0) for number in clock.groups()[:3])
            left = 3600 * hours + 60 * minutes + seconds + 0.5  # it is rounded down
    return Shown(second, stage, left, " · ".join(news))


def longest_silence(written: Sequence[tuple[float, str]], seconds: float) -> tuple[float, str]:
    """Return the longest time without news, from the start of the command to its end, and what was shown before it.

    >>> longest_silence([(1.0, "match: 1 of 2 · 0:00"), (3.0, "match: 1 of 2 · 0:02"), (3.5, "2 pairs")], 4.0)
    (2.5, 'match: 1 of 2')
    """
    news, known = [(0.0, "the start")], dict[str, str]()
    for second, text in written:
        lines = lines_shown([(second, text)])
        if not lines and (plain := _STYLE.sub("", text).strip()):
            news.append((second, plain.splitlines()[-1]))
        for line in lines:
            if known.get(line.stage) != line.news:
                known[line.stage] = line.news
                news.append((second, f"{line.stage}: {line.news}"))
    ends = [*(second for second, _ in news[1:]), seconds]
    return max((end - second, shown) for (second, shown), end in zip(news, ends, strict=True))


def time_left_errors(lines: Iterable[Shown]) -> dict[str, tuple[float, list[float | None]]]:
    """Return the seconds of each stage, and the errors of the time left at its quarters, as shares of these seconds.

    >>> shown = [Shown(t, "match", left, f"{t}") for t, left in ((0, None), (2, 8.5), (5, 5.0), (7, 3.0), (10, None))]
    >>> time_left_errors(shown)
    {'match': (10, [0.05, 0.0, 0.0])}
    """
    stages: dict[str, list[Shown]] = {}
    for line in lines:
        stages.setdefault(line.stage, []).append(line)
    errors = {}
    for stage, shown in stages.items():
        # The last line may be shown again and again while a later stage runs.
        last = next(i for i, line in enumerate(shown) if line.news == shown[-1].news and line.left == shown[-1].left)
        begin, seconds = shown[0].second, shown[last].second - shown[0].second
        if seconds >= SHORTEST:
            errors[stage] = seconds, [_error(shown, begin, seconds, quarter) for quarter in QUARTERS]
    return errors


def _error(shown: Sequence[Shown], begin: float, seconds: float, quarter: float) -> float | None:
    """Return the error of the time left that was shown at a share of the time of a stage."""
    now = begin + quarter * seconds
    line = [line for line in shown if line.second <= now][-1]
    return None if line.left is None else (line.left - (now - line.second) - (1 - quarter) * seconds) / seconds


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", nargs="+")
    written, seconds, status = record(parser.parse_args(argv).command)
    rows = [
        [stage, f"{length:.1f}", *("none" if error is None else f"{error:+.0%}" for error in errors)]
        for stage, (length, errors) in time_left_errors(lines_shown(written)).items()
    ]
    silence, after = longest_silence(written, seconds)
    header = ["stage", "seconds", "error at 25 %", "at 50 %", "at 75 %"]
    print_grid(f"{seconds:.1f} s, longest silence {silence:.1f} s, after: {after}", [header, *rows])
    return status


if __name__ == "__main__":
    sys.exit(main())
