"""What happens while the documentation is built: reference pages are generated, nothing is loaded from elsewhere."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # also while mkdocs calls the functions below

from dictionary_packages import packages_table
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from site_api import api_pages
from site_commands import commands_page
from site_json import json_page
from site_settings import settings_page
from site_tables import exit_codes, reasons, sentence_reasons, tables_page

ROOT = Path(__file__).resolve().parents[2]
GENERATED = {
    "commands": commands_page,
    "dictionaries": packages_table,
    "exit codes": exit_codes,
    "json": json_page,
    "reasons": reasons,
    "sentence reasons": sentence_reasons,
    "settings": settings_page,
    "tables": tables_page,
}
FIRST = ("mine-a-site",)
"""Notebooks that come before the others, which go by their names."""
API = "reference/api"
API_BOOST = 0.1
"""The search ranks pages of the API by this much less: a word such as hreflang is the name of many a field there."""
OF_ROOT = ("CHANGELOG.md", "CONTRIBUTING.md")
_MARK = re.compile(r"^<!-- generated: ([\w ]+) -->$", re.MULTILINE)
_LOADS = re.compile(r"<script\b[^>]*>(?:(?!</script>).)*</script>|<link\b[^>]*>", re.DOTALL | re.IGNORECASE)
_NO_TEXT = "No description has been provided for this image"
_TEXT = "Plot that the code above draws; the text around it says what it shows"
_SEARCH = 'data-md-component="search" role="dialog"'
_ELSEWHERE = re.compile(r"""(?:src|href|import|from)\s*[=(]?\s*["']https?://|MathJax|mermaid""")


VERSIONS = "TWINLINK_DOCS_VERSIONS"
"""Environment variable that is set while `make docs-version` builds: the pages get a menu of the versions. A site that
is read from a folder has none, for the menu asks the host which versions there are."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the notebooks that are there, and the pages of the API, into the navigation; add the menu of versions."""
    if os.environ.get(VERSIONS):
        config.extra["version"] = {"provider": "mike", "default": "latest", "alias": True}
    docs = Path(config.docs_dir)
    found = sorted(docs.glob("notebooks/*.ipynb"), key=lambda path: (path.stem not in FIRST, path.stem))
    notebooks = [path.relative_to(docs).as_posix() for path in found]
    _fill(config.nav, "Notebooks", notebooks)
    _fill(config.nav, "API", ["reference/api.md", *(f"reference/api/{room}.md" for room in api_pages())])
    return config


def _fill(nav: Any, title: str, pages: list[str]) -> None:
    """Replace what stands under a title anywhere in the navigation; a title without pages is taken out."""
    for entry in list(nav):
        for name, below in list(entry.items()) if isinstance(entry, dict) else []:
            if name == title:
                entry[name] = pages
                if not pages:
                    nav.remove(entry)
            elif isinstance(below, list):
                _fill(below, title, pages)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in the folder of the documentation."""
    for name in OF_ROOT:
        files.append(File.generated(config, name.lower(), abs_src_path=str(ROOT / name)))
    for room, text in api_pages().items():
        files.append(File.generated(config, f"reference/api/{room}.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Fill in what is generated; lead links to files at the root to their pages; let the search find prose first."""
    del config, files
    if page.file.src_uri.startswith(API):
        page.meta["search"] = {"boost": API_BOOST}
    for name in OF_ROOT:
        up = "../" * (page.file.src_uri.count("/") + 1)
        markdown = markdown.replace(f"]({up}{name}", f"]({up[3:]}{name.lower()}")
    return _MARK.sub(lambda mark: GENERATED[mark[1]](), markdown)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Take out what a notebook's template would load from elsewhere (MathJax, Mermaid); name the search."""
    del page, config
    output = output.replace(_SEARCH, f'{_SEARCH} aria-label="Search"').replace(_NO_TEXT, _TEXT)
    return _LOADS.sub(lambda found: "" if _ELSEWHERE.search(found[0]) else found[0], output)
