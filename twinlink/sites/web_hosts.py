"""Hosts of a web graph: which site each belongs to, by names alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from twinlink.domains import public_suffix

__all__ = ["HostNames", "reversed_name"]

_MAX_PARENTS = 8

Numbers = NDArray[np.int32]


class HostNames:
    """Finds the sites of hosts whose labels are reversed (``hk.gov.info``).

    A host belongs to the site of its name, and else to the nearest domain above it that is a site. Nobody owns what is
    below a public suffix: a site whose name is one has that host alone. A leading ``www.`` of sites and hosts does not
    count, as Common Crawl omits it, but ``www.gov.hk`` has no other host of ``gov.hk``. Sites whose names differ by it
    alone are one *group*, with the same hosts.

    Parameters
    ----------
    sites : sequence of str
        Names, each once.
    by_domain : bool
        Whether hosts below a site belong to it; else a site is one host.

    Examples
    --------
    >>> names = HostNames(["x.org", "www.gov.hk"])
    >>> names.groups_of(pa.array(["org.x.en", "org.x.www", "hk.gov", "hk.gov.info", "org"])).tolist()
    [0, 0, 1, -1, -1]
    """

    def __init__(self, sites: Sequence[str], *, by_domain: bool = True) -> None:
        bare = [site.removeprefix("www.") for site in sites]
        group = {name: number for number, name in enumerate(dict.fromkeys(bare))}
        self.group: Numbers = np.array([group[name] for name in bare], np.int32)
        """Number of the group of each site; groups are in the order of their first sites."""
        self._exact = pa.array(map(reversed_name, group), pa.string())
        above = {site: group[name] for site, name in zip(sites, bare, strict=True) if by_domain and _has_hosts(site)}
        self._above = pa.array(map(reversed_name, above), pa.string())
        self._group_above = np.array([*above.values(), -1], np.int32)

    def groups_of(self, hosts: pa.Array) -> Numbers:
        """Return the number of the group of each host; -1: it belongs to no site."""
        groups = _places(_without_www(hosts), self._exact).astype(np.int32)
        left = np.flatnonzero(groups < 0)
        rest = hosts.take(pa.array(left))
        for _ in range(_MAX_PARENTS if len(self._above) else 0):
            shorter = pc.replace_substring_regex(rest, r"\.[^.]*$", "")
            is_shorter = pc.not_equal(shorter, rest)
            left, rest = left[np.asarray(is_shorter)], shorter.filter(is_shorter)
            groups[left] = self._group_above[_places(rest, self._above)]
            still = groups[left] < 0
            left, rest = left[still], rest.filter(pa.array(still))
            if not len(left):
                break
        return groups


def reversed_name(host: str) -> str:
    """Return a host with its labels in the other order.

    >>> reversed_name("info.gov.hk")
    'hk.gov.info'
    """
    return ".".join(reversed(host.split(".")))


def _has_hosts(site: str) -> bool:
    """Return whether the hosts below a site are its own."""
    return "." in site and public_suffix(site) != site


def _without_www(hosts: pa.Array) -> pa.Array:
    has_www = pc.any(pc.ends_with(hosts, ".www")).as_py()  # Common Crawl has none
    return pc.replace_substring_regex(hosts, r"\.www$", "") if has_www else hosts


def _places(hosts: pa.Array, names: pa.Array) -> NDArray[np.intp]:
    return np.asarray(pc.fill_null(pc.index_in(hosts, value_set=names), -1)).astype(np.intp)
