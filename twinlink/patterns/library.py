"""Library of URL patterns: statistics of each key as sums over sites, so that libraries can be merged in any order.

A row is a key: its sides, and over all sites w that have it::

    n_sites = Σ 1    n_credible = Σ [C(p,w) ≥ threshold]    n_pages = Σ N(p,w)    squares = Σ N(p,w)²/|w|

so that C(p) = ``squares``, the global credibility of Zhang, Yao & Kit (section 2.1).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from twinlink.damage import remedy
from twinlink.errors import InputError
from twinlink.files import replacing
from twinlink.inputs import InputFile, read_input, read_input_text
from twinlink.patterns.keys import Key
from twinlink.patterns.learning import SitePatterns

__all__ = ["KeySums", "PatternLibrary", "check_library_path", "read_libraries", "read_library", "write_library"]

_ENDINGS = (".tsv", ".parquet")

PARTS = 2**40
"""C(p,w)·N(p,w) is summed in this fraction of one: sums of whole numbers are the same in every order."""


class KeySums(NamedTuple):
    """Statistics of one key."""

    n_sites: int
    """Sites that have it."""
    n_credible: int
    """Sites where it is credible by itself."""
    n_pages: int
    """ΣN(p,w): pages that it paired."""
    parts: int
    """ΣC(p,w)·N(p,w) in units of 1/`PARTS`."""

    @property
    def credibility(self) -> float:
        """Global credibility C(p) = Σ_w C(p,w)·N(p,w)."""
        return self.parts / PARTS

    @property
    def mean(self) -> float:
        """C(p)/ΣN(p,w), 0 to 1: local credibility of the key, averaged over the pages that it paired."""
        return self.credibility / self.n_pages if self.n_pages else 0.0


_NONE = KeySums(0, 0, 0, 0)
_PROBLEM = "cannot be read as a pattern library"
_FILE = InputFile(_PROBLEM, f"{_PROBLEM} (no such file)")
_MAX_ROWS = 10_000_000
_COLUMNS = ("source", "target", *KeySums._fields)
_SCHEMA = pa.schema(
    [
        pa.field("source", pa.string(), nullable=False),
        pa.field("target", pa.string(), nullable=False),
        pa.field("n_sites", pa.int64(), nullable=False),
        pa.field("n_credible", pa.int64(), nullable=False),
        pa.field("n_pages", pa.int64(), nullable=False),
        pa.field("parts", pa.string(), nullable=False),  # may need more than 64 bits
    ]
)


@dataclass(eq=False)
class PatternLibrary:
    """Keys and their statistics.

    Examples
    --------
    >>> from twinlink.patterns.learning import learn_patterns
    >>> urls = [f"http://x.hk/{lang}/{name}.htm" for lang in ("en", "tc") for name in ("home", "news", "jobs")]
    >>> library = PatternLibrary()
    >>> library.add(learn_patterns(urls))
    >>> library.merge(library)
    >>> [(key, sums.n_sites, sums.credibility, sums.mean) for key, sums in library.rows()]
    [(Key(source='en', target='tc'), 2, 12.0, 1.0)]
    """

    sums: dict[Key, KeySums] = field(default_factory=dict)

    def add(self, site: SitePatterns) -> None:
        """Add the patterns of one site."""
        for each in site.patterns:
            parts = round(each.n_pages * each.n_pages * PARTS / site.n_pages)
            one = KeySums(1, int(each.verdict == "credible"), each.n_pages, parts)
            self.sums[each.key] = _sum(self[each.key], one)

    def merge(self, other: PatternLibrary) -> None:
        """Add another library; the order of merging does not matter. The two must have no site in common."""
        for key, sums in list(other.sums.items()):
            self.sums[key] = _sum(self[key], sums)

    def rows(self) -> Iterator[tuple[Key, KeySums]]:
        """Yield all keys, the globally most credible first."""
        yield from sorted(self.sums.items(), key=lambda row: (-row[1].parts, row[0]))

    def __getitem__(self, key: Key) -> KeySums:
        return self.sums.get(key, _NONE)

    def __len__(self) -> int:
        return len(self.sums)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PatternLibrary) and self.sums == other.sums

    __hash__ = None  # type: ignore[assignment]  # it grows


def _sum(a: KeySums, b: KeySums) -> KeySums:
    return KeySums(*(x + y for x, y in zip(a, b, strict=True)))


def check_library_path(path: Path) -> None:
    """Raise an error if no library can be written to this path; a device must not be replaced by a file.

    >>> check_library_path(Path("nowhere/mine.tsv"))
    Traceback (most recent call last):
    ...
    twinlink.errors.InputError: nowhere/mine.tsv: cannot be written: expected the name of a file in a folder that exists
    """
    if not path.name or not path.parent.is_dir() or (path.exists() and not path.is_file()):
        raise InputError(f"{path}: cannot be written: expected the name of a file in a folder that exists")
    if path.suffix not in _ENDINGS:
        raise InputError(f"{path}: expected a name that ends in {' or '.join(_ENDINGS)}")


def write_library(library: PatternLibrary, path: str | Path) -> None:
    """Write a library: Parquet by the ending ``.parquet``, else tab-separated text with a line of names.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    path = Path(path)
    check_library_path(path)
    rows = [(*key, *sums) for key, sums in library.rows()]
    try:
        with replacing(path) as temporary:
            _write_rows(rows, temporary, is_parquet=path.suffix == ".parquet")
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from error


