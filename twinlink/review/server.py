"""A run in the browser: the run, its labels and the web application put together."""

from __future__ import annotations

from collections.abc import Callable
from getpass import getuser
from pathlib import Path

__all__ = ["review"]

DEFAULT_PORT = 8765


def review(
    folder: Path, port: int = DEFAULT_PORT, who: str = "", on_ready: Callable[[str], None] | None = None
) -> None:
    """Show a run in the browser until Ctrl-C, and take labels.

    Parameters
    ----------
    folder : Path
        A run directory; it may be empty as yet, or mined just now.
    port : int
        Port on 127.0.0.1; 0: any that is free.
    who : str
        Whose labels these will be; empty: the user of this account.
    on_ready : callable, optional
        Gets the address to open, with the key that lets in.

    Raises
    ------
    InputError
        If the port cannot be used.
    RunError
        If the folder is not a run.
    """
    from twinlink.labels.book import LabelBook
    from twinlink.review.app.app import make_app
    from twinlink.review.app.serve import serve
    from twinlink.review.reading.run_view import RunView

    run = RunView(folder)
    app = make_app(run, LabelBook(folder), who.strip() or _user(), port)
    try:
        serve(app, port, on_ready)
    finally:
        app.state.review.watch.end(run)  # nothing waits for who has gone


def _user() -> str:
    try:
        return getuser()
    except (OSError, KeyError):  # an account without a name, as in some containers
        return "somebody"
