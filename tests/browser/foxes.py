"""Firefox, driven through Marionette, the protocol that is built into it: no geckodriver is needed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

__all__ = ["Fox", "firefox", "missing_firefox"]

NAMES = ("firefox-esr", "firefox")
SHORTEST, PHONE = 500, 390  # the narrowest window that Firefox makes, and a phone's, in pixels
_FAULTS = """return Services.console.getMessageArray()
    .filter(each => each instanceof Ci.nsIScriptError && !(each.flags & Ci.nsIScriptError.warningFlag))
    .filter(each => each.sourceName.startsWith(arguments[0]))
    .map(each => `${each.sourceName}: ${each.errorMessage}`)"""
_TOO_WIDE = "return Math.max(0, document.scrollingElement.scrollWidth - innerWidth)"


def missing_firefox() -> str:
    """Return what is missing to drive Firefox, or nothing."""
    if not _binary():
        return "Firefox is not installed (on Debian: apt-get install firefox-esr)"
    if find_spec("marionette_driver") is None:
        return "the package marionette-driver is not installed (it is part of the extra dev)"
    return ""


def _binary() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Fox:
    """A window of Firefox."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, address: str) -> None:
        """Open an address, and wait until it is there."""
        self.driver.navigate(address)

    def run(self, script: str, *arguments: object) -> Any:
        """Run a script in the page, and return what it returns."""
        return self.driver.execute_script(script, arguments)

    def inside(self, script: str, *arguments: object) -> Any:
        """Run a script in the browser itself."""
        with self.driver.using_context("chrome"):
            return self.driver.execute_script(script, arguments)

    def press(self, key: str) -> None:
        """Press a key, and release it."""
        self.driver.actions.sequence("key", "keyboard").send_keys(key).perform()

    def wait(self, condition: Callable[[], bool]) -> None:
        """Wait until something is so, 20 seconds at most."""
        from marionette_driver import Wait

        Wait(self.driver, timeout=20).until(lambda _: condition())

    def go(self, key: str) -> None:
        """Press a key that leads to another page, and wait until that takes keys."""
        before = self.driver.get_url()
        self.press(key)
        self.wait(lambda: self.driver.get_url() != before and self.run("return document.readyState") == "complete")

    def narrow(self) -> None:
        """Make the page as narrow as on a phone: the narrowest window, zoomed."""
        self.driver.set_window_rect(width=SHORTEST, height=844)
        self.inside("gBrowser.selectedBrowser.fullZoom = arguments[0]", SHORTEST / PHONE)
        self.wait(lambda: self.run("return innerWidth") <= PHONE + 2)

    def check(self, home: str) -> None:
        """Fail if the page scrolls sideways, or if a script or style of the addresses that begin so had an error."""
        assert self.run(_TOO_WIDE) == 0, self.driver.get_url()
        faults = self.inside(_FAULTS, home)
        assert not faults, faults


@contextmanager
def firefox() -> Iterator[Fox]:
    """Give a Firefox with a new profile and no window on the screen."""
    from marionette_driver.marionette import Marionette

    driver = Marionette(bin=_binary(), port=0, headless=True, gecko_log=os.devnull)
    try:
        driver.start_session()
        yield Fox(driver)
    finally:
        driver.quit()
        driver.cleanup()
