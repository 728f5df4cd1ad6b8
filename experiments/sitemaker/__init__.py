"""Parts of `experiments.sites`: from packages to bilingual sites with known page pairs.

`recipes` says where the pages of a package lie, `packages` fetches and unpacks, `pages` reads, `gold` decides which
pages are translations of each other, `choose` takes samples, `disguise` hides the hints, `folder` writes the result.
"""
