"""The tables of a run as the review asks for them: short ones in memory, long ones on disk."""
