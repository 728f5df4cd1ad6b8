"""The lexicons of a stage: the named files and, with ``auto``, the installed dictionaries."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

import msgspec

from twinlink.errors import ConfigError, LexiconError
from twinlink.files import write_text
from twinlink.language_names import language_named
from twinlink.languages import base_language
from twinlink.rundir.signature import file_digest
from twinlink.similarity.installed_dictionaries import (
    Dictionary,
    debian_packages,
    dictionaries_between,
    dictionaries_for,
    installed_dictionaries,
)
from twinlink.similarity.lexicon_files import Lexicon, read_lexicon

AUTO = "auto"
"""Name that stands for the installed dictionaries. A file of this name needs its full path."""
RECORD = "lexicons.json"
"""File beside the tables of a stage."""
_TEXT = ".txt"  # the code of a language, too (Citak)


class LexiconRecord(msgspec.Struct, frozen=True):
    """Result of ``auto`` for a stage."""

    used: dict[str, int]
    """Installed dictionaries, and their numbers of head words."""
    unreadable: dict[str, str]
    """Installed dictionaries that cannot be read, each with the reason."""
    missing: dict[str, list[str]]
    """Language pairs (``en-fr``) without an installed dictionary, and the Debian packages that have one."""


def named_files(names: Iterable[str | Path]) -> list[Path]:
    """Return the lexicon files that are named.

    >>> named_files(["auto", "/a/words.tsv"])
    [PosixPath('/a/words.tsv')]
    """
    return [Path(name) for name in names if str(name) != AUTO]


class Lexicons:
    """The lexicons of a stage, for each language pair.

    Parameters
    ----------
    names : iterable of str or Path
        Lexicon files, and `AUTO`.
    wanted : collection of str, optional
        Languages to find dictionaries for; empty: all.

    Raises
    ------
    LexiconError
        If a file that is named cannot be read.
    """

    def __init__(self, names: Iterable[str | Path], wanted: Collection[str] = ()) -> None:
        names = list(names)
        paths = named_files(names)
        self.is_auto = len(paths) < len(names)
        self._named = [read_lexicon(path) for path in paths]
        self._installed = dictionaries_for(installed_dictionaries(), wanted) if self.is_auto else []
        self._read: dict[Path, Lexicon | LexiconError] = {}
        files = [*paths, *(path for each in self._installed for path in (each.index, each.data))]
        self.digests = [file_digest(path) for path in files]
        """Part of the signature of results that use these lexicons."""

    def between(self, lang_a: str, lang_b: str) -> list[Lexicon]:
        """Return the lexicons for two languages: all that are named, and the dictionaries between the two."""
        found = [self._lexicon(each) for each in dictionaries_between(self._installed, lang_a, lang_b)]
        return [*self._named, *(each for each in found if isinstance(each, Lexicon))]

    def _lexicon(self, dictionary: Dictionary) -> Lexicon | LexiconError:
        if dictionary.index not in self._read:
            try:
                self._read[dictionary.index] = read_lexicon(dictionary.index)
            except LexiconError as error:
                self._read[dictionary.index] = error
        return self._read[dictionary.index]

    def record(self, at_hand: Iterable[tuple[str, str]]) -> LexiconRecord:
        """Return the dictionaries found for each pair of the given languages."""
        used: dict[str, int] = {}
        missing: dict[str, list[str]] = {}
        for langs in sorted({tuple(sorted(map(base_language, two))) for two in at_hand}):
            found = [each for each in self._installed if each.langs == set(langs)]
            used |= {str(each.index): each.n_heads for each in found if not self._error(each)}
            if not found and len(set(langs)) == 2:
                missing["-".join(langs)] = debian_packages().get(frozenset(langs), [])
        unreadable = {str(each.index): error for each in self._installed if (error := self._error(each))}
        return LexiconRecord(used, unreadable, missing)

    def _error(self, dictionary: Dictionary) -> str:
        error = self._read.get(dictionary.index)
        return str(error) if isinstance(error, LexiconError) else ""


def lexicons_of_texts(a: Path, b: Path, names: Iterable[str | Path]) -> Lexicons:
    """Return the lexicons for two texts, whose names end in their languages (``news.de``, ``news.fr``).

    Raises
    ------
    ConfigError
        If they do not, and ``auto`` is requested.
    LexiconError
        If a file that is named cannot be read.
    """
    found = Lexicons(names, [a.suffix[1:], b.suffix[1:]])
    unknown = [path for path in (a, b) if path.suffix == _TEXT or not language_named(path.suffix[1:])]
    if found.is_auto and unknown:
        raise ConfigError(
            f"--lexicon {AUTO}: the language of {unknown[0]} is not known; expected names such as news.en, news.fr"
        )
    return found


def write_record(record: LexiconRecord, folder: Path) -> None:
    """Write the result of ``auto`` beside a stage's tables."""
    write_text(folder / RECORD, msgspec.json.format(msgspec.json.encode(record).decode(), indent=1))
