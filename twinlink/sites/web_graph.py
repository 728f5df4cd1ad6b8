"""Evidence about sites in a web graph of Common Crawl: hosts that link to them, and what else these hosts link to.

The files are read as a stream: vertices once, edges once. Memory is some 20 bytes per host of the graph, whatever the
number of edges; these go to a temporary file, 8 bytes each, over which PageRank is iterated.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray
from pyarrow import csv

from twinlink.compiled import FEW, compiled_beyond
from twinlink.errors import ConfigError, InputError
from twinlink.inputs import ANY_FILE, open_input
from twinlink.sites.common_crawl import GZIP, n_columns
from twinlink.sparse import check_shape, check_unit

__all__ = ["WebEvidence", "WebFiles", "no_evidence", "read_web_graph"]

BLOCK = 2**24
"""Bytes of text that are parsed at a time."""
_MAX_PARENTS = 8
_EMPTY = np.zeros(0, np.int32)

OnRead = Callable[[int, int], None]
Numbers = NDArray[np.int32]
Floats = NDArray[np.float64]


class WebFiles(NamedTuple):
    """The files of a web graph, as Common Crawl publishes them: tab-separated, gzipped or not."""

    vertices: Sequence[str | Path]
    """Lines ``number, host with its labels reversed``; numbers from 0, without gaps."""
    edges: Sequence[str | Path]
    """Lines ``number of the linking host, number of the linked host``, all links of a host together."""


class WebEvidence(NamedTuple):
    """What a web graph says about some sites; arrays have a value per site, 0 for a site that is not in the graph."""

    hosts: Floats
    """Hosts of other sites that link to it."""
    cocited: Floats
    """Mean, over the hosts that link to it and to other crawled sites, of the mean credibility of the latter. Each mean
    includes one 0."""
    credit: Floats
    """PageRank from credible sites that comes over links, in even shares of the hosts of the graph."""


def no_evidence(n_sites: int) -> WebEvidence:
    """Return the evidence without a web graph.

    >>> no_evidence(2).hosts.tolist()
    [0.0, 0.0]
    """
    return WebEvidence(*(np.zeros(n_sites) for _ in WebEvidence._fields))


class _Hosts(NamedTuple):
    """The hosts of a web graph."""

    site_of: Numbers
    """Number of the site of each host, -1: another site."""
    members: Numbers
    """Hosts of the sites."""


class _Sums(NamedTuple):
    """Sums over the hosts that link to each site."""

    hosts: Floats
    informed: Floats
    """Hosts that link to another crawled site, too."""
    shares: Floats
    """Σ of the credibility of the other crawled sites of a host, divided by their number and one."""


def read_web_graph(
    files: WebFiles,
    sites: Sequence[str],
    credibility: ArrayLike,
    crawled: ArrayLike,
    folder: str | Path,
    *,
    by_domain: bool = True,
    damping: float = 0.85,
    steps: int = 20,
    on_read: OnRead | None = None,
) -> WebEvidence:
    """Read what a web graph says about some sites.

    ::

        x ← d·(Pᵀx + dangling·v) + (1-d)·v       P: links between hosts, v: credibility of the crawled sites' hosts

    Parameters
    ----------
    files : WebFiles
        Vertices and edges; each kind may be cut into several files.
    sites : sequence of str, length n
        Names of the sites, without repetition.
    credibility : array_like of float in [0, 1], shape (n,)
        C(w) of the crawled ones; other values are not used.
    crawled : array_like of bool, shape (n,)
    folder : Path
        Folder for the temporary file.
    by_domain : bool
        Hosts below a site belong to it; else a site is one host. A leading ``www.`` is ignored.
    damping : float in [0, 1)
    steps : int, at least 1
        Iterations of PageRank: links that credibility travels at most.
    on_read : callable, optional
        Called with the bytes that have been read, and all.

    Raises
    ------
    InputError
        If a file cannot be read or is not of this form, an edge names a number that no vertex has, or a name of a site
        comes twice.
    ShapeError
        If the arrays do not fit the sites, or the credibility of a crawled one is outside [0, 1].
    ConfigError
        If damping or steps are out of range.
    """
    if not (0 <= damping < 1 and steps >= 1):  # in this form NaN does not pass
        raise ConfigError(f"host graph: expected damping in [0, 1) and at least one step, got {damping} and {steps}")
    vertices, links = ([Path(file) for file in each] for each in files)
    worth, known = _checked_sites(sites, credibility, crawled)
    reader = _Reader(sum(file.stat().st_size for file in [*vertices, *links] if file.is_file()), on_read)
    hosts = _read_hosts(reader, vertices, sites, by_domain=by_domain)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".edges-") as room:
        edges = _Edges(Path(room) / "edges", len(hosts.site_of))
        sums = _read_edges(reader, links, hosts, edges, worth, known)
        credit = _credit(edges, hosts, worth if worth.any() else known.astype(np.float64), damping, steps)
    return WebEvidence(sums.hosts, sums.shares / (sums.informed + 1), credit)


def _checked_sites(
    sites: Sequence[str], credibility: ArrayLike, crawled: ArrayLike
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the credibility of each site, 0 for one that is not crawled, and whether it is: kernels check neither."""
    worth, known = np.asarray(credibility, np.float64), np.asarray(crawled, np.bool_)
    for array, name in ((worth, "credibility"), (known, "crawled")):
        check_shape(array, (len(sites),), name, "the sites")
    twice = [site for site, n in Counter(sites).items() if n > 1]
    if twice:
        raise InputError(f"sites: expected each name once, got {twice[0]} twice")
    worth = np.where(known, worth, 0.0)
    check_unit(worth, "credibility of crawled sites")
    return worth, known


