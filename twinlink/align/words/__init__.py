"""The word model of the sentence alignment, the lexicon that it gives, and scores of held-out segments."""
