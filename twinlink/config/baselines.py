"""Settings of the methods that compare structure: URL rule, Bitextor, WebMining, and the models over a set of pairs."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from twinlink.config.settings import Natural, Positive, Settings, Unit

__all__ = [
    "BestOf",
    "BitextorSettings",
    "ClusterSettings",
    "JangeldinSettings",
    "MixtureSettings",
    "ModelSettings",
    "StrandSettings",
    "UrlRuleSettings",
    "WebminingSettings",
]

BestOf = Literal["mutual", "rows", "columns", "either"]
Step = Annotated[float, Meta(ge=1e-4, le=2)]


class UrlRuleSettings(Settings, frozen=True):
    """The URL rule."""

    max_others: Natural = 100
    """A key under which an address meets more others than this says too little: its addresses must be alike within the
    masked part as well; pages that have no candidate for this reason are rejected as ``crowded-address``. Bounds time
    and memory. 0: no bound, the rule as printed."""


class BitextorSettings(Settings, frozen=True):
    """Thresholds of Bitextor's comparison. The paper prints the number of differences only."""

    size_difference: Unit = 0.3
    """Largest difference of file sizes, relative to the larger: 99 % of the right pairs of five tuning sites lie
    below 0.27."""
    text_difference: Unit = 0.75
    """Largest difference of text lengths in characters, relative to the larger: all right pairs of the tuning
    sites lie below, 0.50 for English and French, 0.73 for English and Chinese."""
    max_differences: Natural = 10
    """N: differences of two fingerprints at most (section 6)."""
    max_difference_share: Unit = 0.0
    """More differences than N are allowed up to this share of the tokens of the longer page. 0: as in the paper.
    N is the same for short and long pages; in trials on nine site folders F1 is higher with 0.05 on each."""
    text_tolerance: Unit | None = None
    """t_b: texts whose lengths differ by no more (D) are no difference. Default: found on the site for its two
    languages, see ``tolerance_share``."""
    tolerance_share: Unit = 0.95
    """Share of the texts of candidates with equal tags that t_b includes. Not in the paper."""
    use_urls: bool = True
    """Compare only pairs that the URL rule lets through (section 4.1); else all."""
    best_of: BestOf = "mutual"
    """Pages whose best candidate a pair must be, see `twinlink.similarity.nearest.best_candidates`."""


class WebminingSettings(Settings, frozen=True):
    """Thresholds of WebMining's filters."""

    size_difference: Unit = 0.3
    """Largest difference of file sizes, relative to the larger (section 4)."""
    tag_difference: Unit = 0.2
    """Largest difference of tag counts (section 4)."""
    paragraph_difference: Unit = 0.4
    """Largest difference of paragraph counts (section 4)."""
    fit_pairs: Positive = 20_000
    """Pairs at most whose distances the line is fitted on without labels; of more, every k-th row of the candidates.
    They are the ones that are measured without a limit (500 a second with 500 tokens per page, 20,000 with 150)."""
    content: bool = True
    """Apply the content filter (section 2.3) after the filters by structure: are the pages translations by their
    sentences? F1 without and with it on five sites: .890 .982, .920 .960, .953 .975, .968 .977, .990 .997, in three to
    fifteen times the time (``experiments.page_test``)."""
    score: Literal["log-ratio", "printed"] = "log-ratio"
    """Score of two sentences for the content filter: ``log-ratio`` aligns by lengths and by what the words have over
    chance, ``printed`` by equation (1) (`twinlink.align.printed_score`)."""
    alpha: Annotated[float, Meta(gt=0, le=1)] = 0.5
    """α of equation (1): what each word costs that one sentence has more. The paper does not print it: on one
    site, .5, .8 and .95 let .00, .02 and .03 of the wrong pairs pass."""
    min_word_probability: Annotated[float, Meta(gt=0, le=1)] = 0.05
    """Probability per word by equation (1), Pr(f|e)^(1/m), above which two sentences are translations. The paper has a
    threshold and does not print it: of 60 right and 60 wrong pairs of a site, all and none pass with .05, all and
    .07 with .03, .90 and none with .1. Pages of one template are not told apart by any."""
    min_support: Unit = 0.5
    """Share of the sentences that must be in beads supported by their words, for the content filter."""
    content_pairs: Positive = 3
    """Number of candidates per page, the nearest in structure, for the content filter; it rejects the others:
    aligning sentences takes longer than all other filters."""


class StrandSettings(Settings, frozen=True):
    """The STRAND baseline."""

    max_cost: Unit = 0.2
    """P_d of a parallel pair is below this (Resnik & Smith 2003; Jangeldin & Assylbekov, section 4.2)."""
    max_p: Unit = 0.05
    """p of the correlation of its chunk lengths is below this (the same places)."""


class JangeldinSettings(Settings, frozen=True):
    """Algorithm 1 of Jangeldin & Assylbekov."""

    max_cost: Unit = 0.2
    """P_d of a parallel pair is below this (section 3.2: STRAND's)."""
    min_growth: Step = 0.01
    """Δ: the threshold of L_d is widened while this adds at least this share of pairs (Algorithm 1). A larger one
    makes for precision, a smaller one for recall."""
    step: Step = 0.01
    """What the threshold starts with and is widened by (Algorithm 1)."""


class ClusterSettings(Settings, frozen=True):
    """Hierarchical clustering (HC1, HC2)."""

    max_clusters: Annotated[int, Meta(ge=2)] = 15
    """Maximum number of clusters that HC2 tries. The paper does not say. 15 is the limit of the R package NbClust; with
    12 to 18, 53 of the mfa.kz pairs are parallel, as the paper's Table 2 implies."""


class MixtureSettings(Settings, frozen=True):
    """The mixture of two components."""

    max_rounds: Annotated[int, Meta(ge=1)] = 200
    """Maximum number of rounds of EM; in trials some 30 are needed."""
    tolerance: Annotated[float, Meta(gt=0)] = 1e-5
    """Stop when a round gains less than this, a pair, in log posterior."""


class ModelSettings(Settings, frozen=True):
    """Settings of all models."""

    strand: StrandSettings = StrandSettings()
    jangeldin: JangeldinSettings = JangeldinSettings()
    clusters: ClusterSettings = ClusterSettings()
    mixture: MixtureSettings = MixtureSettings()
