"""From links of pages to the host graph: processor time, wall time, memory, disk space.

::

    python -m experiments.bench.bench_hostgraph [--links 1000000 10000000] [--hosts 1000000] [--memory 1024]
                                                [--batch 4000000] [--seed 0] [--folder FOLDER]

Links are made and written as stage `ingest` writes them, one Parquet file a site, some 8,000 links a site, before the
clock starts: half of them within the site, a tenth in headers and footers, the rest to hosts with a heavy tail. Each
size is worked on in a process of its own; memory is the peak of the whole process, imports and compiled code too.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from twinlink.config.sites import HostGraphSettings
from twinlink.sites.building import SiteLinks, build_host_graph
from twinlink.sites.host_graph import read_host_graph
from twinlink.tables import LINKS, write_table

SITE_LINKS = 7_800  # 10^8 links of 12,800 sites
PAGE_LINKS = 60
FOOTERS = 6
HEADS = ("links", "sites", "made s", "input MB", "CPU s", "wall s", "peak MB", "nodes", "edges", "graph MB", "read s")


def main() -> None:
    """Print a row for each size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--links", type=int, nargs="+", default=[10**6, 10**7])
    parser.add_argument("--hosts", type=int, default=10**6, help="hosts outside that are linked to")
    parser.add_argument("--memory", type=int, default=1_024, help="megabytes for the database")
    parser.add_argument("--batch", type=int, default=HostGraphSettings().batch)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="where links and graph go for a while; default: as the system says")
    parser.add_argument("--one", type=Path, help="work on the links in this folder in this process")
    given = parser.parse_args()
    if given.one:
        print(*measure(given.one, HostGraphSettings(memory=given.memory, batch=given.batch)))
        return
    print("".join(f"{head:>10}" for head in HEADS))
    for n in given.links:
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            made = time.perf_counter()
            n_sites, size = write_links(Path(folder), n, given.hosts, given.seed)
            made = time.perf_counter() - made
            options = ["--memory", str(given.memory), "--batch", str(given.batch), "--one", folder]
            command = [sys.executable, "-m", "experiments.bench.bench_hostgraph", *options]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        cpu, wall, peak, nodes, edges, disk, read = map(float, done.stdout.split())
        print(
            f"{n:>10}{n_sites:>10}{made:>10.0f}{size:>10.0f}{cpu:>10.1f}{wall:>10.1f}{peak:>10.0f}"
            f"{nodes:>10.0f}{edges:>10.0f}{disk:>10.0f}{read:>10.1f}",
            flush=True,
        )


def write_links(folder: Path, n_links: int, n_hosts: int, seed: int) -> tuple[int, float]:
    """Write the links of all sites, one file per site; return the number of sites and the megabytes."""
    rng = np.random.default_rng(seed)
    n_sites = max(1, n_links // SITE_LINKS)
    hosts = pa.array([f"h{k}.{('com', 'hk', 'com.hk', 'org', 'gov.hk')[k % 5]}" for k in range(n_hosts)])
    sizes = rng.lognormal(0, 1, n_sites)
    sizes = np.maximum(1, (sizes * (n_links / sizes.sum())).astype(np.int64))
    sizes[np.argmax(sizes)] += n_links - sizes.sum()
    size = 0
    for number, n in enumerate(sizes.tolist()):
        path = folder / f"s{number}.hk.parquet"
        write_table(_made_links(f"s{number}.hk", n, hosts, rng), LINKS, path)
        size += path.stat().st_size
    return n_sites, size / 2**20


def _made_links(site: str, n: int, hosts: pa.Array, rng: np.random.Generator) -> pa.Table:
    """Return the links of a site, 60 per page, ordered by page."""
    kind = rng.random(n)
    page = np.arange(n) // PAGE_LINKS
    own = np.floor(len(hosts) * rng.random(FOOTERS) ** 3).astype(np.int64)
    target = np.floor(len(hosts) * rng.random(n) ** 3).astype(np.int64)
    footer = kind > 0.9
    target[footer] = own[np.arange(n)[footer] % FOOTERS]
    inside = kind < 0.5
    names = pc.if_else(pa.array(inside), pa.scalar(site), hosts.take(pa.array(target)))
    number = np.where(footer, 0, rng.integers(0, 1_000, n))
    paths = pa.array([f"/{('en', 'tc', 'news', 'about')[k % 4]}/{k}.html" for k in range(1_000)]).take(pa.array(number))
    anchors = pa.array([f"link text {k}" for k in range(1_000)]).take(pa.array(number))
    empty = pa.array([""]).take(pa.array(np.zeros(n, np.int64)))
    return pa.table(
        {
            "source": (page * 1_000_003 + hash_of(site)).astype(np.int64),
            "target": pa.nulls(n, pa.int64()),
            "target_url": pc.binary_join_element_wise("https://", names, paths, ""),
            "target_site": names,
            "anchor": anchors,
            "rel": empty,
            "hreflang": empty,
        }
    )


def hash_of(site: str) -> int:
    """Return a number for a site, the same in every process.

    >>> hash_of("a")
    97
    """
    return int.from_bytes(site.encode()[-7:], "big")


def measure(folder: Path, settings: HostGraphSettings) -> tuple[float, ...]:
    """Return CPU and wall seconds, peak megabytes, nodes, edges, megabytes of the graph, seconds to read it."""
    files = sorted(folder.glob("*.parquet"))
    cpu, wall = time.process_time(), time.perf_counter()
    parts = (SiteLinks(f.stem, pq.read_metadata(f).num_rows // PAGE_LINKS + 1, (f,)) for f in files)
    build_host_graph(parts, folder / "graph", settings)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    size = sum(file.stat().st_size for file in (folder / "graph").iterdir()) / 2**20
    read = time.perf_counter()
    graph = read_host_graph(folder / "graph")
    return cpu, wall, peak, len(graph.sites), graph.links.nnz, size, time.perf_counter() - read


if __name__ == "__main__":
    main()
