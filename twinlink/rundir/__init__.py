"""The run directory: results committed with renames, signatures of what they were made from, and settings."""
