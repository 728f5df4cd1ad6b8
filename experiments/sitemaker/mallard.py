"""Help written in Mallard, the format of GNOME's manuals, as HTML pages: one folder for each language.

The style sheets are those by which GNOME's own site is made (package ``yelp-xsl``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from lxml import etree

from experiments.sitemaker.languages import compact, language_folder
from experiments.sitemaker.partial import partial_folder

__all__ = ["HTML", "write_help"]

HELP = "usr/share/help"
"""Folder of a package with a folder for each language."""
HTML = "usr/share/help-html"
"""Folder beside it that the pages are written to."""
STYLES = "usr/share/yelp-xsl/xslt/mallard"
SOURCE = ("C", "en")
"""Name of the source language in packages, and on the site."""
CACHE_NS, MALLARD_NS = "http://projectmallard.org/cache/1.0/", "http://projectmallard.org/1.0/"
PAGE_STYLE = """
<xsl:stylesheet xmlns:xsl="http://www.w3.org/1999/XSL/Transform" version="1.0">
  <xsl:import href="{0}"/>
  <xsl:template name="html.css"/>
  <xsl:template name="html.js"/>
</xsl:stylesheet>
"""
"""Style sheet of a page without style and scripts, which are the same on all."""


def write_help(roots: Sequence[Path], document: str, langs: Collection[str]) -> None:
    """Write the HTML pages of a document in some languages, unless they are there from before.

    Parameters
    ----------
    roots : sequence of Path
        Unpacked packages: one with the help, one with the style sheets.
    document : str
        Such as ``gnome-help``.
    langs : collection of str
        Unknown languages are left out.
    """
    (styles,) = (root / STYLES for root in roots if (root / STYLES).is_dir())
    for root, folder in _folders(roots, langs):
        pages = sorted((folder / document).glob("*.page"))
        out = root / HTML / (SOURCE[1] if folder.name == SOURCE[0] else folder.name.replace("_", "-"))
        if pages and not out.is_dir():
            with partial_folder(out) as partial:
                _write_pages(pages, styles.absolute(), partial.absolute())


def _folders(roots: Sequence[Path], langs: Collection[str]) -> Iterator[tuple[Path, Path]]:
    for root in roots:
        names = [folder.name for folder in sorted((root / HELP).glob("*")) if folder.is_dir()]
        for lang in sorted(langs):
            name = SOURCE[0] if compact(lang) == SOURCE[1] else language_folder(names, lang)
            if name in names:
                yield root, root / HELP / name


def _write_pages(pages: Sequence[Path], styles: Path, out: Path) -> None:
    """Transform pages; titles and links of all of them come from a cache file."""
    cache = out / "cache.xml"
    names: Any = {"cache": CACHE_NS, None: MALLARD_NS}
    listed = etree.Element(f"{{{CACHE_NS}}}cache", nsmap=names)
    for page in pages:
        href = {f"{{{CACHE_NS}}}href": page.absolute().as_uri()}
        etree.SubElement(listed, f"{{{MALLARD_NS}}}page", href)
    etree.ElementTree(listed).write(cache)
    to_cache = etree.XSLT(etree.parse(styles / "cache" / "mal-cache.xsl"))
    cache.write_bytes(etree.tostring(to_cache(etree.parse(cache))))
    to_html = etree.XSLT(etree.fromstring(PAGE_STYLE.format((styles / "html" / "mal2html.xsl").as_uri())))
    given = {"mal.cache.file": cache.as_uri(), "html.output.prefix": f"{out}/"}
    quoted: Any = {name: etree.XSLT.strparam(value) for name, value in given.items()}
    for page in pages:
        source = etree.parse(page)
        source.xinclude()
        to_html(source, **quoted)
    cache.unlink()
