"""Page files read into memory: text blocks and links.

The text is read by a small separate parser and not by `twinlink.pages`: gold pairs made with the parser under
test would share its errors.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from urllib.parse import unquote, urljoin, urlsplit

import lxml.html
import msgspec
from lxml import etree
from w3lib.encoding import html_to_unicode

from experiments.sitemaker.recipes import Found

__all__ = ["SitePage", "count_words", "drop_classes", "parse", "read_page", "resolve", "text_blocks"]

HIDDEN = frozenset({"script", "style", "noscript", "template"})
INLINE = frozenset(
    "a abbr acronym b bdi bdo big br button cite code del dfn em font i img ins kbd label mark nobr q s samp small "
    "span strike strong sub sup svg tt u var wbr".split()
)
CODE = frozenset({"pre", "code", "samp", "kbd", "tt", "var"})
# A word is a CJK ideograph, a kana, or otherwise a run of letters.
WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W\d_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")


class SitePage(msgspec.Struct, frozen=True):
    """One page: its key, its position on the site, and its content.

    ``blocks`` is its text, ``prose`` the same blocks without code, which is equal in all languages. ``links`` holds the
    paths on the same site that it links to, each with the text of the first link there.
    """

    key: str
    lang: str
    path: str
    body: bytes
    charset: str
    title: str
    blocks: tuple[str, ...]
    prose: tuple[str, ...]
    links: dict[str, str]

    @property
    def words(self) -> int:
        """Number of words of the text, title left out."""
        return sum(map(count_words, self.blocks))


def count_words(text: str) -> int:
    """Count words; an ideograph or a kana counts as one.

    Examples
    --------
    >>> count_words("Open 2 files"), count_words("開啟檔案")
    (2, 4)
    """
    return sum(1 for _ in WORD.finditer(text))


def read_page(found: Found, lang: str, without: Collection[str] = ()) -> SitePage:
    """Read one page file, its text and links without the elements of the classes in ``without``."""
    body = found.file.read_bytes()
    charset, root = parse(body)
    drop_classes(root, without)
    links: dict[str, str] = {}
    for anchor in root.iter("a"):
        target = resolve(root, found.path, anchor.get("href", ""))
        if target:
            links.setdefault(target, " ".join(anchor.text_content().split()))
    title = " ".join(root.findtext(".//title", default="").split())
    texts = list(text_blocks(root))
    blocks, prose = tuple(block for block, _ in texts), tuple(plain for _, plain in texts if plain)
    return SitePage(found.key, lang, found.path, body, charset, title, blocks, prose, links)


def parse(body: bytes) -> tuple[str, lxml.html.HtmlElement]:
    """Decode by the declared encoding and parse, without comments.

    Returns
    -------
    charset, root : str, HtmlElement
    """
    charset, text = html_to_unicode(None, body, default_encoding="utf-8")
    parser = lxml.html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    text = text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "")
    return charset, lxml.html.document_fromstring(text.encode() or b"<html></html>", parser=parser)


def drop_classes(root: lxml.html.HtmlElement, classes: Collection[str]) -> None:
    """Remove all elements of these classes with their content; text after them is kept."""
    for element in [e for e in root.iter() if set(e.get("class", "").split()) & set(classes)]:
        element.drop_tree()


def resolve(root: lxml.html.HtmlElement, path: str, href: str) -> str | None:
    """Return the path on the same site that ``href`` leads to from the page at ``path``, without fragment and query.

    None: another site, another scheme, or a place in the same page.
    """
    href = href.strip()
    if not href or href.startswith("#"):
        return None
    base = root.find(".//base[@href]")
    try:
        url = urlsplit(urljoin(urljoin(f"http://site{path}", "" if base is None else base.get("href", "")), href))
    except ValueError:
        return None
    if url.scheme != "http" or url.netloc != "site":
        return None
    target = unquote(url.path) or "/"
    return target + "index.html" if target.endswith("/") else target


def text_blocks(root: lxml.html.HtmlElement) -> Iterator[tuple[str, str]]:
    """Yield the visible text between block-level tags, white space collapsed, each block also without code in it."""
    block: list[str] = []
    prose: list[str] = []
    body = root.find("body")
    walk = etree.iterwalk(root if body is None else body, events=("start", "end"))
    depth = 0
    for event, element in walk:
        if element.tag not in INLINE:
            yield from _flush(block, prose)
        depth += 0 if element.tag not in CODE else 1 if event == "start" else -1
        text = element.text if event == "start" else element.tail
        if event == "start" and element.tag in HIDDEN:
            walk.skip_subtree()
        elif text or element.tag == "br":
            block.append(text or " ")
            prose.append(" " if depth else text or " ")
    yield from _flush(block, prose)


def _flush(block: list[str], prose: list[str]) -> Iterator[tuple[str, str]]:
    text, plain = (" ".join("".join(pieces).split()) for pieces in (block, prose))
    block.clear()
    prose.clear()
    if text:
        yield text, plain
