"""Review of each pair when it is found, while the mining waits."""

from __future__ import annotations

from threading import Lock

import pandas as pd

from twinlink.review.reading.run_view import RunView

__all__ = ["Watch"]

Pair = tuple[int, int]


class Watch:
    """Keeps track of new pairs that have been reviewed. Initially off.

    While it is on, the mining waits while there is a pair that was not reviewed, and continues when all have
    been. The mining waits only while `next` is called repeatedly, so a closed page does not stop it. A pause that the
    user requested stays.
    """

    def __init__(self) -> None:
        self._guard = Lock()
        self._seen: set[Pair] | None = None
        self._holds = False  # whether the mining waits because of this object

    @property
    def is_on(self) -> bool:
        """Whether pairs are reviewed as they are found."""
        return self._seen is not None

    def begin(self, run: RunView) -> None:
        """Review each pair from now on; existing pairs count as reviewed."""
        with self._guard:
            self._seen = set(_ends(run.live().pairs))

    def end(self, run: RunView) -> None:
        """Stop reviewing new pairs, and let the mining go on."""
        with self._guard:
            self._seen = None
            self._let_go(run)

    def passed(self, pair: Pair) -> None:
        """Count a pair as reviewed."""
        with self._guard:
            if self._seen is not None:
                self._seen.add(pair)

    def next(self, run: RunView) -> Pair | None:
        """Return the oldest pair that was not reviewed, with the mining held; None: no pair yet."""
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
