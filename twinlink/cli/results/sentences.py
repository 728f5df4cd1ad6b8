"""Results of an alignment: sentence pairs of a run, or the sentences of two texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from twinlink.cli.results.lexicons import LexiconsResult
from twinlink.cli.results.record import Record
from twinlink.errors import NothingFoundError, TwinlinkError

if TYPE_CHECKING:
    from twinlink.jobs.texts import AlignedFiles


class LanguagePair(msgspec.Struct, frozen=True):
    """Sentence pairs of two languages."""

    langs: str
    """The two languages, e.g. ``en-zh-Hant``."""
    kept: int
    """Sentence pairs."""
    exported: int
    """Those in the files: of a score of ``bitext.min_score`` or more."""
    without_chance: int
    """Sentence pairs whose chance is not known: their score is the probability of the alignment."""
    left_out: dict[str, int]
    """Pairs left out by reason, the most frequent first."""


class SentencesResult(Record, frozen=True, kw_only=True):
    """`twinlink align RUN`: how many sentence pairs came out, and what was left out why."""

    run: str
    """The run directory."""
    n_sentence_pairs: int
    """Sentence pairs of all languages."""
    min_score: float
    """Least score of the sentence pairs in the files (``--min-score``)."""
    by_languages: list[LanguagePair]
    """The counts of every two languages."""
    files: str
    """Folder of the tables and files."""
    lexicons: LexiconsResult | None
    """With ``--lexicon auto``: the dictionaries that were found."""

    @classmethod
    def of(cls, path: Path, min_score: float = 0.0) -> SentencesResult:
        """Count the rows of an aligned run's tables, and those that go into files."""
        import pyarrow.compute as pc

        from twinlink.align.segment_files import is_exported
        from twinlink.tables import SEGMENT, SEGMENTS, read_table

        stage = path / "align"
        rows = []
        for folder in sorted((stage / "segments").glob("*")):
            table = read_table(folder, SEGMENTS, ("verdict", "chance", "probability"))
            verdicts = Counter(table["verdict"].to_pylist())
            kept, exported = verdicts.pop(SEGMENT, 0), pc.sum(is_exported(table, min_score)).as_py() or 0
            without_chance = table.filter(pc.equal(table["verdict"], SEGMENT))["chance"].null_count
            rows.append(LanguagePair(folder.name, kept, exported, without_chance, dict(verdicts.most_common())))
        total = sum(row.kept for row in rows)
        return cls(
            run=str(path),
            n_sentence_pairs=total,
            min_score=min_score,
            by_languages=rows,
            files=str(stage),
            lexicons=LexiconsResult.of_stage(stage),
        )

    def problem(self) -> TwinlinkError | None:
        """Return an error for no sentence pair at all."""
        if self.n_sentence_pairs:
            return None
        why = "the run has no page pairs, or all were left out"
        return NothingFoundError(f"0 sentence pairs: {why}; tables: {self.files}")


class SentencePair(msgspec.Struct, frozen=True):
    """Sentences that stand for each other."""

    a: str
    """Sentences of the one text; may be empty."""
    b: str
    """Sentences of the other."""
    probability: float
    """Chance that they belong together."""


class TextsResult(Record, frozen=True, kw_only=True):
    """`twinlink align A.txt B.txt`: the sentences of two texts."""

    pairs: list[SentencePair]
    """With format ``tsv``: sentence pairs in order."""
    beads: list[tuple[list[int], list[int]]]
    """With format ``beads``: numbers of the lines that belong together, from 0."""

    @classmethod
    def of(cls, found: AlignedFiles, form: str) -> TextsResult:
        """Make it from two aligned texts."""
        return cls(**_in_form(found, form))


class AlignedTexts(msgspec.Struct, frozen=True):
    """Two texts of a list."""

    a: str
    """File of the one text."""
    b: str
    """File of the other."""
    pairs: list[SentencePair]
    """With format ``tsv``: sentence pairs in order."""
    beads: list[tuple[list[int], list[int]]]
    """With format ``beads``: numbers of the lines that belong together, from 0."""


class TextPairsResult(Record, frozen=True, kw_only=True):
    """`twinlink align PAIRS.tsv`: the sentences of many text pairs."""

    texts: list[AlignedTexts]
    """The text pairs, in the order of the list."""

    @classmethod
    def of(cls, found: Iterable[AlignedFiles], form: str) -> TextPairsResult:
        """Make it from aligned texts."""
        return cls(
            texts=[AlignedTexts(a=str(each.files[0]), b=str(each.files[1]), **_in_form(each, form)) for each in found]
        )


def _in_form(found: AlignedFiles, form: str) -> dict[str, Any]:
    """Return the beads of two texts by the keys of their form."""
    if form == "beads":
        numbers = [([line.number for line in bead.a], [line.number for line in bead.b]) for bead in found.beads]
        return {"pairs": [], "beads": numbers}
    pairs = [
        SentencePair(
            " ".join(line.text for line in bead.a),
            " ".join(line.text for line in bead.b),
            round(bead.probability, 4),
        )
        for bead in found.beads
    ]
    return {"pairs": pairs, "beads": []}
