"""Dispatch to the models by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, get_args

from twinlink.baselines.alignment import StructureAlignments
from twinlink.baselines.models.clusters import judge_hc1, judge_hc2
from twinlink.baselines.models.mixture import judge_mixture
from twinlink.baselines.models.thresholds import judge_jangeldin, judge_strand
from twinlink.baselines.models.verdicts import Verdicts
from twinlink.config.baselines import ModelSettings
from twinlink.errors import ConfigError

ModelName = Literal["strand", "hc1", "hc2", "mixture", "jangeldin"]

MODELS: tuple[ModelName, ...] = get_args(ModelName)
"""Names of the models, in the order of the paper's Table 2; ``jangeldin`` is its Algorithm 1."""

_JUDGES: Mapping[str, Callable[[StructureAlignments, ModelSettings], Verdicts]] = {
    "strand": lambda alignment, settings: judge_strand(alignment, settings.strand),
    "hc1": lambda alignment, settings: judge_hc1(alignment, settings.clusters),
    "hc2": lambda alignment, settings: judge_hc2(alignment, settings.clusters),
    "mixture": lambda alignment, settings: judge_mixture(alignment, settings.mixture),
    "jangeldin": lambda alignment, settings: judge_jangeldin(alignment, settings.jangeldin),
}


def judge(alignment: StructureAlignments, model: ModelName, settings: ModelSettings | None = None) -> Verdicts:
    """Fit a model to a set of pairs and judge each of them.

    Parameters
    ----------
    alignment : StructureAlignments
        The pairs, with chunk pairs for ``strand``; the others need none.
    model : {"strand", "hc1", "hc2", "mixture", "jangeldin"}
    settings : ModelSettings, optional

    Returns
    -------
    Verdicts
        Empty arrays if there are no pairs.

    Raises
    ------
    ConfigError
        If there is no such model.

    Examples
    --------
    >>> import numpy as np
    >>> from twinlink.baselines.alignment import align
    >>> short, long = np.array([-1, 5, -2], np.int32), np.array([-1, 5, -2] * 5, np.int32)
    >>> pairs = align([short] * 5 + [long], [short] * 6, range(6), range(6))
    >>> judge(pairs, "jangeldin").parallel.tolist()
    [True, True, True, True, True, False]
    """
    if model not in _JUDGES:
        raise ConfigError(f"no model {model!r}; there are {', '.join(MODELS)}")
    return _JUDGES[model](alignment, settings or ModelSettings())
