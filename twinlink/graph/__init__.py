"""Similarity of pages by their links, matching and ranking, on plain arrays and ``scipy.sparse.csr_array``.

- link matrices: `adjacency`, `neighbours`; as networkx graphs: `to_networkx`, `from_networkx`
- similarity by links: `external_similarity`, `enhanced_similarity` (Enhanced Translation Similarity, Liu et al. 2014)
- link order: `link_lists`, `link_order`: pages at the same position among the links of paired pages
- one-to-one matching: `greedy_matching` (Algorithm 3), `optimal_matching`
- PageRank: `pagerank`, `seed_scores` (Zhang, Yao & Kit)

The functions use page numbers, not page ids or addresses. Rows of a similarity matrix are the pages of the first
language, columns those of the second; an entry that is not stored is not a candidate.
"""

from __future__ import annotations

from twinlink.graph.document_order import LinkLists, link_lists, link_order
from twinlink.graph.export import from_networkx, to_networkx
from twinlink.graph.links import adjacency, neighbours
from twinlink.graph.matching import Matching, greedy_matching, optimal_matching
from twinlink.graph.propagation import EtsResult, enhanced_similarity, external_similarity
from twinlink.graph.ranking import PageRank, SeedScores, pagerank, seed_scores

__all__ = [
    "EtsResult",
    "LinkLists",
    "Matching",
    "PageRank",
    "SeedScores",
    "adjacency",
    "enhanced_similarity",
    "external_similarity",
    "from_networkx",
    "greedy_matching",
    "link_lists",
    "link_order",
    "neighbours",
    "optimal_matching",
    "pagerank",
    "seed_scores",
    "to_networkx",
]
