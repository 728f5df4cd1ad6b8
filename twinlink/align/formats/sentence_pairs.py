"""Readers of sentence pairs: TMX, tab-separated columns, or two files of one sentence per line (Moses)."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from lxml import etree

from twinlink.align.formats.exports import open_for_reading
from twinlink.errors import InputError
from twinlink.inputs import InputFile, named_languages
from twinlink.language_names import two_languages
from twinlink.languages import base_language, canonical_language

_PROBLEM = "cannot be read as sentence pairs"
_FILE = InputFile(_PROBLEM, f"{_PROBLEM} (no such file)")
_MAX_LINE_BYTES = 2**20
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_TEXT = etree.XPath(
    "*[local-name()='seg']//text()[not(ancestor::*[contains('|bpt|ept|ph|it|ut|', concat('|', local-name(), '|'))])]"
)
"""Text of a side of a TMX unit, without the elements that hold codes of its format."""


class PairFile(NamedTuple):
    """A file of sentence pairs, and the languages of its two sides where the user names them."""

    path: Path
    """For Moses: what the names of both files begin with, ``corpus`` of ``corpus.en`` and ``corpus.fr``."""
    langs: tuple[str, str] | None = None

    @classmethod
    def of(cls, text: str) -> PairFile:
        """Read ``FILE`` or ``LANG-LANG=FILE``.

        >>> PairFile.of("en-fr=memory.tsv").langs, PairFile.of("zh-TW-eng=a.tmx").langs, PairFile.of("memory.tmx").langs
        (('en', 'fr'), ('zh-TW', 'eng'), None)

        Raises
        ------
        ConfigError
            If the part before the equals sign is not two languages.
        """
        names, path = named_languages(text)
        return cls(Path(path), two_languages(names, "bitext.warm") if names else None)

    def files(self, langs: tuple[str, str]) -> tuple[Path, ...]:
        """Return the file, or the two files of Moses, under any tags of the two languages.

        Raises
        ------
        InputError
            If there is neither.
        """
        if self.path.is_file():
            return (self.path,)
        of_moses = tuple(self._in_language(lang) for lang in self.langs or langs)
        if not any(path.is_file() for path in of_moses):
            raise InputError(
                f"{self.path}: no such file of sentence pairs, nor two of Moses ({', '.join(map(str, of_moses))})"
            )
        if missing := [path for path in of_moses if not path.is_file()]:
            raise InputError(f"{missing[0]}: no such file; expected the other one of two files of Moses")
        return of_moses

    def _in_language(self, lang: str) -> Path:
        exact = Path(f"{self.path}.{lang}")
        if exact.is_file() or not lang:
            return exact
        others = sorted(self.path.parent.glob(f"{glob.escape(self.path.name)}.*"))
        alike = [path for path in others if path.suffixes and _alike(path.name[len(self.path.name) + 1 :], lang)]
        return alike[0] if len(alike) == 1 else exact


def read_sentence_pairs(file: PairFile, langs: tuple[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the sentence pairs of a file that are in two languages, in the order of these.

    Parameters
    ----------
    file : PairFile
        Compressed with gzip or zstd if its name ends so. TMX units without either language are left out. Columns are
        the source and the target; where the first line names them, ``src`` and ``trg``.
    langs : pair of str
        Wanted languages; ``zh`` and ``zh-Hant`` are taken for one another, but equal tags come first. Empty ones fit
        any.

    Raises
    ------
    InputError
        If the file cannot be read, or two Moses files differ in length.
    """
    own = file.langs or langs
    order = _places(own, langs)
    if order is None:
        return
    try:
        for pair in _raw_pairs(file, own):
            if all(text.strip() for text in pair):
                yield pair[order[0]], pair[order[1]]
    except (OSError, ValueError, etree.XMLSyntaxError) as error:
        raise InputError(f"{file.path}: {_PROBLEM} ({error})") from error


def _raw_pairs(file: PairFile, langs: tuple[str, str]) -> Iterator[tuple[str, str]]:
    if not file.path.is_file():
        yield from _moses(*file.files(langs))
        return
    with open_for_reading(file.path, _FILE) as stream:
        yield from _tmx(stream, langs) if is_tmx(file.path) else _columns(stream)


def is_tmx(path: Path) -> bool:
    """Return whether a file is TMX, compressed or not, by its name.

    >>> is_tmx(Path("MEMORY.TMX")), is_tmx(Path("memory.tmx.gz")), is_tmx(Path("memory.tmx.tsv"))
    (True, True, False)
    """
    return path.name.removesuffix(".gz").removesuffix(".zst").lower().endswith(".tmx")


def _tmx(stream: BinaryIO, langs: tuple[str, str]) -> Iterator[tuple[str, str]]:
    for _, unit in etree.iterparse(stream, tag="{*}tu", resolve_entities=False, no_network=True, load_dtd=False):
        sides = list(unit.iterfind("{*}tuv"))
        places = _places([side.get(_LANG) or side.get("lang") or "" for side in sides], langs)
        pair = places and (_text(sides[places[0]]), _text(sides[places[1]]))
        unit.clear()
        while unit.getprevious() is not None:
            del unit.getparent()[0]
        if pair:
            yield pair


def _text(side: etree._Element) -> str:
    return "".join(cast("list[str]", _TEXT(side)))


def _columns(stream: BinaryIO) -> Iterator[tuple[str, str]]:
    first, second = 0, 1
    for number, line in enumerate(_lines(stream), 1):
        cells = line.split("\t")
        if number == 1 and {"src", "trg"} <= set(cells):
            first, second = cells.index("src"), cells.index("trg")
        elif len(cells) > max(first, second):
            yield cells[first], cells[second]
        elif line.strip():
            raise ValueError(f"line {number}: expected two tab-separated sentences")


def _moses(source: Path, target: Path) -> Iterator[tuple[str, str]]:
    with open_for_reading(source, _FILE) as one, open_for_reading(target, _FILE) as other:
        yield from zip(_lines(one), _lines(other), strict=True)


def _lines(stream: BinaryIO) -> Iterator[str]:
    for number, line in enumerate(iter(lambda: stream.readline(_MAX_LINE_BYTES), b"")):
        if len(line) == _MAX_LINE_BYTES:
            raise ValueError(f"line {number + 1}: more than {_MAX_LINE_BYTES} bytes")
        yield line.decode("utf-8" if number else "utf-8-sig").rstrip("\r\n")


def _alike(one: str, other: str) -> bool:
    return not (one and other) or base_language(one) == base_language(other)


def _places(tags: Sequence[str], langs: tuple[str, str]) -> tuple[int, int] | None:
    """Return at which places two different tags fit two languages, equal tags first; None: at no two places.

    >>> _places(["zh-Hant", "zh"], ("zh-Hans", "zh-Hant")), _places(["en", "fr"], ("fr", "de"))
    ((1, 0), None)
    """
    first, second = ([place for place, tag in enumerate(tags) if _alike(tag, lang)] for lang in langs)
    fitting = [(a, b) for a in first for b in second if a != b]

    def n_equal(places: tuple[int, int]) -> int:
        found = zip(places, langs, strict=True)
        return sum(canonical_language(tags[place]) == canonical_language(lang) for place, lang in found)

    return max(fitting, key=n_equal, default=None)
