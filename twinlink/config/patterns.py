"""Settings of URL patterns: form of keys, credibility, rescue of weak keys."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, structs

from twinlink.config.settings import Natural, Positive, Settings, Unit

RescueForm = Literal["mean", "sum", "none"]


class PatternSettings(Settings, frozen=True):
    """Learning and credibility of URL patterns (Zhang, Yao & Kit, section 2.1)."""

    printed: bool = False
    """Section 2.1 as printed, in place of our choices. A site with a single pair of a key counts in C(p), keys compete
    by the pages that they pair and nothing else, a key is weak unless C(p,w) > ``min_local`` (section 3.2), and it is
    rescued if C(p) > ``min_sum``; ``rescue``, ``min_mean``, ``min_sites`` and ``min_pairs`` are not used."""
    min_local: Unit = 0.1
    """A key with a local credibility C(p,w) below this is weak (section 2.1)."""
    rescue: RescueForm = "mean"
    """Criterion to rescue a weak key: its mean credibility C(p)/ΣN, for any number of sites; the paper's sum C(p);
    or never. The default is not in the paper: the paper's threshold belongs to its 12,800 sites."""
    min_sum: Annotated[float, Meta(ge=0)] = 500.0
    """``sum``: a weak key with C(p) above this is rescued (section 2.1)."""
    min_mean: Unit = 0.1
    """``mean``: a weak key whose mean credibility is at least this is rescued: the local threshold, on the average of
    the pages that the key ever matched. Not in the paper."""
    min_sites: Natural = 3
    """``mean``: and that is credible on at least so many sites: one large site alone proves nothing."""
    min_pairs: Positive = 2
    """Pairs of a site that a key must join to be one; of keys that the library knows, one is enough. Not in the
    paper."""
    max_tokens: Annotated[int, Meta(ge=1, le=4)] = 3
    """Maximum number of tokens in a key (``zh-hant-hk``). Not in the paper."""
    max_letters: Annotated[int, Meta(ge=0, le=4)] = 3
    """Letters at the head or tail of a token that may be a key by themselves (``chi``). 0: none. Not in the paper."""
    max_key: Annotated[int, Meta(ge=2, le=200)] = 24
    """Maximum number of characters in a key. Not in the paper."""
    max_group: Annotated[int, Meta(ge=2)] = 32
    """Addresses that differ in one place alone and are compared with each other at most; among more (articles of one
    folder) only keys found elsewhere on the site are looked up. Bounds time and memory. Not in the paper; the
    European Union has 24 languages."""
    libraries: tuple[str, ...] = ()
    """Pattern libraries (TSV or Parquet) of other sites; they are added up."""

    def in_use(self) -> PatternSettings:
        """Return the settings that are used: with ``printed``, those of the paper instead of ours.

        >>> PatternSettings(printed=True).in_use().rescue, PatternSettings().in_use().rescue
        ('sum', 'mean')
        """
        return structs.replace(self, rescue="sum", min_pairs=1) if self.printed else self

    def is_credible(self, credibility: float) -> bool:
        """Return whether a key with this local credibility is credible by itself.

        >>> PatternSettings().is_credible(0.1), PatternSettings(printed=True).is_credible(0.1)
        (True, False)
        """
        return credibility > self.min_local or (credibility == self.min_local and not self.printed)
