"""Learning the URL patterns of one site (Zhang, Yao & Kit, section 2.1).

A *key* is the single difference of two addresses, cut at the separators of their tokens or, where that is too narrow,
between letters (`twinlink.patterns.keys`). Addresses are not compared pairwise: those that become equal when one
part is masked share a signature, and are grouped by it. Keys compete: the strongest takes the pages that it pairs,
and the others are counted again without them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
from msgspec.structs import replace
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.config.patterns import PatternSettings
from twinlink.errors import InputError, ShapeError
from twinlink.languages import UNDETERMINED
from twinlink.patterns.competition import compete, strengths
from twinlink.patterns.kernels import (
    TOKEN,
    Pairs,
    crowded_pairs,
    group_pairs,
    shared_masks,
    whole_first,
)
from twinlink.patterns.keys import (
    Forms,
    Key,
    as_list,
    given_key,
    key_hashes,
    key_ranks,
    keys_of,
    read_forms,
    rule_of,
    side_hashes,
)
from twinlink.patterns.url_kernels import powers
from twinlink.sorted_keys import find_keys
from twinlink.sparse import as_rows, check_shape, entry_keys

__all__ = ["Pattern", "SitePatterns", "Verdict", "learn_patterns", "pattern_evidence"]

Verdict = Literal["credible", "rescued", "weak"]

MAX_LOOKED_UP = 256
"""Keys of a site, the strongest ones, that are looked up among crowded addresses."""
SHOWN = 64
"""Number of pairs of a key from which its most frequent rule is determined."""

Places = NDArray[np.int64]
Hashes = NDArray[np.uint64]


class Pattern(msgspec.Struct, frozen=True):
    """One key of one site."""

    key: Key
    rule: str
    """Its most frequent form with the characters around it, e.g. ``/en/ ↔ /tc/``."""
    n_pages: int
    """N(p,w): pages in the pairs that it won."""
    n_pairs: int
    credibility: float
    """Local credibility C(p,w) = N(p,w)/|w|, 0 to 1."""
    verdict: Verdict
    """Whether it is credible here; if not, whether other sites rescue it."""
    source_lang: str
    """Most frequent language of the pages on its source side, empty when none is known; and of its target side."""
    target_lang: str
    example: tuple[int, int]
    """Numbers of two addresses that it pairs."""


class SitePatterns(msgspec.Struct, frozen=True, eq=False):
    """URL patterns of a site and the pairs that they join."""

    n_pages: int
    """|w|: addresses with different forms."""
    host: str
    """The labels that all hosts end in, with the port; no pattern changes them. Empty: there are none."""
    patterns: tuple[Pattern, ...]
    """In the order in which they won."""
    sources: Places
    """Number of the source address of each pair."""
    targets: Places
    pattern_of: Places
    """Number of the pattern of each pair; pairs of weak patterns are there, too: see `used`."""
    n_crowded: int
    """Places in which more addresses than ``max_group`` differ; only keys found elsewhere were looked up there."""
    n_crowded_masks: int
    """How often an address stood in such a place."""

    @property
    def credibility(self) -> float:
        """Bilingual credibility C(w) = max_p C(p,w); 0 without patterns."""
        return max((pattern.credibility for pattern in self.patterns), default=0.0)

    def used(self) -> NDArray[np.bool_]:
        """Mark the pairs of patterns that are credible or rescued."""
        good = np.array([pattern.verdict != "weak" for pattern in self.patterns], np.bool_)
        return good[self.pattern_of]

    def judged(self, is_credible: Mapping[Key, float]) -> SitePatterns:
        """Return the same patterns with those weak ones rescued whose key is among the given ones."""
        patterns = tuple(
            replace(each, verdict="rescued") if each.verdict == "weak" and each.key in is_credible else each
            for each in self.patterns
        )
        return replace(self, patterns=patterns)


class _Met(NamedTuple):
    """Pairs of forms with a common signature, sorted by key."""

    pairs: Pairs
    starts: Places
    """Where the pairs of each key begin; keys are in the order of their hashes."""
    n_forms: int

    def strength(self) -> Places:
        """Return the number of pages that each key could pair."""
        return strengths(self.starts, self.pairs[1], self.pairs[2], self.n_forms)

    def only(self, keep: NDArray[np.bool_]) -> _Met:
        """Return the pairs of some keys alone."""
        sizes = np.diff(self.starts)
        pairs = tuple(column[np.repeat(keep, sizes)] for column in self.pairs)
        return _Met(pairs, np.concatenate([[0], np.cumsum(sizes[keep])]), self.n_forms)


def learn_patterns(
    urls: Sequence[str] | pa.Array,
    langs: Sequence[str | None] | pa.Array | None = None,
    settings: PatternSettings | None = None,
    known: Mapping[Key, float] | None = None,
) -> SitePatterns:
    """Learn the URL patterns of one site in time and memory O(|U|).

    The competition goes in phases. First keys that are ``known`` to be credible elsewhere, then keys of tokens that are
    credible here, then keys of letters (⟨1e,1c⟩, ⟨2e,2c⟩ … gather in ⟨*e,*c⟩), then all others, which are weak. In each
    the strongest key wins: the one that pairs most pages; of equal ones tokens before letters, then the shorter key. A
    page that is paired is not left to other keys, but for those that differ from it in the same place: so ``/en/``,
    ``/tc/`` and ``/sc/`` are all paired with each other. With ``settings.printed`` there is one phase for all keys.

    Parameters
    ----------
    urls : sequence of str or pa.Array of strings
        Normalised addresses of one site, in any order. What is no address has no partner.
    langs : sequence of str or pa.Array of strings, optional
        Language of each; ``und``, empty or null (None, NaN): not known. Two pages of one language are never paired.
        Where a language is not known, parts without a letter (page numbers, dates) are no key.
    settings : PatternSettings, optional
    known : mapping, optional
        Keys that are credible on other sites (`twinlink.patterns.credibility.credible_keys`); their values do not
        count, nor does the order of their sides.

    Raises
    ------
    ShapeError
        If the number of languages differs from the number of addresses.
    InputError
        If a language is not a text, or a key not a pair of texts.

    Examples
    --------
    >>> urls = [f"http://x.hk/{lang}/{name}.htm" for lang in ("en", "tc") for name in ("home", "news", "jobs")]
    >>> found = learn_patterns(urls)
    >>> [(each.rule, each.n_pages, each.credibility, each.verdict) for each in found.patterns]
    [('/en/ ↔ /tc/', 6, 1.0, 'credible')]
    """
    settings, known = (settings or PatternSettings()).in_use(), dict.fromkeys(map(given_key, known or ()), 1.0)
    langs = None if langs is None else _texts_or_nulls(langs)
    if langs is not None and len(langs) != len(urls):
        raise ShapeError(f"expected a language for each of {len(urls)} addresses, got {len(langs)}")
    forms = read_forms(urls)
    names, codes = _lang_codes(langs, forms)
    known_hashes = key_hashes(list(known))
    met, n_crowded = _meet(forms, codes, settings, known_hashes, numbers=langs is not None)
    is_known = np.isin(met.pairs[0][met.starts[:-1]], known_hashes[2])
    is_possible = is_known | (met.strength() >= 2 * settings.min_pairs)
    met, is_known = met.only(is_possible), is_known[is_possible]
    order, taken = _compete(forms, met, is_known, settings)
    return _result(forms, met, order, taken, is_known, (names, codes), settings, n_crowded)


def _texts_or_nulls(langs: Sequence[str | None] | pa.Array) -> list[str | None]:
    """Return languages as a list; None for what is missing, in pandas, too."""
    values: list[object] = [*as_list(langs)]
    try:
        texts: list[str | None] = pa.array(values, pa.string(), from_pandas=True).to_pylist()
    except pa.ArrowException as error:
        wrong = next((value for value in values if value is not None and not isinstance(value, str)), values)
        raise InputError(f"langs: expected a text or null for each address, got {wrong!r}") from error
    return texts


def _lang_codes(langs: Sequence[str | None] | None, forms: Forms) -> tuple[list[str], NDArray[np.int32]]:
    """Return the languages' names, and the number of that of each form; -1: not known."""
    if langs is None:
        return [], np.full(len(forms), -1, np.int32)
    names = sorted({lang for lang in langs if lang is not None} - {"", UNDETERMINED})
    number = {name: k for k, name in enumerate(names)}
    return names, np.array([number.get(langs[place] or "", -1) for place in forms.places.tolist()], np.int32)


