"""Models of Jangeldin & Assylbekov over a set of page pairs: which of them are parallel, by structure, without labels.

Each takes the `twinlink.baselines.alignment.Alignment` of a set of pairs and gives `Verdicts` on it; `judge` chooses
one by name. They assume what the paper assumes: that most pairs of the set are parallel.
"""
