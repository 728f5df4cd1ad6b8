"""Counts over the results of a match, and why it found no pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from twinlink.config import MatchSettings
from twinlink.language.site_languages import TWO_LANGUAGES
from twinlink.language_names import name_of
from twinlink.languages import UNDETERMINED, languages_of_site
from twinlink.run_files import REJECTS_FILE
from twinlink.rundir.directory import RunDirectory
from twinlink.tables import FILTERS, LANGUAGES, REJECTS, iter_parts, read_table

NOT_THERE = "no page is in"
ONE_LANGUAGE = "are in one language"
APART = "no site has pages of two wanted languages, and each site is matched separately"

_CUTS = {
    "doubtful": "every pair that was found is below the limit (match.min_probability, match.min_precision)",
    "crowded-address": "more addresses differ in one place than the URL rule compares (match.url_rule.max_others)",
    "over-limit": "every pair that was found is left out (match.min_score, match.max_pairs)",
}
"""Messages for a match that found pairs and kept none, by the reject reason of their pages."""
_NOT_COMPARED = frozenset(("no-language", "two-languages", "other-language", "only-language", "placeholder"))
"""Reasons of pages that were compared with none."""

_BY_ADDRESS = {
    "bitextor2010": (
        "the URL rule joins no two addresses, or too many of them (match.url_rule.max_others); "
        "match.bitextor.use_urls=false compares all pages"
    ),
    "jangeldin": "neither hreflang nor the URL rule joins two pages, and the method does not search for other ones",
    "urls": "no URL pattern joins two addresses, and the method reads nothing else",
}
"""Why methods that choose their candidates by address have none."""
_NAMED_SITES = 3


class MatchCounts(msgspec.Struct, frozen=True):
    """Counts over all sites: pages by language, rejects by stage and reason, candidates by filter."""

    n_pages: int
    languages: Mapping[str, int]
    """The most frequent first."""
    rejects: Mapping[tuple[str, str], int]
    filters: Mapping[str, int]
    candidates: Mapping[str, int] = msgspec.field(default_factory=dict)
    """Candidates of each site, for methods with filters."""

    @property
    def reasons(self) -> set[str]:
        """Why pages have no pair."""
        return {reason for stage, reason in self.rejects if stage == "match"}


def count_match(run: RunDirectory, folder: Path) -> MatchCounts:
    """Count the results of a match in a folder, which may still be temporary."""
    rejects = count_rejects(run.stage_folder("ingest")) + count_rejects(folder)
    langs = Counter(read_table(folder / "languages", LANGUAGES, ("lang",))["lang"].to_pylist())
    filters: Counter[str] = Counter()
    candidates: Counter[str] = Counter()
    for part in iter_parts(folder / "filters"):
        for row in read_table(part, FILTERS, ("site", "filter", "n_pairs")).to_pylist():
            filters[row["filter"]] += row["n_pairs"]
            candidates[row["site"]] += row["n_pairs"]
    counted = dict(langs.most_common()), dict(sorted(rejects.items())), dict(filters), dict(candidates)
    return MatchCounts(langs.total(), *counted)


def count_rejects(folder: Path) -> Counter[tuple[str, str]]:
    """Count the rejects in the folder of a stage by stage and reason."""
    table = read_table(folder / REJECTS_FILE, REJECTS, ("stage", "reason"))
    return Counter(zip(table["stage"].to_pylist(), table["reason"].to_pylist(), strict=True))


def without_candidates(settings: MatchSettings, candidates: Mapping[str, int]) -> str:
    """Return that a method by addresses cannot work on some sites, because it has no candidate there; else nothing.

    Parameters
    ----------
    settings : MatchSettings
    candidates : mapping from str to int
        Number of candidates of each site, as in `MatchCounts.candidates`.

    Examples
    --------
    >>> without_candidates(MatchSettings(method="urls"), {"a.org": 0, "b.org": 12})
    'urls cannot work on 1 of 2 sites (a.org): no URL pattern joins two addresses, and the method reads nothing else'
    """
    sites = [site for site, count in candidates.items() if not count]
    all_pages = settings.method == "bitextor2010" and not settings.bitextor.use_urls
    if not sites or all_pages or settings.method not in _BY_ADDRESS:
        return ""
    named = ", ".join(sites[:_NAMED_SITES]) + (", …" if len(sites) > _NAMED_SITES else "")
    where = "this site" if len(candidates) == 1 else f"{len(sites)} of {len(candidates)} sites ({named})"
    return f"{settings.method} cannot work on {where}: {_BY_ADDRESS[settings.method]}"


def why_none(
    languages: Iterable[str],
    wanted: Iterable[str],
    reasons: Collection[str] = (),
    no_candidates: str = "",
    prefixes: Sequence[str] = (),
) -> str:
    """Return why a match found no pair, from the languages of its pages and the reasons why pages have none.

    ``no_candidates`` is what `without_candidates` returned; ``prefixes`` are those of ``ingest.url_prefixes``.

    >>> why_none(["en", "zh-Hant"], ["en", "rus"])
    'no page is in rus (Russian), of langs en,rus'
    >>> why_none(["en", "zh-Hant"], ["en", "zh"], ["doubtful", "no-candidate"])
    'every pair that was found is below the limit (match.min_probability, match.min_precision)'
    """
    langs = set(languages)
    there = langs - {UNDETERMINED, TWO_LANGUAGES}
    if not langs:
        only = f"; only addresses that begin with {' or '.join(prefixes)} are (ingest.url_prefixes)" if prefixes else ""
        return f"no page was kept{only}"
    if not there:
        return "the language of no page could be determined"
    if len(there) == 1:
        known = " with a known language" if langs - there else ""
        return f"all pages{known} {ONE_LANGUAGE}"
    tags = list(wanted)
    for tag, meant in languages_of_site(tags, there).items():
        if not meant:
            return f"{NOT_THERE} {name_of(tag)}, of langs {','.join(tags)}"
    return _why_without_partners(reasons, no_candidates)


def _why_without_partners(reasons: Collection[str], no_candidates: str) -> str:
    """Return why no pair was found, though there are pages in the wanted languages."""
    if "only-language" in reasons and _NOT_COMPARED.issuperset(reasons):
        return APART
    if no_candidates:
        return no_candidates
    cuts = (cut for reason, cut in _CUTS.items() if reason in reasons)
    return next(cuts, "no page of one wanted language has a partner in another")
