"""Cost of ways to parse a page, and whether they find what `parse_page` finds.

::

    pip install selectolax
    python -m experiments.bench.bench_parsers sites/lo1000-en-ptbr-opaque sites/apache-en-fr-opaque [--pages 100]

Folders hold HTML files at any depth. Each way takes the pages once a round, in an order drawn for that round; ``time``
is the median of the processor time over that of the bare parser, whose callbacks do nothing. ``target`` and the other
ways end with blocks, tag codes and links as written; ``full`` is all of `parse_page` with compiled callbacks, links
resolved. Those that say "alone" find nothing: anything built on them takes longer. ``same`` counts the pages with the
same blocks, tag codes and links as the target finds, of all pages, and of as many broken ones
(`experiments.fuzz_pages`).
"""

from __future__ import annotations

import argparse
import importlib
import random
import re
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lxml import etree
from resiliparse.parse.html import HTMLTree

from experiments.fuzz_pages import broken_page
from twinlink.pages.content import MAX_NESTING, PageContent, PageTarget, signed
from twinlink.pages.decoding import decode
from twinlink.pages.elements import MAX_ANCHOR_LENGTH, TAKES
from twinlink.pages.libxml2 import compiled_parser
from twinlink.pages.parser import parse_page, run_parser
from twinlink.pages.spaces import collapse
from twinlink.pages.tags import BLOCK, OTHER_TAG, SKIPPED, SPACE, TAG_CODES

URL = "http://www.example.org/a/b.html"
# Characters that no page has: the start of what is not text, and what parts its pieces.
OPEN, PART, CLOSE, TAG, BREAK = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3", "\ufdd4"
CODES = 0xE000  # the character of the first tag code
INSIDE = "<xsl:apply-templates/>"
TAG_PAIR = re.compile(f"{TAG}(.)", re.DOTALL)


class Found(NamedTuple):
    """What a way has found in a page."""

    blocks: tuple[str, ...]
    tags: bytes
    links: tuple[tuple[str, str, str, str], ...]


Way = Callable[[bytes], Any]
Builder = Any  # the target of `parse_page`, which is private


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row for each way."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("folders", type=Path, nargs="+")
    asked.add_argument("--pages", type=int, default=100, help="pages of each folder that are timed")
    asked.add_argument("--rounds", type=int, default=9)
    asked.add_argument("--seed", type=int, default=1)
    given = asked.parse_args(arguments)
    bodies = [[utf8(file.read_bytes()) for file in sorted(each.rglob("*.html"))] for each in given.folders]
    rng = random.Random(given.seed)
    timed = [body for of_one in bodies for body in rng.sample(of_one, min(given.pages, len(of_one)))]
    every = [body for of_one in bodies for body in of_one]
    broken = [utf8(broken_page(number, given.seed)[0]) for number in range(len(every))]
    seconds = measure(timed, given.rounds, rng)
    print(f"{'':24}{'time':>6}{'same':>8} of {len(every):<8}{'broken':>8} of {len(broken)}")
    for name, way in ALL.items():
        counts = "".join(f"{count_same(way, pages):>8}{'':12}" for pages in (every, broken)) if name in FINDING else ""
        print(f"{name:24}{seconds[name] / seconds['bare']:>6.2f}{counts}", flush=True)


def utf8(body: bytes) -> bytes:
    """Return a page in UTF-8, without what would part the output of a style sheet."""
    text = re.sub("&#(?:x0*fdd|0*649)", "", decode(body)[0], flags=re.IGNORECASE)
    return re.sub("[\0\ufdd0-\ufdef]", "", text).encode("utf-8", "replace")


def measure(pages: Sequence[bytes], rounds: int, rng: random.Random) -> dict[str, float]:
    """Return the median processor time of each way over all pages."""
    taken: dict[str, list[float]] = {name: [] for name in ALL}
    for _ in range(rounds):
        for name in rng.sample(list(ALL), len(ALL)):
            way = ALL[name]
            start = time.process_time()
            for page in pages:
                way(page)
            taken[name].append(time.process_time() - start)
    return {name: statistics.median(each) for name, each in taken.items()}


def count_same(way: Way, pages: Sequence[bytes]) -> int:
    """Return the number of pages of which a way finds the same as the target; a failure is not the same."""
    return sum(found_by(way, page) == by_target(page) for page in pages)


def found_by(way: Way, page: bytes) -> Found | None:
    """Return what a way finds, None if it fails."""
    try:
        return way(page)  # type: ignore[no-any-return]
    except (etree.LxmlError, ValueError, RuntimeError):
        return None


