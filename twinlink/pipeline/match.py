"""Stage `match`: the tables of a site go in, its page pairs come out.

For each site: languages of the pages, then for each wanted pair of languages candidates, content and structural
similarity on them, ETS over the links, a one-to-one matching, and a cut that is found on the site itself.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import scipy.sparse as sp

from twinlink.config import Config, MatchSettings
from twinlink.graph.links import adjacency
from twinlink.graph.matching import Matching, greedy_matching
from twinlink.pipeline.evidence import Evidence, Side, gather_evidence
from twinlink.rundir import RunDirectory, Signature, file_digest, site_file, write_text
from twinlink.similarity.decision import choose_threshold
from twinlink.similarity.language import site_languages
from twinlink.similarity.lexicon import Lexicon, read_lexicon
from twinlink.tables import (
    CANDIDATES,
    LANGUAGES,
    LINKS,
    PAGES,
    PAIRS,
    REJECTS,
    Reject,
    concat_tables,
    iter_parts,
    read_table,
    write_table,
)

__all__ = ["SideMatch", "SiteResult", "language_groups", "match", "match_sides", "match_site", "site_sides"]

PAGE_COLUMNS = ("page_id", "site", "url", "blocks", "tags", "declared_lang")
LINK_COLUMNS = ("source", "target")
MIN_VARIANT_SHARE = (
    0.1  # a script variant (zh-Hans beside zh-Hant) with fewer of the language's pages is taken for noise
)


class Group(NamedTuple):
    """The pages of one language of a site."""

    tag: str
    """Wanted language that takes this one in."""
    lang: str
    rows: npt.NDArray[np.intp]


@dataclass(frozen=True)
class SiteResult:
    """What matching one site gives: rows of the tables languages, candidates, pairs and rejects."""

    languages: pa.Table
    candidates: pa.Table
    pairs: pa.Table
    rejects: list[Reject]


def match(run: RunDirectory, config: Config, on_site: Callable[[int, int], None] | None = None) -> Signature:
    """Match every site of a run.

    Parameters
    ----------
    run : RunDirectory
        With stage `ingest` done.
    config : Config
        Its ``langs``, ``language`` and ``match`` are used.
    on_site : callable, optional
        Called after each site with the number of sites done and of all sites.

    Returns
    -------
    Signature
        Of the result, whether it was made now or found done.
    """
    tables = run.stage_folder("ingest")
    settings = {"langs": config.langs, "language": config.language, "match": config.match}
    lexicon_files = [Path(name) for name in config.match.lexicons]
    lexicons = [read_lexicon(path) for path in lexicon_files]
    signature = Signature.of(
        "match", settings, [str(run.read_signature("ingest")), *(file_digest(path) for path in lexicon_files)]
    )
    if not run.is_done(signature):
        with run.writing(signature) as folder:
            rejects: list[Reject] = []
            parts = list(iter_parts(tables / "pages"))
            for done, part in enumerate(parts, 1):
                pages = read_table(part, PAGES, PAGE_COLUMNS)
                links = read_table(tables / "links" / part.name, LINKS, LINK_COLUMNS)
                result = match_site(pages, links, lexicons, config, str(signature))
                site = pages["site"][0].as_py()
                write_table(result.languages, LANGUAGES, site_file(folder / "languages", site))
                write_table(result.candidates, CANDIDATES, site_file(folder / "candidates", site))
                write_table(result.pairs, PAIRS, site_file(folder / "pairs", site))
                rejects += result.rejects
                if on_site:
                    on_site(done, len(parts))
            table = pa.Table.from_pylist([reject._asdict() for reject in rejects], schema=REJECTS)
            write_table(table, REJECTS, folder / "rejects.parquet")
    write_pairs_file(run)
    return signature


def write_pairs_file(run: RunDirectory) -> None:
    """Write all pairs of the run, most probable first, to ``RUN/pairs.tsv``."""
    table = read_table(run.stage_folder("match") / "pairs", PAIRS)
    table = table.sort_by([("probability", "descending"), ("score", "descending"), ("url_a", "ascending")])
    rows = ["\t".join(table.column_names)]
    rows += ["\t".join(_cell(value) for value in row.values()) for row in table.to_pylist()]
    write_text(run.pairs_file, "\n".join(rows) + "\n")


def _cell(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def match_site(
    pages: pa.Table, links: pa.Table, lexicons: Sequence[Lexicon], config: Config, signature: str
) -> SiteResult:
    """Match the pages of one site.

    Parameters
    ----------
    pages, links : pa.Table
        Rows of one site, at least the columns `PAGE_COLUMNS` and `LINK_COLUMNS`.
    lexicons : sequence of Lexicon
        May be empty: shared tokens, structure and links are left then.
    config : Config
        Settings.
    signature : str
        Goes with every pair.
    """
    langs, lang_scores = _languages(pages, config)
    groups = language_groups(langs, config.langs)
    sides = _sides(pages, links, groups)
    matches = [
        match_sides(side_a, side_b, lexicons, config.match)
        for (tag_a, side_a), (tag_b, side_b) in itertools.combinations(sides, 2)
        if tag_a != tag_b
    ]
    site = pages["site"][0].as_py()
    language_table = pa.table(
        {"page_id": pages["page_id"], "lang": langs, "lang_score": pa.array(lang_scores, pa.float32())}
    )
    return SiteResult(
        languages=language_table,
        candidates=concat_tables([_candidate_table(found) for found in matches], CANDIDATES),
        pairs=concat_tables([_pair_table(found, site, signature) for found in matches], PAIRS),
        rejects=_rejects(pages["url"].to_pylist(), langs, groups, matches),
    )


def site_sides(pages: pa.Table, links: pa.Table, config: Config) -> list[tuple[str, Side]]:
    """Return (wanted language, side) for each language of a site that is to be matched."""
    langs, _ = _languages(pages, config)
    return _sides(pages, links, language_groups(langs, config.langs))


def _languages(pages: pa.Table, config: Config) -> tuple[list[str], npt.NDArray[np.float32]]:
    declared = pages["declared_lang"].to_pylist()
    return site_languages(pages["blocks"].to_pylist(), declared, config.langs, config.language)


def _sides(pages: pa.Table, links: pa.Table, groups: Sequence[Group]) -> list[tuple[str, Side]]:
    graph = _site_graph(pages, links)
    return [(group.tag, _side(pages, graph, group)) for group in groups]


def language_groups(langs: Sequence[str], wanted: Sequence[str]) -> list[Group]:
    """Return the languages of a site that are to be matched, each with its pages.

    A wanted ``zh`` takes in ``zh-Hant`` and ``zh-Hans``; where a site has both, each is a language of its own (two
    groups of the same wanted tag, never matched with each other). Without wanted languages the two most frequent ones
    are taken.

    >>> [(tag, lang, rows.tolist()) for tag, lang, rows in language_groups(["en", "zh-Hant", "de", "en"], ["en", "zh"])]
    [('en', 'en', [0, 3]), ('zh', 'zh-Hant', [1])]
    """
    counts = Counter(lang for lang in langs if lang != "und")
    tags = list(wanted) or [lang for lang, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:2]]
    groups = []
    for tag in tags:
        members = {lang: n for lang, n in counts.items() if _covers(tag, lang)}
        total = sum(members.values())
        main = [lang for lang, n in sorted(members.items()) if n >= MIN_VARIANT_SHARE * total]
        for lang in main:
            belongs = {lang} | (set(members) - set(main) if lang == max(main, key=members.__getitem__) else set())
            groups.append(Group(tag, lang, np.flatnonzero([name in belongs for name in langs])))
    return groups


def _covers(tag: str, lang: str) -> bool:
    return lang.lower() == tag.lower() or lang.lower().startswith(tag.lower() + "-")


def _site_graph(pages: pa.Table, links: pa.Table) -> sp.csr_array:
    """Return the directed links among the pages of a site, rows and columns in the order of ``pages``."""
    page_ids = pd.Index(pages["page_id"].to_numpy())
    targets = links["target"].drop_null()
    sources = links["source"].filter(links["target"].is_valid())
    source, target = page_ids.get_indexer(sources.to_numpy()), page_ids.get_indexer(targets.to_numpy())
    inside = (source >= 0) & (target >= 0)
    return adjacency(source[inside], target[inside], len(page_ids))


def _side(pages: pa.Table, graph: sp.csr_array, group: Group) -> Side:
    chosen = pages.take(pa.array(group.rows))
    return Side(
        lang=group.lang,
        page_ids=chosen["page_id"].to_numpy(),
        urls=chosen["url"].to_pylist(),
        blocks=chosen["blocks"].to_pylist(),
        tags=chosen["tags"].to_pylist(),
        graph=sp.csr_array(graph[group.rows][:, group.rows]),
    )


@dataclass(frozen=True)
class SideMatch:
    """Two sides, the evidence between them, the one-to-one matching and which of it is kept."""

    side_a: Side
    side_b: Side
    evidence: Evidence
    matching: Matching
    rivals: npt.NDArray[np.float32]
    probabilities: npt.NDArray[np.float32]
    keep: npt.NDArray[np.bool_]

    def pairs(self) -> list[tuple[str, str]]:
        """Return the addresses of the kept pairs."""
        kept = zip(self.matching.rows[self.keep], self.matching.columns[self.keep], strict=True)
        return [(self.side_a.urls[row], self.side_b.urls[column]) for row, column in kept]


def match_sides(side_a: Side, side_b: Side, lexicons: Sequence[Lexicon], settings: MatchSettings) -> SideMatch:
    """Match two sides of a site: evidence, one-to-one matching, and the cut."""
    evidence = gather_evidence(side_a, side_b, lexicons, settings)
    matching = greedy_matching(evidence.score, settings.max_pairs)
    decision = choose_threshold(evidence.score, matching, greedy_matching, evidence.vectors_a, evidence.vectors_b)
    keep = decision.keep if settings.min_score is None else matching.scores >= settings.min_score
    return SideMatch(side_a, side_b, evidence, matching, decision.rivals, decision.probabilities, keep)


def _pair_table(found: SideMatch, site: str, signature: str) -> pa.Table:
    side_a, side_b, evidence = found.side_a, found.side_b, found.evidence
    rows, columns = found.matching.rows[found.keep], found.matching.columns[found.keep]
    at = evidence.at(rows, columns)
    values = {
        "url_a": [side_a.urls[row] for row in rows],
        "url_b": [side_b.urls[column] for column in columns],
        "lang_a": [side_a.lang] * len(rows),
        "lang_b": [side_b.lang] * len(rows),
        "probability": found.probabilities[found.keep],
        "score": found.matching.scores[found.keep],
        "content": evidence.content[at],
        "structure": evidence.structure[at],
        "internal": evidence.internal[at],
        "external": evidence.external[at],
        "rival": found.rivals[found.keep],
        "site": [site] * len(rows),
        "page_a": side_a.page_ids[rows],
        "page_b": side_b.page_ids[columns],
        "verdict": ["pair"] * len(rows),
        "signature": [signature] * len(rows),
    }
    return pa.table({name: pa.array(column, PAIRS.field(name).type) for name, column in values.items()}, schema=PAIRS)


def _candidate_table(found: SideMatch) -> pa.Table:
    evidence = found.evidence
    candidates = evidence.score.tocoo()
    values = {
        "page_a": found.side_a.page_ids[candidates.row],
        "page_b": found.side_b.page_ids[candidates.col],
        "content": evidence.content,
        "structure": evidence.structure,
        "internal": evidence.internal,
        "external": evidence.external,
        "score": candidates.data,
    }
    return pa.table(
        {name: pa.array(column, CANDIDATES.field(name).type) for name, column in values.items()}, schema=CANDIDATES
    )


def _rejects(
    urls: Sequence[str], langs: Sequence[str], groups: Sequence[Group], matches: Sequence[SideMatch]
) -> list[Reject]:
    """Return a reason for every page that is in no pair."""
    kept = {url for found in matches for url in _matched_urls(found, found.keep)}
    below = {url: detail for found in matches for url, detail in _below(found)}
    wanted = {int(row) for group in groups for row in group.rows}
    rejects = []
    for row, (url, lang) in enumerate(zip(urls, langs, strict=True)):
        if url in kept:
            continue
        if lang == "und":
            reason, detail = "no-language", ""
        elif row not in wanted:
            reason, detail = "other-language", lang
        elif url in below:
            reason, detail = "below-threshold", below[url]
        else:
            reason, detail = "no-partner-left", "every candidate has a better partner, or there is none"
        rejects.append(Reject(url, "match", reason, detail))
    return rejects


def _matched_urls(found: SideMatch, which: npt.NDArray[np.bool_]) -> Iterator[str]:
    yield from (found.side_a.urls[row] for row in found.matching.rows[which])
    yield from (found.side_b.urls[column] for column in found.matching.columns[which])


def _below(found: SideMatch) -> Iterator[tuple[str, str]]:
    """Yield each page whose best pair is under the cut, with that pair."""
    below = ~found.keep
    matched = zip(found.matching.rows[below], found.matching.columns[below], found.matching.scores[below], strict=True)
    for row, column, score in matched:
        url_a, url_b = found.side_a.urls[row], found.side_b.urls[column]
        yield url_a, f"{score:.4f} with {url_b}"
        yield url_b, f"{score:.4f} with {url_a}"