class _Reader:
    """Reads tab-separated files in batches, and reports its progress."""

    def __init__(self, total: int, on_read: OnRead | None) -> None:
        self._total, self._on_read, self._done = total, on_read, 0

    def batches(self, files: Sequence[Path], columns: Mapping[str, pa.DataType]) -> Iterator[list[pa.Array]]:
        """Yield the first columns of the files, some rows at a time."""
        if not files:
            raise InputError("host graph: expected at least one vertices file and one edges file")
        for file in files:
            width = n_columns(file)
            if width and width < len(columns):
                raise InputError(f"{file}: expected {len(columns)} tab-separated columns, got {width}")
            try:
                yield from self._of_file(file, width, columns) if width else ()
            except (pa.ArrowException, OSError, EOFError) as error:
                raise InputError(f"{file}: cannot be read ({' '.join(str(error).split())[:300]})") from error

    def _of_file(self, file: Path, width: int, columns: Mapping[str, pa.DataType]) -> Iterator[list[pa.Array]]:
        names = [*columns, *(f"more-{k}" for k in range(width - len(columns)))]
        with open_input(file, ANY_FILE) as plain:
            is_packed = plain.read(len(GZIP)) == GZIP
            plain.seek(0)
            rows = csv.open_csv(
                pa.input_stream(plain, compression="gzip" if is_packed else None),
                csv.ReadOptions(column_names=names, block_size=BLOCK),
                csv.ParseOptions(delimiter="\t", quote_char=False),
                csv.ConvertOptions(column_types=dict(columns), include_columns=list(columns), null_values=[]),
            )
            for batch in rows:
                yield batch.columns
                if self._on_read is not None:
                    self._on_read(self._done + plain.tell(), self._total)
        self._done += file.stat().st_size


def _read_hosts(reader: _Reader, vertices: Sequence[Path], sites: Sequence[str], *, by_domain: bool) -> _Hosts:
    """Read the hosts of the graph, and find those of the sites."""
    rows = {_reversed(site): row for row, site in enumerate(sites)}
    rows = {name.removesuffix(".www"): row for name, row in rows.items()} | rows
    names, numbers = pa.array(list(rows), pa.string()), np.array([*rows.values(), -1], np.int32)
    found, n_hosts, last, latest = [(np.zeros(0, np.int64), _EMPTY)], 0, -1, "\n"
    for ids, hosts in reader.batches(vertices, {"id": pa.int64(), "host": pa.string()}):
        number = ids.to_numpy()
        if len(number) and number.min() < 0:
            raise InputError(f"host graph: number {number.min()} of a host is negative")
        n_hosts, last = n_hosts + len(number), max(last, int(number.max(initial=-1)))
        latest = _last_of_different(hosts, latest)
        row = numbers[_looked_up(hosts, names, by_domain=by_domain)]
        found.append((number[row >= 0], row[row >= 0]))
    if last >= max(2 * n_hosts, 1) + BLOCK or last >= 2**31 - 1:  # a few lines must not claim any amount of memory
        raise InputError(f"host graph: expected numbers of hosts from 0 without gaps, got {last} among {n_hosts} hosts")
    if n_hosts > last + 1:  # more hosts than numbers
        raise InputError(f"host graph: expected one host for each number, got {n_hosts} hosts with {last + 1} numbers")
    members, row_of = (np.concatenate(column) for column in zip(*found, strict=True))
    site_of = np.full(last + 1, -1, np.int32)
    site_of[members] = row_of
    return _Hosts(site_of, members.astype(np.int32))


