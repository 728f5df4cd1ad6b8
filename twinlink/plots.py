"""Plots for notebooks: functions from DataFrames to matplotlib axes, which work offline (extra ``plot``).

Each takes the axes to draw on, or makes some, and returns them, so that a notebook can change what it does not like.
Colours are safe for red-green colour blindness (Okabe and Ito); the background is not changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from twinlink.errors import InputError, TwinlinkError
from twinlink.wording import ROUND_OUTCOMES

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes

__all__ = ["contributions", "facing_halves", "precision_coverage", "rounds", "score_distribution"]

BLUE, ORANGE, GREEN, RED, GREY, PURPLE = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#999999", "#cc79a7"
SKY = "#56b4e9"
_SIZE = (6.4, 4.0)  # inches
_OUTCOMES = {"added": GREEN, "one_language": GREY, "copies": SKY, "refused": ORANGE, "dead": RED, "unreadable": PURPLE}


def _axes(ax: Axes | None, size: tuple[float, float] = _SIZE) -> Axes:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise TwinlinkError("plots need matplotlib: pip install 'twinlink[plot]'") from error
    return plt.subplots(figsize=size, layout="constrained")[1]


def _check(frame: pd.DataFrame, columns: Sequence[str]) -> None:
    missing = [name for name in columns if name not in frame]
    if missing:
        raise InputError(f"plot: expected the column(s) {', '.join(missing)}; there are {', '.join(map(str, frame))}")


def precision_coverage(curve: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw precision and recall of a list of pairs by its length.

    Parameters
    ----------
    curve : DataFrame
        As from `Run.precision_coverage`: coverage, precision, recall, each 0 to 1.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> curve = pd.DataFrame({"coverage": [0.5, 1.0], "precision": [1.0, 0.5], "recall": [0.5, 0.5]})
    >>> [line.get_label() for line in precision_coverage(curve).get_lines()]
    ['precision', 'recall']
    """
    _check(curve, ("coverage", "precision", "recall"))
    ax = _axes(ax)
    ax.plot(curve["coverage"], curve["precision"], color=BLUE, label="precision")
    ax.plot(curve["coverage"], curve["recall"], color=ORANGE, linestyle="--", label="recall")
    ax.set(xlabel="share of the pairs that are kept, most probable first", ylabel="share", xlim=(0, 1), ylim=(0, 1.02))
    ax.legend(frameon=False)
    return ax


def score_distribution(
    candidates: pd.DataFrame, pairs: pd.DataFrame, column: str = "score", ax: Axes | None = None, bins: int = 40
) -> Axes:
    """Draw the distribution of a number among pairs and among rejected candidates; counts on a log scale.

    Parameters
    ----------
    candidates, pairs : DataFrame
        As `Run.candidates` and `Run.pairs`: page_a, page_b and the number.
    column : str
        The number: ``score`` or a kind of evidence.
    ax : Axes, optional
    bins : int

    Returns
    -------
    Axes
    """
    _check(candidates, ("page_a", "page_b", column))
    ax = _axes(ax)
    ends = pd.MultiIndex.from_frame(candidates[["page_a", "page_b"]])
    is_pair = ends.isin(pd.MultiIndex.from_frame(pairs[["page_a", "page_b"]]))
    values = candidates[column].to_numpy(dtype="float64", na_value=np.nan)
    parts = [values[~is_pair & ~np.isnan(values)], values[is_pair & ~np.isnan(values)]]
    ax.hist(parts, bins=bins, stacked=True, color=[GREY, BLUE], label=["other candidates", "pairs"])
    ax.set(xlabel=column, ylabel="candidates", yscale="log")
    ax.legend(frameon=False)
    return ax


