"""Lists of pages: one line per page, its address, a tab, its file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from twinlink.errors import InputError
from twinlink.inputs import ANY_FILE, open_input
from twinlink.pages.decoding import is_html
from twinlink.rejects import Reject
from twinlink.sources.addresses import PAGE_SUFFIXES, suffix_of
from twinlink.sources.documents import Document
from twinlink.sources.files import UnusableError, locate, read_file, short_lines
from twinlink.urls import normalise

_MAX_LINE_BYTES = 2**16
_Line = tuple[str, str, str]  # address, file, Content-Type


def read_list(path: Path, max_page_bytes: int) -> Iterator[Document | Reject]:
    """Yield the pages of a list.

    Parameters
    ----------
    path : Path
        UTF-8 text, ``URL<TAB>file`` or ``URL<TAB>file<TAB>Content-Type`` a line; empty lines, those that begin with
        ``#`` and a first line of column names are passed over. Files are named from the list's folder on and must lie
        in it.
    max_page_bytes : int
        Largest page.

    Yields
    ------
    Document or Reject
        Rejects (stage ``ingest``): ``bad-line``, ``bad-url``, ``unreadable`` (also: outside the folder), ``too-large``,
        ``not-html``.

    Raises
    ------
    InputError
        If the list cannot be read or has no line of this form.
    """
    n_lines = 0
    root = path.parent.resolve()
    for line in _lines(path):
        if isinstance(line, Reject):
            yield line
        else:
            n_lines += 1
            yield _read_line(line, root, max_page_bytes)
    if not n_lines:
        raise InputError(f"{path}: expected lines of an address, a tab and a file name, found none")


def files_of_list(path: Path) -> Iterator[Path]:
    """Yield the files that a list names and that are there."""
    for line in _lines(path):
        if not isinstance(line, Reject):
            try:
                file = locate(line[1], path.parent)
                if file.is_file():
                    yield file
            except (UnusableError, OSError):
                continue


def _read_line(line: _Line, root: Path, limit: int) -> Document | Reject:
    address, name, content_type = line
    url = normalise(address)
    if url is None:
        return Reject(address, "ingest", "bad-url")
    try:
        body = read_file(locate(name, root), root, limit)
    except UnusableError as error:
        return Reject(url, "ingest", error.reason, f"{_text(name)}: {error.detail}")
    if len(body) > limit:
        return Reject(url, "ingest", "too-large", f"more than {limit} bytes")
    said = content_type or ("text/html" if suffix_of(name) in PAGE_SUFFIXES else "")
    if not is_html(said, body):
        return Reject(url, "ingest", "not-html", content_type)
    return Document(url, 200, content_type, "", "", body, None, _text(name), -1)


def _lines(path: Path) -> Iterator[_Line | Reject]:
    try:
        with open_input(path, ANY_FILE) as file:
            for number, raw in enumerate(short_lines(file, _MAX_LINE_BYTES), 1):
                # Names of files may be in any encoding.
                text = None if raw is None else raw.decode("utf-8", "surrogateescape")
                line = "" if text is None else text.rstrip("\r\n").removeprefix("\ufeff")
                is_text = line.strip() and not line.startswith("#") and not (number == 1 and _is_header(line))
                if text is None or is_text:
                    yield _line(line) or Reject(path.name, "ingest", "bad-line", f"line {number}")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


def _is_header(line: str) -> bool:
    """Return whether a line has names of columns: its first two cells have no sign of an address or a file."""
    return "\t" in line and not any(sign in cell for cell in line.split("\t")[:2] for sign in "/.?:")


def _line(line: str) -> _Line | None:
    address, name, content_type, *more = [*(part.strip() for part in line.split("\t")), "", ""]
    return (_text(address), name, _text(content_type)) if address and name and len(more) <= 2 else None


def _text(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
