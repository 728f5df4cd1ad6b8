"""Method ``liu2014``: ETS with the paper's fixed weights, greedy matching (Liu et al. 2014)."""

from __future__ import annotations

from twinlink.config import MatchSettings
from twinlink.graph.links import neighbours
from twinlink.graph.matching import greedy_matching
from twinlink.graph.propagation import enhanced_similarity
from twinlink.match.evidence import Between, FoundPairs, Side, Words
from twinlink.similarity.candidates import find_candidates
from twinlink.similarity.content import content_similarity, page_vectors
from twinlink.similarity.decision import choose_threshold
from twinlink.similarity.internal import internal_similarity
from twinlink.similarity.structure import structural_similarity
from twinlink.system.side_by_side import at_once


def match_liu2014(
    side_a: Side,
    side_b: Side,
    words: Words,
    between: Between,  # noqa: ARG001  (all methods are called alike)
    settings: MatchSettings,
) -> FoundPairs:
    """Match two sides by ``ETS = (1-α)·(β·S_cb + (1-β)·S_struct) + α·S_ext``; ``between`` is not used.

    The paper keeps the pairs above a tuned score; here `choose_threshold` estimates on the site which pairs to keep.
    """
    counts_a, counts_b = words.a.counts, words.b.counts
    tags = side_a.tags, side_b.tags
    pattern = find_candidates(counts_a, counts_b, words.translation, *tags, settings.candidates)
    content = content_similarity(counts_a, counts_b, words.translation, pattern, settings.internal.content)
    structure = structural_similarity(*tags, pattern, settings.internal.structure)
    internal = internal_similarity(content, structure, settings.internal.beta)
    direction = settings.ets.neighbours
    around_a, around_b = neighbours(side_a.graph, direction), neighbours(side_b.graph, direction)
    ets = enhanced_similarity(internal, around_a, around_b, settings.ets, at_once())
    matching = greedy_matching(ets.scores)
    decision = choose_threshold(ets.scores, matching, greedy_matching, page_vectors(counts_a), page_vectors(counts_b))
    alpha, beta = settings.ets.alpha, settings.internal.beta
    return FoundPairs(
        scores=ets.scores,
        evidence={
            "content": content.data,
            "structure": structure.data,
            "internal": internal.data,
            "external": ets.external.data,
            "ets": ets.scores.data,
        },
        matching=matching,
        rivals=decision.rivals,
        probabilities=decision.probabilities,
        threshold=decision.threshold,
        weights={"external": alpha, "content": (1 - alpha) * beta, "structure": (1 - alpha) * (1 - beta)},
    )
