"""Parameters of addresses that never change the page (session ids, counted clicks), learned while a site is crawled.

The name of a parameter says little: ``sid`` can be a session, a story or a section. So the texts of pages are compared
whose addresses differ in the value of one parameter only.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from twinlink.spiders.traps import MAX_ALIKE, MAX_PARAMETERS, MAX_TRIALS, is_trial
from twinlink.urls import page_key, root_of

MIN_PAGES = 5
"""Different pages that a parameter must have left alone. Without this, the first pages of ``/view?id=…`` could be
placeholders, which all say the same."""

_MAX_VISITS = 200_000  # remembered, in some 250 bytes each; the earliest is forgotten
_MAX_PARAMETERS = 10_000


class Parameter(NamedTuple):
    """A parameter in the addresses of a host."""

    origin: str
    """Scheme, host and port."""
    name: str

    def is_in(self, url: str) -> bool:
        """Return whether a normalised address has it."""
        return self.name in map(_name, _split(url)[1]) and root_of(url) == self.origin


class _Visit(NamedTuple):
    """What was found at an address without one of its parameters, as hashes (that of an empty string is 0)."""

    value: int
    """Of the parameter; 0: the address had none."""
    digest: int
    """Of the text; 0: not known."""


@dataclass
class _Evidence:
    """Pages that were fetched under several values of a parameter."""

    texts: set[int] = field(default_factory=set)
    values: set[int] = field(default_factory=set)
    is_active: bool = False
    """Whether it has changed a page."""
    n_trials: int = 0
    """Pages that were fetched to see whether it is passive after all."""

    @property
    def is_passive(self) -> bool:
        return not self.is_active and len(self.values) >= MAX_ALIKE and len(self.texts) >= MIN_PAGES

    def agree(self, visit: _Visit) -> None:
        """Record that a page said the same under another value."""
        if self.is_passive:
            self.n_trials += 1
        elif not self.is_active:
            self.texts.add(visit.digest)
            self.values.add(visit.value)


class PassiveParameters:
    """Learns for each host which parameters never change the text of a page.

    A parameter is passive after `MAX_ALIKE` values of it, on `MIN_PAGES` pages or more, under which each page said what
    it had said before. From then on an address is a repeat if its page was fetched under another value. As in
    `twinlink.spiders.traps.Sameness`, `MAX_TRIALS` repeats are fetched all the same, and one page that says something
    else clears the parameter for good.

    Examples
    --------
    >>> parameters = PassiveParameters()
    >>> for visit in range(30):
    ...     for page in range(6):
    ...         parameters.see(f"http://a.org/{page}.html?sid={visit}", f"digest of {page}")
    >>> parameters.is_settled("http://a.org/3.html?sid=77"), parameters.is_repeat("http://a.org/9.html?sid=77")
    (True, False)
    """

    def __init__(self) -> None:
        self._visits: dict[int, _Visit] = {}
        self._evidence: OrderedDict[Parameter, _Evidence] = OrderedDict()
        self._passive: set[Parameter] = set()
        self._lifted: list[Parameter] = []

    def see(self, url: str, digest: str) -> None:
        """Record a fetched page and the digest of its text; empty: there is too little text to be compared."""
        for parameter, value, rest in self._parts(url):
            visit = _Visit(hash(value), hash(digest))
            earlier = self._earlier(parameter.name, rest)
            if earlier is not None and earlier.value != visit.value and earlier.digest and digest:
                self._compare(parameter, visit, earlier)
            if earlier is None or earlier.value == visit.value or not earlier.digest:
                self._remember(parameter.name, rest, visit)
        self._remember("", self._bare(url), _Visit(0, hash(digest)))

    def is_repeat(self, url: str) -> bool:
        """Return whether an address leads to a fetched page by all that is known, and is no trial."""
        n_trials = self._n_trials(url)
        return n_trials is not None and not is_trial(url, n_trials)

    def is_settled(self, url: str) -> bool:
        """Return whether an address leads to a fetched page, and no trial will show the contrary any more."""
        n_trials = self._n_trials(url)
        return n_trials is not None and n_trials >= MAX_TRIALS

    def was_fetched(self, url: str, name: str) -> bool:
        """Return whether the page of an address was fetched under another value of the parameter ``name``."""
        return any(
            parameter.name == name and self._is_other(name, value, rest) for parameter, value, rest in self._parts(url)
        )

    def take_lifted(self) -> list[Parameter]:
        """Return the parameters that were taken for passive until the last call, and are not."""
        lifted, self._lifted = self._lifted, []
        return lifted

    def _n_trials(self, url: str) -> int | None:
        """Return how many trials there were of the parameter by which an address is a repeat; None: it is none."""
        if not self._passive or "?" not in url:
            return None
        for parameter, value, rest in self._parts(url):
            if parameter in self._passive and self._is_other(parameter.name, value, rest):
                return self._evidence[parameter].n_trials
        return None

    def _compare(self, parameter: Parameter, visit: _Visit, earlier: _Visit) -> None:
        evidence = self._evidence.setdefault(parameter, _Evidence())
        self._evidence.move_to_end(parameter)
        if visit.digest == earlier.digest:
            evidence.agree(visit)
        else:
            evidence.is_active = True
        if evidence.is_passive:
            self._passive.add(parameter)
        elif parameter in self._passive:
            self._passive.remove(parameter)
            self._lifted.append(parameter)
        if len(self._evidence) > _MAX_PARAMETERS:
            self._passive.discard(self._evidence.popitem(last=False)[0])

    def _remember(self, name: str, rest: str, visit: _Visit) -> None:
        self._visits[hash((name, rest))] = visit
        if len(self._visits) > _MAX_VISITS:
            del self._visits[next(iter(self._visits))]

    def _earlier(self, name: str, rest: str) -> _Visit | None:
        """Return the visit of an address without a parameter, under any value of it or without it."""
        return self._visits.get(hash((name, rest))) or self._visits.get(hash(("", rest)))

    def _is_other(self, name: str, value: str, rest: str) -> bool:
        earlier = self._earlier(name, rest)
        return earlier is not None and earlier.value != hash(value)

    def _parts(self, url: str) -> Iterator[tuple[Parameter, str, str]]:
        """Yield each parameter of an address, its value, and the address without it and without passive ones."""
        path, parts = _split(url)
        if len(parts) > MAX_PARAMETERS:
            return
        origin = root_of(url)
        for name in dict.fromkeys(map(_name, parts)):
            others = [part for part in parts if _name(part) != name]
            value = "&".join(part for part in parts if _name(part) == name)
            yield Parameter(origin, name), value, _address(path, self._without_passive(origin, others))

    def _bare(self, url: str) -> str:
        """Return an address without passive parameters."""
        path, parts = _split(url)
        return _address(path, self._without_passive(root_of(url), parts))

    def _without_passive(self, origin: str, parts: list[str]) -> list[str]:
        return [part for part in parts if Parameter(origin, _name(part)) not in self._passive]


def _split(url: str) -> tuple[str, list[str]]:
    """Return the path and the parameters of an address, as its `page_key` has them."""
    path, _, query = page_key(url).partition("?")
    return path, query.split("&") if query else []


def _name(part: str) -> str:
    return part.partition("=")[0]


def _address(path: str, parts: list[str]) -> str:
    return f"{path}?{'&'.join(parts)}" if parts else path
