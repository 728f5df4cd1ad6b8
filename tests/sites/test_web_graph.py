"""Evidence of a web graph: examples whose answer is known, a literal twin on small graphs, and files of other forms."""

from __future__ import annotations

import gzip
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from twinlink.errors import ConfigError, InputError, ShapeError
from twinlink.sites import web_files
from twinlink.sites.web_files import WebFiles
from twinlink.sites.web_graph import WebEvidence, no_evidence, read_web_graph

SITES = ["a.hk", "b.org", "c.com", "d.net"]
HOSTS = ["hk.a", "hk.a.en", "org.b", "com.c", "net.d", "com.x", "com.y"]
A, EN_A, B, C, D, X, Y = range(len(HOSTS))
_PACKED = gzip.compress(b"0\t0\n", mtime=0)
DAMAGED = _PACKED[:10] + bytes([_PACKED[10] ^ 7]) + _PACKED[11:]
"""A packed file whose first block is of no kind."""


def written(folder: Path, hosts: list[str], edges: list[tuple[int, int]]) -> WebFiles:
    vertices, links = folder / "vertices.txt", folder / "edges.txt"
    vertices.write_text("".join(f"{number}\t{host}\n" for number, host in enumerate(hosts)))
    links.write_text("".join(f"{a}\t{b}\n" for a, b in sorted(edges)))
    return WebFiles([vertices], [links])


def read(folder: Path, edges: list[tuple[int, int]], worth: list[float], **options: object) -> WebEvidence:
    """Read a graph whose sites with a credibility of 0 or more are crawled."""
    crawled = [value >= 0 for value in worth]
    return read_web_graph(written(folder, HOSTS, edges), SITES, worth, crawled, folder, **options)


def test_hosts_of_other_sites_that_link_to_a_site_are_counted_once(tmp_path):
    """Two links of x go to hosts of a.hk; en.a.hk links to its own site."""
    found = read(tmp_path, [(X, A), (X, EN_A), (Y, EN_A), (EN_A, A), (EN_A, B), (X, Y)], [-1, -1, -1, -1])
    assert found.hosts.tolist() == [2, 1, 0, 0]
    assert found.cocited.tolist() == found.credit.tolist() == [0, 0, 0, 0]


def test_the_other_crawled_sites_of_the_same_host_are_the_evidence(tmp_path):
    """x links to a (1.0), b (0.5) and d; y to c (0.0) and d: d gets (1.5/3 + 0/2)/3, and no site its own value."""
    found = read(tmp_path, [(X, A), (X, EN_A), (X, B), (X, D), (Y, C), (Y, D)], [1.0, 0.5, 0.0, -1])
    assert found.cocited.tolist() == pytest.approx([0.5 / 2 / 2, 1.0 / 2 / 2, 0.0, 0.5 / 3])
    assert found.hosts.tolist() == [1, 1, 1, 2]


def test_credit_goes_over_links_and_halves_where_a_host_has_two(tmp_path):
    """One step: a.hk has two hosts, each starts with half; en.a.hk passes its part on to b.org and x."""
    found = read(tmp_path, [(EN_A, B), (EN_A, X)], [1.0, -1, -1, -1], steps=1, damping=0.5)
    assert found.credit.tolist() == pytest.approx([0, 0.5 * 0.5 * 0.5 * len(HOSTS), 0, 0])


def test_no_crawled_site_is_in_the_graph(tmp_path):
    files = written(tmp_path, ["com.x", "com.y"], [(0, 1)])
    found = read_web_graph(files, SITES, [1, 1, 1, 1], [True] * 4, tmp_path)
    assert all(column.tolist() == [0] * 4 for column in found)
    assert no_evidence(4).hosts.tolist() == [0] * 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.txt", "vertices.txt"], (
        "no temporary file is left"
    )


def test_where_sites_are_hosts_others_below_them_are_not_theirs(tmp_path):
    files = written(tmp_path, ["hk.a", "hk.a.en", "com.x", "hk.a.www"], [(2, 0), (2, 1), (3, 1)])
    sites = ["a.hk", "en.a.hk"]
    assert read_web_graph(files, sites, [0, 0], [False] * 2, tmp_path, by_domain=False).hosts.tolist() == [1, 2]
    assert read_web_graph(files, ["a.hk"], [0], [False], tmp_path).hosts.tolist() == [1]
    assert read_web_graph(files, ["www.a.hk"], [0], [False], tmp_path, by_domain=False).hosts.tolist() == [1]


PORTAL = ["hk.gov", "hk.gov.info", "hk.gov.lands", "io.github", "io.github.me", "com.x", "com.y"]


