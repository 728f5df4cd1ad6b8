"""The run directory: where one mining job keeps everything, safe against being killed at any moment.

- directory: `RunDirectory`: where each stage lies, whether it is done, and its lock
- signatures: `Signature`: what a result was made from; a stage is done again when, and only when, that has changed
- commits: `twinlink.rundir.commit`: results take their place by single renames
- settings: `remembered`, `remember`, `call_settings`: what a run remembers, and what a call puts over it
"""

from __future__ import annotations

from twinlink.rundir.directory import RunDirectory, file_digest, site_file
from twinlink.rundir.remembered import CallSettings, call_settings, remember, remembered
from twinlink.rundir.signature import Signature, twinlink_version

__all__ = [
    "CallSettings",
    "RunDirectory",
    "Signature",
    "call_settings",
    "file_digest",
    "remember",
    "remembered",
    "site_file",
    "twinlink_version",
]
