"""Files of sentences.

- written: `exports`: TMX, TSV, Moses, JSON Lines
- read: `sentence_pairs` (TMX, TSV, Moses), `sentence_files` (one sentence per line, bead lists)
"""
