"""What is shared between processes: locks, pauses, full disks, packed bytes."""