def finished(builder: Builder) -> Found:
    """Return what a builder has gathered."""
    builder.close()
    return found_in(builder.content())


def found_in(content: PageContent) -> Found:
    """Return what counts of a page's content."""
    return Found(content.blocks, content.tags, tuple(content.elements.links))


class Bare:
    """Target of the parser that does nothing."""

    def __init__(self, _max_depth: int) -> None:
        texts: list[str] = []
        self.data = texts.append

    @signed
    def start(self, tag: str, attributes: Any) -> None:
        """Take a start tag."""

    def end(self, tag: str) -> None:
        """Take an end tag."""

    def close(self) -> None:
        """Finish the page."""


def bare(page: bytes) -> None:
    """Parse without doing anything."""
    run_parser(page, "text/html; charset=utf-8", Bare)


def by_target(page: bytes) -> Found:
    """Parse as `parse_page` does."""
    return finished(run_parser(page, "text/html; charset=utf-8", PageTarget)[0])


def by_compiled_callbacks(page: bytes) -> Found | None:
    """Parse as `parse_page` does where there is much to parse."""
    compiled = compiled_parser()
    found = compiled and compiled.parse(page)
    return found_in(found[0]) if found else None


def full(page: bytes) -> None:
    """Parse with compiled callbacks, and resolve the links."""
    compiled_parser()  # which loads what `parse_page` does not load for few pages
    parse_page(page, URL, "text/html; charset=utf-8")


def tree(page: bytes) -> Any:
    """Build the tree of libxml2."""
    builder = etree.HTMLParser(encoding="utf-8", huge_tree=True)
    builder.feed(page)
    try:
        return builder.close()
    except etree.XMLSyntaxError:  # nothing in it
        return None


def by_events(page: bytes) -> Found:
    """Build the tree, and walk over it from start to end of each element."""
    builder: Builder = PageTarget(MAX_NESTING)
    start, end, data = builder.start, builder.end, builder.data
    root = tree(page)
    for event, element in () if root is None else etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        if event == "start":
            start(element.tag, element.attrib)
            if element.text:
                data(element.text)
            continue
        if event == "end":
            end(element.tag)
        if element.tail:
            data(element.tail)
    return finished(builder)


def style_sheet() -> etree.XSLT:
    """Return the style sheet that writes a page as text, its tags and links between characters that no page has."""
    templates = "".join(f'<xsl:template match="{tag}">{instructions(tag)}</xsl:template>' for tag in TAG_CODES)
    other = f'<xsl:template match="*">{text(TAG + chr(CODES + OTHER_TAG))}{INSIDE}</xsl:template>'
    namespace = 'xmlns:xsl="http://www.w3.org/1999/XSL/Transform"'
    sheet = f'<xsl:stylesheet version="1.0" {namespace}><xsl:output method="text" encoding="utf-8"/>'
    return etree.XSLT(etree.XML(f"{sheet}{other}{templates}</xsl:stylesheet>"))


def instructions(tag: str) -> str:
    """Return the instructions for the elements of a tag."""
    before = text(TAG + chr(CODES + TAG_CODES[tag]))
    if tag in SKIPPED and tag not in TAKES:
        return before
    if tag in TAKES or tag in {"a", "title"}:
        each = f'<xsl:value-of select="name()"/>{text(PART)}<xsl:value-of select="."/>{text(PART)}'
        before += f'{text(OPEN + tag + PART)}<xsl:for-each select="@*">{each}</xsl:for-each>{text(CLOSE)}'
        after = text(OPEN + "/" + tag + CLOSE) if tag in ("a", "title") else text(BREAK) if tag in BLOCK else ""
        return before if tag == "iframe" else before + INSIDE + after
    if tag in BLOCK:
        return before + text(BREAK) + INSIDE + text(BREAK)
    return before + text(" " if tag in SPACE else "") + INSIDE


def text(content: str) -> str:
    """Return the instruction that writes a text."""
    return f"<xsl:text>{content}</xsl:text>"


STYLE_SHEET = style_sheet()


def style_sheet_alone(page: bytes) -> str:
    """Build the tree, and write it by the style sheet."""
    root = tree(page)
    return "" if root is None else str(STYLE_SHEET(root))


