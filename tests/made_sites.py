"""Small sites on disk for tests."""

from __future__ import annotations

from pathlib import Path

from twinlink.toy import BASE, write_toy

__all__ = ["BASE", "TOWN_NOUNS", "page", "town_page", "write_pages", "write_three_languages", "write_town", "write_toy"]

LANGS = ("en", "zh")
TOWN_NOUNS = {
    "bridge": "pont",
    "house": "maison",
    "garden": "jardin",
    "school": "école",
    "market": "marché",
    "road": "route",
}
TOWN_PLACES = {"village": "village", "valley": "vallée", "town": "ville", "harbour": "port", "forest": "forêt"}


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


def town_page(lang: str, number: int) -> str:
    """Return a page of eight sentences of a town's news, in English or French; a number gives a pair."""
    nouns, places = [*TOWN_NOUNS.items()], [*TOWN_PLACES.items()]
    side = 0 if lang == "en" else 1
    rows = []
    for k in range(4):
        noun, place = nouns[(number + k) % 6][side], places[(number * 2 + k) % 5][side]
        year = 1900 + 7 * number + k
        if lang == "en":
            rows += [f"<p>The {noun} of the {place} was built in {year}. It is open to the visitors every day.</p>"]
        else:
            rows += [
                f"<p>Le bâtiment {noun} de {place} fut construit en {year}.",
                " Il est ouvert aux visiteurs tous les jours.</p>",
            ]
    title = f"<h1>{'News of the municipality' if lang == 'en' else 'Nouvelles de la commune'} {number}</h1>"
    return f"<html><head><meta charset='utf-8'></head><body>{title}{''.join(rows)}</body></html>"


def write_town(folder: Path, n_pairs: int, first: int = 0) -> Path:
    """Write the English and the French page of each number below ``folder``."""
    numbers = range(first, first + n_pairs)
    return write_pages(folder, {f"{lang}/{n}.html": town_page(lang, n) for lang in ("en", "fr") for n in numbers})


def write_three_languages(folder: Path, n_pages: int) -> Path:
    """Write the English, the French and the German page of each number below ``folder``."""
    write_town(folder, n_pages)
    return write_pages(folder, {f"de/{n}.html": _in_german(town_page("en", n)) for n in range(n_pages)})


def _in_german(text: str) -> str:
    german = {
        "The ": "Der Bau ", " of the ": " bei ", " was built in ": " wurde errichtet im Jahr ",
        " It is open to the visitors every day.": " Er ist jeden Tag für die Besucher geöffnet.",
        "News of the municipality": "Nachrichten aus der Gemeinde",
    }  # fmt: skip
    for english, other in german.items():
        text = text.replace(english, other)
    return text
