"""The host graph: from links of pages to edges of sites, out of core; Common Crawl's files; exports."""

from __future__ import annotations

import gzip
import random
import re
from collections import defaultdict
from pathlib import Path

import networkx as nx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twinlink.config.sites import HostGraphSettings
from twinlink.domains import registered_domain
from twinlink.errors import DamagedError, InputError
from twinlink.sites.building import SiteLinks, build_host_graph
from twinlink.sites.common_crawl import add_common_crawl
from twinlink.sites.export import EXPORTS, export_host_graph, host_graph_to_networkx
from twinlink.sites.host_graph import EDGES_FILE, NODES_FILE, read_host_graph
from twinlink.tables import LINKS, write_table


def link(page: int, site: str, path: str = "/", anchor: str = "x", rel: str = "", hreflang: str = "") -> dict:
    return {
        "source": page,
        "target": None,
        "target_url": f"https://{site}{path}",
        "target_site": site,
        "anchor": anchor,
        "rel": rel,
        "hreflang": hreflang,
    }


def made(folder: Path, sites: dict[str, tuple[int, list[dict]]], **options) -> Path:
    """Write links, site by site, and build their graph."""
    parts = []
    for k, (site, (n_pages, rows)) in enumerate(sites.items()):
        file = folder / f"links-{k}.parquet"
        write_table(pa.Table.from_pylist(rows, schema=LINKS), LINKS, file)
        parts.append(SiteLinks(site, n_pages, (file,)))
    build_host_graph(parts, folder / "graph", HostGraphSettings(**options))
    return folder / "graph"


def weights(folder: Path) -> dict[tuple[str, str], float]:
    graph = read_host_graph(folder)
    coo = graph.links.tocoo()
    return {
        (graph.sites[a], graph.sites[b]): w
        for a, b, w in zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True)
    }


FOOTER = [link(page, "footer.org") for page in range(6)] * 2
BODY = [link(0, "body.org", "/1"), link(0, "body.org", "/2"), link(1, "body.org", "/1"), link(2, "body.org", "/1", "y")]
BOTH = [link(page, "both.org") for page in range(6)] + [link(0, "both.org", "/en/")]
SITE = {"a.hk": (6, FOOTER + BODY + BOTH)}


@pytest.mark.parametrize(
    ("weight", "site_wide", "expected"),
    [
        ("links", "count", (12, 4, 7)),
        ("links", "once", (1, 4, 2)),
        ("links", "drop", (0, 4, 1)),
        ("pages", "count", (6, 3, 6)),
        ("pages", "once", (1, 3, 2)),
        ("pages", "drop", (0, 3, 1)),
        ("templates", "count", (1, 3, 2)),
        ("templates", "once", (1, 3, 2)),
        ("templates", "drop", (0, 3, 1)),
        ("sites", "count", (1, 1, 1)),
        ("sites", "once", (1, 1, 1)),
        ("sites", "drop", (0, 1, 1)),
    ],
)
def test_weights_by_hand(tmp_path, weight, site_wide, expected):
    found = weights(made(tmp_path, SITE, weight=weight, site_wide=site_wide))
    assert tuple(found.get(("a.hk", site), 0) for site in ("footer.org", "body.org", "both.org")) == expected


def test_what_is_site_wide(tmp_path):
    rows = [link(page, "half.org") for page in range(5)] + [link(page, "less.org") for page in range(4)]
    options = {"weight": "links"}
    assert weights(made(tmp_path, {"a.hk": (10, rows)}, **options)) == {
        ("a.hk", "half.org"): 1,
        ("a.hk", "less.org"): 4,
    }
    more = weights(made(tmp_path, {"a.hk": (10, rows)}, **options, site_wide_share=0.4))
    assert more == {("a.hk", "half.org"): 1, ("a.hk", "less.org"): 1}
    small = weights(made(tmp_path, {"a.hk": (10, rows)}, **options, site_wide_pages=11))
    assert small == {("a.hk", "half.org"): 5, ("a.hk", "less.org"): 4}


