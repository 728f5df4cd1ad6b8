"""The tag aligner: weights fitted on some sites and evaluated on others, and the effect of its anchors on sentences.

::

    python -m experiments.tag_aligner fit SITES... [--pages 60]
    python -m experiments.tag_aligner judge SITES... [--pages 60] [--alone]

If both versions of a page have the same ``id`` on an element, the text blocks that follow correspond: these are the
gold blocks, on sites that keep their ids (which no part of twinlink uses). *Blocks*: precision and recall of the tag
aligner on the gold blocks. *Sentences*: the share of gold block pairs whose first sentences are in one bead, with and
without anchors and by ``tagaligner`` itself; the number of beads that differ; processor seconds of all rounds.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from experiments.cases import find_cases
from twinlink.align.knowledge import Knowledge
from twinlink.align.learning import Text, TextPair, expect, prepare_texts, scoring_of
from twinlink.align.outlines import TAG_CATEGORIES, outline_of
from twinlink.align.page_pair import Aligned, PagePair, align_pair, support
from twinlink.align.prior_pairs import SITE_TOKENIZER
from twinlink.align.sentences import Sentence, split_blocks
from twinlink.align.tag_aligner import Outline, align_blocks
from twinlink.align.tag_beads import aligned_by_tags
from twinlink.align.words.model import Links
from twinlink.config.align import BitextSettings, TagAlignerSettings
from twinlink.pages.linearise import linearise
from twinlink.pages.parser import parse_page

__all__ = ["Page", "block_score", "fit", "main", "marked_blocks", "read_pairs"]

_ID = re.compile(rb"(<[a-z][a-z0-9]*\b[^<>]*\sid=[\"']([\w.:-]+)[\"'][^<>]*>)", re.IGNORECASE)
_MARK = re.compile(r"⟦id:([\w.:-]+)⟧")
FACTORS = (0.25, 0.5, 2.0, 4.0)
WEIGHTS = (0.0, 0.5, 1.0, 2.0, 4.0)
ROUNDS = 2
"""Rounds of learning, as in a run."""


class Page(NamedTuple):
    """A page with the positions of its ids."""

    blocks: tuple[str, ...]
    outline: Outline
    ids: Mapping[str, int]
    """From an id to the block that follows it."""


class Pair(NamedTuple):
    """Two pages that are translations of each other."""

    a: Page
    b: Page
    gold: dict[int, int]
    """From the blocks of page a to their known partners."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, or judge, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("task", choices=("fit", "judge"))
    parser.add_argument("sites", nargs="+", type=Path, help="site folders, or folders of them; their pages keep ids")
    parser.add_argument("--pages", type=int, default=60, help="page pairs of each site (default: 60)")
    parser.add_argument("--alone", action="store_true", help="let each page pair learn from itself only")
    given = parser.parse_args(arguments)
    sites = {folder.name: (folder, read_pairs(folder, given.pages)) for folder in find_cases(given.sites)}
    for name, (_, pairs) in sites.items():
        print(f"{name}: {len(pairs)} page pairs, {sum(len(pair.gold) for pair in pairs)} gold blocks")
    if given.task == "fit":
        fit([pair for _, pairs in sites.values() for pair in pairs])
        return
    for name, (folder, pairs) in sites.items():
        judge(name, pairs, _langs(folder), alone=given.alone)


