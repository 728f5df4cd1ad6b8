"""Docstrings as Markdown: examples that stand in the text are fenced, marks of another notation taken out."""

from __future__ import annotations

import re
from typing import Any

import griffe

_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)


class Readable(griffe.Extension):
    """Makes every docstring of the package readable as Markdown."""

    def on_object(self, *, obj: griffe.Object, loader: griffe.GriffeLoader, **kwargs: Any) -> None:
        """Change the docstring of one object."""
        del loader, kwargs
        if obj.docstring is not None:
            obj.docstring.value = readable(obj.docstring.value)


def readable(text: str) -> str:
    r"""Fence the examples that stand outside a section of examples; take out the colons before a literal block.

    >>> readable("Sum.\n\n>>> 1 + 1\n2")
    'Sum.\n\n```pycon\n>>> 1 + 1\n2\n```'
    """
    text = re.sub(r"^::\n", "", text, flags=re.MULTILINE).replace("::\n", ":\n")
    sections = list(_SECTION.finditer(text))
    head = text[: sections[0].start()] if sections else text
    rest = text[len(head) :]
    paragraphs = head.split("\n\n")
    fenced = [f"```pycon\n{each.rstrip()}\n```" if each.lstrip().startswith(">>>") else each for each in paragraphs]
    return "\n\n".join(fenced) + ("\n\n" + rest if rest and not head.endswith("\n\n") else rest)
