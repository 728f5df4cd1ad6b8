"""Looking at each pair when it is found: the mining waits while a person looks."""

from __future__ import annotations

from threading import Lock

import pandas as pd

from twinlink.review.reading.run_view import RunView

__all__ = ["Watch"]

Pair = tuple[int, int]


class Watch:
    """Which newly found pairs have been looked at. Off at first.

    While it is on, the mining is asked to wait as soon as there is a pair that was not looked at, and to go on when all
    have been. It waits only as long as `next` is asked again and again: nobody is held up by a page that was closed. A
    pause that a person asked for stays.
    """

    def __init__(self) -> None:
        self._guard = Lock()
        self._seen: set[Pair] | None = None
        self._holds = False  # whether the mining waits for our sake

    @property
    def is_on(self) -> bool:
        """Whether pairs are looked at as they come."""
        return self._seen is not None

    def begin(self, run: RunView) -> None:
        """Look at each pair from now on; those that are there already count as seen."""
        with self._guard:
            self._seen = set(_ends(run.live().pairs))

    def end(self, run: RunView) -> None:
        """Look at pairs no more, and let the mining go on."""
        with self._guard:
            self._seen = None
            self._let_go(run)

    def passed(self, pair: Pair) -> None:
        """Count a pair as looked at."""
        with self._guard:
            if self._seen is not None:
                self._seen.add(pair)

    def next(self, run: RunView) -> Pair | None:
        """Return the oldest pair that was not looked at, with the mining waiting; None: none yet, it goes on."""
        with self._guard:
            if self._seen is None:
                return None
            live = run.live()
            found = next((pair for pair in _ends(live.pairs) if pair not in self._seen), None)
            if found is None or not live.working:
                self._let_go(run)
            else:
                run.hold(True)
                self._holds = True
            return found

    def _let_go(self, run: RunView) -> None:
        if self._holds:
            self._holds = False
            run.hold(False)


def _ends(pairs: pd.DataFrame) -> list[Pair]:
    return list(zip(pairs["page_a"].tolist(), pairs["page_b"].tolist(), strict=True))