def _meet(
    forms: Forms,
    langs: NDArray[np.int32],
    settings: PatternSettings,
    known: tuple[Hashes, Hashes, Hashes],
    *,
    numbers: bool,
) -> tuple[_Met, tuple[int, int]]:
    """Return the pairs of forms with a single difference, and how many places were too crowded for all pairs."""
    limits = (settings.max_tokens, settings.max_letters, settings.max_key, numbers)
    text = (forms.text, forms.starts, forms.lasts)
    masks = shared_masks(*text, limits, powers(forms.longest), forms.longest)
    by_signature = np.argsort(masks[0])
    masks = tuple(column[by_signature] for column in masks)
    whole_first(masks)
    least = min(2, settings.min_pairs)
    pairs, crowded = group_pairs(*text, langs, masks, settings.max_group, least, np.sort(known[2]))
    met = _sorted(pairs, len(forms))
    if not len(crowded):
        return met, (0, 0)
    n_masks = int((np.searchsorted(masks[0], masks[0][crowded], "right") - crowded).sum())
    more = crowded_pairs(*text, langs, masks, crowded, _looked_up(forms, met, settings, known))
    if len(more[0]):
        pairs = tuple(np.concatenate(columns) for columns in zip(pairs, more, strict=True))
        met = _sorted(pairs, len(forms))
    return met, (len(crowded), n_masks)


