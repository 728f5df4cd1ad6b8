"""Small sites on disk for tests."""

from __future__ import annotations

from pathlib import Path

from twinlink.toy import BASE, write_toy

__all__ = ["BASE", "page", "write_pages", "write_toy"]

LANGS = ("en", "zh")


def page(text: str, *links: str, title: str = "") -> str:
    """Return an HTML page with a paragraph of ``text`` and some links."""
    anchors = "".join(f'<a href="{link}">{link}</a>' for link in links)
    return f'<html><head><meta charset="utf-8"><title>{title}</title></head><body><p>{text}</p>{anchors}</body></html>'


def write_pages(folder: Path, pages: dict[str, str]) -> Path:
    """Write path → HTML below ``folder``."""
    for name, html in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(html, encoding="utf-8")
    return folder
