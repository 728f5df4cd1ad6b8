"""Near-duplicates: what is one, what is not, and that the memory of them is bounded."""

from __future__ import annotations

import random

from twinlink.align.filters import Repeats, Segment
from twinlink.align.near_repeats import NearRepeats, word_pairs
from twinlink.tables import SEGMENT

LONG = "the committee of the town met in the hall to talk about the new budget for schools and roads".split()
OTHER = "le comité de la ville a tenu séance pour parler du nouveau budget des écoles et des routes".split()


def changed(words: list[str], *places: int) -> str:
    return " ".join("x" if k in places else word for k, word in enumerate(words))


def jaccard(one: tuple[str, str], two: tuple[str, str]) -> float:
    a, b = set(word_pairs(*one)), set(word_pairs(*two))
    return len(a & b) / len(a | b)


def test_a_word_more_or_less_is_a_near_duplicate() -> None:
    near = NearRepeats(0.8)
    assert near.is_new(" ".join(LONG), " ".join(OTHER))
    close = changed(LONG, len(LONG) - 1), " ".join(OTHER)
    assert jaccard((" ".join(LONG), " ".join(OTHER)), close) > 0.9
    assert not near.is_new(*close)
    far = changed(LONG, 2, 5, 8, 11, 14), changed(OTHER, 2, 5, 8, 11, 14)
    assert jaccard((" ".join(LONG), " ".join(OTHER)), far) < 0.3
    assert near.is_new(*far)


def test_short_segments_are_left_alone() -> None:
    near = NearRepeats(0.5)
    assert near.is_new("Open from 9 to 5", "Ouvert de 9 à 5")
    assert near.is_new("Open from 9 to 5", "Ouvert de 9 à 5")


def test_sides_do_not_mix() -> None:
    near = NearRepeats(0.5)
    assert near.is_new(" ".join(LONG), " ".join(OTHER))
    assert near.is_new(" ".join(OTHER), " ".join(LONG))


def test_estimates_follow_the_share_in_common() -> None:
    """Random pairs of known likeness: those well above are found, those well below are not."""
    rng = random.Random(5)
    vocabulary = [f"word{'abcdefghij'[k % 10]}{'klmnopqrst'[k // 10 % 10]}{'uvwxy'[k // 100]}" for k in range(500)]
    found: dict[str, list[bool]] = {"above": [], "below": []}
    for _ in range(60):
        words = rng.sample(vocabulary, 40)
        other = [word if rng.random() > 0.01 else "z" for word in words]
        wide = [word if rng.random() > 0.3 else "z" for word in words]
        for name, version in (("above", other), ("below", wide)):
            near = NearRepeats(0.8, kept=10)
            assert near.is_new(" ".join(words), "")
            found[name].append(not near.is_new(" ".join(version), ""))
    assert sum(found["above"]) > 55
    assert sum(found["below"]) < 2


def test_only_the_last_ones_are_remembered() -> None:
    rng = random.Random(1)
    texts = [" ".join(rng.choices("abcdefghij klmno pqrst uvwxyz".split() + LONG + OTHER, k=30)) for _ in range(6)]
    near = NearRepeats(0.9, kept=3)
    assert all(near.is_new(text, "") for text in texts)
    assert [near.is_new(text, "") for text in texts[3:]] == [False] * 3
    assert near.is_new(texts[0], "")


def test_the_reason_is_reported() -> None:
    page = [Segment(" ".join(LONG), " ".join(OTHER), "1-1", 0.9, 0.5)]
    page += [Segment(changed(LONG, 18), " ".join(OTHER), "1-1", 0.9, 0.5)]
    page += [Segment(" ".join(LONG), " ".join(OTHER), "1-1", 0.9, 0.5)]
    said = [[SEGMENT] * 3]
    Repeats(NearRepeats(0.9)).judge([page], said, 0.1)
    assert said == [[SEGMENT, "near-duplicate", "duplicate"]]
    said = [[SEGMENT] * 3]
    Repeats().judge([page], said, 0.1)
    assert said == [[SEGMENT, SEGMENT, "duplicate"]]
