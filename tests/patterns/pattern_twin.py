"""The learning of URL patterns as its docstrings say it: all addresses compared with all, all keys recounted each time.

It shares with the fast one the written forms and their order (`read_forms`), nothing else.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

from twinlink.config.patterns import PatternSettings
from twinlink.patterns.keys import Forms

__all__ = ["twin_patterns"]

TOKEN = re.compile(r"[0-9a-z\x80-\uffff]+")
LETTERS = re.compile(r"[a-z]+")
SMALL = re.compile(r"[^/?=]*")

Place = tuple[Any, ...]
Met = tuple[int, int, Place, Place]
Mask = tuple[str, object, str, str, Place]
"""Kind, what is left, key side, level, place."""


def masks(  # noqa: C901, PLR0912  (the description, kind by kind)
    form: str, settings: PatternSettings, *, numbers: bool
) -> set[Mask]:
    """All parts of a form that may be one side of a key, and what is left without them."""
    found: set[Mask] = set()
    tokens = [(m.start(), m.end()) for m in TOKEN.finditer(form)]
    around = f"\0{form}\0"
    for k in range(len(tokens)):
        for j in range(k, min(k + settings.max_tokens, len(tokens))):
            a, b = tokens[k][0], tokens[j][1]
            part = form[a:b]
            gaps = [form[tokens[i][1] : tokens[i + 1][0]] for i in range(k, j)]
            if len(part) > settings.max_key or not all(SMALL.fullmatch(gap) for gap in gaps):
                break
            if not numbers and not has_letter(part):
                continue
            left, right = around[a], around[b + 1]
            if not (left in "?=" and right in "?\0"):
                found.add(("token", (form[:a], form[b:]), part, "", (a, b)))
            if left not in "\0/?=":
                found.add(("cut", form[: a - 1] + form[b:], part, "", (a, b, a - 1)))
            elif left != "=" and right not in "\0/?=":
                found.add(("cut", form[:a] + form[b + 1 :], part, "", (a, b, a)))
            elif left == "/" and right in "\0/?":
                found.add(("cut", form[: a - 1] + form[b:], part, "", (a, b, a - 1)))
        a, b = tokens[k]
        is_ending = around[a] == "." and b - a <= 5 and around[b + 1] in "\0?"
        if not is_ending:
            for x, y, level in inner(form, a, b, settings.max_letters):
                found.add(("letters", (form[:x], form[y:]), form[x:y], level, (x, y)))
                found.add(("cut", form[:x] + form[y:], form[x:y], level, (x, y, x)))
    at = form.find("?")
    while at >= 0:
        end = form.find("?", at + 1)
        end = len(form) if end < 0 else end
        variable = form[at + 1 : end]
        if 0 < len(variable) <= 2 * settings.max_key and (numbers or has_letter(value_of(variable))):
            found.add(("variable", (form[: at + 1], form[end:]), variable, "", (at + 1, end)))
            found.add(("cut", form[:at] + form[end:], variable, "", (at + 1, end, at)))
        at = form.find("?", at + 1)
    for token in {form[a:b] for a, b in tokens}:
        places = [(a, b) for a, b in tokens if form[a:b] == token]
        if len(places) > 1 and has_letter(token) and len(token) <= settings.max_key:
            cuts = [0, *itertools.chain(*places), len(form)]
            rest = tuple(form[cuts[i] : cuts[i + 1]] for i in range(0, len(cuts), 2))
            found.add(("everywhere", rest, token, "", ("all", *places[0])))
    return found


def inner(form: str, a: int, b: int, most: int) -> set[tuple[int, int, str]]:
    found = set()
    for n in range(1, min(most, b - a - 1) + 1):
        if LETTERS.fullmatch(form[a : a + n]):
            found.add((a, a + n, "head"))
        if LETTERS.fullmatch(form[b - n : b]):
            found.add((b - n, b, "tail"))
    for run in LETTERS.finditer(form, a, b):
        if a < run.start() and run.end() < b and run.end() - run.start() <= most:
            found.add((run.start(), run.end(), "inside"))
    return found


def has_letter(text: str) -> bool:
    return bool(re.search(r"[a-z\x80-\uffff]", text))


def value_of(variable: str) -> str:
    return variable.partition("=")[2] if "=" in variable else variable


def is_least(kind: str, a: str, b: str) -> bool:
    if kind == "letters":
        return a[0] != b[0] and a[-1] != b[-1]
    if kind == "variable":
        return True
    tokens_a, tokens_b = TOKEN.findall(a), TOKEN.findall(b)
    return bool(tokens_a[0] != tokens_b[0] and tokens_a[-1] != tokens_b[-1])


def differences(
    forms: Sequence[str], langs: Sequence[str] | None, settings: PatternSettings
) -> dict[tuple[str, str], list[Met]]:
    """Key → pairs of forms with the places in both."""
    found: dict[tuple[str, str], set[Met]] = defaultdict(set)
    all_masks = [masks(form, settings, numbers=langs is not None) for form in forms]
    for (u, x), (v, _) in itertools.permutations(enumerate(forms), 2):
        known = langs is not None and bool(langs[u] and langs[v])
        if langs is not None and known and langs[u] == langs[v]:
            continue
        for kind, left, part, level, place in all_masks[v]:
            if kind == "cut" and left == x:
                found[named("", part, level)].add((u, v, ("gap", place[2]), place[:2]))
            for kind_u, left_u, part_u, level_u, place_u in all_masks[u] if kind != "cut" else ():
                if kind_u == kind and left_u == left and part_u.encode() < part.encode():
                    values = (value_of(part_u), value_of(part)) if kind == "variable" else (part_u, part)
                    if is_least(kind, part_u, part) and (known or any(map(has_letter, values))):
                        assert level_u == level
                        found[named(part_u, part, level)].add((u, v, place_u, place))
    return {key: sorted(pairs, key=lambda pair: (pair[:2], repr(pair[2:]))) for key, pairs in found.items()}


def named(source: str, target: str, level: str) -> tuple[str, str]:
    head = "*" if level in ("tail", "inside") else ""
    tail = "*" if level in ("head", "inside") else ""
    return (f"{head}{source}{tail}", f"{head}{target}{tail}")


def twin_patterns(
    forms: Forms, langs: Sequence[str] | None, settings: PatternSettings, known: Collection[tuple[str, str]] = ()
) -> list[tuple[tuple[str, str], set[tuple[int, int]]]]:
    """Keys in the order in which they win, each with the pairs of forms that it takes."""
    settings = settings.in_use()
    met = differences([forms.part(k) for k in range(len(forms))], langs, settings)
    met = {k: p for k, p in met.items() if len(pages_of(p)) >= (2 if k in known else 2 * settings.min_pairs)}
    credible = max(2 * settings.min_pairs, math.ceil(settings.min_local * len(forms) - 1e-9))
    bound: dict[int, Place] = {}
    won: list[tuple[tuple[str, str], set[tuple[int, int]]]] = []
    least_of = [2] if settings.printed else [2, credible, credible, 2 * settings.min_pairs]
    for phase, least in enumerate(least_of):
        while True:
            free = {
                key: [p for p in pairs if all(bound.get(page, place) == place for page, place in sides(p))]
                for key, pairs in met.items()
                if (settings.printed or first_phase(key, known) <= phase) and key not in {winner for winner, _ in won}
            }
            strength = {key: len(pages_of(pairs)) for key, pairs in free.items()}
            strong = [key for key, n in strength.items() if n >= least]
            if not strong:
                break
            best = min(strong, key=lambda k: (-strength[k], "*" in k[1], sum(map(len, k)), k))
            taken: set[tuple[int, int]] = set()
            used: set[int] = set()
            for pair in free[best]:
                is_free = all(bound.get(page, place) == place for page, place in sides(pair))
                if is_free and not used & set(pair[:2]):
                    taken.add(pair[:2])
                    used |= set(pair[:2])
                    bound.update(dict(sides(pair)))
            won.append((best, taken))
    return [(key, taken) for key, taken in won if taken]


def first_phase(key: tuple[str, str], known: Collection[tuple[str, str]]) -> int:
    if key in known:
        return 0
    return 2 if "*" in key[1] else 1


def sides(pair: Met) -> tuple[tuple[int, Place], tuple[int, Place]]:
    return (pair[0], pair[2]), (pair[1], pair[3])


def pages_of(pairs: Sequence[Met]) -> set[int]:
    return {page for pair in pairs for page in pair[:2]}