def by_style_sheet(page: bytes) -> Found:
    """Build the tree, write it by the style sheet, and take apart what it has written."""
    stream = style_sheet_alone(page)
    codes = "".join(TAG_PAIR.findall(stream)).encode("utf-16-le")[::2]
    builder: Builder = PageTarget(MAX_NESTING)
    first, *rest = TAG_PAIR.sub("", stream).replace(BREAK, "\0").split(OPEN)
    builder.data(first)
    for token in rest:
        mark, _, words = token.partition(CLOSE)
        name, *parts = mark.split(PART)
        if name.startswith("/"):
            builder.end(name[1:])
        elif name == "iframe":
            TAKES[name](builder.elements, dict(zip(parts[::2], parts[1::2], strict=False)))
        else:
            builder.start(name, dict(zip(parts[::2], parts[1::2], strict=False)))
        builder.data(words)
    builder.tags = bytearray(codes)
    return finished(builder)


SKIPPED_NODES: Callable[[Any], Any] = etree.XPath("|".join(f"//{tag}" for tag in SKIPPED))
SPACES: Callable[[Any], Any] = etree.XPath("//br|//option|//optgroup|//button")
ANCHORS: Callable[[Any], Any] = etree.XPath("//a[@href]")
TEXT_OF: Callable[[Any], Any] = etree.XPath("string()", smart_strings=False)
INLINE = tuple(TAG_CODES.keys() - BLOCK - {"html", "head", "body"})


def by_paths(page: bytes) -> Found:
    """Build the tree, take links by XPath, dissolve elements inside a line, and take each text that remains."""
    root = tree(page)
    if root is None:
        return Found((), b"", ())
    for node in SKIPPED_NODES(root):
        node.text = None
        del node[:]
    tags = bytes([TAG_CODES.get(element.tag, OTHER_TAG) for element in root.iter(etree.Element)])
    for node in SPACES(root):
        node.text = " " + (node.text or "")
    links: dict[tuple[str, str, str, str], None] = {}
    for node in ANCHORS(root):
        href, rel, hreflang = node.get("href"), node.get("rel", ""), node.get("hreflang", "")
        if not href.lstrip().startswith("#"):
            links[href, collapse(TEXT_OF(node))[:MAX_ANCHOR_LENGTH], rel.lower(), hreflang.lower()] = None
    for node in root.iter("title"):
        node.text = None
    etree.strip_tags(root, *INLINE, etree.Comment, etree.ProcessingInstruction)
    blocks = tuple(filter(None, map(collapse, root.itertext())))
    return Found(blocks, tags, tuple(links))


def lexbor(page: bytes) -> Any:
    """Build the tree of lexbor by selectolax."""
    return importlib.import_module("selectolax.lexbor").LexborHTMLParser(page)


def lexbor_nodes(page: bytes) -> None:
    """Build the tree of lexbor, and look at the tag of each node by selectolax."""
    for node in lexbor(page).root.traverse(include_text=True):
        _ = node.tag


def resiliparse_nodes(page: bytes) -> None:
    """Build the tree of lexbor, and look at the tag of each node by resiliparse."""
    for node in resiliparse_tree(page).document:
        _ = node.tag


def resiliparse_tree(page: bytes) -> Any:
    """Build the tree of lexbor by resiliparse."""
    return HTMLTree.parse_from_bytes(page, "utf-8")


def by_lexbor(page: bytes) -> Found:
    """Build the tree of lexbor, and walk over it from start to end of each element by selectolax."""
    builder: Builder = PageTarget(MAX_NESTING)
    start, end, data = builder.start, builder.end, builder.data
    node = lexbor(page).root
    above: list[Any] = []
    while node is not None:
        tag, child = node.tag, None
        if tag == "-text":
            data(node.text_content)
        elif tag and tag[0] not in "-!":  # no comment or declaration
            attributes = node.attributes
            has_none = None in attributes.values()
            start(tag, {name: value or "" for name, value in attributes.items()} if has_none else attributes)
            child = node.first_child
            if child is None:
                end(tag)
        if child is not None:
            above.append((node, tag))
            node = child
            continue
        node = node.next if above else None
        while node is None and above:
            node, tag = above.pop()
            end(tag)
            node = node.next if above else None
    return finished(builder)


ALL: dict[str, Way] = {
    "bare": bare,
    "target": by_target,
    "compiled callbacks": by_compiled_callbacks,
    "full": full,
    "libxml2 tree alone": tree,
    "XSLT alone": style_sheet_alone,
    "XSLT": by_style_sheet,
    "XPath": by_paths,
    "iterwalk": by_events,
    "selectolax tree alone": lexbor,
    "selectolax nodes alone": lexbor_nodes,
    "resiliparse tree alone": resiliparse_tree,
    "resiliparse nodes alone": resiliparse_nodes,
    "lexbor": by_lexbor,
}
FINDING = ("target", "compiled callbacks", "XSLT", "XPath", "iterwalk", "lexbor")


if __name__ == "__main__":
    main()
