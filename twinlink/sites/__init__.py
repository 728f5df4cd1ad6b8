"""The graph of sites: built from the links of pages, and ranked to choose the sites to crawl next.

- graph: `build_host_graph`, `read_host_graph`, `export_host_graph`
- rank: `rank_sites`: the sums of Zhang, Yao & Kit (section 2.3), and a model of bilingual sites (`learn_site_model`)
- Common Crawl: `read_web_graph`: what its host graph says about sites, read as a stream
- a run: `rank`: stage `rank`
"""

from __future__ import annotations

from twinlink.sites.building import build_host_graph
from twinlink.sites.export import export_host_graph, host_graph_to_networkx
from twinlink.sites.features import SiteFeatures, site_features
from twinlink.sites.host_graph import HostGraph, read_host_graph
from twinlink.sites.model import SiteModel, learn_site_model, site_probability
from twinlink.sites.ranking import SiteRanking, rank_sites
from twinlink.sites.stage import rank
from twinlink.sites.web_files import WebFiles
from twinlink.sites.web_graph import WebEvidence, read_web_graph

__all__ = [
    "HostGraph",
    "SiteFeatures",
    "SiteModel",
    "SiteRanking",
    "WebEvidence",
    "WebFiles",
    "build_host_graph",
    "export_host_graph",
    "host_graph_to_networkx",
    "learn_site_model",
    "rank",
    "rank_sites",
    "read_host_graph",
    "read_web_graph",
    "site_features",
    "site_probability",
]
