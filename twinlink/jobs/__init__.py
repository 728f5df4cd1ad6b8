"""Jobs over several stages: mining from addresses to page pairs, and the discovery of sites."""