def _looked_up(
    forms: Forms, met: _Met, settings: PatternSettings, known: tuple[Hashes, Hashes, Hashes]
) -> tuple[Hashes, Hashes, Hashes]:
    """Return the keys to look up among crowded addresses, by the hash of their source."""
    strength = met.strength()
    strongest = np.lexsort((met.pairs[0][met.starts[:-1]], -strength))[:MAX_LOOKED_UP]
    strong = met.starts[strongest[strength[strongest] >= 2 * settings.min_pairs]]
    keys, sources, targets, spans_u, spans_v, _ = (column[strong] for column in met.pairs)
    found = side_hashes(forms, sources, spans_u), side_hashes(forms, targets, spans_v), keys
    both = [np.concatenate(sides) for sides in zip(found, known, strict=True)]
    _, first = np.unique(both[2], return_index=True)
    order = first[np.argsort(both[0][first], kind="stable")]
    return both[0][order], both[1][order], both[2][order]


def _sorted(pairs: Pairs, n_forms: int) -> _Met:
    """Sort pairs by key, then by source, target and place."""
    keys, sources, targets, spans_u, spans_v, _ = pairs
    order = np.argsort(keys)
    is_new = np.diff(keys[order], prepend=np.uint64(0)) != 0  # no key is 0
    entries = (np.cumsum(is_new) - 1) * n_forms + sources[order]
    by_entry = np.argsort(entries)
    order, entries = order[by_entry], entries[by_entry]
    is_same = entries[1:] == entries[:-1]
    tied = np.flatnonzero(np.append(is_same, False) | np.append(False, is_same))
    of_tied = order[tied]
    columns = (spans_v[of_tied], spans_u[of_tied], targets[of_tied], entries[tied])
    order[tied] = of_tied[np.lexsort(columns)]
    starts = np.append(np.flatnonzero(is_new), len(keys)).astype(np.int64)
    return _Met(tuple(column[order] for column in pairs), starts, n_forms)


