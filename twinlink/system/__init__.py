"""Processes and files: locks, pauses, orphaned processes, full disks, decompression."""
