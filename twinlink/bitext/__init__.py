"""Sentences: splitting pages, aligning their sentences with words learned on the way, filtering, and writing pairs.

Kernels take arrays and give arrays; nothing here knows a run, a site or a crawler. What belongs to a language (how it
splits into words) is passed in, with a form for any language as the default.
"""
