"""Parts of `experiments.sites`: Debian packages come in, bilingual sites with known page pairs come out.

`recipes` says where the pages of a package lie, `packages` fetches and unpacks, `pages` reads, `gold` decides which
pages are translations of each other, `choose` takes samples, `disguise` hides the hints, `folder` writes the result.
"""
