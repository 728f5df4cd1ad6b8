"""Pages of other sites, shown safely: sanitised HTML and style sheets, with pictures from the archive.

- `look`: the whole page; nh3 decides which elements and attributes remain
- `markup`, `html_tokens`: the list of allowed elements, and the page prepared for nh3, tag by tag: links that lead
  nowhere, pictures from the archive, bounded depth and length
- `style_sheets`: style sheets reduced to harmless rules, parsed by tinycss2
- `wanted`: the addresses of style sheets and pictures that the look of a page needs
- `embedding`: style sheets and pictures from the archive, put into the page
"""
