"""Completion in bash: joins words that bash splits at ``=`` and ``:``."""

from __future__ import annotations

from collections.abc import MutableMapping

# typer takes the words of bash as they come, so it completes neither `--method=we` nor `--set match.method=`, nor any
# word after an address: without this module six cases of tests/cli/test_completion.py fail (typer 0.29).

__all__ = ["NAME_BEFORE", "mend_bash_words"]

NAME_BEFORE = "_TWINLINK_NAME_BEFORE"
"""Variable with what stands before the word that is completed and belongs to it: ``match.method`` of ``match.method=``.

bash replaces only what comes after the last ``=`` or ``:``, so the rest is not part of the word.
"""


def mend_bash_words(environment: MutableMapping[str, str]) -> None:
    r"""Join words split at ``=`` and ``:`` (``--langs=en``, ``match.method=urls``, ``https://…``), in place.

    Parameters
    ----------
    environment : mapping
        Where ``COMP_WORDS`` has the words, one per line, and ``COMP_CWORD`` the place of the one that is completed.

    Examples
    --------
    >>> variables = {"COMP_WORDS": "twinlink\nmatch\n--set\nmatch.method\n=\nur", "COMP_CWORD": "5"}
    >>> mend_bash_words(variables)
    >>> variables["COMP_WORDS"].split("\n"), variables["COMP_CWORD"], variables[NAME_BEFORE]
    (['twinlink', 'match', '--set', 'ur'], '3', 'match.method')
    """
    words, place = environment.get("COMP_WORDS", "").split("\n"), environment.get("COMP_CWORD", "")
    if not place.isdecimal():
        return
    current = words[int(place)] if int(place) < len(words) else ""
    before = words[: int(place)]
    if current in {"=", ":"}:
        before, current = [*before, current], ""
    joined = _joined(before)
    if before and before[-1] in {"=", ":"} and len(joined) > 1:
        name = joined.pop()
        if name.startswith("--"):  # the value of an option is a word of its own
            joined.append(name.removesuffix("="))
        else:
            environment[NAME_BEFORE] = name[:-1]
    environment["COMP_WORDS"] = "\n".join([*joined, current])
    environment["COMP_CWORD"] = str(len(joined))


def _joined(words: list[str]) -> list[str]:
    """Return words with those around a ``=`` or ``:`` joined."""
    joined: list[str] = []
    glue = False
    for word in words:
        cut = word in {"=", ":"}
        if joined and (cut or glue):
            joined[-1] += word
        else:
            joined.append(word)
        glue = cut
    return joined
