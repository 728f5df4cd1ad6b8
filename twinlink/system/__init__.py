"""Processes and files: locks, pauses, orphans, full disks, packed bytes."""