def rounds(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the rounds of site discovery: outcomes of the sites that each tried, and all page pairs so far.

    Parameters
    ----------
    table : DataFrame
        As `Run.rounds`.
    ax : Axes, optional

    Returns
    -------
    Axes
        The axes of the bars; the line of the pairs has separate axes over them.
    """
    _check(table, ("round", "all_pairs", *_OUTCOMES))
    ax = _axes(ax)
    bottom = np.zeros(len(table))
    for name, colour in _OUTCOMES.items():
        counts = table[name].to_numpy(dtype="float64")
        if counts.any():
            ax.bar(table["round"], counts, 0.55, bottom=bottom, color=colour, label=ROUND_OUTCOMES[name])
        bottom += counts
    ax.set(xlabel="round (0: the seeds)", ylabel="sites tried", xticks=table["round"])
    over = ax.twinx()
    over.plot(table["round"], table["all_pairs"], color=BLUE, marker="o", label="page pairs so far")
    over.set(ylabel="page pairs so far", ylim=(0, None))
    handles = [both for each in (ax, over) for both in zip(*each.get_legend_handles_labels(), strict=True)]
    ax.legend(*zip(*handles, strict=True), frameon=False, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return ax


def contributions(sites: pd.DataFrame, top: int = 10, ax: Axes | None = None) -> Axes:
    """Draw the contributions of each feature to the log odds of the best candidate sites.

    Parameters
    ----------
    sites : DataFrame
        As `Run.sites` of a run that has been ranked: site, and a column ``by_NAME`` for each feature.
    top : int
        Sites that are drawn, the first of the table.
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    names = [str(name) for name in sites if str(name).startswith("by_")]
    _check(sites, ("site", *(names or ["by_credit"])))
    best = sites.head(top)
    ax = _axes(ax, (6.4, 1.2 + 0.3 * len(best)))
    colours = (BLUE, ORANGE, GREEN, RED, PURPLE, "#56b4e9", "#f0e442", GREY)
    ends = {
        True: np.zeros(len(best)),
        False: np.zeros(len(best)),
    }  # positive contributions to the right, negative ones to the left
    for place, name in enumerate(names):
        values = best[name].fillna(0).to_numpy(dtype="float64")
        if not values.any():
            continue
        starts = np.where(values > 0, ends[True], ends[False])
        ax.barh(best["site"], values, left=starts, color=colours[place % len(colours)], label=name.removeprefix("by_"))
        for side in (True, False):
            ends[side] += np.where((values > 0) == side, values, 0.0)
    ax.axvline(0, color=GREY, linewidth=0.8)
    ax.invert_yaxis()
    ax.set(xlabel="what it adds to the log odds of being bilingual")
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def facing_halves(
    graph: nx.DiGraph[str], langs: tuple[str, str], ax: Axes | None = None, most_linked: float = 0.5
) -> Axes:
    """Draw the paired pages of two languages facing each other, and the links on either side as arcs.

    Partners are at the same height. A link is mirrored (blue) if the partners of its two pages are linked too;
    other links are orange. Pages that nearly all others link to (menus) are left out.

    Parameters
    ----------
    graph : networkx.DiGraph
        As from `Run.graph`: nodes with lang and partner, or partner_LANG of several languages. It may lack nodes.
    langs : tuple of str
        Language of the left half, language of the right half.
    ax : Axes, optional
    most_linked : float
        Pages that more than this share of a half link to are left out, 0 to 1.

    Returns
    -------
    Axes

    Raises
    ------
    InputError
        If no page of the one language has a partner in the other, or the graph is not directed.
    """
    import networkx as nx

    if not graph.is_directed():
        raise InputError("plot: expected a directed graph, as Run.graph() returns it, got an undirected one")
    lefts = [node for node, data in graph.nodes(data=True) if data.get("lang") == langs[0]]
    partner = {node: other for node in lefts if (other := _partner(graph, node, langs[1]))}
    lefts = [node for node in partner if not _is_hub(graph, node, [*partner], most_linked)]
    if not lefts:
        raise InputError(f"plot: no page in {langs[0]} has a partner in {langs[1]}")
    order = [str(node) for node in _by_nearness(nx.Graph(graph.subgraph(lefts)))]
    partner = {node: partner[node] for node in order}
    height = {page: place for place, pair in enumerate(partner.items()) for page in pair}
    partner |= {other: node for node, other in partner.items()}
    ax = _axes(ax, (5.4, 5.4))
    ax.hlines(list(range(len(order))), -0.25, 0.25, color=GREY, linewidth=0.4)
    for side, nodes in ((-1, set(order)), (1, {partner[node] for node in order})):
        edges = [(height[a], height[b], graph.has_edge(partner[a], partner[b])) for a, b in graph.subgraph(nodes).edges]
        _draw_arcs(ax, side, edges, len(order))
        ax.scatter([0.25 * side] * len(order), range(len(order)), s=6, color=GREY, zorder=3)
        ax.text(0.25 * side, -0.03 * len(order) - 1, langs[side > 0], ha="center", va="top")
    ax.set_axis_off()
    ax.set(xlim=(-1.4, 1.4))
    ax.plot([], [], color=BLUE, label="the partners link, too")
    ax.plot([], [], color=ORANGE, label="they do not")
    ax.legend(frameon=False, loc="lower center", ncols=2, bbox_to_anchor=(0.5, -0.08))
    return ax


def _partner(graph: nx.DiGraph[str], node: str, lang: str) -> str:
    """Return the partner of a page in a language; empty: it has none in the graph."""
    data = graph.nodes[node]
    other = str(data.get(f"partner_{lang}") or data.get("partner") or "")
    return other if other in graph and graph.nodes[other].get("lang") == lang else ""


def _is_hub(graph: nx.DiGraph[str], node: str, half: Sequence[str], share: float) -> bool:
    within = set(half)
    return sum(other in within for other in graph.predecessors(node)) > share * len(half)


def _by_nearness(graph: nx.Graph[Any]) -> list[Any]:
    """Order nodes so that linked ones are close: by the Fiedler vector of each connected component."""
    import networkx as nx

    order: list[Any] = []
    for part in sorted(nx.connected_components(graph), key=lambda part: (-len(part), min(part))):
        nodes = graph.subgraph(sorted(part))
        order += nx.spectral_ordering(nodes, seed=0) if len(part) > 2 else sorted(part)
    return order


def _draw_arcs(ax: Axes, side: int, edges: Sequence[tuple[int, int, bool]], n: int) -> None:
    """Draw links as half circles beside a column of pages, those that are not mirrored on top."""
    from matplotlib.collections import LineCollection

    angle = np.linspace(0, np.pi, 24)
    for mirrored, colour in ((True, BLUE), (False, ORANGE)):
        arcs = [
            np.column_stack([side * (0.25 + np.sin(angle) * np.sqrt(abs(a - b) / n)), _on_circle(a, b, angle)])
            for a, b, is_mirrored in edges
            if is_mirrored == mirrored
        ]
        ax.add_collection(LineCollection(arcs, colors=colour, linewidths=0.6, alpha=0.5))


def _on_circle(a: int, b: int, angle: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return heights on the half circle from b to a."""
    return (a + b) / 2 + np.cos(angle) * (a - b) / 2
