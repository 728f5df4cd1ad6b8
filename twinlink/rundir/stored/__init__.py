"""Runs on object stores: ``s3://bucket/run`` with the promises of a local run directory.

The work happens in a local copy, a folder of the user's cache. After each stage, its new and changed files are
uploaded, and then one object, ``run.json``, is replaced, which names all files of the run: this is the commit. Below
``s3://bucket/run``::

    run.json                what the run consists of: names, sizes, times and digests of its files, and their objects
    commits/TOKEN/NAME      files that commit TOKEN has added; no object is ever written twice
    locks/ID.json           the process that works in the run

- addresses and access: `twinlink.rundir.stored.store`
- what ``run.json`` holds, and what of a folder belongs to it: `twinlink.rundir.stored.manifest`
- one process at a time: `twinlink.rundir.stored.lease`
- download and commit: `twinlink.rundir.stored.local_copy`
"""

from __future__ import annotations

from twinlink.rundir.stored.local_copy import LocalCopy, address_of, publish, run_path, with_addresses, written_back
from twinlink.rundir.stored.store import check_no_address, is_address

__all__ = [
    "LocalCopy",
    "address_of",
    "check_no_address",
    "is_address",
    "publish",
    "run_path",
    "with_addresses",
    "written_back",
]
