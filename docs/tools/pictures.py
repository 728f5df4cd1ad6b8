"""The pictures of the review in README and docs, light and dark.

``twinlink demo -o demo-run``, then ``python docs/tools/pictures.py demo-run`` writes them into docs/assets. It needs
Chromium (``make browser``) and a font with Chinese characters.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

import twinlink as tl
from twinlink.spiders.browser.chromium import find_browser

__all__ = ["draw_review"]

FOLDER = Path(__file__).resolve().parents[1] / "assets"
TITLE = "Beach at Cheung Tin closed after shark sighting"
"""Of a page of the demo whose address shows nothing of its partner's."""
SIZE = {"width": 1200, "height": 700}


def draw_review(run: Path, folder: Path = FOLDER) -> None:
    """Write ``review-light.png`` and ``review-dark.png``: a pair of the demo's run, as its pages look."""
    found = tl.open(run)
    titles = found.pages.set_index("page_id")["title"]
    pair = found.pairs[found.pairs["page_a"].map(titles) == TITLE].iloc[0]
    command = [sys.executable, "-m", "twinlink", "review", str(run), "--who", "ada", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as driver:
        assert server.stdout is not None
        address = next(match[0] for line in server.stdout if (match := re.search(r"http://\S+", line)))
        browser = driver.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            page = browser.new_context(color_scheme=scheme, viewport=SIZE, device_scale_factor=1.5).new_page()
            page.goto(address)
            page.goto(f"{address.split('/enter')[0]}/pair/{pair['page_a']}/{pair['page_b']}")
            page.keyboard.press("1")
            page.wait_for_timeout(1000)
            page.screenshot(path=folder / f"review-{scheme}.png")
        browser.close()
        server.terminate()


if __name__ == "__main__":
    draw_review(Path(sys.argv[1]))