def _keys(forms: Forms, met: _Met, at: Places) -> list[Key]:
    """Return the keys of some pairs."""
    return keys_of(forms, [column[at] for column in met.pairs[1:]])


def _compete(
    forms: Forms, met: _Met, is_known: NDArray[np.bool_], settings: PatternSettings
) -> tuple[Places, NDArray[np.bool_]]:
    """Return the keys that won, in their order, and mark the pairs that they took."""
    _, sources, targets, spans_u, spans_v, _ = met.pairs
    first = [column[met.starts[:-1]] for column in met.pairs[1:]]
    phases, least = _phases(first[-1], is_known, len(forms), settings)
    ranks = key_ranks(forms, first)
    return compete((sources, targets), (spans_u, spans_v), met.starts, len(forms), ranks, phases, least)


def _phases(
    levels: NDArray[np.integer], is_known: NDArray[np.bool_], n_forms: int, settings: PatternSettings
) -> tuple[NDArray[np.int8], Places]:
    """Return the first phase in which each key may win, and the pages that a key must pair in each phase."""
    if settings.printed:
        return np.zeros(len(levels), np.int8), np.array([2], np.int64)
    credible = max(2 * settings.min_pairs, int(np.ceil(settings.min_local * n_forms - 1e-9)))
    phases = np.where(is_known, 0, np.where(levels == TOKEN, 1, 2)).astype(np.int8)
    return phases, np.array([2, credible, credible, 2 * settings.min_pairs], np.int64)


def _result(
    forms: Forms,
    met: _Met,
    order: Places,
    taken: NDArray[np.bool_],
    is_known: NDArray[np.bool_],
    langs: tuple[list[str], NDArray[np.int32]],
    settings: PatternSettings,
    n_crowded: tuple[int, int],
) -> SitePatterns:
    patterns: list[Pattern] = []
    chosen: list[Places] = []
    for k in order.tolist():
        own = np.arange(met.starts[k], met.starts[k + 1])
        own = own[taken[own]]  # never empty: a key wins with pages that its pairs can take
        patterns.append(_pattern(forms, met, own, langs, bool(is_known[k]), settings))
        chosen.append(own)
    pairs = np.concatenate(chosen) if chosen else np.zeros(0, np.int64)
    return SitePatterns(
        n_pages=len(forms),
        host=forms.host,
        patterns=tuple(patterns),
        sources=forms.places[met.pairs[1][pairs]],
        targets=forms.places[met.pairs[2][pairs]],
        pattern_of=np.repeat(np.arange(len(chosen)), [len(own) for own in chosen]),
        n_crowded=n_crowded[0],
        n_crowded_masks=n_crowded[1],
    )


def _pattern(
    forms: Forms,
    met: _Met,
    own: Places,
    langs: tuple[list[str], NDArray[np.int32]],
    is_known: bool,
    settings: PatternSettings,
) -> Pattern:
    """Describe a key by the pairs that it won."""
    _, sources, targets, spans_u, spans_v, levels = met.pairs
    n_pages = len(np.union1d(sources[own], targets[own]))
    credibility = n_pages / len(forms)
    rules = Counter(
        rule_of(forms, *(int(column[at]) for column in (sources, spans_u, targets, spans_v, levels)))
        for at in own[:SHOWN].tolist()
    )
    weak: Verdict = "rescued" if is_known else "weak"
    return Pattern(
        key=_keys(forms, met, own[:1])[0],
        rule=min(rules, key=lambda rule: (-rules[rule], rule)),
        n_pages=n_pages,
        n_pairs=len(own),
        credibility=credibility,
        verdict="credible" if settings.is_credible(credibility) else weak,
        source_lang=_most(langs, sources[own]),
        target_lang=_most(langs, targets[own]),
        example=(int(forms.places[sources[own[0]]]), int(forms.places[targets[own[0]]])),
    )


def _most(langs: tuple[list[str], NDArray[np.int32]], pages: NDArray[np.int32]) -> str:
    names, codes = langs
    of_pages = codes[pages]
    counts = np.bincount(of_pages[of_pages >= 0], minlength=len(names))
    return names[int(counts.argmax())] if counts.any() else ""


