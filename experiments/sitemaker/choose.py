"""Random, reproducible samples: fewer pairs, pages without partner, pages of other languages."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from random import Random

from experiments.sitemaker.pages import SitePage

Pair = tuple[SitePage, SitePage]


def connected_sample(pairs: Sequence[Pair], size: int, rng: Random) -> list[Pair]:
    """Take ``size`` pairs as a crawl would meet them: along the first side's links, breadth first.

    It starts at a page from which many others can be reached, and restarts at the page with the most links. A
    random sample would remove nearly all links, and a sample by folder would keep the easy pairs.
    """
    index = {one.path: i for i, (one, _) in enumerate(pairs)}
    leads_to = [[j for target in one.links if (j := index.get(target, i)) != i] for i, (one, _) in enumerate(pairs)]
    by_links = sorted(range(len(pairs)), key=lambda i: (-len(leads_to[i]), i))
    starts = sorted(by_links[:20], key=lambda i: -len(_crawl([i], leads_to, len(pairs), rng))) + by_links[20:]
    return [pairs[i] for i in sorted(_crawl(starts, leads_to, size, rng))]


def _crawl(starts: Sequence[int], leads_to: Sequence[Sequence[int]], size: int, rng: Random) -> dict[int, None]:
    taken: dict[int, None] = {}
    for start in starts:
        queue = deque([start])
        while queue and len(taken) < size:
            i = queue.popleft()
            if i not in taken:
                taken[i] = None
                queue.extend(rng.sample(leads_to[i], len(leads_to[i])))
    return taken


def drop_partners(pairs: Sequence[Pair], fraction: float, rng: Random) -> set[str]:
    """Choose ``fraction`` of the pairs and one page of each, on either side in turn; return the paths of these."""
    chosen = rng.sample(range(len(pairs)), round(fraction * len(pairs)))
    return {pairs[i][n % 2].path for n, i in enumerate(chosen)}


def noise_sample(pages: Sequence[SitePage], size: int, rng: Random) -> list[SitePage]:
    """Take at most ``size`` pages of another language."""
    chosen = rng.sample(range(len(pages)), min(size, len(pages)))
    return [pages[i] for i in sorted(chosen)]
