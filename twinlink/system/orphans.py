"""Processes that end with the one that started them, however that ends."""

from __future__ import annotations

import os
import threading
import time

__all__ = ["end_with_parent"]

_LOOK_SECONDS = 0.5


def end_with_parent(parent: int) -> None:
    """End this process at once when the one that started it is gone, whatever it is doing then.

    Killing the program at any moment is harmless, so nothing is tidied up.

    Parameters
    ----------
    parent : int
        Process id of the one that started this one: it may be gone already.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, name="end_with_parent", daemon=True).start()
