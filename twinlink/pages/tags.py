"""Tags of HTML: the code of each, and its effect on the text of a page."""

from __future__ import annotations

from collections.abc import Mapping

OTHER_TAG = 255
"""Code of every tag that `TAG_CODES` does not name."""

# The order is part of the stored tables: append only.
TAG_CODES: Mapping[str, int] = {
    name: code
    for code, name in enumerate(
        "html head title base link meta style script noscript template body article section nav aside h1 h2"
        " h3 h4 h5 h6 hgroup header footer address main p hr pre blockquote ol ul menu li dl dt dd figure"
        " figcaption div a em strong small s cite q dfn abbr ruby rb rt rtc rp data time code var samp kbd sub"
        " sup i b u mark bdi bdo span br wbr ins del picture source img iframe embed object param video audio"
        " track map area svg math table caption colgroup col tbody thead tfoot tr td th form label input"
        " button select datalist optgroup option textarea output progress meter fieldset legend details"
        " summary dialog search slot canvas acronym applet basefont bgsound big blink center dir font frame"
        " frameset isindex keygen layer ilayer listing marquee multicol nextid nobr noembed noframes nolayer"
        " plaintext spacer strike tt xmp image".split()
    )
}
"""Code of each tag of HTML, past and present (0 to 254)."""


# Elements that begin a line of their own and end it, so that their text is a block: the rendering section of the HTML
# standard (display: block, list-item, table and its parts), and the old ones. Each other element is part of a line.
BLOCK = frozenset(
    "body article section nav aside h1 h2 h3 h4 h5 h6 hgroup header footer address main p hr pre blockquote"
    " ol ul menu li dl dt dd figure figcaption div table caption tbody thead tfoot tr td th form fieldset"
    " legend details summary dialog search select textarea video audio object map center dir frameset listing"
    " marquee multicol noframes plaintext xmp".split()
)
# Their content is not text of the page: code, drawings, templates, frames, fallbacks for browsers without frames.
SKIPPED = frozenset("script style template svg math noembed canvas datalist iframe".split())
# These part words within a line (methods of the structural papers: "a, br, option act as a space"; a link does not:
# Chinese text has links inside words).
SPACE = frozenset("br option optgroup button".split())
