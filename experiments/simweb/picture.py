"""A picture like Figure 2 of Zhang, Yao & Kit: truly bilingual sites among the best N, and their share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Curves = Mapping[str, Mapping[str, NDArray[np.int64]]]
"""Web → criterion → truly bilingual ones among the first N, N from 1."""

_STEP = 5
_COLOURS = ("C7", "C1", "C2", "C0")


def draw(webs: Curves, path: Path) -> None:
    """Draw one column per web, with the number of truly bilingual sites above and their share below."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "twinlink"  # the same picture for the same figures
    from matplotlib import pyplot as plt

    figure, grid = plt.subplots(2, len(webs), figsize=(3.4 * len(webs), 6), sharex=True, sharey="row", squeeze=False)
    for k, (title, curves) in enumerate(webs.items()):
        above, below = grid[:, k]
        above.set_title(title, fontsize="medium")
        most = max((len(curve) for curve in curves.values()), default=1)
        above.plot([0, most], [0, most], color="0.8", linestyle="--", linewidth=1, label="all of them")
        for (criterion, curve), colour in zip(curves.items(), _COLOURS, strict=False):
            n = np.arange(1, len(curve) + 1)
            shown = slice(_STEP - 1, None, _STEP)
            above.plot(n[shown], curve[shown], color=colour, label=criterion)
            below.plot(n[shown], (curve / n)[shown], color=colour)
        below.set(xlabel="best N outside sites", ylim=(0, 1.03))
    grid[0, 0].set_ylabel("truly bilingual")
    grid[1, 0].set_ylabel("share that is truly bilingual")
    grid[0, 0].legend(loc="upper left", fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
