"""The pages of a site become page pairs: evidence, methods, selection, labels, and further languages."""
