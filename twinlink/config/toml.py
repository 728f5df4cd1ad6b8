"""Parsing of untrusted TOML in linear time and memory.

Python's parser takes time and memory in the square of a key's parts: 100 kB of ``a.a.a…`` take minutes and gigabytes.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from twinlink.errors import ConfigError

MAX_KEY_PARTS = 32
"""Parts of a key, joined by dots; settings have five at most."""

_TEXT = re.compile(
    r"""
    \"{3} (?: [^"\\]++ | \\. | "(?!"") )*+ (?: \"{3} )?
    | '{3} (?: [^']++ | '(?!'') )*+ (?: '{3} )?
    | " (?: [^"\\\n]++ | \\. )*+ "?
    | ' [^'\n]*+ '?
    | \# [^\n]*+
    """,
    re.VERBOSE | re.DOTALL,
)
"""Strings and comments, also those without an end."""
_BETWEEN = re.compile(r"([=,\[\]{}\n])")


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """Return the content of a TOML text.

    Parameters
    ----------
    text : str
    where : str
        Its name in messages.

    Raises
    ------
    tomllib.TOMLDecodeError
        If it is not TOML.
    ConfigError
        If it has extremely long keys or numbers, or values nested hundreds deep.
    """
    longest = _longest_key(text)
    if longest > MAX_KEY_PARTS:
        raise ConfigError(f"{where}: a name of {longest} parts; names of settings have at most {MAX_KEY_PARTS}")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:  # Python refuses to read it, for that takes time in the square of its length
        raise ConfigError(f"{where}: a number with too many digits for a setting") from None
    except RecursionError:
        raise ConfigError(f"{where}: its values are nested too deeply for settings") from None


def _longest_key(text: str) -> int:
    """Return how many parts the longest key has; text after an equals sign is not a key."""
    parts = _BETWEEN.split(_TEXT.sub("", text))
    befores, between = ["\n", *parts[1::2]], parts[::2]
    return 1 + max(each.count(".") for before, each in zip(befores, between, strict=True) if before != "=")
