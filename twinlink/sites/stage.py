"""Stage `rank`: the graph of all sites that a run's pages link to, and which of them to crawl next."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
from msgspec.structs import replace
from numpy.typing import NDArray

from twinlink.config import Config
from twinlink.domains import is_public_name
from twinlink.files import write_text
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.remembered import keep_with, remember
from twinlink.rundir.rounds import link_farms, paired_by_probe
from twinlink.rundir.signature import Signature, file_digest
from twinlink.sites.building import SiteLinks, build_host_graph
from twinlink.sites.common_crawl import add_common_crawl
from twinlink.sites.export import export_host_graph
from twinlink.sites.features import FEATURES
from twinlink.sites.host_graph import HostGraph, read_host_graph
from twinlink.sites.model import SiteModel, contributions
from twinlink.sites.ranking import SiteRanking, rank_sites
from twinlink.sites.web_files import WebFiles, find_graph_files
from twinlink.sites.web_graph import WebEvidence, read_web_graph
from twinlink.tables import (
    PAGES,
    PAIRS,
    PATTERNS,
    SITES,
    SIX_DIGITS,
    count_rows,
    is_part,
    iter_parts,
    part_like,
    read_table,
    tsv_lines,
    write_table,
)

SITES_FILE = "sites.tsv"
MODEL_FILE = "model.tsv"
TABLE_FILE = "sites.parquet"
LEAST_MEGABYTES = 64
"""Memory that the database gets where ``run.memory`` leaves less."""
NOT_PUBLIC = "not-public"
"""State of a site that pages link to and whose name is none of the public web."""
DISPROVED = "one-language"
"""Verdict on a probed site that is not bilingual."""


class _Crawled(NamedTuple):
    """Data of a crawled site."""

    credibility: float
    round: int


def rank(
    run: RunDirectory,
    config: Config,
    verdicts: Mapping[str, str] | None = None,
    on_site: Callable[[int, int], None] | None = None,
    on_read: Callable[[int, int], None] | None = None,
) -> Signature:
    """Rank the sites that the pages of a run link to.

    The credibility C(w) of a crawled site is that of stage `patterns` where it has been done; else the share of its
    pages in the pairs of `match`; else 0, so that only links count. For a site that `discover` added for the pairs of
    its probed pages, it is at least the share of these in pairs. Writes, below ``RUN/rank``, the table `SITES`
    (``sites.parquet``, and ``sites.tsv`` with the best candidates first) and the weights of our score (``model.tsv``);
    below ``RUN/hosts`` the host graph.

    Parameters
    ----------
    run : RunDirectory
        With stage `ingest` done.
    config : Config
        Its ``ranking`` is used.
    verdicts : mapping, optional
        Sites that are no longer candidates, with the reason (``dead``, ``refused``), which becomes their state. The
        model learns from those with the verdict `DISPROVED`.
    on_site : callable, optional
        Called with the number of sites whose links have been read, and of all.
    on_read : callable, optional
        Called with the bytes of Common Crawl's files that have been read, and all.

    Raises
    ------
    MissingStageError
        If the pages have not been ingested.
    InputError
        If files of Common Crawl are given and cannot be read.
    """
    verdicts = verdicts or {}
    files = find_graph_files("ranking.host_graph", config.ranking.host_graph)
    hosts = host_graph(run, config, on_site, on_read)
    inputs = [str(hosts), str(run.read_signature("patterns")), str(run.read_signature("match"))]
    inputs += [file_digest(file) for each in files for file in each]
    inputs += [f"{site}|{share}" for site, share in sorted(paired_by_probe(run).items())]
    inputs += [f"{site}|{verdict}" for site, verdict in sorted(verdicts.items())]
    inputs += ["private sites are candidates"] if config.crawl.allow_private else []
    signature = Signature.of("rank", {"ranking": config.ranking}, inputs)
    if run.is_done(signature):
        remember(run, config, "rank")
        return signature
    crawled = _crawled_sites(run)
    graph = read_host_graph(run.stage_folder("hosts"))
    with run.writing(signature) as folder:
        web = _web_evidence(WebFiles(*files), graph, crawled, folder, config, on_read) if files[0] else None
        table, model = site_table(graph, crawled, config, verdicts, web)
        write_table(table, SITES, folder / TABLE_FILE)
        with (folder / SITES_FILE).open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in tsv_lines(table, SIX_DIGITS))
        write_text(folder / MODEL_FILE, "".join(f"{line}\n" for line in _model_lines(model)))
        keep_with(run, folder, config, "rank")
    return signature


def host_graph(
    run: RunDirectory,
    config: Config,
    on_site: Callable[[int, int], None] | None = None,
    on_read: Callable[[int, int], None] | None = None,
) -> Signature:
    """Make the host graph of a run below ``RUN/hosts``, unless it is there already.

    The links of a site of which `discover` found several copies do not count (`twinlink.rundir.rounds.link_farms`).

    Raises
    ------
    MissingStageError
        If the pages have not been ingested.
    InputError
        If files of Common Crawl are given and cannot be read.
    """
    ingested = run.stage_folder("ingest")
    settings = config.ranking.graph
    vertices, edges = find_graph_files("ranking.graph.common_crawl", settings.common_crawl)
    farms = link_farms(run)
    by_domain = _by_domain(config)
    inputs = [str(run.read_signature("ingest")), *map(file_digest, [*vertices, *edges]), *sorted(farms)]
    inputs += [f"hosts below a site: {by_domain}"] if vertices else []
    signature = Signature.of("hosts", {"graph": settings}, inputs)
    if run.is_done(signature):
        return signature
    parts = list(iter_parts(ingested / "pages"))
    on_batch = None if on_site is None else lambda done: on_site(done, len(parts))
    megabytes = _megabytes(config)
    with run.writing(signature) as folder:
        build_host_graph(_site_links(ingested, parts, farms), folder, replace(settings, memory=megabytes), on_batch)
        if vertices:
            add_common_crawl(folder, vertices, edges, megabytes, by_domain=by_domain, on_read=on_read)
    return signature


def _megabytes(config: Config) -> int:
    """Return the memory that the database may take: what its setting says, or what ``run.memory`` leaves if less."""
    allowed = max(LEAST_MEGABYTES, config.memory.beside(0) // 10**6)
    return min(config.ranking.graph.memory, allowed)


def _by_domain(config: Config) -> bool:
    """Return whether sites are registered domains."""
    return config.crawl.site_by == "domain"


def _web_evidence(
    files: WebFiles,
    graph: HostGraph,
    crawled: Mapping[str, _Crawled],
    folder: Path,
    config: Config,
    on_read: Callable[[int, int], None] | None,
) -> WebEvidence:
    """Return what the host graph of Common Crawl says about the sites."""
    settings = config.ranking
    return read_web_graph(
        files,
        graph.sites,
        [crawled[site].credibility if site in crawled else 0.0 for site in graph.sites],
        [site in crawled for site in graph.sites],
        folder,
        by_domain=_by_domain(config),
        damping=settings.damping,
        steps=settings.host_graph_steps,
        on_read=on_read,
    )


def _site_links(ingested: Path, parts: Sequence[Path], farms: Collection[str]) -> Iterator[SiteLinks]:
    """Yield every site of a run; its file has its name. Those of link farms have no links that count."""
    for part in parts:
        site, links = unquote(part.stem), part_like(ingested / "links", part)
        yield SiteLinks(site, count_rows(part), (links,) if site not in farms and is_part(links) else ())


def _crawled_sites(run: RunDirectory) -> dict[str, _Crawled]:
    """Return credibility and round of every site of a run; a site that a probe added for its pairs has their share."""
    found = {}
    probed = paired_by_probe(run)
    has_patterns = run.read_signature("patterns") is not None
    has_pairs = run.read_signature("match") is not None
    for part in iter_parts(run.stage_folder("ingest") / "pages"):
        came = read_table(part, PAGES, ("round",))["round"].to_numpy()
        credibility = 0.0
        if has_patterns:
            credibility = _by_patterns(part_like(run.path / "patterns" / "patterns", part))
        elif has_pairs:
            credibility = _by_pairs(part_like(run.path / "match" / "pairs", part), len(came))
        site = unquote(part.stem)
        found[site] = _Crawled(max(credibility, probed.get(site, 0.0)), int(came.min()) if len(came) else 0)
    return found


def _by_patterns(part: Path) -> float:
    """Return C(w) as stage `patterns` has it; 0 for a site without patterns."""
    if not is_part(part):
        return 0.0
    values = read_table(part, PATTERNS, ("site_credibility",))["site_credibility"].to_pylist()
    return max(values, default=0.0)


def _by_pairs(part: Path, n_pages: int) -> float:
    """Return the share of a site's pages that are in pairs."""
    if not is_part(part) or not n_pages:
        return 0.0
    pairs = read_table(part, PAIRS, ("page_a", "page_b"))
    return min(1.0, len({*pairs["page_a"].to_pylist(), *pairs["page_b"].to_pylist()}) / n_pages)