def test_hosts_below_a_public_suffix_are_not_those_of_a_site_with_its_name(tmp_path):
    """www.gov.hk is ``hk.gov`` in Common Crawl's graph, and does not own info.gov.hk; github.io owns no user's host."""
    files = written(tmp_path, PORTAL, [(5, 1), (5, 2), (5, 4), (6, 0), (6, 2), (6, 4)])
    sites = ["www.gov.hk", "lands.gov.hk", "github.io", "com"]
    found = read_web_graph(files, sites, [0] * 4, [False] * 4, tmp_path)
    assert found.hosts.tolist() == [1, 2, 0, 0]


@pytest.mark.parametrize("by_domain", [True, False])
def test_sites_that_differ_by_www_alone_have_the_same_hosts(tmp_path, by_domain):
    """Common Crawl omits ``www.``: nobody can tell which of the two is meant."""
    files = written(tmp_path, ["org.x", "com.a", "com.b"], [(1, 0), (2, 0)])
    found = read_web_graph(
        files, ["www.x.org", "a.com", "x.org"], [0, 1, 0.5], [False, True, True], tmp_path, by_domain=by_domain
    )
    assert found.hosts.tolist() == [2, 0, 2]
    assert found.credit[0] == found.credit[2]


@pytest.mark.parametrize("block", [32, 2**24])
@pytest.mark.parametrize("packed", [False, True])
def test_files_may_be_cut_packed_and_have_a_count_of_hosts(tmp_path, monkeypatch, block, packed):
    monkeypatch.setattr(web_files, "BLOCK", block)
    edges = [(a, b) for a in range(len(HOSTS)) for b in range(len(HOSTS)) if (a * b) % 3]
    expected = read(tmp_path, edges, [1.0, 0.5, 0.0, -1])
    lines = (
        [f"{number}\t{host}\t{number + 1}\n" for number, host in enumerate(HOSTS)],
        [f"{a}\t{b}\n" for a, b in edges],
    )
    files = []
    for name, rows in zip(("v", "e"), lines, strict=True):
        for part, some in enumerate((rows[:4], rows[4:], [])):
            data = "".join(some).encode()
            path = tmp_path / f"{name}-{part}"
            path.write_bytes(gzip.compress(data[:9]) + gzip.compress(data[9:]) if packed else data)
            files.append(path)
    steps: list[tuple[int, int]] = []
    found = read_web_graph(
        WebFiles(files[:3], files[3:]),
        SITES,
        [1.0, 0.5, 0.0, 0.0],
        [True, True, True, False],
        tmp_path,
        on_read=lambda done, total: steps.append((done, total)),
    )
    total = sum(path.stat().st_size for path in files)
    assert steps[-1][1] == total
    assert packed or steps[-1][0] == total
    for one, other in zip(found, expected, strict=True):
        assert one.tolist() == pytest.approx(other.tolist())


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    edges=st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=25),
    worth=st.lists(st.sampled_from([-1.0, 0.0, 0.25, 1.0]), min_size=4, max_size=4),
)
def test_same_as_the_literal_twin(tmp_path, edges, worth):
    found = read(tmp_path, sorted(edges), worth, steps=3)
    for one, other in zip(found, twin(edges, worth, 3), strict=True):
        assert one.tolist() == pytest.approx(other, abs=1e-5)