def pattern_evidence(
    urls_a: Sequence[str] | pa.Array,
    urls_b: Sequence[str] | pa.Array,
    candidates: csr_array,
    found: SitePatterns,
    urls: Sequence[str] | pa.Array,
    prior: Mapping[Key, float] | None = None,
) -> csr_array:
    """Return the credibility of the URL pattern that joins each candidate pair.

    Parameters
    ----------
    urls_a, urls_b : sequence of str
        Pages of the two sides: rows and columns of ``candidates``. Of equal addresses the first one counts, as in
        `learn_patterns`.
    candidates : csr_array, shape (len(urls_a), len(urls_b))
        Candidate pairs: its stored entries, sorted; their values are ignored.
    found : SitePatterns
        Learned from ``urls``; pairs of weak patterns do not count.
    urls : sequence of str
        The addresses that ``found`` numbers.
    prior : mapping, optional
        Mean credibility of keys on other sites; the larger value counts.

    Returns
    -------
    csr_array of float32, sparsity of ``candidates``, values in [0, 1]
        0: no pattern pairs them.

    Raises
    ------
    ShapeError
        If ``candidates`` is not of this shape, or not sorted, or ``found`` numbers more addresses than ``urls`` has.

    Examples
    --------
    >>> urls = [f"http://x.hk/{lang}/{name}.htm" for lang in ("en", "tc") for name in ("home", "news", "jobs")]
    >>> candidates = csr_array(np.ones((3, 3)))
    >>> pattern_evidence(urls[:3], urls[3:], candidates, learn_patterns(urls), urls).toarray().tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    urls_a, urls_b, urls = as_list(urls_a), as_list(urls_b), as_list(urls)
    candidates = as_rows(candidates, "candidates")
    check_shape(candidates, (len(urls_a), len(urls_b)), "candidates", "the addresses")
    if not candidates.has_canonical_format:
        raise ShapeError("candidates: expected sorted columns, and each entry once")
    least = max(found.n_pages, 1 + int(max(found.sources.max(initial=-1), found.targets.max(initial=-1))))
    if len(urls) < least:
        raise ShapeError(f"urls: expected the {least} addresses or more that the patterns are from, got {len(urls)}")
    row_of, column_of = (_first_places(side) for side in (urls_a, urls_b))
    values = np.array([max(each.credibility, (prior or {}).get(each.key, 0.0)) for each in found.patterns])
    used = found.used() if found.patterns else np.zeros(0, np.bool_)
    rows, columns, weights = [], [], []
    pairs = zip(
        found.sources[used].tolist(), found.targets[used].tolist(), found.pattern_of[used].tolist(), strict=True
    )
    for source, target, pattern in pairs:
        for a, b in ((urls[source], urls[target]), (urls[target], urls[source])):
            if a in row_of and b in column_of:
                rows.append(row_of[a])
                columns.append(column_of[b])
                weights.append(values[pattern])
    return _looked_up_in(candidates, np.array(rows, np.int64), np.array(columns, np.int64), np.array(weights))


def _first_places(urls: Sequence[str]) -> dict[str, int]:
    """Return the number of each address, of equal ones that of the first."""
    places: dict[str, int] = {}
    for k, url in enumerate(urls):
        places.setdefault(url, k)
    return places


def _looked_up_in(candidates: csr_array, rows: Places, columns: Places, weights: NDArray[np.floating]) -> csr_array:
    """Return the sparsity of ``candidates`` with the given values where there are some, else 0."""
    keys = entry_keys(candidates)
    at, is_there = find_keys(rows * candidates.shape[1] + columns, keys)
    values = np.zeros(len(keys), np.float32)
    np.maximum.at(values, at[is_there], weights[is_there].astype(np.float32))
    return csr_array((values, candidates.indices.copy(), candidates.indptr.copy()), shape=candidates.shape)
