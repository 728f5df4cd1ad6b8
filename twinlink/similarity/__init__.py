"""How alike two pages are inside: language, words and lexicons, content, structure, candidates, and what to trust.

Functions take one site's arrays and give arrays. Each stands in the module of its subject and is imported from there,
e.g. ``from twinlink.similarity.content import content_similarity``.
"""
