"""Precision, recall and F1 of page pairs against a gold list, and the precision-coverage curve.

A gold file has two tab-separated columns, the addresses (or address paths) of page A and page B. Files beside it refine
the rules where they exist:

``ignore.tsv``
    pairs that are neither right nor wrong (partly translated pages);
``equiv.tsv``
    group, side, address: pages of one side with the same visible text stand for each other;
``unscored.txt``
    pages; a pair of two of them is neither right nor wrong;
``pages.tsv``
    address, side: which pages exist at all.

Scheme and host are left out of the comparison unless the gold file has them; a path that ends in ``/`` is its
``index.html``; addresses of one page in different spellings are the same (`twinlink.urls.page_key`). The two pages of a
pair may come in either order. Each gold pair counts once, however often the file has it. A page of a run may be in the
list under its own address or under another one that leads to it (`Gold.names`).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import structs

from twinlink.errors import GoldError, ShapeError
from twinlink.inputs import InputFile, read_input_text
from twinlink.urls import has_scheme, join, page_key

__all__ = [
    "Counts",
    "Evaluation",
    "Gold",
    "as_gold",
    "curve_points",
    "evaluate",
    "judge_pairs",
    "precision_coverage",
    "read_gold",
]

_FILE = InputFile("cannot be read as a gold file", "no such gold file", GoldError)
_LINE_END = re.compile(r"\r\n|\r|\n")  # str.splitlines would also cut at U+2028 and others, which addresses may hold
_ANY_HOST = "http://host/"
"""Base of the paths in a list without hosts."""

Pair = tuple[str, str]


class Gold(msgspec.Struct, frozen=True):
    """Known page pairs and the rules of their scoring; addresses are keys as `key` makes them."""

    pairs: tuple[Pair, ...]
    ignored: frozenset[Pair] = frozenset()
    unscored: frozenset[str] = frozenset()
    groups: dict[str, str] = msgspec.field(default_factory=dict)
    """Address → representative of the pages with the same visible text."""
    sides: dict[str, str] = msgspec.field(default_factory=dict)
    """Address → A, B or N (noise)."""
    with_host: bool = False
    with_query: bool = False
    names: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Page of a run, as `key` writes its address → the address under which the list has it."""

    def key(self, url: str) -> str:
        """Return the normal form for comparisons of addresses.

        >>> Gold(()).key("http://www.example.org/en/")
        '/en/index.html'

        Raises
        ------
        GoldError
            If it is not an address at all.
        """
        whole = join(_ANY_HOST, url)
        try:
            parts = urlsplit(url if whole is None else page_key(whole))
        except ValueError as error:
            raise GoldError(f"{url}: not an address ({error})") from error
        # Surrogates: addresses in Big5 and other encodings than UTF-8 stay apart.
        path = "/" + unquote(parts.path, errors="surrogateescape").removeprefix("/")
        path = path + "index.html" if path.endswith("/") else path
        host = parts.netloc.lower() if self.with_host else ""
        key = host + path + (f"?{parts.query}" if self.with_query and parts.query else "")
        return self.names.get(key, key)

    def named(self) -> frozenset[str]:
        """Return every address in the list and in the files beside it."""
        others = {key for pair in self.ignored for key in pair}
        return self.known() | others | self.unscored | self.groups.keys() | self.sides.keys()

    def group(self, key: str) -> str:
        """Return the name of the group that a page belongs to, or the page's own key."""
        return self.groups.get(key, key)

    def grouped(self, pair: Pair) -> frozenset[str]:
        """Return the groups of two keys, whose order does not matter."""
        return frozenset(map(self.group, pair))

    def known(self) -> frozenset[str]:
        """Return all addresses that the gold list names."""
        return frozenset(key for pair in self.pairs for key in pair)


class Counts(msgspec.Struct, frozen=True):
    """Counts of a scored list of pairs."""

    n_gold: int
    n_predicted: int
    n_right: int
    n_wrong: int
    n_unscored: int
    """Predicted pairs that the rules leave out."""
    n_unknown: int
    """Predicted pairs with an address that ``pages.tsv`` does not have; 0 where there is no such file."""
    n_alike: int = 0
    """Further pairs that differ from predicted ones only in parts that the gold addresses lack: host or query."""


