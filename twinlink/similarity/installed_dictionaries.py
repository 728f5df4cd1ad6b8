"""Dictionaries in dictd's form that are installed on this machine, and the Debian packages that have some."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec

from twinlink.errors import LexiconError
from twinlink.language_names import language_named
from twinlink.languages import UNDETERMINED, base_language, may_mean
from twinlink.similarity.dictd import count_heads, dictd_files, dictd_title

__all__ = [
    "PACKAGES_FILE",
    "Dictionary",
    "debian_packages",
    "dictionaries_between",
    "dictionaries_for",
    "dictionary_folders",
    "installed_dictionaries",
    "two_languages_in",
]

PACKAGES_FILE = "dictd_packages.tsv"
_FOLDERS = ("dictd", "freedict")
"""Subfolders of a data folder that hold dictionaries: that of Debian, Ubuntu and Arch, and the user's own."""
_DEBIAN = Path("/usr/share/dictd")
_TWO = re.compile(r"([^\W\d_]{2,}) ?[-–/] ?([^\W\d_]{2,})")

Languages = frozenset[str]
"""Two base languages."""


class Dictionary(msgspec.Struct, frozen=True):
    """An installed dictionary."""

    index: Path
    """Its index; the dictionary file is in the same folder."""
    data: Path
    langs: Languages

    @property
    def n_heads(self) -> int:
        """Number of head words."""
        return count_heads(self.index)


def dictionary_folders(environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Return the folders searched for dictionaries, the user's own first.

    >>> [str(folder) for folder in dictionary_folders({"XDG_DATA_HOME": "/home/a/.data", "XDG_DATA_DIRS": "/opt"})]
    ['/home/a/.data/dictd', '/home/a/.data/freedict', '/opt/dictd', '/opt/freedict', '/usr/share/dictd']
    """
    own = environment.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    shared = environment.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
    roots = [Path(text) for text in (own, *shared.split(":")) if Path(text).is_absolute()]
    return list(dict.fromkeys([*(root / name for root in roots for name in _FOLDERS), _DEBIAN]))


def installed_dictionaries(folders: Iterable[Path] | None = None) -> list[Dictionary]:
    """Return the dictionaries between two languages in some folders and the folders in these, by path.

    Parameters
    ----------
    folders : iterable of Path, optional
        Default: `dictionary_folders`. Files found twice, through symbolic links, count once; unreadable files are
        left out.
    """
    found: dict[Path, Dictionary] = {}
    for folder in dictionary_folders() if folders is None else folders:
        for index in sorted([*folder.glob("*.index"), *folder.glob("*/*.index")]):
            dictionary = _dictionary(index)
            if dictionary is not None:
                found.setdefault(dictionary.data.resolve(), dictionary)
    return sorted(found.values(), key=lambda each: each.index)


def _dictionary(index: Path) -> Dictionary | None:
    """Return the dictionary of an index; None if it cannot be read or is not bilingual."""
    try:
        pair = dictd_files(index)
        if pair is None or not pair[0].is_file() or not pair[1].is_file():
            return None
        langs = two_languages_in(index.stem, codes=True) or two_languages_in(dictd_title(*pair))
    except (OSError, LexiconError):
        return None
    return Dictionary(*pair, langs) if langs else None


def two_languages_in(text: str, *, codes: bool = False) -> Languages | None:
    """Return the two languages that a title or the name of a file names; None where it names no two.

    Parameters
    ----------
    text : str
    codes : bool, optional
        Whether language codes count too, as in file names.

    Examples
    --------
    >>> sorted(two_languages_in("freedict-fra-eng", codes=True)), sorted(two_languages_in("Mueller English/Russian"))
    (['en', 'fr'], ['en', 'ru'])
    >>> two_languages_in("The Free On-line Dictionary of Computing") is None
    True
    """
    if codes:
        parts = text.split("-")
        options: Iterable[Sequence[str]] = [parts[-2:]] if len(parts) > 1 else []
    else:
        options = (match.groups() for match in _TWO.finditer(text))
    for two in options:
        langs = frozenset(base_language(tag) for name in two if (tag := language_named(name, codes=codes)))
        if len(langs - {UNDETERMINED}) == 2:
            return langs
    return None


def dictionaries_between(dictionaries: Iterable[Dictionary], lang_a: str, lang_b: str) -> list[Dictionary]:
    """Return the dictionaries between two languages."""
    langs = frozenset(map(base_language, (lang_a, lang_b)))
    return [each for each in dictionaries if each.langs == langs]


def dictionaries_for(dictionaries: Iterable[Dictionary], wanted: Collection[str]) -> list[Dictionary]:
    """Return the dictionaries between any two of the wanted languages; all if none are named."""
    if not wanted:
        return list(dictionaries)
    return [
        each
        for each in dictionaries
        if any(may_mean(a, x) and may_mean(b, y) for a in wanted for b in wanted if a != b for x, y in _orders(each))
    ]


def _orders(dictionary: Dictionary) -> Iterator[tuple[str, str]]:
    one, other = sorted(dictionary.langs)
    yield one, other
    yield other, one


@cache
def debian_packages() -> dict[Languages, list[str]]:
    """Return the names of Debian's packages with a dictionary between two languages.

    >>> debian_packages()[frozenset(("en", "fr"))]
    ['dict-freedict-eng-fra', 'dict-freedict-fra-eng']
    """
    found: dict[Languages, list[str]] = {}
    text = files("twinlink.similarity").joinpath(PACKAGES_FILE).read_text(encoding="utf-8")
    for line in text.splitlines()[1:]:
        package, one, other = line.split("\t")
        found.setdefault(frozenset((one, other)), []).append(package)
    return found
