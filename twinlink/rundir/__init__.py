"""The run directory: all files of one mining job, consistent even if the process is killed.

- directory: `RunDirectory`: paths and state of each stage, and the lock
- signatures: `Signature`: settings, version and inputs of a result; a stage is redone if and only if these have changed
- commits: `twinlink.rundir.commit`: results are published by single renames
- object stores: `twinlink.rundir.stored`: runs with an address, such as ``s3://bucket/run``
- settings: `remembered`, `remember`, `call_settings`: settings that a run remembers, and their overrides by a call
"""

from __future__ import annotations

from twinlink.rundir.directory import RunDirectory, site_file, site_name
from twinlink.rundir.remembered import CallSettings, call_settings, remember, remembered
from twinlink.rundir.signature import Signature, file_digest

__all__ = [
    "CallSettings",
    "RunDirectory",
    "Signature",
    "call_settings",
    "file_digest",
    "remember",
    "remembered",
    "site_file",
    "site_name",
]
