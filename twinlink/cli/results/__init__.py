"""The results of verbs: one frozen record each.

`twinlink.cli.lines` makes lines of text of a record, `record.json_text` a JSON object: both of the same record and of
nothing else, so that they cannot differ.
"""

from __future__ import annotations
