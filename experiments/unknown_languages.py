"""Languages that no language finder recognises, and unusual pages: which are put into a group of their own.

::

    python -m experiments.unknown_languages SITES... [--share 0.1] [--texts FOLDER]

Each site is used with a part of its pages repeated in an invented language (`cipher`: vowels for vowels, consonants for
consonants), and with pages of each kind of `STRANGE`. With ``--texts``, every file of the folder (plain text in one
language, one paragraph per line, named after the language) gives additional pages.

A row has the share of added pages in one new language, and the number of other pages in the same language. The first
should be 1 for texts and ciphers and 0 for strange pages; the second should be 0.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from experiments.few_translated import Site, read_site
from twinlink.language.site_languages import site_languages

__all__ = ["STRANGE", "Row", "app", "cipher", "measure", "text_pages"]

SEED = 3
_STRANGE_PAGES = 60
_PARAGRAPHS = 3
_PRIVATE = re.compile("q[a-t][a-z]")
_NAMES = "Apache Linux Washington Smith Johnson Geneva Paris London Alabama Kansas Oregon Texas Utah Ohio".split()
_FIRST = "James Mary Robert Wei Fatima Ivan Olga Yuki Kenji Pierre Marie Linda David Susan Karen".split()
_LAST = "Smith Wang Zhang Tanaka Dubois Petrov Khan Singh Garcia Miller Lopez Brown Jones Wilson".split()
_LATIN = (
    "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore magna"
    " aliqua enim ad minim veniam quis nostrud exercitation ullamco laboris nisi aliquip ex ea commodo consequat"
).split()
_CODE = (
    "for {0} in range(len({1})): {1}[{0}] = {2}", "if {0} is None: raise ValueError({1!r})", "import {0}, {1}, {2}",
    "def {0}_{1}({2}, *args): return {0}.{1}({2})",
)  # fmt: skip


class Row(NamedTuple):
    """Outcome of the added pages."""

    added: int
    own: int
    """Added pages in the new language that most of them have."""
    others: int
    """Pages of the site in the same language."""


def cipher(text: str) -> str:
    """Return a text in an invented language; digits and words in capitals are kept.

    >>> cipher("A page of HTML 4") == cipher("A page of HTML 4"), "HTML 4" in cipher("A page of HTML 4")
    (True, True)
    """
    chance = random.Random(SEED)
    table: dict[int, str] = {}
    for letters in ("aeiouy", "bcdfghjklmnpqrstvwxz"):
        others = list(letters)
        chance.shuffle(others)
        table |= {ord(one): other for one, other in zip(letters, others, strict=True)}
    table |= {ord(chr(code).upper()): other.upper() for code, other in table.items()}
    return re.sub(r"[^\W\d_]+", lambda word: word[0] if word[0][1:].isupper() else word[0].translate(table), text)


def _listing(chance: random.Random) -> list[str]:
    return [" ".join([chance.choice(_NAMES), *(str(chance.randrange(10**5)) for _ in range(6))]) for _ in range(40)]


def _people(chance: random.Random) -> list[str]:
    return [f"{chance.choice(_FIRST)} {chance.choice(_LAST)}" for _ in range(60)]


def _program(chance: random.Random) -> list[str]:
    names = "self index buffer node value parser request handler session config".split()
    return [chance.choice(_CODE).format(*chance.sample(names, 3)) for _ in range(60)]


def _checksums(chance: random.Random) -> list[str]:
    return [f"{chance.getrandbits(256):064x}  pool/main/{chance.choice(_NAMES).lower()}.deb" for _ in range(40)]


def _placeholder(chance: random.Random) -> list[str]:
    return [" ".join(chance.choices(_LATIN, k=25)) for _ in range(6)]


STRANGE: dict[str, Callable[[random.Random], list[str]]] = {
    "listings": _listing,
    "people": _people,
    "programs": _program,
    "checksums": _checksums,
    "placeholder": _placeholder,
}
"""Generators of one page each."""


def text_pages(text: str) -> list[list[str]]:
    """Return pages of a few paragraphs each."""
    paragraphs = [line for line in text.splitlines() if line.strip()]
    return [paragraphs[i : i + _PARAGRAPHS] for i in range(0, len(paragraphs) - _PARAGRAPHS + 1, _PARAGRAPHS)]


def measure(blocks: Sequence[Sequence[str]], wanted: Sequence[str], added: Sequence[Sequence[str]]) -> Row:
    """Identify the languages of a site with some additional pages, by text alone."""
    languages, _ = site_languages([*blocks, *added], [""] * (len(blocks) + len(added)), wanted)
    counts = Counter(name for name in languages[len(blocks) :] if _PRIVATE.fullmatch(name))
    if not counts:
        return Row(len(added), 0, 0)
    tag, own = counts.most_common(1)[0]
    return Row(len(added), own, languages[: len(blocks)].count(tag))


def _added(site: Site, share: float, texts: Path | None) -> dict[str, list[list[str]]]:
    blocks = site.pages["blocks"].to_pylist()
    added = {}
    for side, lang in zip("AB", site.langs, strict=True):
        rows = site.side(side)
        chosen = sorted(random.Random(SEED).sample(rows, max(5, round(share * len(rows)))))
        added[f"cipher of {lang}"] = [[cipher(block) for block in blocks[row]] for row in chosen]
    for kind, make in STRANGE.items():
        added[kind] = [[f"{kind} {i}", *make(random.Random(i))] for i in range(_STRANGE_PAGES)]
    for path in sorted(texts.iterdir()) if texts else ():
        added[path.stem] = text_pages(path.read_text(encoding="utf-8"))
    return added


app = typer.Typer(add_completion=False)


@app.command()
def main(
    folders: Annotated[list[Path], typer.Argument(help="Site folders.")],
    share: Annotated[float, typer.Option(help="Part of a side that a cipher is made of.")] = 0.1,
    texts: Annotated[Path | None, typer.Option(help="Folder of texts, one language a file.")] = None,
) -> None:
    """Print the outcome of the added pages of each kind."""
    typer.echo(f"{'site':28} {'added':24} {'pages':>6} {'own':>6} {'others':>7}")
    for folder in folders:
        site = read_site(folder)
        for kind, added in _added(site, share, texts).items():
            row = measure(site.pages["blocks"].to_pylist(), site.langs, added)
            typer.echo(f"{folder.name:28} {kind:24} {row.added:6} {row.own:6} {row.others:7}")


if __name__ == "__main__":
    app()