class Evaluation(Counts, frozen=True):
    """Counts of a list of pairs that was scored by a gold list, and the three measures made of them."""

    @property
    def precision(self) -> float:
        """Right / (right + wrong); 0 when nothing was scored."""
        return self.n_right / (self.n_right + self.n_wrong) if self.n_right else 0.0

    @property
    def recall(self) -> float:
        """Right / gold; 0 for an empty gold list."""
        return self.n_right / self.n_gold if self.n_gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 0 when nothing is right."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def as_gold(gold: str | Path | Gold | Iterable[Pair]) -> Gold:
    """Return known pairs: those of a file (`read_gold`), or the given ones.

    >>> as_gold([("/a", "/x")]).pairs
    (('/a', '/x'),)

    Raises
    ------
    GoldError
        As in `read_gold`, or if they are no pairs of addresses.
    """
    if isinstance(gold, Gold):
        return gold
    if isinstance(gold, str | Path):
        return read_gold(gold)
    pairs = [*_address_pairs(gold, "gold")]
    plain = _plain_gold("gold", [address for pair in pairs for address in pair])
    return structs.replace(plain, pairs=_distinct((plain.key(a), plain.key(b)) for a, b in pairs))


def _address_pairs(pairs: Any, name: str) -> Iterator[Pair]:
    """Yield pairs of addresses, also those of a table with the columns ``url_a`` and ``url_b``."""
    if hasattr(pairs, "columns"):
        if not {"url_a", "url_b"} <= {*pairs.columns}:
            columns = ", ".join(map(str, pairs.columns))
            raise GoldError(f"{name}: expected a table with the columns url_a and url_b, got {columns}")
        pairs = zip(pairs["url_a"], pairs["url_b"], strict=True)
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2 or not all(isinstance(address, str) for address in pair):
            raise GoldError(f"{name}: expected pairs of two addresses, got {pair!r}")
        yield pair[0], pair[1]


def _plain_gold(name: object, addresses: Sequence[str]) -> Gold:
    """Return a gold list without pairs for such addresses."""
    with_host, with_query = _have_hosts(name, addresses), any("?" in address for address in addresses)
    return Gold((), with_host=with_host, with_query=with_query)


def read_gold(path: str | Path) -> Gold:
    """Read a gold file and the files beside it that refine the rules (see the module's text).

    A first line without ``/``, ``.`` and ``?`` has names of columns, and is left out.

    Raises
    ------
    GoldError
        If the file does not exist, is not UTF-8, has a line without two columns, or hosts in some addresses alone.
    """
    path = Path(path)
    rows = _without_header(_rows(path, 2))
    if not rows:
        raise GoldError(f"{path}: no pairs in it; expected lines of two tab-separated addresses")
    plain = _plain_gold(path, [address for row in rows for address in row[:2]])
    beside = path.parent
    groups = {plain.key(row[2]): f"{row[1]}{row[0]}" for row in _rows(beside / "equiv.tsv", 3, optional=True)}
    pairs = [(plain.key(row[0]), plain.key(row[1])) for row in rows]
    return Gold(
        pairs=_distinct(pairs),
        ignored=frozenset(
            (plain.key(row[0]), plain.key(row[1])) for row in _rows(beside / "ignore.tsv", 2, optional=True)
        ),
        unscored=frozenset(plain.key(row[0]) for row in _rows(beside / "unscored.txt", 1, optional=True)),
        groups=groups,
        sides={plain.key(row[0]): row[1] for row in _rows(beside / "pages.tsv", 2, optional=True)},
        with_host=plain.with_host,
        with_query=plain.with_query,
    )


