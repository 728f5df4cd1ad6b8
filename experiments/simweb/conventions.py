"""Language conventions in the addresses of simulated sites, and their frequencies.

The first five are in proportion to their credibility C(p) in Table 2 of Zhang, Yao & Kit; the paper prints no
others. All further shares are assumptions.
"""

from __future__ import annotations

from typing import NamedTuple


class Convention(NamedTuple):
    """One way to write the addresses of two or three language versions; ``{h}`` host, ``{d}`` folders, ``{n}`` name."""

    key: tuple[str, str]
    """Difference between the first two versions; empty strings: the address does not show the language."""
    forms: tuple[str, ...]
    """Address of each version, the English one first."""
    share: float
    """Weight among the bilingual sites."""


CONVENTIONS = (
    Convention(("en", "tc"), ("http://{h}/en/{d}{n}.htm", "http://{h}/tc/{d}{n}.htm"), 13_997.36),
    Convention(("eng", "tc"), ("http://{h}/{d}eng/{n}.html", "http://{h}/{d}tc/{n}.html"), 12_869.56),
    Convention(("english", "tc_chi"), ("http://{h}/english/{d}{n}.htm", "http://{h}/tc_chi/{d}{n}.htm"), 11_436.12),
    Convention(("english", "chinese"), ("http://{h}/english/{d}{n}.html", "http://{h}/chinese/{d}{n}.html"), 11_032.46),
    Convention(("eng", "chi"), ("http://{h}/eng/{d}{n}.php", "http://{h}/chi/{d}{n}.php"), 7_824.86),
    Convention(("e", "c"), ("http://{h}/{d}{n}_e.htm", "http://{h}/{d}{n}_c.htm"), 5_000.0),
    Convention(("en", "zh"), ("http://{h}/{d}{n}.php?lang=en", "http://{h}/{d}{n}.php?lang=zh"), 4_000.0),
    Convention(
        ("en", "tc"), ("http://{h}/en/{d}{n}.html", "http://{h}/tc/{d}{n}.html", "http://{h}/sc/{d}{n}.html"), 4_000.0
    ),
    Convention(("", "chi"), ("http://{h}/{d}{n}.htm", "http://{h}/chi/{d}{n}.htm"), 3_000.0),
    Convention(("en", "tc"), ("http://en.{h}/{d}{n}.htm", "http://tc.{h}/{d}{n}.htm"), 2_000.0),
    Convention(("e", "c"), ("http://{h}/{d}e{n}.htm", "http://{h}/{d}c{n}.htm"), 2_000.0),
    Convention(("", ""), ("http://{h}/{d}p{k}.htm", "http://{h}/{d}p{j}.htm"), 4_000.0),
)

NOISE = (
    ("http://{h}/{d}{n}.htm",),
    ("http://{h}/view/{d}{n}.htm", "http://{h}/print/{d}{n}.htm"),
    ("http://{h}/{d}{n}.htm", "http://{h}/old/{d}{n}.htm"),
)
"""Addresses of sites in one language: plain; with a second form of each page that is no translation (two of them)."""
