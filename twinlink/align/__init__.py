"""Sentence alignment: the page pairs of a run become sentence pairs, with a word model that is learned on the way."""
