"""Alignment of text files: two texts, or many text pairs together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from twinlink.align.formats.sentence_files import Line, bead_lines, read_lines
from twinlink.align.formats.sentence_pairs import PairFile
from twinlink.align.knowledge import Knowledge
from twinlink.align.learning import Alignment, Text, TextPair, align_text_pairs
from twinlink.align.prior_pairs import warm_knowledge
from twinlink.align.stage import lexicon_prior
from twinlink.align.tokens import ANY_LANGUAGE
from twinlink.baselines.verify import read_pairs
from twinlink.config.align import BitextSettings
from twinlink.errors import ConfigError, InputError
from twinlink.similarity.lexicon_sets import lexicons_of_texts

__all__ = ["FORMS", "AlignedFiles", "TextBead", "align_files", "listed_texts"]

FORMS = ("tsv", "beads")
"""Forms of aligned texts: sentences with probabilities, or numbers of lines."""

Files = tuple[Path, Path]


class TextBead(NamedTuple):
    """Lines of two texts that stand for each other."""

    a: list[Line]
    b: list[Line]
    probability: float


class AlignedFiles(NamedTuple):
    """Two text files with their beads, in order."""

    files: Files
    beads: list[TextBead]

    def lines(self, form: str) -> Iterator[str]:
        """Yield the beads as lines of a form: sentences and probability by tabs, or numbers of lines, from 0."""
        if form == "beads":
            yield from bead_lines(
                ([one.number for one in bead.a], [one.number for one in bead.b]) for bead in self.beads
            )
            return
        for bead in self.beads:
            sides = (" ".join(line.text for line in side) for side in bead[:2])
            yield "\t".join([*sides, f"{bead.probability:.4f}"])


def listed_texts(path: Path) -> list[Files]:
    """Read a list of text pairs: two tab-separated names of files per line, relative to the folder of the list.

    Raises
    ------
    InputError
        If the list cannot be read or is empty.
    """
    try:
        return [(path.parent / a, path.parent / b) for a, b in read_pairs(path)]
    except InputError as error:
        error.add_note("note: a text is aligned with its translation: twinlink align A.txt B.txt")
        raise


def align_files(
    pairs: Sequence[Files],
    settings: BitextSettings,
    warm: Sequence[str] = (),
    lexicons: Sequence[Path] = (),
) -> list[AlignedFiles]:
    """Align text pairs of one sentence per line together: each is aligned with the words that all teach.

    Blank lines are in no bead. Beads of a probability below ``bitext.min_score`` are left out.

    Parameters
    ----------
    pairs : sequence of two paths
        All in the same two languages. What the names end in (``news.de``, ``news.fr``) are the languages that ``warm``
        and ``auto`` look for.
    settings : BitextSettings
    warm : sequence of str
        Files of sentence pairs that the word model learns from first.
    lexicons : sequence of Path
        Start values of the word model.

    Raises
    ------
    InputError
        If a file cannot be read, or the names of some pairs end in other languages than those of the first.
    LexiconError
        If a lexicon cannot be read.
    ConfigError
        If the method reads tags; or dictionaries are to be found (``auto``) for texts whose names do not end in their
        languages.
    """
    if settings.method != "words":
        raise ConfigError(f"--method {settings.method}: texts have no tags; expected a run, or --method words")
    two = _endings(pairs)
    sides = [(read_lines(a), read_lines(b)) for a, b in pairs]
    prior = lexicon_prior(lexicons_of_texts(*pairs[0], lexicons).between(*two), ("", ""), ANY_LANGUAGE)
    texts = [TextPair(*(Text([line.text for line in lines]) for lines in side)) for side in sides]
    known = _warmed(warm, two, settings) if warm else None
    found = align_text_pairs(texts, settings=settings, lexicon=prior, known=known)
    return [
        AlignedFiles(files, list(_beads(*side, aligned, settings.min_score)))
        for files, side, aligned in zip(pairs, sides, found, strict=True)
    ]


def _endings(pairs: Sequence[Files]) -> tuple[str, str]:
    """Return what the names of all pairs end in."""
    first, *others = ((a.suffix[1:], b.suffix[1:]) for a, b in pairs)
    for files, ending in zip(pairs[1:], others, strict=True):
        if ending != first:
            names = f"{files[0].name}, {files[1].name}"
            raise InputError(
                f"{names}: expected names that end in .{first[0]} and .{first[1]} as those of the first pair; "
                "texts of other languages need another list"
            )
    return first


def _warmed(warm: Sequence[str], two: tuple[str, str], settings: BitextSettings) -> Knowledge | None:
    langs = two if two[0] != two[1] else ("", "")
    return warm_knowledge([PairFile.of(text) for text in warm], [langs], settings, ANY_LANGUAGE)[langs]


def _beads(lines_a: list[Line], lines_b: list[Line], found: Alignment, min_score: float) -> Iterator[TextBead]:
    for (one, other), probability in zip(found.beads, found.posteriors.tolist(), strict=True):
        if probability >= min_score:
            yield TextBead([lines_a[k] for k in one], [lines_b[k] for k in other], probability)
