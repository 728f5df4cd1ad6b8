"""Texts of the code as Markdown."""

from __future__ import annotations

import re


def escaped(text: str) -> str:
    """Keep signs that Markdown would read: bars of a table, brackets of a link, angle brackets."""
    return re.sub(r"([|\[\]<>*_])", r"\\\1", text)


def in_markdown(text: str) -> str:
    """Return a docstring as Markdown: double back-quotes single, and what Markdown would read escaped outside code."""
    parts = re.split(r"(`[^`]+`)", text.replace("``", "`"))
    return "".join(part if part.startswith("`") else escaped(part) for part in parts)
