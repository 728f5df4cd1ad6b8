"""The results of verbs: one record each, which is printed as lines of text or as a JSON object.

Both are made of the same record and of nothing else, so that they cannot differ.
"""

from __future__ import annotations
