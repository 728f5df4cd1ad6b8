"""The error tree: everything twinlink raises on purpose derives from `TwinlinkError`.

::

    TwinlinkError                 exit code 1 on the command line
    ├── InputError                exit code 2: what was given cannot be used
    │   ├── ConfigError           a setting that does not exist or has a wrong value
    │   ├── GoldError             a gold file that cannot be read as one
    │   ├── LexiconError          a lexicon file that cannot be read as one
    │   ├── SchemaError           a table that does not fit its schema
    │   └── ShapeError            arrays that do not fit each other
    ├── RunError                  exit code 3: the run directory cannot be used
    │   ├── DamagedError          a file of a run that cannot be read any more
    │   ├── MissingStageError     a stage that has to come first has not been done
    │   ├── RunLockedError        another process works in the same run directory
    │   └── StoreError            the object store of a run cannot be used
    ├── CrawlError                exit code 4: no page could be fetched
    └── NothingFoundError         exit code 5: the job ended without a page or a pair
        └── EmptyMatchError       a match without a pair, which did not replace an earlier match

A message says what was expected, what came, and what to do next.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any


class TwinlinkError(Exception):
    """Base of all errors that twinlink raises on purpose."""

    exit_code = 1


class InputError(TwinlinkError):
    """What was given cannot be used."""

    exit_code = 2


class ConfigError(InputError):
    """A setting that does not exist or has a wrong value."""


class GoldError(InputError):
    """A gold file that cannot be read as one."""


class LexiconError(InputError):
    """A lexicon file that cannot be read as one."""


class SchemaError(InputError):
    """A table that does not fit its schema."""


class ShapeError(InputError):
    """Arrays that do not fit each other."""


class RunError(TwinlinkError):
    """The run directory cannot be used."""

    exit_code = 3


class DamagedError(RunError):
    """A file of a run that cannot be read any more."""


class MissingStageError(RunError):
    """A stage that has to come first has not been done."""


class RunLockedError(RunError):
    """Another process works in the same run directory, or exports into the same folder."""


class StoreError(RunError):
    """The object store of a run cannot be used."""


class CrawlError(TwinlinkError):
    """Not one page could be fetched."""

    exit_code = 4


class NothingFoundError(TwinlinkError):
    """The job ended without a page or a pair."""

    exit_code = 5


class EmptyMatchError(NothingFoundError):
    """A match found no pair and therefore did not replace an earlier match.

    Parameters
    ----------
    run : Path
        The run that was matched.
    ended : str
        How it ended.
    counts : twinlink.match.counts.MatchCounts
        Its counts.
    why : str
        Why there is no pair.
    """

    def __init__(self, run: Path, ended: str, counts: Any, why: str) -> None:
        super().__init__(f"0 pairs: {why}. {ended}")
        self.run = run
        self.counts = counts
        self.why = why
