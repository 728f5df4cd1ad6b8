"""Labels of page pairs: kept in the run, append-only, by address, so that labels outlive a new match.

``RUN/review/labels.jsonl`` has one JSON object per line. A line is one step of undo: the labels of one action, for
one pair or several (a re-pair rejects one and accepts another), or the undo of a step. A line that a killed process
left incomplete is ignored, so that a step is stored completely or not at all; any other line that is none is an error.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, get_args
from urllib.parse import quote

import msgspec
import numpy as np
import numpy.typing as npt

from twinlink.errors import InputError, RunError
from twinlink.files import NOT_JSON, real_path, write_text
from twinlink.run_files import LABELS_FILE, REVIEW

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = [
    "ACCEPTED",
    "REJECTED",
    "UNLABELLED",
    "Label",
    "LabelBook",
    "Step",
    "export_labels",
    "label_codes",
    "label_table",
]

Verdict = Literal["accept", "reject"]
Pair = tuple[str, str]

ACCEPTED, REJECTED, UNLABELLED = 1, 0, -1
"""Codes of `label_codes`."""

_BEGINNING = b'{"step":"'
_END_BYTES = 200  # a line has more; by them one sees that what was read has not been edited


class Label(msgspec.Struct, frozen=True):
    """Label of a pair by a reviewer."""

    url_a: str
    url_b: str
    verdict: Verdict
    who: str
    when: datetime
    """With time zone, UTC."""
    note: str = ""


class Step(msgspec.Struct, frozen=True):
    """Labels of one action."""

    labels: tuple[Label, ...]
    undone: bool
    """Whether it was undone."""


class _PairVerdict(msgspec.Struct, omit_defaults=True):
    """One pair in a line of the file."""

    url_a: str
    url_b: str
    verdict: Verdict
    note: str = ""


class _Line(msgspec.Struct, omit_defaults=True):
    """A line of the file: a step, or the undo of one."""

    step: str
    who: str
    when: datetime
    labels: tuple[_PairVerdict, ...] = ()
    undo: str = ""
    """The step that is undone."""


class LabelBook:
    """The labels of a run. Several processes and threads may add to it; each sees what the others have written.

    Parameters
    ----------
    folder : Path
        The run directory.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> book = LabelBook(Path(mkdtemp()))
    >>> book.add(Label("https://a.example/en", "https://a.example/tc", "accept", "ann", datetime.now(UTC)))
    >>> [(pair, label.verdict) for pair, label in book.current().items()]
    [(('https://a.example/en', 'https://a.example/tc'), 'accept')]
    >>> len(book.undo("ann")), book.current()
    (1, {})
    """

    def __init__(self, folder: str | Path) -> None:
        self.file = Path(folder) / REVIEW / LABELS_FILE
        self._guard = threading.RLock()
        self._whole: list[_Line] = []
        self._tail: list[_Line] = []  # the last line without an end, if it is whole but for that
        self._n_lines = 0
        self._read_to = 0
        self._end = b""  # of what was read
        self._seen: tuple[int, ...] = ()
        self._current: dict[Pair, Label] | None = None

    def add(self, *labels: Label) -> None:
        """Add labels of one person; those of one call are one step of undo.

        Raises
        ------
        InputError
            If they are of several persons, a verdict is none, or a text cannot be written as UTF-8.
        RunError
            If the file cannot be written.
        """
        if not labels:
            return
        if len({label.who for label in labels}) > 1:
            raise InputError("labels: expected labels of one person per step")
        if wrong := {label.verdict for label in labels} - set(get_args(Verdict)):
            raise InputError(f"labels: {min(wrong)!r} is not a verdict; choose from accept, reject")
        pairs = tuple(_PairVerdict(each.url_a, each.url_b, each.verdict, each.note) for each in labels)
        with self._writing() as file:
            _append(file, _Line(_new_name(), labels[0].who, labels[0].when.astimezone(UTC), pairs))

    def undo(self, who: str) -> tuple[Label, ...]:
        """Undo the last step of a person that has not been undone yet, and return its labels."""
        with self._writing() as file:
            self._read()
            lines = self._lines
            undone = {line.undo for line in lines}
            mine = (line for line in reversed(lines) if line.labels and line.who == who)
            last = next((line for line in mine if line.step not in undone), None)
            if last is None:
                return ()
            _append(file, _Line(_new_name(), who, datetime.now(UTC), undo=last.step))
        return _labels(last)

    def current(self) -> dict[Pair, Label]:
        """Return the current label of each labelled pair: the latest that has not been undone, oldest first.

        The order of the two pages does not matter: the later label of either order counts.
        """
        with self._guard:
            self._read()
            if self._current is None:
                self._current = _latest(step.labels for step in self._steps() if not step.undone)
            return dict(self._current)

    def history(self) -> tuple[Step, ...]:
        """Return all steps, oldest first."""
        with self._guard:
            self._read()
            return tuple(self._steps())

    @property
    def _lines(self) -> list[_Line]:
        return self._whole + self._tail

    def _steps(self) -> Iterator[Step]:
        lines = self._lines
        undone = {line.undo for line in lines}
        return (Step(_labels(line), line.step in undone) for line in lines if line.labels)

    def _read(self) -> None:
        """Read what has been written since."""
        try:
            with self.file.open("rb") as file:
                status = os.fstat(file.fileno())
                seen = (status.st_ino, status.st_size, status.st_mtime_ns)
                if seen == self._seen:
                    return
                is_same = self._seen[:1] == seen[:1] and status.st_size >= self._read_to
                if not is_same:
                    self._forget()
                text = self._read_on(file)
        except FileNotFoundError:
            self._forget()
            self._tail, self._seen, self._current = [], (), None
            return
        except OSError as error:
            raise RunError(f"{self.file}: cannot be read ({error.strerror})") from error
        whole = text.rfind(b"\n") + 1  # what comes behind is read again next time: it may be half written
        lines = [*self._decoded(text[:whole], self._n_lines)]
        self._tail = [*self._decoded(text[whole:], self._n_lines + text.count(b"\n"))]
        self._whole += lines
        self._n_lines += text.count(b"\n")
        self._read_to += whole
        self._end = (self._end + text[:whole])[-_END_BYTES:]
        self._seen, self._current = seen, None

    def _decoded(self, text: bytes, n_before: int) -> Iterator[_Line]:
        """Yield the lines of a text, but for those that are cut short; ``n_before`` lines are before them."""
        decoder = msgspec.json.Decoder(_Line)
        for number, line in enumerate(text.split(b"\n"), n_before + 1):
            try:
                yield decoder.decode(line)
            except NOT_JSON as error:
                if not _is_cut_short(line):
                    raise RunError(
                        f"{self.file}, line {number}: expected labels as `twinlink review` writes them ({error});"
                        " mend the line or delete it"
                    ) from error

    def _read_on(self, file: BinaryIO) -> bytes:
        """Return the unread rest of the file; the whole file if the part read before was edited."""
        file.seek(self._read_to - len(self._end))
        text = file.read()
        if text.startswith(self._end):
            return text[len(self._end) :]
        self._forget()
        file.seek(0)
        return file.read()

    def _forget(self) -> None:
        self._whole, self._n_lines, self._read_to, self._end = [], 0, 0, b""

    @contextmanager
    def _writing(self) -> Iterator[BinaryIO]:
        with self._guard:
            try:
                self.file.parent.mkdir(parents=True, exist_ok=True)
                with self.file.open("a+b") as file:
                    fcntl.flock(file, fcntl.LOCK_EX)
                    _end_line(file)
                    yield file
            except OSError as error:
                raise RunError(f"{self.file}: cannot be written to ({error.strerror})") from error


def _end_line(file: BinaryIO) -> None:
    """Terminate a line left incomplete by a killed process (no other process writes now)."""
    size = file.seek(0, os.SEEK_END)
    if size:
        file.seek(size - 1)
        if file.read(1) != b"\n":
            file.write(b"\n")


def _append(file: BinaryIO, line: _Line) -> None:
    try:
        text = msgspec.json.encode(line)
    except UnicodeEncodeError as error:
        raise InputError(f"labels: a text is not valid Unicode ({error})") from error
    file.write(text + b"\n")
    file.flush()
    os.fsync(file.fileno())


def _is_cut_short(line: bytes) -> bool:
    """Return whether a line is what a killed process, or a lost page of a disk, left of one."""
    text = line.strip(b" \t\r\0")
    if not (text.startswith(_BEGINNING) or _BEGINNING.startswith(text)):
        return False
    try:
        msgspec.json.decode(text)
    except NOT_JSON:
        return True
    return False


def _new_name() -> str:
    return secrets.token_hex(8)


def _labels(line: _Line) -> tuple[Label, ...]:
    return tuple(Label(each.url_a, each.url_b, each.verdict, line.who, line.when, each.note) for each in line.labels)


def _latest(steps: Iterable[Sequence[Label]]) -> dict[Pair, Label]:
    current: dict[Pair, Label] = {}
    for labels in steps:
        for label in labels:
            current.pop((label.url_b, label.url_a), None)
            current.pop((label.url_a, label.url_b), None)
            current[label.url_a, label.url_b] = label
    return current


def label_codes(
    url_a: Sequence[str] | pd.Series | pa.ChunkedArray,
    url_b: Sequence[str] | pd.Series | pa.ChunkedArray,
    labels: Mapping[Pair, Label],
) -> npt.NDArray[np.int8]:
    """Return `ACCEPTED`, `REJECTED` or `UNLABELLED` for each pair; a label of the pair turned round counts as well."""
    codes = np.full(len(url_a), UNLABELLED, np.int8)
    if not labels or not len(codes):
        return codes
    both = {pair: label.verdict for (a, b), label in labels.items() for pair in ((a, b), (b, a))}
    import pyarrow as pa
    import pyarrow.compute as pc

    # columns as they are: to make objects of 100,000 addresses takes longer than all the rest
    firsts, seconds = (each if isinstance(each, pa.ChunkedArray) else pa.array(each) for each in (url_a, url_b))
    rows = np.flatnonzero(pc.is_in(firsts, pa.array({a for a, _ in both}, firsts.type)))
    addresses = (column.take(pa.array(rows)).to_pylist() for column in (firsts, seconds))
    for row, pair in zip(rows.tolist(), zip(*addresses, strict=True), strict=True):
        if verdict := both.get(pair):
            codes[row] = ACCEPTED if verdict == "accept" else REJECTED
    return codes


def export_labels(folder: Path, target: Path) -> int:
    """Write the labels of a run as tab-separated values, and return how many.

    A target that ends in ``.gold.tsv`` gets the accepted pairs alone, in the two columns of a gold file; any other one
    gets `label_table`.

    Parameters
    ----------
    folder : Path
        The run directory.
    target : Path

    Raises
    ------
    InputError
        If the target cannot be written, or is the file that the labels are kept in.
    """
    book = LabelBook(folder)
    if real_path(target) == real_path(book.file):
        raise InputError(f"{target}: the labels themselves are kept in this file; choose another one")
    labels = list(book.current().values())
    if target.name.endswith(".gold.tsv"):
        labels = [each for each in labels if each.verdict == "accept"]
        text = _tab_separated((_address(each.url_a), _address(each.url_b)) for each in labels)
    else:
        text = label_table(labels)
    try:
        write_text(target, text)
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror})") from error
    return len(labels)


def label_table(labels: Iterable[Label]) -> str:
    """Return labels as tab-separated values: columns url_a, url_b, verdict, who, when (ISO 8601, UTC)."""
    rows = (
        (_address(each.url_a), _address(each.url_b), each.verdict, _cell(each.who), each.when.isoformat())
        for each in labels
    )
    return "url_a\turl_b\tverdict\twho\twhen\n" + _tab_separated(rows)


def _tab_separated(rows: Iterable[tuple[str, ...]]) -> str:
    return "".join("\t".join(row) + "\n" for row in rows)


def _address(url: str) -> str:
    """Return an address without tabs and line ends; those of runs have none, but a file can be written by hand."""
    return "".join(quote(sign) if sign.isspace() or not sign.isprintable() else sign for sign in url)


def _cell(text: str) -> str:
    return " ".join(text.split())
