"""Evidence about sites in a web graph of Common Crawl: hosts that link to them, and what else these hosts link to.

The files are read as a stream: vertices once, edges once. Memory is some 20 bytes per host of the graph, whatever the
number of edges; these go to a temporary file, 8 bytes each, over which PageRank is iterated.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from twinlink.compiled import FEW, compiled_beyond
from twinlink.errors import ConfigError, InputError
from twinlink.graph.checks import check_marks
from twinlink.sites.web_files import OnRead, Reader, WebFiles, read_members
from twinlink.sites.web_hosts import HostNames
from twinlink.sparse import check_shape, check_unit

__all__ = ["WebEvidence", "no_evidence", "read_web_graph"]

_EMPTY = np.zeros(0, np.int32)

Numbers = NDArray[np.int32]
Floats = NDArray[np.float64]


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
    """The hosts of a web graph; here and below, a site is a group of sites with the same hosts."""

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
        Hosts below a site belong to it, unless it is a public suffix; else a site is one host. A leading ``www.`` is
        ignored; sites that differ by it alone get the same evidence (`twinlink.sites.web_hosts.HostNames`).
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
    names = HostNames(sites, by_domain=by_domain)
    worth, known = _of_groups(names.group, worth, known)
    reader = Reader([*vertices, *links], on_read)
    hosts = _read_hosts(reader, vertices, names)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".edges-") as room:
        edges = _Edges(Path(room) / "edges", len(hosts.site_of))
        sums = _read_edges(reader, links, hosts, edges, worth, known)
        credit = _credit(edges, hosts, worth if worth.any() else known.astype(np.float64), damping, steps)
    found = sums.hosts, sums.shares / (sums.informed + 1), credit
    return WebEvidence(*(of_groups[names.group] for of_groups in found))


def _checked_sites(
    sites: Sequence[str], credibility: ArrayLike, crawled: ArrayLike
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the credibility of each site, 0 for one that is not crawled, and whether it is: kernels check neither."""
    worth, known = np.asarray(credibility, np.float64), check_marks(crawled, len(sites), "crawled", "sites")
    check_shape(worth, (len(sites),), "credibility", "the sites")
    twice = [site for site, n in Counter(sites).items() if n > 1]
    if twice:
        raise InputError(f"sites: expected each name once, got {twice[0]} twice")
    worth = np.where(known, worth, 0.0)
    check_unit(worth, "credibility of crawled sites")
    return worth, known


def _of_groups(group: Numbers, worth: Floats, known: NDArray[np.bool_]) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the credibility of each group of sites with the same hosts, the largest, and whether one is crawled."""
    n = int(group.max(initial=-1)) + 1
    most, is_any = np.zeros(n), np.zeros(n, np.bool_)
    np.maximum.at(most, group, worth)
    np.logical_or.at(is_any, group, known)
    return most, is_any


def _read_hosts(reader: Reader, vertices: Sequence[Path], names: HostNames) -> _Hosts:
    """Read the hosts of the graph, and find those of the groups of sites."""
    members, groups, n_numbers = read_members(reader, vertices, names)
    site_of = np.full(n_numbers, -1, np.int32)
    site_of[members] = groups
    return _Hosts(site_of, members.astype(np.int32))


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
    reader: Reader, files: Sequence[Path], hosts: _Hosts, edges: _Edges, worth: Floats, known: NDArray[np.bool_]
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
