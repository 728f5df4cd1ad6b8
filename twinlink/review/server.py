"""The entry point of ``twinlink review``: opens a run and its labels, and serves the web application."""

from __future__ import annotations

from collections.abc import Callable
from getpass import getuser
from pathlib import Path

__all__ = ["review"]

DEFAULT_PORT = 8765


def review(
    folder: Path, port: int = DEFAULT_PORT, who: str = "", on_ready: Callable[[str], None] | None = None
) -> None:
    """Serve the review of a run on this machine until Ctrl-C.

    Parameters
    ----------
    folder : Path
        A run directory; it may still be empty, or be mined at the moment.
    port : int
        Port on 127.0.0.1; 0: any free port.
    who : str
        Name of the reviewer, stored with each label; empty: the name of the user account.
    on_ready : callable, optional
        Called with the address to open, which contains the access key.

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
        app.state.review.watch.end(run)  # the mining must not wait for a reviewer who has left


def _user() -> str:
    try:
        return getuser()
    except (OSError, KeyError):  # the account has no name, as in some containers
        return "somebody"
