"""What a person looks at: the static report, and the local web application in which pairs are accepted or rejected.

The room takes tables and functions that read pages; which run they come from is the pipeline's business.
"""