@pytest.mark.parametrize(("same_domain", "expected"), [("count", 2), ("once", 1), ("drop", None)])
def test_links_within_a_registered_domain(tmp_path, same_domain, expected):
    rows = [link(0, "tc.x.com.hk", "/1"), link(0, "tc.x.com.hk", "/2"), link(0, "y.com.hk", "/1"), link(0, "y.com.hk")]
    found = weights(made(tmp_path, {"en.x.com.hk": (1, rows)}, same_domain=same_domain))
    assert found.get(("en.x.com.hk", "tc.x.com.hk")) == expected
    assert found["en.x.com.hk", "y.com.hk"] == 2


def test_what_is_left_out(tmp_path):
    rows = [link(0, "a.hk"), link(0, ""), link(0, "b.hk", rel="external nofollow"), link(0, "c.hk", rel="nofollowed")]
    folder = made(tmp_path, {"a.hk": (1, rows)})
    assert weights(folder) == {("a.hk", "c.hk"): 1}
    assert read_host_graph(folder).sites == ["a.hk", "c.hk"]
    assert ("a.hk", "b.hk") in weights(made(tmp_path, {"a.hk": (1, rows)}, ignored_rel=()))


@pytest.mark.parametrize("ignored", ["o'x", "a.b", "x(", "|"])
def test_ignored_words_of_rel_are_taken_literally(tmp_path, ignored):
    rows = [link(0, "b.hk", rel=f"external {ignored}"), link(0, "c.hk", rel="axb"), link(0, "d.hk")]
    found = weights(made(tmp_path, {"a.hk": (1, rows)}, ignored_rel=(ignored,)))
    assert set(found) == {("a.hk", "c.hk"), ("a.hk", "d.hk")}


def test_what_is_known_of_the_linked_sites(tmp_path):
    sites = {
        "a.hk": (9, [link(0, "x.hk", "/en/1"), link(0, "x.hk", "/index_tc.htm"), link(1, "y.de", "/deal")]),
        "b.hk": (9, [link(2, "x.hk", "/?lang=en"), link(2, "y.de", "/", hreflang="de")]),
        "c.hk": (6, [link(page, "x.hk", "/blog") for page in range(6)]),
        "lonely.hk": (3, []),
    }
    graph = read_host_graph(made(tmp_path, sites))
    assert graph.sites == ["a.hk", "b.hk", "c.hk", "lonely.hk", "x.hk", "y.de"]
    assert graph.n_pages.tolist() == [9, 9, 6, 3, 0, 0]
    assert graph.n_sources.tolist() == [0, 0, 0, 0, 3, 2]
    assert graph.n_named.tolist()[4:] == [2, 0]
    assert graph.n_languages.tolist()[4:] == [2, 0]
    assert graph.n_hreflang.tolist()[4:] == [0, 1]
    assert graph.n_site_wide.tolist()[4:] == [1, 0]


def plain(sites: dict[str, tuple[int, list[dict]]], options: HostGraphSettings) -> dict[tuple[str, str], float]:
    """The slow plain twin: weights by the definitions, link by link."""
    found = {}
    for site, (n_pages, rows) in sites.items():
        by_target = defaultdict(lambda: defaultdict(list))
        for row in rows:
            if row["target_site"] not in ("", site) and not set(row["rel"].split()) & set(options.ignored_rel):
                by_target[row["target_site"]][row["target_url"], row["anchor"]].append(row["source"])
        for target, templates in by_target.items():
            weight = plain_weight(list(templates.values()), n_pages, options)
            if registered_domain(site) == registered_domain(target) and options.same_domain != "count":
                weight = min(weight, 1.0) if options.same_domain == "once" else 0.0
            if weight:
                found[site, target] = float(weight)
    return found


def plain_weight(templates: list[list[int]], n_pages: int, options: HostGraphSettings) -> float:
    """Weight of the links of one site to another; each template is the pages that it stands on."""
    usual, wide = [], []
    for pages in templates:
        most = n_pages >= options.site_wide_pages and len(set(pages)) >= options.site_wide_share * n_pages
        (wide if most and options.site_wide != "count" else usual).append(pages)
    n_wide = 0 if options.site_wide == "drop" else len(wide)
    return {
        "links": sum(map(len, usual)) + n_wide,
        "pages": len({page for pages in usual for page in pages}) + bool(n_wide),
        "templates": len(usual) + n_wide,
        "sites": bool(len(usual) + n_wide),
    }[options.weight]


