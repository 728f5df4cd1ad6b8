"""How alike two pages are by their links: link matrices, similarity passed on over links (ETS), one-to-one matching.

Everything here takes arrays and ``scipy.sparse.csr_array`` and gives them back; page ids and addresses stay outside.
Rows of a similarity matrix are the pages of the first language, columns those of the second; an entry that is not
stored is no candidate.
"""
