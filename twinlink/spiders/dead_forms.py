"""Forms of address whose requests fail again and again: such addresses come after all others."""

from __future__ import annotations

from collections import OrderedDict

from twinlink.spiders.traps import form

MAX_FAILED = 20
"""Requests for addresses of one form that may fail in a row before the others come last. A choice: so many are made in
vain at their place in the order."""

_MAX_FORMS = 10_000  # kept in mind; the least recently seen is forgotten


class DeadForms:
    """Counts the failures in a row for each form of address (`twinlink.spiders.traps.form`).

    A form is dead after `MAX_FAILED`, and alive again with the first page. From then on twice as many may fail in a
    row: a form that has pages here and there is left alone in the end.

    Examples
    --------
    >>> forms = DeadForms()
    >>> [forms.see(f"http://a.org/p{n}.html", failed=True) for n in range(MAX_FAILED)][-2:]
    [None, True]
    >>> forms.is_dead("http://a.org/p99.html"), forms.is_dead("http://a.org/q99.html")
    (True, False)
    >>> forms.see("http://a.org/p99.html", failed=False), forms.is_dead("http://a.org/p99.html")
    (False, False)
    """

    def __init__(self) -> None:
        self._failures: OrderedDict[str, tuple[int, int]] = OrderedDict()  # form → in a row, and how many may be
        self._dead: set[str] = set()

    def see(self, url: str, *, failed: bool) -> bool | None:
        """Record whether a request failed or brought a page.

        Returns
        -------
        bool or None
            Whether its form died (True) or came alive (False) by it; None if neither.
        """
        kind = form(url)
        if kind == url:  # no other address has this form
            return None
        was_dead = kind in self._dead
        n_failed, allowed = self._failures.get(kind, (0, MAX_FAILED))
        n_failed, allowed = n_failed + 1 if failed else 0, allowed * 2 if was_dead and not failed else allowed
        self._remember(kind, n_failed, allowed)
        is_dead = kind in self._dead
        return is_dead if is_dead != was_dead else None

    def is_dead(self, url: str) -> bool:
        """Return whether the requests for addresses of this form have failed too often."""
        return bool(self._dead) and form(url) in self._dead

    def _remember(self, kind: str, n_failed: int, allowed: int) -> None:
        self._failures[kind] = n_failed, allowed
        self._failures.move_to_end(kind)
        if n_failed >= allowed:
            self._dead.add(kind)
        else:
            self._dead.discard(kind)
        if len(self._failures) > _MAX_FORMS:
            self._dead.discard(self._failures.popitem(last=False)[0])
