"""Rewritten pages: without hints outside text, tags and links, or all in one template."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import PurePosixPath
from random import Random
from urllib.parse import quote

import lxml.html

from experiments.sitemaker.pages import SitePage, drop_classes, parse, resolve

__all__ = ["Names", "Skeleton", "opaque_names", "opaque_page", "plain_names"]

REMOVED_ATTRIBUTES = frozenset(
    "lang hreflang id name for action about typeof vocab longdesc cite usemap headers accesskey srcset".split()
)
REMOVED_PREFIXES = ("data-", "on", "xml", "aria-")
NAMED_FIELDS = frozenset({"input", "button", "select", "textarea", "meta", "param"})
REMOVED_ELEMENTS = ("script", "noscript", "base", "style", "template")
HINTING_META = ("lang", "locale")


@dataclass
class Names:
    """New paths of the pages on the site, of missing pages, and of all other resources."""

    pages: Mapping[str, str]
    absent: dict[str, str] = field(default_factory=dict)
    resources: dict[str, str] = field(default_factory=dict)

    def page(self, target: str) -> str:
        """Return the new path of a page; a missing page gets a path without a file."""
        return self.pages.get(target) or self.absent.setdefault(target, f"/p/x{len(self.absent):05d}.html")

    def resource(self, target: str) -> str:
        """Return the new path of a resource, such as an image or a style sheet; the same for all pages."""
        new = f"/r/{len(self.resources):05d}{PurePosixPath(target).suffix[:6]}"
        return self.resources.setdefault(target, new)


def opaque_names(paths: Collection[str], rng: Random) -> Names:
    """Number all pages at random, independent of their language: ``/p/000001.html`` and so on."""
    order = sorted(paths)
    rng.shuffle(order)
    return Names({path: f"/p/{i:06d}.html" for i, path in enumerate(order, start=1)})


def plain_names(paths: Collection[str]) -> Names:
    """Keep the path of every page."""
    return Names({path: path for path in sorted(paths)})


def opaque_page(page: SitePage, names: Names, versions: Collection[str], switchers: Collection[str]) -> bytes:
    """Return the page in UTF-8 without any hint outside its text, tags and links.

    Scripts, comments, languages, ids, addresses with a meaning and links to other sites vanish.

    Parameters
    ----------
    versions : collection of str
        Paths of the same page in other languages: links to them vanish with their text.
    switchers : collection of str
        Classes of elements that hold nothing but such links.
    """
    _, root = parse(page.body)
    _rewrite_links(root, page, names, set(versions))
    drop_classes(root, switchers)
    for element in list(root.iter(*REMOVED_ELEMENTS)) + _hinting_metas(root):
        if element.getparent() is not None:
            element.drop_tree()
    for element in root.iter():
        for name in list(element.attrib):
            kept_name = name == "name" and element.tag in NAMED_FIELDS
            if (name.lower() in REMOVED_ATTRIBUTES and not kept_name) or name.lower().startswith(REMOVED_PREFIXES):
                del element.attrib[name]
    head = root.find("head")
    if head is not None:
        head.insert(0, lxml.html.fragment_fromstring('<meta charset="utf-8">'))
    return bytes(lxml.html.tostring(root.getroottree(), encoding="utf-8"))


def _hinting_metas(root: lxml.html.HtmlElement) -> list[lxml.html.HtmlElement]:
    def hints(meta: lxml.html.HtmlElement) -> bool:
        name = (meta.get("name", "") + meta.get("property", "")).lower()
        return any(word in name for word in HINTING_META) or bool(meta.get("http-equiv") or meta.get("charset"))

    return [meta for meta in root.iter("meta") if hints(meta)]


def _rewrite_links(root: lxml.html.HtmlElement, page: SitePage, names: Names, versions: set[str]) -> None:
    for element in list(root.iter()):
        for name in ("src", "data", "background", "poster"):
            if element.get(name):
                target = resolve(root, page.path, element.get(name))
                element.set(name, names.resource(target or element.get(name)))
        if element.get("href") is None or element.tag == "base":
            continue
        href = element.get("href")
        target = resolve(root, page.path, href)
        if target in versions or (element.tag == "link" and "hreflang" in element.attrib):
            element.drop_tree()
        elif target is None:
            _cut_link(element, href)
        elif target in names.pages or target.endswith((".html", ".htm")):
            element.set("href", quote(names.page(target)))
        else:
            element.set("href", names.resource(target))


def _cut_link(element: lxml.html.HtmlElement, href: str) -> None:
    if href.strip().startswith("#"):
        element.set("href", "#")  # fragments are the same in all languages
    else:
        del element.attrib["href"]


class Skeleton:
    """One template for all pages of a site: every page has the same tags, so that structure is uninformative.

    There are as many paragraphs and list entries as the page with the most blocks and links needs; the rest
    is empty.
    """

    def __init__(self, pages: Sequence[SitePage]) -> None:
        self.n_blocks = max((len(page.blocks) for page in pages), default=0)
        self.n_links = max((len(page.links) for page in pages), default=0)

    def page(self, page: SitePage, names: Names, versions: Collection[str], lang: str) -> bytes:
        """Return the page in the template; ``lang`` is declared unless it is empty."""
        links = [(names.page(target), text) for target, text in page.links.items() if target not in versions]
        entries = [f'<li><a href="{quote(target)}">{escape(text)}</a></li>' for target, text in links]
        entries += ["<li><a></a></li>"] * (self.n_links - len(entries))
        paragraphs = [f"<p>{escape(block)}</p>" for block in page.blocks]
        paragraphs += ["<p></p>"] * (self.n_blocks - len(paragraphs))
        declared = f' lang="{escape(lang)}"' if lang else ""
        return "\n".join(
            [
                f'<!DOCTYPE html>\n<html{declared}>\n<head>\n<meta charset="utf-8">',
                f"<title>{escape(page.title)}</title>\n</head>\n<body>\n<nav>\n<ul>",
                *entries,
                "</ul>\n</nav>\n<main>",
                *paragraphs,
                "</main>\n</body>\n</html>\n",
            ]
        ).encode()
