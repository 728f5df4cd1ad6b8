"""Elements and attributes of a page that are kept; all others are removed."""

from __future__ import annotations

__all__ = ["ATTRIBUTES", "DROPPED", "TAGS"]

TAGS = frozenset(
    """a abbr acronym address area article aside b bdi bdo big blink blockquote br button caption center cite code col
    colgroup data dd del details dfn dir div dl dt em fieldset figcaption figure font footer h1 h2 h3 h4 h5 h6 header
    hgroup hr i img input ins kbd label legend li main map mark marquee menu meter nav nobr ol optgroup option output p
    pre progress q rb rp rt rtc ruby s samp search section select small span strike strong sub summary sup table tbody
    td textarea tfoot th thead time tr tt u ul var wbr""".split()
)
"""Elements that are kept; other elements are replaced by their content."""

DROPPED = frozenset(
    """script style title noscript template iframe noembed noframes svg math video audio canvas dialog portal
    fencedframe""".split()
)
"""Elements that are removed with their content: it runs, loads, is parsed differently, or was not visible."""

ATTRIBUTES = frozenset(
    """abbr align alt aria-expanded aria-hidden aria-selected background bgcolor border cellpadding cellspacing checked
    class clear color cols colspan compact data-link dir disabled face headers height hidden hspace id label lang max
    min multiple noshade nowrap open placeholder readonly reversed role rows rowspan rules scope selected size span src
    start style summary title type valign value vspace width""".split()
)
"""Attributes that are kept. Only ``src`` and ``background`` hold addresses: those of the archive's pictures."""