def site_table(
    graph: HostGraph,
    crawled: Mapping[str, _Crawled],
    config: Config,
    verdicts: Mapping[str, str],
    web: WebEvidence | None = None,
) -> tuple[pa.Table, SiteModel]:
    """Return the rows of `SITES`, best candidates first, then the other sites by name, and the model of our score.

    Sites that were not crawled are candidates unless they have a verdict or a name that is not public
    (`twinlink.domains.is_public_name`); with ``crawl.allow_private``, all names count.

    Candidates of equal score are ordered by the sum of weighted PageRank, by the sites that link to them, by name.
    """
    unknown = _Crawled(0.0, 0)
    rows = [crawled.get(site, unknown) for site in graph.sites]
    known = np.array([site in crawled for site in graph.sites], dtype=np.bool_)
    credibility = np.array([row.credibility for row in rows], dtype=np.float64)
    rounds = np.array([row.round for row in rows], dtype=np.int64)
    disproved = np.array([verdicts.get(site) == DISPROVED for site in graph.sites], dtype=np.bool_) & ~known
    found = rank_sites(graph, credibility, known, rounds, config.ranking, disproved, web)
    state = [
        "crawled" if is_known else verdicts.get(site) or _untried(site, config)
        for site, is_known in zip(graph.sites, known.tolist(), strict=True)
    ]
    candidate = np.array([each == "candidate" for each in state], dtype=np.bool_)
    names = np.arange(len(state))
    order = np.lexsort((names, -graph.n_sources, -found.paper.weighted_sum, -found.ours, ~candidate))
    n_candidates = int(candidate.sum())
    order[n_candidates:].sort()
    place = np.zeros(len(state), dtype=np.int32)
    place[order[:n_candidates]] = np.arange(1, n_candidates + 1)
    table = pa.table(
        {
            "site": graph.sites,
            "state": state,
            "rank": pa.array(place, mask=~candidate),
            "round": pa.array(rounds.astype(np.int16), mask=~known),
            "credibility": credibility,
            "n_pages": graph.n_pages,
            "n_sources": graph.n_sources,
            **_score_columns(found),
        }
    )
    return table.take(pa.array(order)).select(SITES.names).cast(SITES), found.model


