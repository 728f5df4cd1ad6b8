"""Precision of the first entries of the learned lexicon, by dictionaries.

::

    python -m experiments.lexicon_precision RUNS... --reference FOLDER [--draw]

RUNS are runs after stage ``align``, e.g. those that ``experiments.sentences --runs`` keeps; the folder has dictionaries
named like ``zh-en.tsv.xz``. Words are compared by their stems, Chinese words in one script. An entry is *there* if the
dictionary has both words as translations of each other, and *in a phrase* if one is a word of a longer translation of
the other. The first column of shares counts only entries whose first word is in the dictionary: no dictionary is
complete, so other entries may be right. ``--draw`` adds some of these to ``judged/RUN.lexicon.tsv`` beside this file; a
person fills in the last column with whether they are right.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from experiments.cases import find_lexicons
from experiments.judgements import VERDICTS, wilson
from experiments.tables import Column, number, print_tables
from twinlink.similarity.lexicon_files import Lexicon
from twinlink.text.chinese import simplify_chinese
from twinlink.text.stems import stem
from twinlink.text.words import tokenize

__all__ = ["Dictionary", "Entry", "main", "read_entries"]

JUDGED = Path(__file__).with_name("judged")
TOP, SIZE, SEED = 200, 40, "6"
Key = tuple[str, ...]
"""Stems of the words of a text."""


class Entry(NamedTuple):
    """Two words of a learned lexicon."""

    word_a: str
    word_b: str


class Dictionary:
    """Translations of words by their stems, both ways."""

    def __init__(self, lexicons: Iterable[Lexicon], langs: tuple[str, str]) -> None:
        self.langs = langs
        self._translations: tuple[defaultdict[Key, set[Key]], ...] = (defaultdict(set), defaultdict(set))
        for lexicon in lexicons:
            for entry in lexicon.entries:
                for a, b in ((entry.head, entry.translation), (entry.translation, entry.head)):
                    key_a, key_b = self.key(a, 0), self.key(b, 1)
                    self._translations[0][key_a].add(key_b)
                    self._translations[1][key_b].add(key_a)

    def key(self, text: str, side: int) -> Key:
        """Return the common key of the forms of a text, without *to* and articles in front of English words.

        >>> Dictionary([], ("en", "zh-Hant")).key("to Open", 0), Dictionary([], ("en", "zh-Hant")).key("檔案", 1)
        (('open',), ('档案',))
        """
        lang = self.langs[side]
        if lang.startswith("zh"):
            return (simplify_chinese(text),)
        words = tokenize(text, lang)
        if lang == "en" and len(words) > 1 and words[0] in {"to", "a", "an", "the"}:
            words = words[1:]
        return tuple(stem(word, lang) for word in words)

    def judge(self, entry: Entry) -> str:
        """Return ``there``, ``in a phrase``, ``not there``, or ``unknown word`` if the dictionary has neither word."""
        a, b = self.key(entry.word_a, 0), self.key(entry.word_b, 1)
        of_a, of_b = self._translations[0].get(a, set()), self._translations[1].get(b, set())
        if b in of_a:
            return "there"
        if any(b and set(b) <= set(found) for found in of_a) or any(a and set(a) <= set(found) for found in of_b):
            return "in a phrase"
        return "not there" if of_a or of_b else "unknown word"

    def knows_first(self, entry: Entry) -> bool:
        """Return whether the dictionary has the first word."""
        return self.key(entry.word_a, 0) in self._translations[0]


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("runs", nargs="+", type=Path, help="runs, or folders of them")
    parser.add_argument("--reference", required=True, type=Path, help="folder of dictionaries named like zh-en.tsv.xz")
    parser.add_argument("--draw", action="store_true", help="add to the lists what is drawn now and not in them")
    parser.add_argument("--judged", type=Path, default=JUDGED, help="folder of the lists")
    given = parser.parse_args(arguments)
    columns = {}
    for file in _lexicons(given.runs):
        lang_a, _, lang_b = file.name.removesuffix(".lexicon.tsv").partition("-")
        dictionary = Dictionary(find_lexicons(given.reference, (lang_a, lang_b)), (lang_a, lang_b))
        entries = read_entries(file)[:TOP]
        name = file.parent.parent.name
        judged = _judged(given.judged / f"{name.removesuffix('-opaque')}.lexicon.tsv", entries, dictionary, given.draw)
        columns[name] = _measure(entries, dictionary) | _read_one_by_one(entries, dictionary, judged)
    print_tables(columns, sites_down=True)


def _lexicons(places: Sequence[Path]) -> list[Path]:
    """Return the learned lexicons of runs."""
    runs = [run for place in places for run in (place, *sorted(place.iterdir())) if (run / "align").is_dir()]
    return [file for run in runs for file in sorted((run / "align").glob("*.lexicon.tsv"))]


def read_entries(file: Path) -> list[Entry]:
    """Read a learned lexicon, the most probable entries first."""
    with file.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [Entry(row["word_a"], row["word_b"]) for row in rows]


def _measure(entries: Sequence[Entry], dictionary: Dictionary) -> Column:
    counts = Counter(dictionary.judge(entry) for entry in entries)
    known = [dictionary.judge(entry) for entry in entries if dictionary.knows_first(entry)]
    there = known.count("there")
    cells = {
        "first word known": str(len(known)),
        "of these there": _share(there, len(known)),
        "there or in a phrase": _share(there + known.count("in a phrase"), len(known)),
        **{f"of all: {kind}": str(counts[kind]) for kind in ("there", "in a phrase", "not there", "unknown word")},
    }
    return {f"The first {TOP} entries and the dictionary": cells}


def _read_one_by_one(entries: Sequence[Entry], dictionary: Dictionary, judged: dict[Entry, str]) -> Column:
    """Judge entries that the dictionary does not confirm by the list of manual judgements, and combine both."""
    open_ = [entry for entry in entries if not _is_confirmed(entry, dictionary)]
    drawn = _draw(open_)
    verdicts = Counter(judged.get(entry, "") for entry in drawn)
    read = sum(verdicts[verdict] for verdict in VERDICTS)
    right = verdicts["correct"] / read if read else 0.0
    estimate = number((len(entries) - len(open_) + right * len(open_)) / len(entries)) if read else "–"
    cells = {
        "not confirmed": str(len(open_)),
        "drawn": str(len(drawn)),
        **{verdict: str(verdicts[verdict]) for verdict in VERDICTS},
        "of these correct": _share(verdicts["correct"], read),
        "of all, confirmed or correct": estimate,
    }
    return {"What the dictionary does not confirm, read one by one": cells}


def _is_confirmed(entry: Entry, dictionary: Dictionary) -> bool:
    return dictionary.judge(entry) in ("there", "in a phrase")


def _draw(entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries with the smallest hashes, so that entries that still exist are drawn again."""
    return sorted(entries, key=lambda entry: hashlib.blake2b("\0".join((SEED, *entry)).encode()).digest())[:SIZE]


def _judged(file: Path, entries: Sequence[Entry], dictionary: Dictionary, draw: bool) -> dict[Entry, str]:
    """Read the list of a run, and add the newly drawn entries."""
    lines = file.read_text(encoding="utf-8").split("\n")[1:] if file.exists() else []
    cells = [line.split("\t") for line in lines if line]
    judged = {Entry(a, b): verdict for a, b, verdict in cells}
    if draw:
        drawn = _draw(entry for entry in entries if not _is_confirmed(entry, dictionary))
        judged = dict.fromkeys(drawn, "") | judged
        rows = [("word_a", "word_b", "verdict"), *((*entry, verdict) for entry, verdict in judged.items())]
        file.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return judged


def _share(successes: int, trials: int) -> str:
    """Return a share with its interval and its denominator as text."""
    low, high = wilson(successes, trials)
    return f"{number(successes / trials)} ({number(low)} to {number(high)}) of {trials}" if trials else "–"


if __name__ == "__main__":
    main()
