"""How pages come in.

A site is crawled into web archives (`crawl`), and archives of any origin (`warc`) and folders of saved pages (`mirror`)
are read as `Document` records (`documents`); `parser` takes text, tags and links out of a page, and `urls` says which
addresses are the same page and which pages are the same site. Nothing here knows of languages or pairs.
"""
