"""Registry of matching methods: location, input, the settings that they do not use."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import msgspec

from twinlink.config import MatchSettings
from twinlink.config.match import MethodName
from twinlink.errors import ConfigError
from twinlink.similarity.decision import EVEN


class Method(msgspec.Struct, frozen=True):
    """A method to match the pages of two languages.

    One that reads words is called as ``match(side_a, side_b, words, between, settings)``, one that reads shapes as
    ``match(side_a, side_b, between, settings)``; both return a `twinlink.match.evidence.FoundPairs`.
    """

    home: str
    """Module and function, imported when the method is used."""
    reads_shapes: bool = False
    """Whether it compares the linearised pages of stage `shapes` instead of words."""
    has_probabilities: bool = True
    """Whether it gives the probability of each pair."""
    reports_steps: bool = False
    """Whether it takes ``steps``, a `twinlink.system.steps.Steps`, and reports its rounds."""
    unused: tuple[str, ...] = ()
    """Settings of ``match`` on which its result does not depend, in whole records or single ones."""

    def load(self) -> Any:
        """Return the function that matches two sides."""
        module, _, name = self.home.partition(":")
        return getattr(import_module(module), name)


METHODS: Mapping[MethodName, Method] = {
    "weighed": Method(
        "twinlink.match.methods.weighed:match_weighed",
        reports_steps=True,
        unused=("internal.beta", "ets.alpha", "url_rule", "bitextor", "webmining", "models"),
    ),
    "liu2014": Method(
        "twinlink.match.methods.liu2014:match_liu2014",
        unused=("weighing", "patterns", "url_rule", "bitextor", "webmining", "models"),
    ),
    "urls": Method(
        "twinlink.match.methods.urls:match_urls",
        has_probabilities=False,
        unused=("ets", "weighing", "url_rule", "bitextor", "webmining", "models"),
    ),
    "bitextor2010": Method(
        "twinlink.baselines.methods:match_bitextor2010",
        reads_shapes=True,
        has_probabilities=False,
        unused=("internal", "ets", "weighing", "patterns", "webmining", "models"),
    ),
    "webmining": Method(
        "twinlink.baselines.methods:match_webmining",
        reads_shapes=True,
        has_probabilities=False,
        reports_steps=True,
        unused=("internal", "ets", "weighing", "patterns", "url_rule", "bitextor", "models"),
    ),
    "jangeldin": Method(
        "twinlink.baselines.methods:match_jangeldin",
        reads_shapes=True,
        has_probabilities=False,
        unused=("internal", "ets", "weighing", "candidates", "patterns", "bitextor", "webmining"),
    ),
}


def check_cut(settings: MatchSettings) -> None:
    """Raise an error for a cut by probability if the method gives none.

    Raises
    ------
    ConfigError
        If the settings select pairs by probability or expected precision, and the method gives no probabilities.
    """
    is_cut = settings.min_precision or (settings.min_probability or 0.0) > EVEN
    if is_cut and not METHODS[settings.method].has_probabilities:
        raise ConfigError(
            f"match: method {settings.method} gives no probabilities: match.min_precision and match.min_probability"
            " cannot be applied; use weighed or liu2014, or reset them with --min-precision 0 --min-probability 0.5"
        )
