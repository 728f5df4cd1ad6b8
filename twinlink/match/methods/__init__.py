"""Methods that match the pages of two languages.

Start with `weighed.match_weighed`, the default. `registry.METHODS` lists all methods by name, with those of
`twinlink.baselines`; a new method is a function from sides, words and links to a `Found`, and an entry there.
"""
