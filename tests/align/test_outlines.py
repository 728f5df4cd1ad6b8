"""Where the blocks of a page stand among its tags."""

from __future__ import annotations

import numpy as np
import pytest

from twinlink.align.outlines import TAG_CATEGORIES, outline_of
from twinlink.pages.linearise import linearise
from twinlink.pages.parser import parse_page
from twinlink.pages.tags import TAG_CODES


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>one</p><p>two</p>", "html body p # p #"),
        ("<h1>T</h1><table><tr><td>a<td>b</table>", "html body h1 # table tr td # td #"),
        ("<title>not a block</title><p>one <b>bold</b><br>two", "html head body p # br"),
        ("<p>a<svg><p>no</p><text>nor this</text></svg>b<iframe>no</iframe>", None),
        ("text<p>in p</p>tail", "html body # p # #"),
        ("<p>a<made-up>b</made-up></p>", "html body p # made-up"),
    ],
)
def test_blocks_stand_where_their_first_text_does(html: str, expected: str | None) -> None:
    blocks = parse_page(html.encode(), "http://x.org/").blocks
    outline = outline_of(linearise(html.encode()).tokens, blocks)
    assert outline is not None
    names = {code: name for name, code in TAG_CODES.items()}
    assert [int(size) for size in outline.sizes[outline.kinds < 0]] == [len(block) for block in blocks]
    if expected:
        assert [names.get(kind, "made-up") if kind >= 0 else "#" for kind in outline.kinds.tolist()] == expected.split()
    assert outline.kinds.max() < len(TAG_CATEGORIES)


def test_a_page_of_other_blocks_has_no_outline() -> None:
    tokens = linearise(b"<p>one<p>two").tokens
    assert outline_of(tokens, ["one"]) is None
    assert outline_of(np.zeros(0, np.int32), []) is not None
