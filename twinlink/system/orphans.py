"""Child processes that end with their parent."""

from __future__ import annotations

import os
import threading
import time

_LOOK_SECONDS = 0.5


def end_with_parent(parent: int) -> None:
    """End this process immediately when its parent is gone.

    Killing the program at any moment is harmless, so there is no cleanup.

    Parameters
    ----------
    parent : int
        Process id of the parent, which may be gone already.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, name="end_with_parent", daemon=True).start()