def _distinct(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """Return each pair once, as it stands first; the order of its pages does not matter."""
    found: dict[frozenset[str], Pair] = {}
    for pair in pairs:
        found.setdefault(frozenset(pair), pair)
    return tuple(found.values())


def _have_hosts(name: object, addresses: Sequence[str]) -> bool:
    """Return whether the addresses of a gold list have hosts: all of them, or none."""
    without = [address for address in addresses if not has_scheme(address)]
    if 0 < len(without) < len(addresses):
        raise GoldError(
            f"{name}: {without[0]} has no host, but others have one; expected whole addresses, or paths, throughout"
        )
    return not without


def evaluate(pairs: Iterable[Pair], gold: str | Path | Gold | Iterable[Pair]) -> Evaluation:
    """Count the right and wrong ones among ``pairs`` of addresses.

    Parameters
    ----------
    pairs : iterable of pairs of str, or DataFrame
        A table has the columns url_a and url_b, as `twinlink.Run.pairs` has them.
    gold : path, Gold, or as ``pairs``
        Known pairs: a gold file, or the result of `read_gold`.

    Raises
    ------
    GoldError
        If one of them has no pairs of addresses, or as in `read_gold`.

    Examples
    --------
    >>> evaluate([("/a", "/x"), ("/b", "/z")], [("/a", "/x"), ("/b", "/y")]).f1
    0.5
    """
    gold = as_gold(gold)
    unique = {frozenset(pair): pair for pair in _address_pairs(pairs, "pairs")}.values()
    verdicts, n_unknown, n_alike = _verdicts(unique, gold)
    counts = Counter(verdicts)
    return Evaluation(
        n_gold=len(gold.pairs),
        n_predicted=len(verdicts) - n_alike,
        n_right=counts[True],
        n_wrong=counts[False],
        n_unscored=counts[None] - n_alike,
        n_unknown=n_unknown,
        n_alike=n_alike,
    )


def judge_pairs(pairs: Iterable[Pair], gold: Gold) -> list[bool | None]:
    """Return for each pair whether it is right; None: the rules leave it out, or an earlier pair is the same for them.

    >>> judge_pairs([("/b", "/z"), ("/x", "/a")], Gold((("/a", "/x"), ("/b", "/y"))))
    [False, True]
    """
    return _verdicts(pairs, gold)[0]


def precision_coverage(pairs: Sequence[Pair], scores: Sequence[float], gold: Gold) -> list[tuple[float, float, float]]:
    """Return (score, precision, recall) of the list cut after each scored pair, best score first.

    >>> precision_coverage([("/a", "/x"), ("/b", "/z")], [0.9, 0.4], Gold((("/a", "/x"), ("/b", "/y"))))
    [(0.9, 1.0, 0.5), (0.4, 0.5, 0.5)]

    Raises
    ------
    ShapeError
        If there is not one score for each pair.
    """
    return [point[1:] for point in curve_points(pairs, scores, gold)]


def curve_points(pairs: Sequence[Pair], scores: Sequence[float], gold: Gold) -> list[tuple[int, float, float, float]]:
    """Return the points of `precision_coverage`, each with the place of its pair in the list, from 1, before them.

    Pairs without a score (NaN) are the last.
    """
    scores = list(scores)  # a pandas Series would be read by its labels
    if len(scores) != len(pairs):
        raise ShapeError(f"scores: expected one for each of {len(pairs)} pairs, got {len(scores)}")
    order = sorted(range(len(pairs)), key=lambda i: (math.isnan(scores[i]), -scores[i], i))
    right = scored = 0
    curve = []
    for place, verdict in enumerate(judge_pairs([pairs[i] for i in order], gold), 1):
        if verdict is not None:
            right, scored = right + verdict, scored + 1
            curve.append((place, scores[order[place - 1]], right / scored, right / max(1, len(gold.pairs))))
    return curve


def _verdicts(pairs: Iterable[Pair], gold: Gold) -> tuple[list[bool | None], int, int]:
    """Return a verdict on each pair, how many have an unknown address, and how many are the same as an earlier one.

    True: right; False: wrong; None: not scored, as all pairs that are for the gold list the same as an earlier one.
    """
    left = Counter(map(gold.grouped, gold.pairs))
    ignored = set(map(gold.grouped, gold.ignored)) - set(left)
    seen: set[frozenset[str]] = set()
    verdicts: list[bool | None] = []
    n_unknown = n_alike = 0
    for url_a, url_b in pairs:
        pair = gold.key(url_a), gold.key(url_b)
        if frozenset(pair) in seen:
            n_alike += 1
            verdicts.append(None)
            continue
        seen.add(frozenset(pair))
        n_unknown += bool(gold.sides) and not (pair[0] in gold.sides and pair[1] in gold.sides)
        grouped = gold.grouped(pair)
        if left[grouped] > 0:
            left[grouped] -= 1
            verdicts.append(True)
        elif grouped in ignored or (pair[0] in gold.unscored and pair[1] in gold.unscored):
            verdicts.append(None)
        else:
            verdicts.append(False)
    return verdicts, n_unknown, n_alike


def _without_header(rows: list[list[str]]) -> list[list[str]]:
    """Leave out a first line of column names, as ``pairs.tsv`` has one."""
    is_header = rows and not any(sign in cell for cell in rows[0][:2] for sign in "/.?")
    return rows[1:] if is_header else rows


def _rows(path: Path, n_columns: int, *, optional: bool = False) -> list[list[str]]:
    if optional and not path.exists():
        return []
    lines = _LINE_END.split(read_input_text(path, _FILE))
    rows = [(number, [*map(str.strip, line.split("\t"))]) for number, line in enumerate(lines, 1) if line.strip()]
    for number, row in rows:
        if (got := len([*filter(None, row[:n_columns])])) < n_columns:
            raise GoldError(f"{path}, line {number}: expected {n_columns} tab-separated columns with text, got {got}")
    return [row for _, row in rows]
