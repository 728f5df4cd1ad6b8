"""Models of Jangeldin & Assylbekov over a set of page pairs: which of them are parallel, by structure, without labels.

Each takes the `twinlink.baselines.alignment.StructureAlignments` of a set of pairs and returns `Verdicts`; `judge`
selects a model by name. As in the paper, the models assume that most pairs of the set are parallel.
"""
