"""The graph of sites: built from the links of pages, ranked by PageRank and by a model of bilingual sites."""
