"""Signatures: settings, version and inputs of a stage's result, which is redone if and only if these have changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from twinlink.version import __version__

_SHOWN = 4  # changed settings that are named
_SETTING_OF = {"ingest.site_by": "crawl.site_by"}
"""Settings that a signature has under another name."""


class Signature(msgspec.Struct, frozen=True):
    """Dependencies of a stage's result: settings, version and input. Equal signatures mean equal results."""

    stage: str
    version: str
    settings: dict[str, Any]
    inputs: str
    """Digest of what the stage read."""
    pages: str = ""
    """Signature of the pages that the result is about; the result counts as long as the run has these pages. Empty: it
    counts in any case."""

    @classmethod
    def of(cls, stage: str, settings: Mapping[str, Any], inputs: Sequence[str], pages: str = "") -> Signature:
        """Make the signature of ``stage`` from its settings and the digests or names of its inputs."""
        read = "\0".join(inputs).encode(errors="surrogatepass")  # a file's name need not be UTF-8
        digest = hashlib.blake2b(read, digest_size=16).hexdigest()
        return cls(stage, __version__, msgspec.to_builtins(dict(settings)), digest, pages)

    def __str__(self) -> str:
        """Return the short form that travels with every number: stage, version and a digest of the rest."""
        digest = hashlib.blake2b(msgspec.json.encode(self, order="sorted"), digest_size=6).hexdigest()
        return f"{self.stage}:{self.version}:{digest}"

    def stored(self) -> Signature:
        """Return the signature as it is read back from a file."""
        return msgspec.json.decode(msgspec.json.encode(self), type=Signature)

    def changes(self, earlier: Signature) -> str:
        """Return in words what differs from an earlier signature of the same stage.

        >>> before = Signature.of("match", {"match": {"min_precision": None, "method": "weighed"}}, [])
        >>> Signature.of("match", {"match": {"min_precision": 0.9, "method": "weighed"}}, ["x"]).changes(before)
        'match.min_precision none → 0.9'
        >>> Signature.of("match", before.settings, ["x"]).changes(before)
        'its input has changed'
        """
        now, then = dict(leaves(self.stored().settings)), dict(leaves(earlier.settings))
        names = [name for name in {**then, **now} if now.get(name) != then.get(name)]
        changed = [
            f"{_SETTING_OF.get(name, name)} {shown(then.get(name))} → {shown(now.get(name))}" for name in names[:_SHOWN]
        ]
        if len(names) > _SHOWN:
            changed.append(f"{len(names) - _SHOWN} more settings")
        if self.version != earlier.version:
            changed.append(f"twinlink {earlier.version} → {self.version}")
        return ", ".join(changed) or "its input has changed"


def leaves(tree: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the single settings of a tree by their names with dots."""
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{before}{name}.")
        else:
            yield before + name, value


def shown(value: object) -> str:
    """Return the value of a setting in few words.

    >>> shown(["en", "zh"]), shown(None), shown(False), shown("")
    ('en,zh', 'none', 'false', 'none')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if value is None or value in ("", [], ()):
        return "none"
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def file_digest(path: Path, name: str | None = None) -> str:
    """Return a digest of a file's name, size and modification time (its content is not read).

    The name is the whole path by default, so that it does not matter from which folder a command is called.
    """
    status = path.stat()
    return state_digest(str(path.resolve()) if name is None else name, status.st_size, status.st_mtime_ns)


def state_digest(name: str, size: int, changed: int) -> str:
    """Return a digest of a file's name, size in bytes and modification time in nanoseconds."""
    return f"{name}|{size}|{changed}"
