"""Logistic model of the probability that a site is bilingual, learned from crawled sites."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from twinlink.errors import ShapeError
from twinlink.odds import expit
from twinlink.sites.features import FEATURES

__all__ = ["PRIOR", "SiteModel", "contributions", "learn_site_model", "prior_model", "site_probability"]

PRIOR = {
    "credit": 0.7,
    "vouched": 3.0,
    "in_links": 0.2,
    "named": 1.0,
    "languages": 1.5,
    "hreflang": 1.5,
    "site_wide": -0.5,
    "web_hosts": 0.0,
    "cocited": 2.0,
    "web_credit": 0.0,
    "suffix": 1.0,
}
"""Prior weights, without training data. Our choice; those of the web graph by `experiments.host_graph`."""

PRIOR_INTERCEPT = -2.0

_STEPS = 50
_SMALL = 1e-10


class SiteModel(msgspec.Struct, frozen=True, eq=False):
    """log-odds = intercept + Σ weight·feature."""

    weights: NDArray[np.float64]
    """shape (len(FEATURES),), in the order of `FEATURES`."""
    intercept: float
    n_learned: int
    """Sites that it was learned from."""
    n_bilingual: int
    """Bilingual ones of them."""


def prior_model() -> SiteModel:
    """Return the model without training data."""
    return SiteModel(np.array([PRIOR[name] for name in FEATURES]), PRIOR_INTERCEPT, 0, 0)


def learn_site_model(
    values: ArrayLike, bilingual: ArrayLike, ridge: float = 1.0, prior: SiteModel | None = None
) -> SiteModel:
    """Learn the weights from sites of known class.

    argmin_w Σ_s log(1 + exp(-y_s·w·x_s)) + ridge/2·|w - w0|², y = ±1 and w0 the weights of the prior, by Newton's
    method. With no site it is the prior; the intercept has a hundredth of the ridge, because the share of
    bilingual sites differs between sets of seeds.

    Parameters
    ----------
    values : array_like, shape (m, len(FEATURES))
        Features of the sites.
    bilingual : array_like of bool, shape (m,)
    ridge : float above 0
        Strength of the prior.
    prior : SiteModel, optional
        Default: `prior_model`.

    Raises
    ------
    ShapeError
        If the arrays do not fit.

    Examples
    --------
    >>> learn_site_model(np.empty((0, len(FEATURES))), np.empty(0, bool)).intercept
    -2.0
    """
    x, yes = np.asarray(values, dtype=np.float64), np.asarray(bilingual, dtype=np.bool_)
    if x.ndim != 2 or x.shape != (len(yes), len(FEATURES)) or not np.isfinite(x).all() or not ridge > 0:
        raise ShapeError(f"site model: expected {len(FEATURES)} finite features a site and a ridge above 0")
    prior = prior or prior_model()
    x = np.column_stack([x, np.ones(len(x))])
    centre = np.append(prior.weights, prior.intercept)
    penalties = np.append(np.full(len(FEATURES), ridge), ridge / 100)
    w = centre
    for _ in range(_STEPS):
        step = _newton_step(x, yes, w, centre, penalties)
        while (
            _loss(x, yes, w + step, centre, penalties) > _loss(x, yes, w, centre, penalties)
            and np.abs(step).max() > _SMALL
        ):
            step = step / 2
        w = w + step
        if np.abs(step).max() <= _SMALL:
            break
    return SiteModel(w[:-1], float(w[-1]), len(yes), int(yes.sum()))


def _newton_step(
    x: NDArray[np.float64],
    yes: NDArray[np.bool_],
    w: NDArray[np.float64],
    centre: NDArray[np.float64],
    penalties: NDArray[np.float64],
) -> NDArray[np.float64]:
    probability = expit(x @ w)
    slope = x.T @ (probability - yes) + penalties * (w - centre)
    curve = (x.T * (probability * (1 - probability))) @ x + np.diag(penalties)
    step: NDArray[np.float64] = np.asarray(np.linalg.solve(curve, -slope), dtype=np.float64)
    return step


def _loss(
    x: NDArray[np.float64],
    yes: NDArray[np.bool_],
    w: NDArray[np.float64],
    centre: NDArray[np.float64],
    penalties: NDArray[np.float64],
) -> float:
    odds = x @ w
    return float(np.logaddexp(0, np.where(yes, -odds, odds)).sum() + (penalties * (w - centre) ** 2).sum() / 2)


def site_probability(model: SiteModel, values: ArrayLike) -> NDArray[np.float64]:
    """Return how likely each site is bilingual; ``values`` as in `learn_site_model`."""
    probability: NDArray[np.float64] = expit(np.asarray(values, dtype=np.float64) @ model.weights + model.intercept)
    return probability


def contributions(model: SiteModel, values: ArrayLike) -> NDArray[np.float64]:
    """Return the contribution of each feature to each site's log odds, shape (n, len(FEATURES)), without intercept.

    >>> x = np.ones((1, len(FEATURES)))
    >>> bool(np.isclose(site_probability(prior_model(), x)[0], expit(contributions(prior_model(), x).sum() - 2.0)))
    True
    """
    parts: NDArray[np.float64] = np.asarray(values, dtype=np.float64) * model.weights
    return parts
