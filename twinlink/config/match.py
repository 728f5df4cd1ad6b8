"""Settings of the matching: candidates, similarities, evidence, and selection of pairs."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from msgspec import Meta

from twinlink.config.baselines import BitextorSettings, ModelSettings, UrlRuleSettings, WebminingSettings
from twinlink.config.patterns import PatternSettings
from twinlink.config.settings import Natural, Positive, Settings, Unit

ContentForm = Literal["tsim_idf", "tsim", "bits", "cosine"]
StructureForm = Literal["indel", "lcs_max"]
SharedTokens = Literal["all", "numbers", "none"]
Direction = Literal["in", "out", "both"]


class CandidateSettings(Settings, frozen=True):
    """Selection of candidate pairs."""

    per_page: Positive = 20
    """Candidates kept for each page, in each direction (trial figures: `docs/results/accuracy.md`)."""
    votes: Annotated[int, Meta(ge=1, le=4)] = 2
    """Votes that a pair of pages needs to be a candidate in the first round of ``weighed`` on a site with more than
    2,000 pages in the two languages together: one for each list of nearest pages that it is in (by words and by
    structure, of either page), and one more where it is in the first half of the list. 1: all pairs of the lists, as on
    smaller sites, and where structure is not used. In trials on lo-en-zhtw (4,862 pages), F1 was .997, .998 and .998
    with 1, 2 and 3 votes."""
    products_per_page: Positive = 25_000
    """Products of two term weights that the search for candidates may take for each page, on average: bounds its time.
    Weak weights and the most frequent terms are left out to meet it. Sites on which all products take at most a tenth
    of a second are searched exactly, as are all tuning sites but lo-en-zhtw; there, F1 is .998 either way."""
    memory: Positive | None = None
    """Megabytes that the candidates of two languages may take: ``per_page`` is lowered until they fit. Default: no
    limit."""


class InternalSettings(Settings, frozen=True):
    """S_in = β·S_cb + (1-β)·S_struct."""

    content: ContentForm = "tsim_idf"
    """Form of S_cb: STRAND tsim (WebMining eq. 2), with idf-weighted words or plain, BITS (eq. 3) from both sides, or
    the idf-weighted cosine. In trials best or equal on five of six sites."""
    structure: StructureForm = "indel"
    """Normaliser of S_struct: 2·LCS/(n+m), or LCS/max(n, m)."""
    beta: Unit = 0.6
    """Weight of content (Liu et al., Figure 2). Methods ``liu2014`` and ``urls``."""
    shared_tokens: SharedTokens = "all"
    """Words that count as translations of themselves: those spelled alike in both languages (numbers, names, Latin
    words in non-Latin text), numbers only, or none."""


class EtsSettings(Settings, frozen=True):
    """ETS = (1-α)·S_in + α·S_ext, iterated (Liu et al., Algorithms 1 and 2)."""

    alpha: Unit = 0.6
    """Weight of links (Liu et al., Figure 4). Method ``liu2014`` only; ``weighed`` has ``weighing.alpha``."""
    rounds: Natural = 3
    """Maximum number of rounds (Liu et al., Figure 3)."""
    tolerance: Annotated[float, Meta(ge=0)] = 0.0
    """Stop when no score moved by more than this."""
    neighbours: Direction = "both"
    """Pages that link here, pages linked from here, or both. The paper does not say."""
    start: Literal["internal", "random"] = "internal"
    """Values before the first round: S_in, or random ones as in the paper (Algorithm 2), the same in each run. The
    effect of both is in `docs/papers/001.md`."""
    rarity: bool = False
    """Whether a neighbour shared by many pages counts for less. Not in the paper; its effect is in
    `docs/results/accuracy.md`."""


Evidence = Literal[
    "content",
    "learned",
    "contrast",
    "structure",
    "ets",
    "external",
    "order",
    "length",
    "direct",
    "hreflang",
    "pattern",
]

DEFAULT_EVIDENCE: tuple[Evidence, ...] = get_args(Evidence)
"""Kinds of evidence that are weighed by default (`twinlink.match.methods.weighed`)."""


class WeighingSettings(Settings, frozen=True):
    """Weighing of evidence on the site."""

    evidence: tuple[Evidence, ...] = DEFAULT_EVIDENCE
    """Kinds of evidence to use; leave some out to measure their effect."""
    alpha: Unit | None = None
    """α of the ETS that is used as evidence. Default: .4 with structure, .7 without: weak evidence needs more
    weight on neighbours."""
    rounds: Natural = 3
    """Rounds of learning after the first one, fewer where they change nothing. Trials: after three the scores move by
    .005 at most, but for look-alikes. Unless this is 0, further ones follow while they make more pairs sure, and the
    rounds start again where look-alikes may have been exchanged."""
    ridge: Annotated[float, Meta(gt=0)] = 1e-4
    """Penalty on large weights, a candidate. Trials from 1e-6 (too sure of itself) to 3e-3 (drops a third of the right
    pairs)."""


MethodName = Literal["weighed", "liu2014", "jangeldin", "webmining", "bitextor2010", "urls"]


class MatchSettings(Settings, frozen=True):
    """Selection of pairs."""

    method: MethodName = "weighed"
    """Evidence weighed on the site; the fixed weights of Liu et al.; structure alone, as Jangeldin &
    Assylbekov, WebMining and Bitextor (2010) have it; or URL patterns that content does not contradict."""
    lexicons: tuple[str, ...] = ()
    """Lexicon files: TSV, CC-CEDICT, FreeDict (dictd) or MUSE, plain or compressed; which column is which language is
    found on the site. ``auto`` stands for the dictionaries that are installed for the languages at hand."""
    max_pairs: Natural | None = None
    """MAX_P of Liu et al., Algorithm 3. Default: no limit."""
    min_score: Unit | None = None
    """MIN_SIM of Algorithm 3, instead of a least probability. Raw scores are not comparable between sites."""
    min_probability: Unit | None = None
    """Least probability of a pair that is kept. Default: ½, which makes the expected F1 largest, or what method
    ``liu2014`` estimates; no limit where `min_precision` is given."""
    labels: bool = False
    """Use labels from `twinlink review`: accepted pairs are always kept, rejected ones never (`label`), and method
    ``weighed`` learns from both."""
    min_precision: Unit | None = None
    """Keep the longest list, most probable pairs first, whose expected precision is at least this. If `min_probability`
    is given as well, pairs below it are left out."""
    other_langs: Natural = 2
    """Maximum number of further languages matched with the wanted ones as evidence, where their pairs are doubtful."""
    internal: InternalSettings = InternalSettings()
    ets: EtsSettings = EtsSettings()
    weighing: WeighingSettings = WeighingSettings()
    candidates: CandidateSettings = CandidateSettings()
    patterns: PatternSettings = PatternSettings()
    url_rule: UrlRuleSettings = UrlRuleSettings()
    bitextor: BitextorSettings = BitextorSettings()
    webmining: WebminingSettings = WebminingSettings()
    models: ModelSettings = ModelSettings()
