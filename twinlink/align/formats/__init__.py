"""Files of sentences: TMX, TSV, Moses, JSON Lines, bead lists, and lists of sentences."""
