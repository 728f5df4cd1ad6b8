"""Processes, memory and disks of the machine; nothing here knows about pages.

- work on several cores or machines: `workers` (start with `Workers`), `cluster`, `memory` (how much fits);
  parts of one task on several cores: `side_by_side`; what a large task keeps on disk: `scratch`
- one process at a time: `locks`; pauses and progress between processes: `pausing`, `steps`
- child processes that end with their parent: `orphans`
- errors of full disks: `disk`; decompression within limits: `packed`; fast start: `late_imports`
"""