def _untried(site: str, config: Config) -> str:
    """Return the state of a site that was not tried; `discover` never tries one that is not public."""
    return "candidate" if config.crawl.allow_private or is_public_name(site) else NOT_PUBLIC


def _score_columns(found: SiteRanking) -> dict[str, NDArray[np.float64]]:
    values, parts = found.features.values, contributions(found.model, found.features.values)
    return {
        "ours": found.ours,
        "sum_linkout": found.paper.linkout_sum,
        "sum_pagerank": found.paper.pagerank_sum,
        "sum_weighted": found.paper.weighted_sum,
        "linkout": found.paper.linkout,
        "pagerank": found.paper.pagerank.scores,
        "weighted_pagerank": found.paper.weighted,
        **{name: values[:, k] for k, name in enumerate(FEATURES)},
        **{f"by_{name}": parts[:, k] for k, name in enumerate(FEATURES)},
    }


def _model_lines(model: SiteModel) -> Iterator[str]:
    yield "feature\tweight\twhat it is"
    for name, weight in zip(FEATURES, model.weights.tolist(), strict=True):
        yield f"{name}\t{weight:.4f}\t{SITES.field(name).metadata[b'description'].decode()}"
    yield f"intercept\t{model.intercept:.4f}\tlearned from {model.n_learned} sites, {model.n_bilingual} bilingual"


def export_graph(run: RunDirectory, path: Path, config: Config) -> None:
    """Write the host graph of a run to a file: GraphML, GEXF or a Parquet edge list, by its ending.

    Raises
    ------
    InputError
        If the ending is another one.
    MissingStageError
        If the run has not been ranked.
    """
    export_host_graph(run.stage_folder("hosts"), path, _megabytes(config))
