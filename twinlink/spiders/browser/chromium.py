"""Path of the browser, and advice where none is installed; fast to import, for checks before a crawl."""

from __future__ import annotations

import importlib.util
import shutil
from typing import TYPE_CHECKING

from twinlink.errors import InputError

if TYPE_CHECKING:
    from twinlink.config import CrawlSettings

# The first one has no windows: it builds the same pages in a third of the processor time.
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_INSTALL_EXTRA = "pip install 'twinlink[browser]'"
_INSTALL_BROWSER = "sudo apt-get install chromium-headless-shell (or chromium)"


def find_browser(named: str = "") -> str | None:
    """Return the path of Chromium: the one that is named (a path or a command), or the first that is installed."""
    return next((path for name in ((named,) if named else _NAMES) if (path := shutil.which(name))), None)


def missing_browser(named: str = "") -> str:
    """Return why pages cannot be built in a browser, and the command that helps; empty if they can.

    Parameters
    ----------
    named : str, optional
        Setting ``crawl.browser_path``.
    """
    if importlib.util.find_spec("playwright") is None:
        return f"the extra is not installed: {_INSTALL_EXTRA}"
    if find_browser(named) is None:
        where = f"no browser at {named!r}" if named else "no Chromium is installed"
        return f"{where}: {_INSTALL_BROWSER}, or name one in crawl.browser_path"
    return ""


def check_browser(settings: CrawlSettings) -> None:
    """Raise an error for settings that need a browser if none is installed.

    Raises
    ------
    InputError
        If they need a browser, and it or the extra is not installed.
    """
    asked = "crawl.browser = 'always'" if settings.browser == "always" else "crawl.browser_sites"
    if settings.browser == "always" or (settings.browser_sites and settings.browser != "never"):
        missing = missing_browser(settings.browser_path)
        if missing:
            raise InputError(f"{asked} needs a browser, but {missing}")
