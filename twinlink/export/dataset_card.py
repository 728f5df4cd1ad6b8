"""The card of an exported dataset: ``README.md`` with the metadata that the library ``datasets`` reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from twinlink.export.table_files import SENTENCE_PAIRS, TableFile
from twinlink.languages import base_language
from twinlink.tables import PAGE_PAIRS
from twinlink.version import __version__

_KINDS = {"pages": ("page pairs", PAGE_PAIRS), "sentences": ("sentence pairs", SENTENCE_PAIRS)}
"""Folder of the files, what they hold, and their schema."""


def dataset_card(files: Sequence[TableFile], sites: Iterable[str], choice: str) -> str:
    r"""Return the card of a dataset.

    Parameters
    ----------
    files : sequence of TableFile
        In the folders ``pages`` and ``sentences``; the first one is loaded by default.
    sites : iterable of str
        Sites of the pairs.
    choice : str
        A sentence on which pairs were chosen.

    Examples
    --------
    >>> from pathlib import Path
    >>> text = dataset_card([TableFile(Path("dataset/pages/en-fr.parquet"), ("en", "fr"), 3)], ["a.example"], "All.")
    >>> print(text.partition("---\n\n")[0])
    ---
    language: ["en", "fr"]
    task_categories: ["translation"]
    configs:
    - config_name: "pages-en-fr"
      data_files: "pages/en-fr.parquet"
      default: true
    <BLANKLINE>
    """
    langs = sorted({base_language(lang) for file in files for lang in file.langs})
    lines = ["---", f"language: {json.dumps(langs)}", 'task_categories: ["translation"]', "configs:"]
    for number, file in enumerate(files):
        lines += [f"- config_name: {json.dumps(_name(file))}", f"  data_files: {json.dumps(_place(file))}"]
        lines += ["  default: true"] if not number else []
    lines += ["---", "", *_text(files, sorted(set(sites)), choice)]
    return "\n".join(lines) + "\n"


def _kind(file: TableFile) -> str:
    return file.path.parent.name


def _name(file: TableFile) -> str:
    return f"{_kind(file)}-{'-'.join(file.langs)}"


def _place(file: TableFile) -> str:
    return f"{_kind(file)}/{file.path.name}"


def _text(files: Sequence[TableFile], sites: Sequence[str], choice: str) -> Iterator[str]:
    yield from ("# Pages that are translations of each other", "")
    yield f"Found by twinlink {__version__} on {len(sites):,} site{'s' * (len(sites) != 1)}. {choice}"
    yield from ("", "| configuration | rows | what |", "|---|---|---|")
    for file in files:
        yield f"| `{_name(file)}` | {file.n_rows:,} | {_KINDS[_kind(file)][0]}, {' and '.join(file.langs)} |"
    yield from ("", "```python", "from datasets import load_dataset", "")
    yield from (f'pairs = load_dataset("FOLDER", {json.dumps(_name(files[0]))}, split="train")', "```")
    for kind in dict.fromkeys(map(_kind, files)):
        title, schema = _KINDS[kind]
        yield from ("", f"## Columns of {title}", "", "| column | what it holds |", "|---|---|")
        for field in schema:
            yield f"| `{field.name}` | {field.metadata[b'description'].decode()} |"
    yield from ("", "## Sites", "", *(f"- {site}" for site in sites))
    yield from ("", "## Rights", "")
    yield "The texts belong to the sites above, and their terms apply; twinlink claims no rights in them."