SITES = ["a.x.hk", "b.x.hk", "c.org", "d.org", "e.com"]
ROWS = st.lists(
    st.builds(
        link, st.integers(0, 5), st.sampled_from([*SITES, ""]), st.sampled_from(["/", "/en/"]),
        st.sampled_from(["x", "y"]), st.sampled_from(["", "nofollow", "me ugc"]),
    ),
    max_size=25,
)  # fmt: skip


@settings(max_examples=25)
@given(
    st.dictionaries(st.sampled_from(SITES), st.tuples(st.integers(6, 9), ROWS), min_size=1),
    st.builds(
        HostGraphSettings,
        weight=st.sampled_from(["links", "pages", "templates", "sites"]),
        site_wide=st.sampled_from(["count", "once", "drop"]),
        same_domain=st.sampled_from(["count", "once", "drop"]),
        batch=st.sampled_from([1, 1000]),
    ),
)
def test_weights_are_those_of_the_plain_twin(tmp_path_factory, sites, options):
    folder = tmp_path_factory.mktemp("twin")
    fields = ("weight", "site_wide", "same_domain", "batch")
    assert weights(made(folder, sites, **{name: getattr(options, name) for name in fields})) == plain(sites, options)


def test_order_of_sites_and_rows_does_not_matter(tmp_path):
    rng = random.Random(0)
    rows = [link(rng.randrange(9), rng.choice(SITES), rng.choice(["/", "/tc/"])) for _ in range(200)]
    sites = {site: (9, rows[k * 40 : k * 40 + 40]) for k, site in enumerate(SITES)}
    shuffled = {site: (n, rng.sample(each, len(each))) for site, (n, each) in reversed(sites.items())}
    (tmp_path / "b").mkdir()
    one, other = made(tmp_path, sites), made(tmp_path / "b", shuffled, batch=1)
    for name in (NODES_FILE, EDGES_FILE):
        assert pq.read_table(one / name).equals(pq.read_table(other / name))
    assert sorted(path.name for path in one.iterdir()) == [EDGES_FILE, NODES_FILE]


def test_renaming_sites_renames_the_graph(tmp_path):
    names = {"a.hk": "z.hk", "footer.org": "q.org", "body.org": "k.org", "both.org": "a.org"}
    renamed = [{**row, "target_site": names[row["target_site"]]} for row in SITE["a.hk"][1]]
    (tmp_path / "b").mkdir()
    before, after = weights(made(tmp_path, SITE)), weights(made(tmp_path / "b", {"z.hk": (6, renamed)}))
    assert {(names[a], names[b]): w for (a, b), w in before.items()} == after


def test_an_empty_graph_and_sites_without_links(tmp_path):
    build_host_graph([], tmp_path / "none")
    assert read_host_graph(tmp_path / "none").sites == []
    build_host_graph([SiteLinks("b.hk", 2, ()), SiteLinks("a.hk", 1, ())], tmp_path / "two")
    graph = read_host_graph(tmp_path / "two")
    assert (graph.sites, graph.n_pages.tolist(), graph.links.nnz) == (["a.hk", "b.hk"], [1, 2], 0)


