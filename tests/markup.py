"""Strategies of Hypothesis for pieces of pages: start tags, end tags, texts."""

from __future__ import annotations

from hypothesis import strategies as st

from twinlink.pages.elements import ATTRIBUTES
from twinlink.pages.tags import TAG_CODES

NAMES = (*TAG_CODES, "g", "a-name-of-sixteen", "another-name-of-17", "\u4e2d")
VALUES = (
    "",
    "x",
    " ",
    "#top",
    " #top",
    "/a b",
    "zh",
    "text/html",
    "canonical",
    "next",
    "refresh",
    "0;url=w",
    "data:",
    "&nGt;",
)
TAGS = st.builds(
    lambda name, attributes: f"<{name} {' '.join(attributes)}>",
    st.sampled_from(NAMES),
    st.lists(st.builds("{}='{}'".format, st.sampled_from([*ATTRIBUTES, "class"]), st.sampled_from(VALUES)), max_size=3),
)
ENDS = st.sampled_from(["a", "title", "script", "p", "b", "svg", "form", "select", "template", "iframe"]).map(
    "</{}>".format
)
TEXTS = st.sampled_from(
    ["x", " ", " y ", "\n", "\t\x0b", "\x1c", "\u3000", "\xa0z", "&amp;", "&#0;", "&nbsp;", "\x01", "\u4e2d\u6587"]
)
