"""Two pages side by side: their text, tags, sentences, and the link graph around them.

Start with `views.view_of`, which returns one of the four views of a pair.

- text and sentences: `text`, with `blocks` (alignment of blocks) and `invariants` (tokens that a translation keeps)
- tags: `tags`
- links around the pair: `neighbourhood`
"""