def read_pairs(folder: Path, n_pages: int) -> list[Pair]:
    """Read some gold pairs of a site, evenly spaced in its list."""
    lines = [line.split("\t")[:2] for line in (folder / "gold.tsv").read_text(encoding="utf-8").splitlines()]
    pairs = []
    for a, b in lines[:: max(1, len(lines) // n_pages)]:
        files = [folder / "site" / path.strip().lstrip("/") for path in (a, b)]
        if all(file.is_file() for file in files):
            first, second = (_page(file.read_bytes()) for file in files)
            if first and second:
                pairs.append(Pair(first, second, _gold(first, second)))
    return pairs


def _page(body: bytes) -> Page | None:
    blocks = parse_page(body, "http://x.org/").blocks
    ids = marked_blocks(body)
    outline = outline_of(linearise(body).tokens, blocks)
    return Page(blocks, outline, ids) if outline and max(ids.values(), default=-1) < len(blocks) else None


def marked_blocks(body: bytes) -> dict[str, int]:
    """Return for each id of a page the number of the text block that starts with or after its element.

    >>> marked_blocks(b"<h1 id=t>x</h1><div id='s'><p>one</p></div><p id='u'>two <b id='v'>three</b></p>")
    {'s': 1, 'u': 2}
    """
    marked = _ID.sub(lambda found: b"%s \xe2\x9f\xa6id:%s\xe2\x9f\xa7 " % found.groups(), body)
    ids: dict[str, int] = {}
    number = 0
    for block in parse_page(marked, "http://x.org/", "text/html; charset=utf-8").blocks:
        head = re.match(rf"(?:{_MARK.pattern}\s*)+", block)
        for name in _MARK.findall(head[0]) if head else ():
            ids.setdefault(name, number)
        number += bool(_MARK.sub("", block).strip())
    return {name: at for name, at in ids.items() if at < number}


def _gold(a: Page, b: Page) -> dict[int, int]:
    pairs = Counter((a.ids[name], b.ids[name]) for name in a.ids.keys() & b.ids.keys())
    of_a, of_b = Counter(x for x, _ in pairs), Counter(y for _, y in pairs)
    return {x: y for x, y in sorted(pairs) if of_a[x] == of_b[y] == 1}


def block_score(pairs: Sequence[Pair], settings: TagAlignerSettings) -> tuple[float, float]:
    """Return precision and recall of the tag aligner on gold blocks."""
    found = right = total = 0
    for pair in pairs:
        partner = dict(align_blocks(pair.a.outline, pair.b.outline, TAG_CATEGORIES, settings).tolist())
        found += sum(x in partner for x in pair.gold)
        right += sum(partner.get(x) == y for x, y in pair.gold.items())
        total += len(pair.gold)
    return right / max(found, 1), right / max(total, 1)


def fit(pairs: Sequence[Pair]) -> TagAlignerSettings:
    """Optimise the weights one at a time by the factor with the best F1; print each step."""
    best, settings = _f1(pairs, TagAlignerSettings()), TagAlignerSettings()
    print(f"start {best:.4f}")
    while True:
        before = best
        for variant in _variants(settings):
            score = _f1(pairs, variant)
            if score > best + 1e-4:
                best, settings = score, variant
        print(f"{best:.4f} {msgspec.to_builtins(settings)}")
        if best <= before + 1e-4:
            return settings


def _variants(settings: TagAlignerSettings) -> Iterator[TagAlignerSettings]:
    tree = msgspec.to_builtins(settings)
    for name, factor in itertools.product(tree, FACTORS):
        if isinstance(tree[name], float) and name != "text_insertion":
            both = {"text_insertion": tree[name] * factor} if name == "text_deletion" else {}
            yield msgspec.convert({**tree, name: tree[name] * factor, **both}, TagAlignerSettings)
    for name, factor in itertools.product(tree["deletion"], FACTORS):
        gap = {**tree["deletion"], name: tree["deletion"][name] * factor}
        yield msgspec.convert({**tree, "deletion": gap, "insertion": gap}, TagAlignerSettings)


def judge(name: str, pairs: Sequence[Pair], langs: tuple[str, str], *, alone: bool) -> None:
    """Print the scores of the tag aligner on a site, and the effect of its anchors."""
    precision, recall = block_score(pairs, TagAlignerSettings())
    print(f"{name}: blocks P {precision:.4f} R {recall:.4f}")
    plain = None
    variants = {f"anchors {weight:3.1f}": BitextSettings(anchor_weight=weight) for weight in WEIGHTS}
    for kind, settings in (variants | {"tagaligner ": BitextSettings(method="tagaligner")}).items():
        start = time.process_time()
        groups = [[pair] for pair in pairs] if alone else [pairs]
        done = [page for group in groups for page in _align_all(group, langs, settings)]
        seconds = time.process_time() - start
        hits, total = np.sum([_hits(*each) for each in zip(pairs, done, strict=True)], axis=0)
        beads = [{tuple(bead) for bead in aligned.beads.tolist()} for _, aligned in done]
        plain = plain or beads
        changed = sum(len(now - before) for now, before in zip(beads, plain, strict=True))
        sure = np.mean([support(aligned) for _, aligned in done])
        print(
            f"  {kind}: gold blocks in one bead {hits / max(total, 1):.4f} of {total}, "
            f"{changed} of {sum(map(len, beads))} beads differ, support {sure:.4f}, {seconds:.1f} s"
        )


def _align_all(
    pairs: Sequence[Pair], langs: tuple[str, str], settings: BitextSettings
) -> list[tuple[tuple[list[Sentence], list[Sentence]], Aligned]]:
    """Align the sentences of all page pairs in rounds, as a run does."""
    size = len(scoring_of(settings).shapes.names)
    prepared = [_prepare(pair, langs, settings) for pair in pairs]
    known = Knowledge.empty(size)
    for number in range(ROUNDS):
        before, known = known, Knowledge.empty(size)
        for _, ready in prepared:
            known.add(expect(ready, *_align(ready, before if number else known, settings), size))
    return [(sides, _align(ready, known, settings)[0]) for sides, ready in prepared]


def _align(ready: PagePair, known: Knowledge, settings: BitextSettings) -> tuple[Aligned, tuple[Links, Links]]:
    scoring = scoring_of(settings)
    if settings.method == "tagaligner" and ready.anchors is not None:
        return aligned_by_tags(ready, known, scoring.shapes, ready.anchors)
    return align_pair(ready, known, scoring)


def _prepare(
    pair: Pair, langs: tuple[str, str], settings: BitextSettings
) -> tuple[tuple[list[Sentence], list[Sentence]], PagePair]:
    sides = split_blocks(pair.a.blocks, langs[0]), split_blocks(pair.b.blocks, langs[1])
    texts = TextPair(
        *(
            Text([one.text for one in sentences], lang, [one.block for one in sentences])
            for sentences, lang in zip(sides, langs, strict=True)
        )
    )
    anchors = None
    if settings.anchor_weight or settings.method == "tagaligner":
        anchors = align_blocks(pair.a.outline, pair.b.outline, TAG_CATEGORIES, settings.tags)
    return sides, prepare_texts(texts, SITE_TOKENIZER, anchors=anchors)


def _hits(pair: Pair, done: tuple[tuple[list[Sentence], list[Sentence]], Aligned]) -> tuple[int, int]:
    """Return the number of gold block pairs whose first sentences are in one bead, and of all gold block pairs."""
    (first, second), aligned = done
    bead_of = [np.full(len(side), -1) for side in (first, second)]
    for number, (i, i_end, j, j_end) in enumerate(aligned.beads.tolist()):
        bead_of[0][i:i_end] = bead_of[1][j:j_end] = number
    starts = [_first_sentences(side) for side in (first, second)]
    return sum(bead_of[0][starts[0][x]] == bead_of[1][starts[1][y]] for x, y in pair.gold.items()), len(pair.gold)


def _first_sentences(sentences: Sequence[Sentence]) -> dict[int, int]:
    starts: dict[int, int] = {}
    for number, sentence in enumerate(sentences):
        starts.setdefault(sentence.block, number)
    return starts


def _langs(folder: Path) -> tuple[str, str]:
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    return meta["lang_a"], meta["lang_b"]


def _f1(pairs: Sequence[Pair], settings: TagAlignerSettings) -> float:
    precision, recall = block_score(pairs, settings)
    return 2 * precision * recall / max(precision + recall, 1e-9)


if __name__ == "__main__":
    main()
