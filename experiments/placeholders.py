"""Sites on which many pages only say that there is no translation yet.

::

    python -m experiments.placeholders SITES...

A share of the known pairs is drawn, and page B of each becomes a placeholder at its address: the title, a sentence, and
the links that most pages of its language have. These pairs are known no more. A cell is F1 (P / expected P) of the list
that the default settings report.
"""

from __future__ import annotations

import html
import random
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import urljoin

import lxml.html

from experiments.cases import case_words, match_case, open_case, outcome_of, read_meta
from experiments.site_files import page_file, read_rows, write_rows
from experiments.tables import own_cut, run_versions

__all__ = ["main", "with_placeholders"]

SHARES = {"as it is": 0.0, "a third of them placeholders": 1 / 3, "two thirds": 2 / 3}
SEED = 1
MENU_SHARE = 0.5
"""Share of the pages of a language that have the links of its menu."""
NOTES = {
    "ar": "هذه الصفحة غير متوفرة بلغتك بعد. يرجى قراءة النسخة الإنجليزية.",
    "fr": "Cette page n’est pas encore disponible dans votre langue. Veuillez lire la version anglaise.",
    "pt": "Esta página ainda não está disponível no seu idioma. Leia a versão em inglês.",
    "ru": "Эта страница пока недоступна на вашем языке. Пожалуйста, прочитайте английскую версию.",
    "zh": "本页尚未提供您所选语言的版本,请阅读英文版。",
}
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    versions = {label: partial(with_placeholders, share=share) for label, share in SHARES.items()}
    run_versions(__doc__ or "", "known pairs", versions, _cell, arguments)


def _cell(folder: Path) -> str:
    with open_case(folder) as case:
        return own_cut(outcome_of(case, match_case(case, case_words(case))))


def with_placeholders(folder: Path, out: Path, share: float) -> Path:
    """Write a site folder in which a share of the known pairs has a placeholder as page B; return it."""
    made = Path(shutil.copytree(folder, out / folder.name))
    rows = read_rows(folder / "gold.tsv")
    draw = random.Random(SEED)
    is_chosen = [draw.random() < share for _ in rows]
    write_rows(made / "gold.tsv", [row for row, chosen in zip(rows, is_chosen, strict=True) if not chosen])
    menu = _menu(made, [row[1] for row in rows])
    note = NOTES[read_meta(folder)["lang_b"].partition("-")[0]]
    for row, chosen in zip(rows, is_chosen, strict=True):
        if chosen:
            file = page_file(made, row[1])
            title = _TITLE.search(file.read_text(encoding="utf-8", errors="replace"))
            file.write_text(_page(title[1] if title else "", note, menu), encoding="utf-8")
    return made


def _menu(folder: Path, addresses: Sequence[str]) -> list[tuple[str, str]]:
    """Return address and text of the links that most pages have."""
    links = Counter(link for address in addresses for link in set(_links(page_file(folder, address), address)))
    return [link for link, n in links.items() if n >= MENU_SHARE * len(addresses)]


def _links(file: Path, address: str) -> Iterable[tuple[str, str]]:
    """Yield address, with its host if it has one, and text of each link of a page."""
    for anchor in lxml.html.fromstring(file.read_bytes()).iter("a"):
        if anchor.get("href"):
            yield urljoin(address, anchor.get("href")), " ".join("".join(map(str, anchor.itertext())).split())


def _page(title: str, note: str, menu: Sequence[tuple[str, str]]) -> str:
    items = "".join(f'<li><a href="{html.escape(url)}">{html.escape(text)}</a></li>' for url, text in menu)
    head = f'<meta charset="utf-8"><title>{title}</title>'
    return f"<html><head>{head}</head><body><ul>{items}</ul><h1>{title}</h1><p>{note}</p></body></html>"


if __name__ == "__main__":
    main()
