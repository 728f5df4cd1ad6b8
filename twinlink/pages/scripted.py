"""Detection of pages that are empty until a browser has run their scripts, from the page as served."""

from __future__ import annotations

import re
from collections.abc import Mapping

from twinlink.pages.content import TooDeepError
from twinlink.pages.parser import run_parser

_MAX_TEXT = 200
"""Characters of text that the shell of a page built by scripts may have (a title bar, a footer)."""
_MAX_LINKS = 2
"""Links to other pages that such a shell may have."""
_MAX_ANCHORS = 12  # larger pages are skipped: this decides most cases

_UNSEEN = frozenset(("script", "style", "template", "title", "svg", "math", "head"))
_FRAMES = frozenset(("frame", "frameset", "iframe", "object", "embed"))
# Root elements of the usual frameworks: React, Vue, Angular, Next, Nuxt, Svelte, Gatsby, Ember, Quasar.
_MOUNTS = frozenset(
    "root app main-app react-root app-root __next __nuxt __layout ___gatsby svelte ember-application app-container"
    " app-mount q-app".split()
)
_MOUNT_TAGS = frozenset(("app-root", "my-app", "ng-app", "app", "main-app", "app-main"))
_MOUNT_ATTRIBUTES = frozenset(("ng-app", "data-ng-app", "data-reactroot", "data-server-rendered", "ng-version"))
_RUNS = frozenset(("", "module", "text/javascript", "application/javascript", "application/x-javascript"))
_NO_LINK = re.compile(r"\s*(?:#|$|javascript:|mailto:|tel:|data:)", re.IGNORECASE)
_ASKS = re.compile(r"javascript|java script|\bscripts?\b|脚本|腳本|スクリプト|자바스크립트|скрипт", re.IGNORECASE)
_WAITING = re.compile(
    r"loading|please wait|redirecting|one moment|just a moment|"
    r"載入中|载入中|加载中|正在加载|正在載入|請稍候|请稍候|請稍等|请稍等|загрузка|подождите|жүктелуде|读取中|読み込み中|로딩",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w")


def needs_scripts(body: bytes, content_type: str = "") -> bool:
    """Return whether a page has almost no text or links before its scripts have run.

    It has scripts, no frames, no ``meta refresh``, at most 2 links to other pages and 200 characters of text, and one
    of these: an empty element that a framework fills (``<div id=root></div>``); a ``noscript`` notice that asks for
    JavaScript, and not one link; not one word but such as "Loading …", and not one link.

    Parameters
    ----------
    body : bytes
        The page as served, content encoding removed.
    content_type : str, optional
        Its Content-Type header.

    Examples
    --------
    >>> needs_scripts(b"<title>Shop</title><div id=root></div><script src=/main.js></script>")
    True
    >>> needs_scripts(b"<p>Closed on Mondays.</p><script src=/count.js></script>")
    False
    """
    lower = body.lower()
    if b"<script" not in lower or lower.count(b"<a ") > _MAX_ANCHORS or lower.count(b"<p") > _MAX_ANCHORS:
        return False
    shell, cut, _ = run_parser(body, content_type, _Shell)
    return not cut and shell.is_empty()


def is_blank(body: bytes, content_type: str = "") -> bool:
    """Return whether a page has no words (except such as "Loading …"), no link and no frame, regardless of scripts.

    Examples
    --------
    >>> is_blank(b"<div id=root>Loading ...</div>"), is_blank(b"<p>ok")
    (True, False)
    """
    shell, cut, _ = run_parser(body, content_type, _Shell)
    return not cut and shell.is_blank()


class _Shell:
    """Target of the parser: counts what a page has without its scripts."""

    def __init__(self, max_depth: int) -> None:
        self._max_depth = max_depth
        self._depth = 0
        self._unseen = 0  # depth of the invisible element; 0 for none
        self._notice = 0  # depth of the noscript element
        self._mounts: list[tuple[int, int, int]] = []  # those open: depth, words and links before it
        self._texts: list[str] = []
        self._notices: list[str] = []
        self._n_links = 0
        self._n_scripts = 0
        self._has_frames = False
        self._has_empty_mount = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Take a start tag."""
        self._depth += 1
        depth = self._depth
        if depth > self._max_depth:
            raise TooDeepError
        if tag == "script" and attributes.get("type", "").strip().lower() in _RUNS:
            self._n_scripts += 1
        if self._unseen:
            return
        if tag in _UNSEEN and tag != "head":
            self._unseen = depth
        elif tag == "noscript":
            self._notice = self._notice or depth
        elif tag in _FRAMES or (tag == "meta" and attributes.get("http-equiv", "").lower() == "refresh"):
            self._has_frames = self._has_frames or not self._notice  # what a noscript element has is a way round
        elif tag in ("a", "area") and not _NO_LINK.match(attributes.get("href", "")):
            self._n_links += 1
        elif _is_mount(tag, attributes):
            self._mounts.append((depth, len(self._texts), self._n_links))

    def end(self, _tag: str) -> None:
        """Take an end tag."""
        depth = self._depth
        self._depth -= 1
        self._unseen = 0 if self._unseen == depth else self._unseen
        self._notice = 0 if self._notice == depth else self._notice
        if self._mounts and self._mounts[-1][0] == depth:
            _, n_texts, n_links = self._mounts.pop()
            is_filled = n_links < self._n_links or _says_something("".join(self._texts[n_texts:]))
            self._has_empty_mount = self._has_empty_mount or not is_filled

    def data(self, text: str) -> None:
        """Take a text."""
        if self._notice:
            self._notices.append(text)
        elif not self._unseen:
            self._texts.append(text)

    def close(self) -> None:
        """Finish the page."""

    def is_empty(self) -> bool:
        """Return whether scripts have to fill the page."""
        text = self._text()
        if not self._n_scripts or self._has_frames or len(text) > _MAX_TEXT or self._n_links > _MAX_LINKS:
            return False
        if self._has_empty_mount:
            return True
        notice = " ".join("".join(self._notices).split())
        asks = bool(_ASKS.search(notice)) and len(notice) <= _MAX_TEXT
        return not self._n_links and (asks or not _says_something(text))

    def is_blank(self) -> bool:
        """Return whether there is no text and no link."""
        return not (self._n_links or self._has_frames or _says_something(self._text()))

    def _text(self) -> str:
        return " ".join("".join(self._texts).split())


def _is_mount(tag: str, attributes: Mapping[str, str]) -> bool:
    if tag in ("html", "body"):  # they may be marked as the place of an application, and have a page all the same
        return False
    return (
        tag in _MOUNT_TAGS
        or attributes.get("id", "").lower() in _MOUNTS
        or not _MOUNT_ATTRIBUTES.isdisjoint(attributes)
    )


def _says_something(text: str) -> bool:
    """Return whether a text has words other than those that ask to wait."""
    return _WORD.search(_WAITING.sub("", text)) is not None
