"""Jobs over several stages: the whole way from addresses to page pairs, and the discovery of sites."""
