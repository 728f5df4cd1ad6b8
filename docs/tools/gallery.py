"""The plots of the gallery, drawn by the code on its page.

``twinlink demo -o demo-run``, then ``python docs/tools/gallery.py demo-run`` writes them into docs/gallery.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt

__all__ = ["draw_plots"]

DOCS = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(?:\n!\[[^\]]*\]\((?P<picture>gallery/[\w-]+\.svg)\))?", re.DOTALL)


def draw_plots(run: Path, docs: Path = DOCS) -> None:
    """Run the blocks of the gallery on a run of the demo; the ``ax`` of a block is the picture that follows it."""
    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "twinlink", "figure.figsize": (6.4, 3.6)})
    names: dict[str, Any] = {}
    (docs / "gallery").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("run").symlink_to(run)
        Path("gold.tsv").symlink_to(run / "site" / "crawled" / "gold.tsv")
        for block in BLOCK.finditer((docs / "gallery.md").read_text(encoding="utf-8")):
            plt.close("all")
            exec(block["code"], names)  # noqa: S102  # our own page
            if block["picture"]:
                names["ax"].figure.savefig(docs / block["picture"], bbox_inches="tight", metadata={"Date": None})


if __name__ == "__main__":
    draw_plots(Path(sys.argv[1]).resolve())