def _write_rows(rows: Sequence[tuple[object, ...]], path: Path, *, is_parquet: bool) -> None:
    if is_parquet:
        columns = list(zip(*rows, strict=True)) or [()] * len(_COLUMNS)
        columns[-1] = tuple(map(str, columns[-1]))
        arrays = [pa.array(column, each.type) for column, each in zip(columns, _SCHEMA, strict=True)]
        pq.write_table(pa.Table.from_arrays(arrays, schema=_SCHEMA), path, compression="zstd")
    else:
        lines = ["\t".join(_COLUMNS), *("\t".join(map(str, row)) for row in rows)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_library(path: str | Path) -> PatternLibrary:
    """Read a library written by `write_library`; rows of one key are summed, so that files may be concatenated.

    Raises
    ------
    InputError
        If there is no such file or it is none of a library.
    """
    library, path = PatternLibrary(), Path(path)
    try:
        rows = _parquet_rows(path) if path.suffix == ".parquet" else _text_rows(path)
        for number, row in enumerate(rows, 1):
            sums = KeySums(*map(int, row[2:]))
            if not _is_possible(sums):
                raise InputError(f"{path}: row {number}: expected counts, got {' '.join(map(str, row))}")
            key = Key(*row[:2])
            library.sums[key] = _sum(library[key], sums)
    except OSError as error:
        raise InputError(f"{path}: cannot be read as a pattern library ({error.strerror or error})") from error
    except (ValueError, TypeError, pa.ArrowException, csv.Error) as error:
        raise InputError(f"{path}: not a pattern library: {error}{remedy(path)}") from error
    return library


def _is_possible(sums: KeySums) -> bool:
    """Return whether sums can be those of sites: none negative, and none beyond what 64 bits hold."""
    counts, most = sums[:-1], 2**63 - 1
    return min(sums) >= 0 and max(counts) <= most and sums.parts <= most * PARTS and sums.n_credible <= sums.n_sites


def _parquet_rows(path: Path) -> Iterator[tuple[str, ...]]:
    file = pq.ParquetFile(pa.BufferReader(read_input(path, _FILE)))
    if file.metadata.num_rows > _MAX_ROWS:  # a few bytes can stand for any number of rows
        raise ValueError(f"expected at most {_MAX_ROWS} keys, got {file.metadata.num_rows}")
    table = file.read()
    if table.column_names != list(_COLUMNS):
        raise ValueError(f"expected columns {', '.join(_COLUMNS)}, got {', '.join(table.column_names)}")
    table = table.cast(_SCHEMA)  # an error for a key or a count that is missing
    yield from zip(*(column.to_pylist() for column in table.columns), strict=True)


def _text_rows(path: Path) -> Iterator[list[str]]:
    number = 0
    lines = io.StringIO(read_input_text(path, _FILE), newline="")
    for number, row in enumerate(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE), 1):
        if number == 1 and tuple(row) != _COLUMNS:
            raise ValueError(f"expected a first line {' '.join(_COLUMNS)}, got {' '.join(row)[:200]}")
        if len(row) != len(_COLUMNS):
            raise ValueError(f"line {number}: expected {len(_COLUMNS)} columns, got {len(row)}")
        if number > 1 and tuple(row) != _COLUMNS:
            yield row
    if not number:
        raise ValueError("it is empty")


def read_libraries(paths: Sequence[str]) -> PatternLibrary:
    """Read pattern libraries and merge them; a file named twice counts once."""
    library = PatternLibrary()
    for path in {Path(name).resolve(): Path(name) for name in paths}.values():
        library.merge(read_library(path))
    return library