def _last_of_different(hosts: pa.Array, before: str) -> str:
    """Return the last host of a piece of the sorted hosts.

    Raises
    ------
    InputError
        If a host follows itself, perhaps the last one ``before`` this piece; its links would be those of two hosts.
    """
    hosts = pa.concat_arrays([pa.array([before], hosts.type), hosts])
    twice = np.flatnonzero(np.asarray(pc.fill_null(pc.equal(hosts[1:], hosts[:-1]), False)))
    if len(twice):
        raise InputError(f"host graph: expected each host once, got {hosts[int(twice[0])]} twice in the vertices files")
    return str(hosts[-1])


def _reversed(host: str) -> str:
    """Return a host with its labels in the other order.

    >>> _reversed("info.gov.hk")
    'hk.gov.info'
    """
    return ".".join(reversed(host.split(".")))


def _looked_up(hosts: pa.Array, names: pa.Array, *, by_domain: bool) -> NDArray[np.intp]:
    """Return the place of each host among some names, or that of the nearest domain above it; -1: none."""
    places = _places(hosts, names)
    left = np.flatnonzero(places < 0)
    rest = hosts.take(pa.array(left))
    for _ in range(_MAX_PARENTS if by_domain else 1):
        shorter = pc.replace_substring_regex(rest, r"\.[^.]*$" if by_domain else r"\.www$", "")
        is_shorter = pc.not_equal(shorter, rest)
        left, rest = left[np.asarray(is_shorter)], shorter.filter(is_shorter)
        if not len(left):
            break
        places[left] = _places(rest, names)
        still = places[left] < 0
        left, rest = left[still], rest.filter(pa.array(still))
    return places


def _places(hosts: pa.Array, names: pa.Array) -> NDArray[np.intp]:
    return np.asarray(pc.fill_null(pc.index_in(hosts, value_set=names), -1)).astype(np.intp)


class _Edges:
    """The edges of a graph in a file, in pieces of two columns of 32-bit numbers."""

    def __init__(self, path: Path, n_hosts: int) -> None:
        self._path, self._sizes = path, list[int]()
        self.degree = np.zeros(n_hosts, np.int32)
        """Links of each host."""
        path.touch()

    def add(self, sources: Numbers, targets: Numbers) -> None:
        """Add a piece."""
        self._sizes.append(len(sources))
        with self._path.open("ab") as file:
            sources.tofile(file)
            targets.tofile(file)

    def __iter__(self) -> Iterator[tuple[Numbers, Numbers]]:
        with self._path.open("rb") as file:
            for size in self._sizes:
                yield np.fromfile(file, np.int32, size), np.fromfile(file, np.int32, size)


def _read_edges(
    reader: _Reader, files: Sequence[Path], hosts: _Hosts, edges: _Edges, worth: Floats, known: NDArray[np.bool_]
) -> _Sums:
    """Read the edges once: into a file, and into sums over the hosts that link to each site."""
    n = len(worth)
    sums = _Sums(np.zeros(n), np.zeros(n), np.zeros(n))
    seen, room = np.full(n, -1, np.int64), np.zeros(n + 1, np.int32)
    before, runs = (_EMPTY, _EMPTY), 0
    for columns in reader.batches(files, {"from": pa.int64(), "to": pa.int64()}):
        new = [_checked(column, len(hosts.site_of)) for column in columns]
        if not len(new[0]):
            continue
        edges.add(*new)
        sources, targets = (np.concatenate(both) for both in zip(before, new, strict=True))
        others = np.flatnonzero(sources != sources[-1])
        cut = int(others[-1]) + 1 if len(others) else 0  # the last host may go on in the next batch
        done = _count_runs(
            sources[:cut], targets[:cut], hosts.site_of, worth, known, runs, seen, room, edges.degree, sums
        )
        runs += _refuse_scattered(done)
        before = sources[cut:], targets[cut:]
    _refuse_scattered(_count_runs(*before, hosts.site_of, worth, known, runs, seen, room, edges.degree, sums))
    return sums


