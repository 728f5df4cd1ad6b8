"""Hierarchical clustering (Jangeldin & Assylbekov, section 4.2): HC1 and HC2."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial import cKDTree
from scipy.spatial.distance import pdist

from twinlink.baselines.alignment import StructureAlignments
from twinlink.baselines.models.verdicts import Verdicts
from twinlink.config.baselines import ClusterSettings
from twinlink.similarity.filter_checks import check_of

__all__ = ["MAX_PAIRS", "calinski_harabasz", "judge_hc1", "judge_hc2"]

MAX_PAIRS = 5_000
"""Pairs that are clustered: the distances between all of them take 100 MB, the time (1 s) grows with the square. Of a
larger set as many are taken at even distances, and each other one goes to the cluster of the nearest of these."""

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]


def judge_hc1(alignment: StructureAlignments, _settings: ClusterSettings | None = None) -> Verdicts:
    """HC1: average-linkage clustering of the points (P_d, L_d) into two clusters; the larger one is parallel.

    One pair alone, and pairs that are all equal, make one cluster: all are parallel. Of two clusters of one size, the
    one with the smaller mean P_d is parallel, then the one of the first pair.

    The score falls with the distance d from the centre of the parallel cluster: ``1 / (1 + d)`` within the cluster, and
    ``1 / (1 + d) - 1`` outside. Found are ``clusters`` and ``largest``; a note ``sampled`` says that
    there were more than `MAX_PAIRS`.
    """
    points = _points(alignment)
    sample = _sample(points)
    labels = _cut(_tree(sample), 2) if len(sample) > 1 else _one(sample)
    return _verdicts(points, sample, labels)


def judge_hc2(alignment: StructureAlignments, settings: ClusterSettings | None = None) -> Verdicts:
    """HC2: as HC1, with the number of clusters (2 to ``max_clusters``) that has the largest Caliński-Harabasz index.

    Of equal indices the fewer clusters win. Where no cluster has any spread the index is infinite; that counts only if
    none of them is a single point.
    Fewer than three pairs, and pairs that are all equal, make one cluster. Found is also the ``index``.
    """
    limits = settings or ClusterSettings()
    points = _points(alignment)
    sample = _sample(points)
    best, labels = 0.0, _one(sample)
    tree = _tree(sample) if len(sample) > 2 else np.empty((0, 4))
    for n_clusters in range(2, min(limits.max_clusters, len(sample) - 1) + 1):
        trial = _cut(tree, n_clusters)
        index = calinski_harabasz(sample, trial)
        if np.isinf(index) and np.bincount(trial).min() == 1:
            continue  # nothing but equal points and lone ones: each set comes to that with enough clusters
        if index > best:
            best, labels = index, trial
    return _verdicts(points, sample, labels, index=best)


def calinski_harabasz(points: Floats, labels: Labels) -> float:
    """``CH = (B / (k - 1)) / (W / (n - k))`` of n points in k clusters, numbered from 0 (Caliński & Harabasz 1974).

    B is the sum of the squared distances of cluster centres from the common centre, one for each point, W that of the
    points from their cluster's centre. 0 for one cluster, and if each point is a separate cluster; infinite if W
    is 0.

    Examples
    --------
    >>> calinski_harabasz(np.array([[0.0], [2.0], [10.0], [12.0]]), np.array([0, 0, 1, 1]))
    50.0
    """
    sizes = np.bincount(labels)
    n, k = len(points), int(np.count_nonzero(sizes))
    if k < 2 or k >= n:
        return 0.0
    centres = _centres(points, labels)
    within = float(((points - centres[labels]) ** 2).sum())
    between = float(((centres[labels] - points.mean(axis=0)) ** 2).sum())
    return np.inf if within == 0 else (between / (k - 1)) / (within / (n - k))


def _points(alignment: StructureAlignments) -> Floats:
    return np.column_stack([alignment.cost_share, alignment.length_difference])


def _sample(points: Floats) -> Floats:
    if len(points) <= MAX_PAIRS:
        return points
    return points[np.linspace(0, len(points) - 1, MAX_PAIRS).astype(np.int64)]


def _one(points: Floats) -> Labels:
    return np.zeros(len(points), np.int64)


def _tree(points: Floats) -> Floats:
    return np.asarray(linkage(pdist(points), "average"))


def _cut(tree: Floats, n_clusters: int) -> Labels:
    """Cut the tree into at most so many clusters: fewer where several branches are equally long."""
    return np.asarray(fcluster(tree, n_clusters, "maxclust"), np.int64) - 1


def _centres(points: Floats, labels: Labels) -> Floats:
    sizes = np.bincount(labels)
    sums = [np.bincount(labels, weights=points[:, axis]) for axis in range(points.shape[1])]
    return np.column_stack(sums) / np.maximum(sizes, 1)[:, None]


def _verdicts(points: Floats, sample: Floats, labels: Labels, **found: float) -> Verdicts:
    """Judge by the largest cluster of the sample; clusters are numbered by their sizes, from 1."""
    if not len(points):
        return Verdicts(np.empty(0), {"clusters": 0, "largest": 0, **found})
    sampled = len(sample) < len(points)
    if sampled:
        labels = labels[cKDTree(sample).query(points)[1]]
    sizes, centres = np.bincount(labels), _centres(points, labels)
    first = np.full(len(sizes), len(labels))
    np.minimum.at(first, labels, np.arange(len(labels)))
    order = np.lexsort((first, centres[:, 0], -sizes))
    largest = int(order[0])
    rank = np.empty(len(sizes), np.int64)
    rank[order] = np.arange(1, len(sizes) + 1)
    nearness = 1 / (1 + np.linalg.norm(points - centres[largest], axis=1))
    found = {"clusters": len(sizes), "largest": int(sizes[largest]), **found}
    checks = (check_of("cluster", rank[labels], 1, "<="),)
    return Verdicts(np.where(labels == largest, nearness, nearness - 1), found, ("sampled",) * sampled, checks)
