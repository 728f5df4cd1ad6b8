"""The word model of the sentence alignment, and the lexicon that it gives.

Start with `model.WordModel`; its compiled loops are in `kernels`. `learned_lexicon` writes the lexicon.
"""