def _refuse_scattered(done: int) -> int:
    if done < 0:
        raise InputError(
            f"host graph: expected the edges from a host in one place, got those from number {-1 - done} in several;"
            " sort the edges by their first column (Common Crawl's are sorted)"
        )
    return done


def _checked(column: pa.Array, n_hosts: int) -> Numbers:
    numbers: NDArray[np.int64] = column.to_numpy()
    if len(numbers) and not (numbers.min() >= 0 and numbers.max() < n_hosts):
        wrong = numbers[(numbers < 0) | (numbers >= n_hosts)][0]
        raise InputError(f"host graph: number {wrong} of an edge is in no vertices file")
    return numbers.astype(np.int32)


@compiled_beyond(FEW)
def _count_runs(
    sources: Numbers,
    targets: Numbers,
    site_of: Numbers,
    worth: Floats,
    known: NDArray[np.bool_],
    runs: int,
    seen: NDArray[np.int64],
    room: Numbers,
    degree: Numbers,
    sums: tuple[Floats, Floats, Floats],
) -> int:
    """Add the links of some hosts to the sums of the sites that they link to; return the number of hosts.

    A host that has links from before makes it return -1 less the number of this host: its links are not in one place.

    ``seen`` has the last host of each site, by number, ``runs`` the number of the first; ``room`` has space for the
    sites of a host; ``degree`` gets the links of each host.
    """
    hosts, informed, shares = sums
    run, i = runs, 0
    while i < len(sources):
        host, own = sources[i], site_of[sources[i]]
        if degree[host] > 0:
            return -1 - int(host)
        n, n_known, total = 0, 0, 0.0
        begin = i
        while i < len(sources) and sources[i] == host:
            site = site_of[targets[i]]
            i += 1
            if site >= 0 and site != own and seen[site] != run:
                seen[site] = run
                room[n] = site
                n += 1
                if known[site]:
                    n_known += 1
                    total += worth[site]
        degree[host] += i - begin
        for k in range(n):
            site = room[k]
            hosts[site] += 1.0
            others = n_known - 1 if known[site] else n_known
            if others > 0:
                informed[site] += 1.0
                shares[site] += (total - worth[site]) / (others + 1)
        run += 1
    return run - runs


def _credit(edges: _Edges, hosts: _Hosts, start: Floats, damping: float, steps: int) -> Floats:
    """Return the PageRank of each site that comes over links, in even shares; memory is three numbers per host."""
    n, rows = len(hosts.site_of), hosts.site_of[hosts.members]
    credit = np.zeros(len(start))
    share = start[rows] / np.maximum(np.bincount(rows, minlength=len(start)), 1)[rows]
    if not share.any():
        return credit
    share = (share / share.sum()).astype(np.float32)
    rank = np.zeros(n, np.float32)
    rank[hosts.members] = share
    flow = np.zeros(n, np.float32)
    for _ in range(steps):
        dangling = float(rank[edges.degree == 0].sum(dtype=np.float64))
        np.divide(rank, edges.degree, out=rank, where=edges.degree > 0)
        flow[:] = 0
        for sources, targets in edges:
            _pass_on(sources, targets, rank, flow)
        flow *= np.float32(damping)
        rank[:] = flow
        rank[hosts.members] += np.float32(1 - damping + damping * dangling) * share
    np.add.at(credit, rows, flow[hosts.members].astype(np.float64))
    return credit * n


@compiled_beyond(FEW)
def _pass_on(sources: Numbers, targets: Numbers, rank: NDArray[np.float32], flow: NDArray[np.float32]) -> None:
    """Add what each linking host passes on to the hosts that it links to."""
    for i in range(len(sources)):
        flow[targets[i]] += rank[sources[i]]
