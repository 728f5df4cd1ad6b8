"""Labels: what reviewers said of page pairs, the precision that follows, and which pairs teach most."""