def twin(edges: set[tuple[int, int]], worth: list[float], steps: int) -> tuple[list[float], list[float], list[float]]:
    """The definitions, word by word."""
    site_of = {A: 0, EN_A: 0, B: 1, C: 2, D: 3}
    linked: dict[int, set[int]] = defaultdict(set)
    for host, other in edges:
        if other in site_of and site_of[other] != site_of.get(host):
            linked[host].add(site_of[other])
    hosts, cocited = [], []
    for site in range(4):
        linking = [sites for sites in linked.values() if site in sites]
        means = []
        for sites in linking:
            values = [worth[other] for other in sites if other != site and worth[other] >= 0]
            means += [sum(values) / (len(values) + 1)] if values else []
        hosts.append(float(len(linking)))
        cocited.append(sum(means) / (len(means) + 1))
    start = [max(value, 0.0) for value in worth]
    start = start if any(start) else [float(value >= 0) for value in worth]
    v = np.array(
        [start[site_of[host]] / (2 if site_of[host] == 0 else 1) if host in site_of else 0 for host in range(7)]
    )
    if not v.any():
        return hosts, cocited, [0.0] * 4
    v /= v.sum()
    matrix = np.zeros((7, 7))
    for host, other in edges:
        matrix[host, other] = 1
    degree = matrix.sum(axis=1)
    x, flow = v, np.zeros(7)
    for _ in range(steps):
        flow = 0.85 * (x / np.maximum(degree, 1)) @ matrix
        x = flow + (0.85 * x[degree == 0].sum() + 0.15) * v
    return hosts, cocited, [7 * sum(flow[host] for host in site_of if site_of[host] == site) for site in range(4)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"credibility": [0.5]}, "credibility: expected shape .4,. as the sites have it, got .1,."),
        ({"crawled": [True]}, "crawled: expected true or false for each of 4 sites, got bool .1,."),
        ({"credibility": 0.5}, "credibility: expected shape"),
        ({"credibility": [0.5, np.nan, 0, 0]}, "credibility of crawled sites: expected values in .0, 1., got nan"),
        ({"credibility": [0.5, -1, 0, 0]}, "got -1.0"),
        ({"sites": ["a.hk", "b.org", "a.hk", "d.net"]}, "expected each name once, got a.hk twice"),
        ({"damping": 2}, "damping in"),
        ({"damping": np.nan}, "damping in"),
        ({"steps": 0}, "at least one step"),
    ],
)
def test_what_does_not_fit_the_sites_is_refused_before_a_kernel_reads_it(tmp_path, given, message):
    files = written(tmp_path, HOSTS, [(X, A)])
    usual = {"sites": SITES, "credibility": [0.5] * 4, "crawled": [True, True, False, False], "folder": tmp_path}
    with pytest.raises((ShapeError, ConfigError, InputError), match=message):
        read_web_graph(files, **{**usual, **given})


def test_values_of_sites_that_are_not_crawled_do_not_count(tmp_path):
    found = read_web_graph(
        written(tmp_path, HOSTS, [(X, A)]), SITES, [1, np.nan, -7, 9], [True] + [False] * 3, tmp_path
    )
    assert found.hosts.tolist() == [1, 0, 0, 0]


def test_paths_may_be_text(tmp_path):
    files = WebFiles(*([str(file) for file in each] for each in written(tmp_path, HOSTS, [(X, A)])))
    assert read_web_graph(files, SITES, [0] * 4, [False] * 4, str(tmp_path)).hosts.tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize(
    ("vertices", "edges", "message"),
    [
        (b"0\thk.a\n", b"0\t1\n", "number 1 of an edge is in no vertices file"),
        (b"0\thk.a\n", b"-1\t0\n", "number -1 of an edge is in no vertices file"),
        (b"-5\thk.a\n", b"0\t0\n", "number -5 of a host is negative"),
        (b"2000000000\thk.a\n", b"0\t0\n", "expected numbers of hosts from 0 without gaps"),
        (b"9000000000\thk.a\n", b"0\t0\n", "expected numbers of hosts from 0 without gaps"),
        (b"0\thk.a\n1\thk.a\n", b"0\t0\n", "expected each host once, got hk.a twice"),
        (b"0\thk.a\n1\thk.b\n1\thk.c\n", b"0\t0\n", "expected one host for each number, got 3 hosts with 2 numbers"),
        (b"0 hk.a\n", b"0\t0\n", "expected 2 tab-separated columns, got 1"),
        (b"x\thk.a\n", b"0\t0\n", "cannot be read"),
        (b"0\thk.a\n", b"0\t0\n0\n", "cannot be read"),
        (b"0\thk.a\n", b"0\t\xff\n", "cannot be read"),
        (gzip.compress(b"0\thk.a\n" * 9, mtime=0)[:-12], b"0\t0\n", "cannot be read"),
        (b"", b"0\t0\n", "number 0 of an edge is in no vertices file"),
        (b"0\thk.a\n1\thk.b\n", b"1\t0\n0\t1\n1\t1\n", "the edges from a host in one place, got those from number 1"),
        (b"0\thk.a\n", DAMAGED, "cannot be read"),
    ],
)
def test_files_of_another_form_are_refused(tmp_path, vertices, edges, message):
    (tmp_path / "v").write_bytes(vertices)
    (tmp_path / "e").write_bytes(edges)
    with pytest.raises(InputError, match=message):
        read_web_graph(WebFiles([tmp_path / "v"], [tmp_path / "e"]), SITES, [0] * 4, [True] * 4, tmp_path)
    with pytest.raises(InputError):
        read_web_graph(WebFiles([tmp_path / "v"], []), SITES, [0] * 4, [True] * 4, tmp_path)
    with pytest.raises(InputError):
        read_web_graph(WebFiles([tmp_path / "missing"], []), SITES, [0] * 4, [True] * 4, tmp_path)
