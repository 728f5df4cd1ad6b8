"""Methods of other papers, for comparison and for the verification of given pairs.

- Bitextor (2010): `match_bitextor2010`, `judge_bitextor2010`: URL rule, surface filters, fingerprints
- WebMining (Tomás et al.): `match_webmining`, `judge_webmining`: size, language, structure and content filters
- STRAND, Jangeldin & Assylbekov: `match_jangeldin`, `judge`: models over aligned structures (`StructureAlignments`)
- pairs from elsewhere: `verify_pairs`: parallel or not, by any of these

`twinlink.match.METHODS` loads them by name; lower layers do not import them.
"""

from __future__ import annotations

from twinlink.baselines.alignment import StructureAlignments
from twinlink.baselines.methods import (
    judge_bitextor2010,
    judge_webmining,
    match_bitextor2010,
    match_jangeldin,
    match_webmining,
)
from twinlink.baselines.models.judge import judge
from twinlink.baselines.models.verdicts import Verdicts
from twinlink.baselines.url_rule import UrlPairs, url_pairs
from twinlink.baselines.verify import verify_pairs

__all__ = [
    "StructureAlignments",
    "UrlPairs",
    "Verdicts",
    "judge",
    "judge_bitextor2010",
    "judge_webmining",
    "match_bitextor2010",
    "match_jangeldin",
    "match_webmining",
    "url_pairs",
    "verify_pairs",
]
