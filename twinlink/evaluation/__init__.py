"""Precision, recall and F1 of page pairs, by a gold list or by labels."""
