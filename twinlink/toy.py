"""A site of ten pages to try things on: Figure 1 of Liu et al. 2014, for doctests, tests and the notebook.

Pages A, B, C, D, E are English, A', B', C', D', E' their Chinese partners. A and B link to C, and C links to D and E,
on both sides. A, B, D and E are close translations; C and C' can be recognised as partners only by their neighbours.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

BASE = "https://toy.example"
"""Address of the site."""

# name: English title and text, Chinese title and text
_TEXTS = {
    "A": (
        "Library hours",
        "The library opens at 9:30 and closes at 20:00. Readers may borrow 6 books for 14 days.",
        "圖書館開放時間",
        "圖書館9:30開放，20:00關閉。讀者可借6本書，借期14天。",
    ),
    "B": (
        "Swimming pool fees",
        "A ticket for the swimming pool costs 17 dollars, and 8 dollars for children under 14.",
        "游泳池收費",
        "游泳池門票17元，14歲以下兒童8元。",
    ),
    "C": (
        "Around town",
        "There is always something to do. Start here, whatever the weather.",
        "市長的話",
        "歡迎各位朋友，希望你喜歡我們的新面貌。",
    ),
    "D": (
        "Bus route 12",
        "Bus route 12 runs every 15 minutes from the station to the harbour. The fare is 5 dollars.",
        "巴士路線12",
        "巴士路線12由車站前往海港，每15分鐘一班，票價5元。",
    ),
    "E": (
        "Influenza vaccination",
        "The clinic offers free vaccination to residents aged 65. Call 2345 6789 for an appointment.",
        "流感疫苗接種",
        "診所為65歲居民免費接種疫苗。預約請致電2345 6789。",
    ),
}
_NAMES = tuple(_TEXTS)
_LINKS = (("A", "C"), ("B", "C"), ("C", "D"), ("C", "E"))

# Row: A to E, column: A' to E'. Alone, C is most like D' (0.45), and C' most like B (0.40).
_INTERNAL = (
    (0.90, 0.20, 0.30, 0.10, 0.15),
    (0.25, 0.85, 0.40, 0.20, 0.10),
    (0.30, 0.40, 0.35, 0.45, 0.40),
    (0.10, 0.20, 0.30, 0.80, 0.25),
    (0.15, 0.10, 0.20, 0.30, 0.75),
)


class ToySite(NamedTuple):
    """The ten pages, their links and similarities; page i of one side is the partner of page i of the other."""

    pages: dict[str, str]
    """URL → HTML: A to E, then A' to E'."""
    pairs: tuple[tuple[str, str], ...]
    """The five true pairs, as URLs."""
    source: NDArray[np.int64]
    """Source page of each link, shape (4,), values 0 (A) to 4 (E); the links are the same on both sides."""
    target: NDArray[np.int64]
    """Target page of each link."""
    internal: csr_array
    """S_in, float32, shape (5, 5), every entry stored; made up, so that C has a better match than C'."""


def toy_site() -> ToySite:
    """Return the toy site.

    References
    ----------
    Liu, Hong, Lu, Lang, Ji, Yao: An Iterative Link-based Method for Parallel Web Page Mining, EMNLP 2014, Figure 1. The
    figure's links and similarities are drawn without numbers; those here are ours.

    Examples
    --------
    By content, C (page 2) is taken for D' (page 3), and only its neighbours show that C' is its partner:

    >>> from twinlink.graph.links import adjacency, neighbours
    >>> from twinlink.graph.propagation import enhanced_similarity
    >>> site = toy_site()
    >>> site.internal.toarray().argmax(axis=1).tolist()
    [0, 1, 3, 3, 4]
    >>> graph = neighbours(adjacency(site.source, site.target, 5))
    >>> enhanced = enhanced_similarity(site.internal, graph, graph)
    >>> enhanced.scores.toarray().argmax(axis=1).tolist()
    [0, 1, 2, 3, 4]

    The pages themselves are there to be parsed:

    >>> len(site.pages), site.pairs[2]
    (10, ('https://toy.example/en/c.html', 'https://toy.example/zh/c.html'))
    """
    sides = tuple({name: f"{BASE}/{folder}/{name.lower()}.html" for name in _NAMES} for folder in ("en", "zh"))
    return ToySite(
        pages={urls[name]: _html(name, side) for side, urls in enumerate(sides) for name in _NAMES},
        pairs=tuple((sides[0][name], sides[1][name]) for name in _NAMES),
        source=np.array([_NAMES.index(source) for source, _ in _LINKS]),
        target=np.array([_NAMES.index(target) for _, target in _LINKS]),
        internal=csr_array(np.array(_INTERNAL, dtype=np.float32)),
    )


def write_toy(folder: str | Path) -> Path:
    """Write the ten pages as a mirror of `BASE`, and return the folder.

    >>> from tempfile import mkdtemp
    >>> sorted(path.name for path in (write_toy(Path(mkdtemp())) / "zh").iterdir())
    ['a.html', 'b.html', 'c.html', 'd.html', 'e.html']
    """
    folder = Path(folder)
    for url, html in toy_site().pages.items():
        path = folder / url.removeprefix(f"{BASE}/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(html, encoding="utf-8")
    return folder


def _html(name: str, side: int) -> str:
    title, text = _TEXTS[name][2 * side : 2 * side + 2]
    links = "".join(
        f'<li><a href="{target.lower()}.html">{_TEXTS[target][2 * side]}</a></li>'
        for source, target in _LINKS
        if source == name
    )
    body = f"<h1>{title}</h1><p>{text}</p>" + (f"<ul>{links}</ul>" if links else "")
    return f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{title}</title></head><body>{body}</body></html>'
