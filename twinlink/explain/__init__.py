"""Explanations: the evidence of a pair, its rivals, and why a page is in no pair."""
