"""Stage `match`: matches every site of a run, except those with a reusable earlier result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from twinlink.config import Config, MatchSettings
from twinlink.config.patterns import PatternSettings
from twinlink.ingest.shapes import read_shapes
from twinlink.language.site_languages import LanguageFinder, site_languages
from twinlink.languages import canonical_language
from twinlink.match.labels import (
    PairLabel,
    labels_digest,
    labels_in_force,
    labels_within,
)
from twinlink.match.methods.registry import METHODS, check_cut
from twinlink.match.pairs_file import conclude, n_pairs, write_pairs_file
from twinlink.match.reuse import RESULT_COLUMNS, EarlierMatch, site_digest, write_digests
from twinlink.match.shared_names import read_links
from twinlink.match.sides import facing_groups, language_groups
from twinlink.match.site import PAGE_COLUMNS, match_site
from twinlink.match.site_tables import SiteResult, write_site
from twinlink.patterns.library import read_libraries
from twinlink.rundir.directory import RunDirectory, Signature, file_digest
from twinlink.rundir.remembered import remember
from twinlink.similarity.lexicon_sets import Lexicons, write_record
from twinlink.tables import (
    PAGES,
    REJECTS,
    Reject,
    iter_parts,
    read_table,
    write_table,
)

__all__ = ["match"]


def match(
    run: RunDirectory,
    config: Config,
    on_site: Callable[[int, int], None] | None = None,
    find_languages: LanguageFinder = site_languages,
) -> Signature:
    """Match every site of a run, except those whose pages and links have not changed since their last match.

    Parameters
    ----------
    run : RunDirectory
        With stage `ingest` done.
    config : Config
        Its ``langs``, ``language`` and ``match`` are used.
    on_site : callable, optional
        Called after each site with the number of sites done and of all sites.
    find_languages : LanguageFinder, optional
        Another language finder; its name is part of the signature.

    Returns
    -------
    Signature
        Of the result, new or reused.

    Raises
    ------
    ConfigError
        If an expected precision is requested of a method without probabilities.
    MissingStageError
        If the pages have not been ingested, or not linearised for a method that needs it.
    EmptyMatchError
        If no pair was found, and an earlier match has some; the earlier match is kept.
    """
    check_cut(config.match)
    run.stage_folder("ingest")
    langs = tuple(canonical_language(tag) for tag in config.langs)
    settings = _signed_settings(config, langs, find_languages)
    libraries = _that_count(config.match).patterns.libraries
    lexicons = Lexicons(config.match.lexicons, langs)
    read_libraries(libraries)  # raises a clear error
    file_digests = [RESULT_COLUMNS, *lexicons.digests, *(file_digest(Path(name)) for name in libraries)]
    said = labels_in_force(run, config.match)
    ingested = str(run.read_signature("ingest"))
    inputs = [ingested, *file_digests, *filter(None, [labels_digest(said)])]
    signature = Signature.of("match", settings, inputs, pages=ingested)
    if run.is_done(signature):
        write_pairs_file(run.stage_folder("match"), run.pairs_file)
        if n_pairs(run.path / "match"):
            remember(run, config, "match")
        return signature
    shared = str(Signature.of("match", settings, file_digests))
    sites = _Sites(run, config, lexicons, find_languages, said, EarlierMatch(run), str(signature), shared)
    with run.writing(signature) as folder:
        sites.match_all(folder, on_site)
        conclude(run, folder, config)
    return signature


@dataclass(frozen=True)
class _Sites:
    """The sites of a run, and the common input of their matches."""

    run: RunDirectory
    config: Config
    lexicons: Lexicons
    find_languages: LanguageFinder
    said: Sequence[PairLabel]
    earlier: EarlierMatch
    signature: str
    shared: str
    """Digest of what all sites depend on."""

    def match_all(self, folder: Path, on_site: Callable[[int, int], None] | None) -> None:
        """Write the result of every site, and what was rejected."""
        rejects: list[Reject] = []
        digests: dict[str, str] = {}
        at_hand: set[tuple[str, str]] = set()
        parts = list(iter_parts(self.run.path / "ingest" / "pages"))
        for done, part in enumerate(parts, 1):
            site, digests[site], result = self._matched(part)
            write_site(result, folder, site)
            rejects += result.rejects
            if self.lexicons.is_auto:
                at_hand |= _facing_languages(result.languages, self.config.langs)
            if on_site:
                on_site(done, len(parts))
        table = pa.Table.from_pylist([reject._asdict() for reject in rejects], schema=REJECTS)
        write_table(table, REJECTS, folder / "rejects.parquet")
        write_digests(folder, digests)
        if self.lexicons.is_auto:
            write_record(self.lexicons.record(at_hand), folder)

    def _matched(self, part: Path) -> tuple[str, str, SiteResult]:
        """Return a site, a digest of what its result depends on, and the result: an earlier one of the same digest."""
        pages = read_table(part, PAGES, PAGE_COLUMNS)
        site = pages["site"][0].as_py()
        links = read_links(self.run.path / "ingest" / "links" / part.name, site)
        of_site = labels_within(self.said, set(pages["url"].to_pylist())) if self.said else []
        is_structural = METHODS[self.config.match.method].reads_shapes
        digest = site_digest(self.shared + labels_digest(of_site), part, (pages, links), with_bodies=is_structural)
        known = self.earlier.find(site, digest, pages["url"], self.signature)
        if known is not None:
            return site, digest, SiteResult(**known)
        shapes = read_shapes(self.run, part.name) if is_structural else None
        result = match_site(
            pages, links, self.lexicons.between, self.config, self.signature, self.find_languages, shapes, of_site
        )
        return site, digest, result


def _signed_settings(config: Config, langs: Sequence[str], find_languages: LanguageFinder) -> dict[str, Any]:
    """Return the settings that a result depends on."""
    settings: dict[str, Any] = {"langs": langs, "language": config.language, "match": _that_count(config.match)}
    if find_languages is not site_languages:
        settings["find_languages"] = getattr(find_languages, "__qualname__", type(find_languages).__qualname__)
    return settings


def _that_count(settings: MatchSettings) -> MatchSettings:
    """Return the settings without those that the method does not use."""
    weighs_patterns = settings.method == "weighed" and "pattern" in settings.weighing.evidence
    uses_patterns = settings.method == "urls" or weighs_patterns
    return settings if uses_patterns else msgspec.structs.replace(settings, patterns=PatternSettings())


def _facing_languages(languages: pa.Table, wanted: Sequence[str]) -> set[tuple[str, str]]:
    """Return every two languages of a site that are matched, given the table of its pages' languages."""
    groups = language_groups(languages["lang"].to_pylist(), wanted)
    return {(a.lang, b.lang) for a, b in facing_groups(groups)}
