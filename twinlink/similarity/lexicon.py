"""Bilingual lexicons: files to entries, entries to a matrix between the terms of two sets of pages."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from twinlink.errors import LexiconError
from twinlink.similarity.wordlists import STOP_WORDS
from twinlink.similarity.words import has_latin_script, is_latin, is_number, simplify_chinese, stem, tokenize

__all__ = ["Entry", "Lexicon", "identity_matrix", "read_lexicon", "translation_matrix"]

_DECOMPRESSORS: Mapping[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": gzip.decompress,
    b"\xfd7zXZ": lzma.decompress,
    b"BZh": bz2.decompress,
}
_CEDICT = re.compile(r"(?P<traditional>\S+) (?P<simplified>\S+) \[[^\]]*\] /(?P<glosses>.+)/\s*")
_NOTE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_REFERENCE = re.compile(r"CL:|(?:\w+ )?variant of |see (?:also )?[^a-z]|abbr\. for |also (?:written|pr\.) |used in ")
_MAX_WORDS = 4  # longer entries are explanations
_LEAST_COGNATE = 3  # letters; shorter words mean something else in the next language
_SAMPLE = 5_000  # entries that decide which column is which language
_UNSPACED_HEADS = frozenset({"zh", "ja", "th", "lo", "km", "my"})


class Entry(NamedTuple):
    """One line of a lexicon."""

    head: str
    translation: str
    weight: float = 1.0
    """Probability of the translation, in (0, 1]; 1 where the file gives none."""


@dataclass(frozen=True)
class Lexicon:
    """Entries of a bilingual lexicon; which of its columns is which language is found when it is used."""

    entries: tuple[Entry, ...]
    name: str = "lexicon"

    def __len__(self) -> int:
        return len(self.entries)


def read_lexicon(path: Path) -> Lexicon:
    """Read a lexicon file in UTF-8, plain or compressed (gzip, xz, bzip2; told by its first bytes).

    Two forms: lines ``head TAB translation [TAB probability]``, and those of CC-CEDICT, ``Trad Simp [pin1 yin1]
    /gloss/gloss/``. Empty lines and comments (``#`` first, and no TAB) are skipped, as are entries with an empty side.

    Raises
    ------
    LexiconError
        If the file cannot be read, a line has neither form (the message names the line), or there is no entry at all.
    """
    try:
        raw = path.read_bytes()
        for magic, decompress in _DECOMPRESSORS.items():
            if raw.startswith(magic):
                raw = decompress(raw)
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise LexiconError(f"{path}: line {line}: not UTF-8; convert the file, e.g. with iconv") from None
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise LexiconError(f"{path}: not a readable lexicon file ({error})") from error
    entries = tuple(_parse(text, path))
    if not entries:
        raise LexiconError(f"{path}: no entry; lines of the form head TAB translation [TAB probability] are expected")
    return Lexicon(entries, path.name)


def translation_matrix(
    lexicon: Lexicon, vocabulary_a: Sequence[str], lang_a: str, vocabulary_b: Sequence[str], lang_b: str
) -> csr_array:
    """Return how strongly each term of one language translates to each of the other.

    T[s, t] = max over entries (h, r, p) of ``p · share(s, h) · share(t, r)``

    where share(s, h) is 1 if term s is the head h, or a stem of the same word, and 1/k if it is one of h's k words,
    stop words left out. Entries of more than four words are explanations and are not used. A Chinese term that is no
    head is taken apart from the left into the longest heads; each counts 1/k for it.

    Parameters
    ----------
    lexicon : Lexicon
        Its columns may stand in either order: the one that finds more of its entries in the two vocabularies is taken.
    vocabulary_a, vocabulary_b : sequence of str
        Terms, as `count_terms` gives them.
    lang_a, lang_b : str
        Their languages.

    Returns
    -------
    csr_array of float32, shape (len(vocabulary_a), len(vocabulary_b)), values in (0, 1]
        An empty row is a term without translation.

    Examples
    --------
    >>> lexicon = Lexicon((Entry("serveur", "server"), Entry("page d'accueil", "homepage", 0.5)))
    >>> terms_en, terms_fr = ["homepag", "server"], ["accueil", "pag", "serveur"]
    >>> translation_matrix(lexicon, terms_en, "en", terms_fr, "fr").toarray().tolist()
    [[0.25, 0.25, 0.0], [0.0, 0.0, 1.0]]
    """
    place_a = {term: i for i, term in enumerate(vocabulary_a)}
    place_b = {term: i for i, term in enumerate(vocabulary_b)}
    sample = lexicon.entries[:: max(1, len(lexicon) // _SAMPLE)]
    forward = _found(sample, place_a, lang_a, place_b, lang_b)
    backward = _found(sample, place_b, lang_b, place_a, lang_a)
    if forward >= backward:
        return _link(lexicon.entries, place_a, lang_a, place_b, lang_b)
    return csr_array(_link(lexicon.entries, place_b, lang_b, place_a, lang_a).T.tocsr())


def identity_matrix(
    vocabulary_a: Sequence[str],
    lang_a: str,
    vocabulary_b: Sequence[str],
    lang_b: str,
    shared: Literal["all", "numbers", "none"] = "all",
) -> csr_array:
    """Return 1 for each term that stands in both vocabularies and is likely to mean the same.

    Numbers always are. So are words in Latin letters: names and code where one of the languages has other letters,
    names and cognates where both have Latin ones. Of these, terms of one or two letters are left out (``on`` is a word
    of English and another of French); what other false friends there are is common in both languages and weighs little
    by its idf. ``shared`` leaves it at numbers, or at nothing.

    Returns
    -------
    csr_array of float32, shape (len(vocabulary_a), len(vocabulary_b)), values 1

    Examples
    --------
    >>> identity_matrix(["404", "httpd", "on"], "en", ["404", "httpd", "on"], "fr").toarray().diagonal().tolist()
    [1.0, 1.0, 0.0]
    """
    place_b = {term: i for i, term in enumerate(vocabulary_b)}
    least = _LEAST_COGNATE if has_latin_script(lang_a) and has_latin_script(lang_b) else 1
    words = shared == "all"
    same = [
        (i, place_b[term])
        for i, term in enumerate(vocabulary_a if shared != "none" else ())
        if term in place_b and (is_number(term) or (words and is_latin(term) and len(term) >= least))
    ]
    rows, columns = np.array(same, dtype=np.int64).reshape(-1, 2).T
    shape = (len(vocabulary_a), len(vocabulary_b))
    return csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape)


def _parse(text: str, path: Path) -> Iterator[Entry]:
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if not line.strip() or (line.startswith("#") and "\t" not in line):
            continue
        fields = [field.strip() for field in line.split("\t")]
        cedict = _CEDICT.fullmatch(line) if len(fields) == 1 else None
        if cedict is not None:
            yield from _cedict_entries(cedict)
        elif len(fields) in (2, 3):
            weight = _weight(fields[2], path, number) if len(fields) == 3 else 1.0
            if fields[0] and fields[1]:
                yield Entry(fields[0], fields[1], weight)
        else:
            raise LexiconError(
                f"{path}: line {number}: head TAB translation [TAB probability] expected, got {line[:60]!r}"
            )


def _cedict_entries(line: re.Match[str]) -> Iterator[Entry]:
    for gloss in re.split("[/;]", line["glosses"]):
        if gloss.strip() and not _REFERENCE.match(gloss.strip()):
            for head in dict.fromkeys((line["traditional"], line["simplified"])):
                yield Entry(head, gloss.strip())


def _weight(field: str, path: Path, number: int) -> float:
    try:
        weight = float(field)
    except ValueError:
        weight = -1.0
    if not 0 < weight <= 1:
        raise LexiconError(
            f"{path}: line {number}: a probability in (0, 1] expected in the third column, got {field!r}"
        )
    return weight


# A side's terms


Owners = dict[str, list[tuple[int, float]]]
"""For each text of a lexicon: the terms that it stands for, and its share in each."""


def _normalise(texts: Iterable[str], lang: str) -> list[str]:
    texts = [_NOTE.sub(" ", text.lower()).replace("\n", " ").strip() for text in texts]
    if texts and lang.startswith("zh"):
        texts = simplify_chinese("\n".join(texts)).split("\n")  # one call: the converter is fast, calling it is not
    return texts


def _owners(texts: Iterable[str], place: Mapping[str, int], lang: str) -> Owners:
    if lang.partition("-")[0] in _UNSPACED_HEADS:
        return _owners_unspaced(frozenset(texts), place)
    return {text: found for text in set(texts) if (found := _terms_of(text, place, lang))}


def _terms_of(text: str, place: Mapping[str, int], lang: str) -> list[tuple[int, float]]:
    words = tokenize(text, lang)
    if len(words) > 1:
        stop = STOP_WORDS.get(lang.partition("-")[0], frozenset())
        words = [word for word in words if word not in stop] or words
    if len(words) > _MAX_WORDS:
        return []
    terms = {stem(word, lang) for word in words}
    return [(place[term], 1 / len(words)) for term in sorted(terms) if term in place]


def _owners_unspaced(texts: frozenset[str], place: Mapping[str, int]) -> Owners:
    owners: Owners = {}
    longest = max(map(len, texts), default=0)
    for term, i in place.items():
        parts = [term] if term in texts else _take_apart(term, texts, longest)
        for part in parts:
            owners.setdefault(part, []).append((i, 1 / len(parts)))
    return owners


def _take_apart(term: str, heads: frozenset[str], longest: int) -> list[str]:
    """Split a term into heads of two characters and more, the longest first; nothing if that leaves a rest."""
    parts, start = [], 0
    while start < len(term):
        for end in range(min(len(term), start + longest), start + 1, -1):
            if term[start:end] in heads:
                parts.append(term[start:end])
                start = end
                break
        else:
            return []
    return parts


# Both sides


def _found(
    entries: Sequence[Entry], place_h: Mapping[str, int], lang_h: str, place_t: Mapping[str, int], lang_t: str
) -> int:
    """Count the entries with a known term on both sides, heads being in language ``lang_h``."""
    heads = _normalise((entry.head for entry in entries), lang_h)
    texts = _normalise((entry.translation for entry in entries), lang_t)
    owners_h, owners_t = _owners(heads, place_h, lang_h), _owners(texts, place_t, lang_t)
    return sum(head in owners_h and text in owners_t for head, text in zip(heads, texts, strict=True))


def _link(
    entries: Sequence[Entry], place_h: Mapping[str, int], lang_h: str, place_t: Mapping[str, int], lang_t: str
) -> csr_array:
    heads = _normalise((entry.head for entry in entries), lang_h)
    owners_h = _owners(heads, place_h, lang_h)
    used = [(head, entry) for head, entry in zip(heads, entries, strict=True) if head in owners_h]
    texts = _normalise((entry.translation for _, entry in used), lang_t)
    owners_t = _owners(texts, place_t, lang_t)
    links: dict[tuple[int, int], float] = {}
    for (head, entry), text in zip(used, texts, strict=True):
        for j, share_t in owners_t.get(text, ()):
            for i, share_h in owners_h[head]:
                weight = entry.weight * share_h * share_t
                if weight > links.get((i, j), 0.0):
                    links[i, j] = weight
    rows, columns = np.array(list(links), dtype=np.int64).reshape(-1, 2).T
    values = np.fromiter(links.values(), np.float32, len(links))
    return csr_array((values, (rows, columns)), shape=(len(place_h), len(place_t)))