def test_what_cannot_be_read_is_reported(tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(DamagedError, match=r"bad\.parquet"):
        build_host_graph([SiteLinks("a.hk", 1, (tmp_path / "bad.parquet",))], tmp_path / "graph")
    pq.write_table(pa.table({"source": [1]}), tmp_path / "other.parquet")
    with pytest.raises(DamagedError, match="target"):
        build_host_graph([SiteLinks("a.hk", 1, (tmp_path / "other.parquet",))], tmp_path / "graph")
    with pytest.raises(InputError, match=r"a\.hk"):
        build_host_graph([SiteLinks("a.hk", 1, ())] * 2, tmp_path / "graph")
    with pytest.raises(InputError, match="not a host graph"):
        read_host_graph(tmp_path / "graph")
    assert list((tmp_path / "graph").iterdir()) == []


def test_odd_names_of_files_and_sites(tmp_path):
    folder = tmp_path / "it's a [folder]"
    folder.mkdir()
    assert weights(made(folder, {"127.0.0.1:8000": (1, [link(0, "127.0.0.1:8001"), link(0, "localhost")])})) == {
        ("127.0.0.1:8000", "127.0.0.1:8001"): 1,
        ("127.0.0.1:8000", "localhost"): 1,
    }


def test_round_trips_of_exports(tmp_path):
    folder = made(tmp_path, SITE)
    expected = weights(folder)
    for ending in EXPORTS:
        export_host_graph(folder, tmp_path / f"graph{ending}")
    graphml, gexf = nx.read_graphml(tmp_path / "graph.graphml"), nx.read_gexf(tmp_path / "graph.gexf")
    ours = host_graph_to_networkx(folder)
    rows = pq.read_table(tmp_path / "graph.parquet").to_pylist()
    for graph in (graphml, gexf, ours):
        assert {(a, b): w for a, b, w in graph.edges(data="weight")} == expected
        assert graph.nodes["a.hk"]["n_pages"] == 6
    assert {(row["source"], row["target"]): row["weight"] for row in rows} == expected
    assert {row["target"]: row["n_links"] for row in rows} == {"footer.org": 12, "body.org": 4, "both.org": 7}
    assert not list(tmp_path.glob(".*"))


def test_paths_may_be_texts(tmp_path):
    folder = made(tmp_path, SITE)
    export_host_graph(str(folder), str(tmp_path / "graph.parquet"))
    assert (tmp_path / "graph.parquet").is_file()
    assert sorted(host_graph_to_networkx(str(folder))) == read_host_graph(str(folder)).sites


@pytest.mark.parametrize("name", ["graph.png", "nowhere/graph.gexf"])
def test_exports_that_cannot_be_written_are_refused(tmp_path, name):
    with pytest.raises(InputError):
        export_host_graph(made(tmp_path, SITE), tmp_path / name)
    with pytest.raises(InputError, match="not a host graph"):
        export_host_graph(tmp_path, tmp_path / "graph.gexf")


VERTICES = "0\thk.a\n1\torg.body\n2\torg.both\n3\torg.stranger\n"
EDGES = "0\t1\n1\t2\n1\t2\n2\t0\n3\t1\n1\t3\n2\t2\n"


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("third", ["", "\t7"])
def test_common_crawl_adds_edges_between_known_sites(tmp_path, zipped, third):
    def write(name: str, text: str) -> Path:
        data = text.encode()
        path = tmp_path / (name + (".gz" if zipped else ""))
        path.write_bytes(gzip.compress(data, mtime=0) if zipped else data)
        return path

    folder = made(tmp_path, SITE)
    before = weights(folder)
    lines = [line + third + "\n" for line in VERTICES.splitlines()]
    vertices = [write("v1.txt", "".join(lines[:1])), write("v2.txt", "".join(lines[1:]))]
    edges = [write("e.txt", EDGES)]
    add_common_crawl(folder, vertices, edges)
    assert weights(folder) == {**before, ("body.org", "both.org"): 1, ("both.org", "a.hk"): 1}
    graph = read_host_graph(folder)
    assert graph.sites == ["a.hk", "body.org", "both.org", "footer.org"]
    assert graph.n_sources.tolist() == [1, 1, 2, 1]
    assert graph.n_pages.tolist() == [6, 0, 0, 0]
    assert sorted(path.name for path in folder.iterdir()) == [EDGES_FILE, NODES_FILE]
    add_common_crawl(folder, vertices, edges)
    assert len(weights(folder)) == 5
    with pytest.raises(InputError, match="not a host graph"):
        add_common_crawl(tmp_path / "nowhere", vertices, edges)


@pytest.mark.parametrize(
    ("vertices", "edges"),
    [
        (VERTICES, "0\n"),
        (VERTICES, "0\tone\n"),
        (VERTICES, "0\t1\n0\n"),
        ("com.example\n", EDGES),
        ("x\tcom.example\n", ""),
    ],
)
def test_files_that_are_not_common_crawls_are_refused(tmp_path, vertices, edges):
    (tmp_path / "v").write_text(vertices)
    (tmp_path / "e").write_text(edges)
    folder = made(tmp_path, SITE)
    before = weights(folder)
    with pytest.raises(InputError):
        add_common_crawl(folder, [tmp_path / "v"], [tmp_path / "e"])
    assert weights(folder) == before


def test_a_wrong_file_is_named(tmp_path):
    (tmp_path / "v").write_text(VERTICES)
    (tmp_path / "good").write_text(EDGES)
    (tmp_path / "bad").write_text("0\tone\n")
    with pytest.raises(InputError, match=r"^\S*/bad: .*invalid value .one.") as caught:
        add_common_crawl(made(tmp_path, SITE), [tmp_path / "v"], [tmp_path / "good", tmp_path / "bad"])
    assert "solution" not in str(caught.value)


@pytest.mark.parametrize(
    ("vertices", "edges", "message"),
    [
        ("4\torg.x\t7\t1\n", EDGES, "v2: expected 2 or 3 tab-separated columns, got 4"),
        ("4\n", EDGES, "v2: expected 2 or 3 tab-separated columns, got 1"),
        (VERTICES, "0\t1\t1\n", "e2: expected 2 tab-separated columns, got 3"),
    ],
)
def test_a_file_with_a_wrong_number_of_columns_is_named(tmp_path, vertices, edges, message):
    for name, text in (("v1", VERTICES), ("v2", vertices), ("e1", EDGES), ("e2", edges)):
        (tmp_path / name).write_text(text)
    files = [[tmp_path / f"{kind}{k}" for k in (1, 2)] for kind in "ve"]
    with pytest.raises(InputError, match=rf"{re.escape(str(tmp_path))}/{message}"):
        add_common_crawl(made(tmp_path, SITE), *files)


def test_a_damaged_graph_is_not_exported(tmp_path):
    folder = made(tmp_path, SITE)
    (folder / NODES_FILE).write_bytes(b"PAR1")
    for ending in EXPORTS:
        with pytest.raises(DamagedError, match=r"nodes\.parquet"):
            export_host_graph(folder, tmp_path / f"graph{ending}")


def test_no_edges_and_no_files(tmp_path):
    (tmp_path / "v").write_text(VERTICES)
    (tmp_path / "e").write_text("")
    folder = made(tmp_path, SITE)
    before = weights(folder)
    add_common_crawl(folder, [tmp_path / "v"], [tmp_path / "e"])
    assert weights(folder) == before
    with pytest.raises(InputError, match="at least one"):
        add_common_crawl(folder, [], [tmp_path / "e"])
    with pytest.raises(InputError, match="missing"):
        add_common_crawl(folder, [tmp_path / "missing"], [tmp_path / "e"])


def test_common_crawl_knows_no_www(tmp_path):
    folder = made(tmp_path, {"www.a.hk": (1, [link(0, "www.b.hk")])})
    (tmp_path / "v").write_text("0\thk.a\n1\thk.b\n")
    (tmp_path / "e").write_text("1\t0\n")
    add_common_crawl(folder, [tmp_path / "v"], [tmp_path / "e"])
    assert weights(folder) == {("www.a.hk", "www.b.hk"): 1, ("www.b.hk", "www.a.hk"): 1}


def test_links_of_hosts_below_a_site_are_its_own(tmp_path):
    """A site is a registered domain, Common Crawl's links are between hosts; nobody owns a public suffix."""
    folder = made(tmp_path, {"a.hk": (1, [link(0, "b.org"), link(0, "www.gov.hk"), link(0, "c.gov.hk")])})
    hosts = ["hk.a.en", "hk.gov", "hk.gov.c.www2", "hk.gov.stranger", "org.b.shop.x"]
    (tmp_path / "v").write_text("".join(f"{number}\t{host}\n" for number, host in enumerate(hosts)))
    (tmp_path / "e").write_text("0\t1\n1\t4\n2\t4\n3\t4\n4\t0\n")
    before = weights(folder)
    add_common_crawl(folder, [tmp_path / "v"], [tmp_path / "e"], by_domain=False)
    assert weights(folder) == before
    add_common_crawl(folder, [tmp_path / "v"], [tmp_path / "e"])
    new = {("www.gov.hk", "b.org"), ("c.gov.hk", "b.org"), ("b.org", "a.hk")}
    assert weights(folder).keys() - before.keys() == new


def test_sites_that_differ_by_www_alone_get_the_same_links(tmp_path):
    folder = made(tmp_path, {"b.hk": (1, [link(0, "www.a.hk"), link(0, "a.hk")])})
    (tmp_path / "v").write_text("0\thk.a\n1\thk.b\n")
    (tmp_path / "e").write_text("0\t1\n0\t0\n")
    add_common_crawl(folder, [tmp_path / "v"], [tmp_path / "e"], by_domain=False)
    assert weights(folder).keys() == {(a, b) for one in ("a.hk", "www.a.hk") for a, b in (("b.hk", one), (one, "b.hk"))}
