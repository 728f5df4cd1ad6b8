"""Start pages of sites that are known only by links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from twinlink.config.sites import DiscoverySettings
from twinlink.domains import is_public_name
from twinlink.tables import LINKS, iter_parts, read_table
from twinlink.urls import root_of


def is_open(site: str, settings: DiscoverySettings, allow_private: bool = False) -> bool:
    """Return whether a site that pages link to may be tried at all.

    A crawl trusts its start pages, also with hosts of the local network. Sites named on other pages are not
    trusted: only names below a known public suffix are tried, no IP addresses, no ``router.lan``.

    Examples
    --------
    >>> wanted = DiscoverySettings(only=("hk",), skip=("blog.hk",))
    >>> [is_open(site, wanted) for site in ("a.com.hk", "b.blog.hk", "a.org", "xhk.org")]
    [True, False, False, False]
    >>> [is_open(site, DiscoverySettings()) for site in ("10.0.0.5", "localhost:80", "router.lan", "a.home.arpa")]
    [False, False, False, False]
    """
    name = site.partition(":")[0]
    if not allow_private and not is_public_name(site):
        return False
    return (not settings.only or _ends(name, settings.only)) and not _ends(name, settings.skip)


def _ends(name: str, ends: Sequence[str]) -> bool:
    return any(f".{name}".endswith(f".{end.strip('.').lower()}") for end in ends)


def start_pages(links: Path, sites: Collection[str], n_starts: int) -> dict[str, tuple[str, ...]]:
    """Return the addresses that most sites link to on each of some sites, after the bare name of the most linked host.

    Parameters
    ----------
    links : Path
        Folder of `LINKS`, a file per site; each site counts once for an address.
    sites : collection of str
    n_starts : int
        Addresses of each site besides the bare name.

    Returns
    -------
    dict
        An entry for every site; a site without links starts at ``http://SITE/``.
    """
    wanted = pa.array(sorted(sites), pa.string())
    linked: dict[str, Counter[str]] = {site: Counter() for site in sites}
    for part in iter_parts(links):
        table = read_table(part, LINKS, ("target_url", "target_site"))
        table = table.filter(pc.is_in(table["target_site"], value_set=wanted))
        for row in table.group_by(["target_url", "target_site"]).aggregate([]).to_pylist():
            linked[row["target_site"]][row["target_url"]] += 1
    return {site: _starts(site, linked[site], n_starts) for site in sorted(sites)}


def _starts(site: str, linked: Counter[str], n_starts: int) -> tuple[str, ...]:
    """Order addresses by links, then short ones first.

    >>> _starts("a.hk", Counter({"https://www.a.hk/en/": 2, "https://www.a.hk/news/1": 1}), 1)
    ('https://www.a.hk/', 'https://www.a.hk/en/')
    """
    if not linked:
        return (f"http://{site}/",)
    urls = sorted(linked, key=lambda url: (-linked[url], len(url), url))
    hosts: Counter[str] = Counter()
    for url, n in linked.items():
        hosts[f"{root_of(url)}/"] += n
    root = min(hosts, key=lambda host: (-hosts[host], len(host), host))
    return tuple(dict.fromkeys([root, *urls[:n_starts]]))
