"""The results of verbs: one frozen record per verb.

`twinlink.cli.lines` formats a record as lines of text, and `record.json_text` as a JSON object. Both use only the
record, so that they cannot differ.
"""

from __future__ import annotations
