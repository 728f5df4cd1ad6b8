"""Decoding of pages, as in browsers where the labels are right and by content where they are wrong; what is HTML."""

from __future__ import annotations

import re

from resiliparse.parse.encoding import detect_encoding
from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    resolve_encoding,
    to_unicode,
)

# The decoders of the WHATWG Encoding Standard by Python's names, after w3lib has put big5 to big5hkscs, gbk to gb18030
# and so on; HZ beside them for old Chinese pages, and two of Kazakhstan. Any other label of Python's is refused: hex
# and rot13 are no text encodings, unicode_escape and idna raise whatever the error handler, punycode takes quadratic
# time.
_USABLE = frozenset(
    "utf-8 utf-16 utf-16-le utf-16-be utf-32-le utf-32-be big5hkscs gb18030 hz euc_jp cp932 iso2022_jp cp949"
    " cp866 cp874 koi8-r koi8-u mac-roman mac-cyrillic kz1048 ptcp154"
    " cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258"
    " iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-10 iso8859-13 iso8859-14 iso8859-15"
    " iso8859-16".split()
)
_WIDE = ("utf-16", "utf-32")
_SERVER_DEFAULT = "cp1252"  # what browsers read iso-8859-1 as: servers send it for any page, so it says least

# UTF-16 without a byte order mark: markup is ASCII, so that every second byte of much of the page is 0. No page in
# another encoding has a twentieth of its bytes so.
_WIDE_SAMPLE = 2_048
_WIDE_SHARE = 0.1

# Text in another encoding is valid UTF-8 by chance in some pairs of bytes (in one of five of Chinese text in GBK), not
# in so many in a row.
_SURE_UTF8 = 8
_INSIDE = bytes(range(0xC0))  # the bytes that begin no character of several bytes in UTF-8

# KZ-1048 is windows-1251 with the Kazakh letters in the places of letters that Russian does not have. қ and ң stand
# where ќ and ѕ of Macedonian do, and Macedonian lacks ы (as do Serbian and Ukrainian): no language has them together in
# windows-1251. A Russian page with a Macedonian name has two of them, a Kazakh page has one in 20 letters.
_KAZAKH_ONLY = bytes([0x8D, 0x9D, 0xBD, 0xBE])  # Қ қ Ң ң
_YERU = 0xFB  # ы
_SURE_KAZAKH = 3
_UNDECODABLE = "\ufffd"
_SURE_MISLABELLED = 4  # undecodable places of a page that is said to be UTF-8: fewer may be stray bytes
_OTHER_THAN_BIG5 = frozenset(("gb18030", "cp949"))
_PRIVATE_USE = re.compile("[\ue000-\uf8ff]")  # what much of Big5 would be in these: .36 of the characters of a sentence
_PRIVATE_SHARE = 0.15
_HTML = frozenset(("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"))
# Types that say nothing (the MIME Sniffing Standard's unknown types), and the two that XHTML is served with beside its
# own.
_UNKNOWN = frozenset(
    ("", "unknown/unknown", "application/unknown", "application/octet-stream", "text/xml", "application/xml")
)
_QUOTED = re.compile(r'"[^"]*"')
_TYPE = re.compile(r"(?:\A|,)\s*([\w.+-]+/[\w.+-]+)")  # not */*, which names no type
_MARKUP = re.compile(rb"<(?:!doctype\s+html|html|head|title|body|frameset)[\s>]", re.IGNORECASE)
SNIFFED_BYTES = 2_048
"""First bytes of a body that are searched for markup where its type says nothing."""


def decode(body: bytes, content_type: str = "") -> tuple[str, str]:
    """Decode a page; return its text and the encoding used (by Python's name).

    The first rule that applies decides:

    1. a byte order mark;
    2. UTF-16 without one, where every second byte of the page's beginning is 0;
    3. the labels: charset of the Content-Type header, and meta element or XML declaration in the first 4,096 bytes.
       A body that is clearly UTF-8 is decoded as UTF-8 regardless of the labels. Where they differ, the one that fits
       all bytes; where both do, the one that the bytes look like; else the header, unless that says iso-8859-1, which
       servers send unasked;
    4. UTF-8 if the body is valid in it, a guess from the bytes (uchardet in resiliparse), UTF-8: without labels, and
       where the label says UTF-8, but of what is not ASCII more is undecodable than not. A guess of GB18030 or Korean
       that gives many characters for private use is Big5 if that fits all bytes.

    Labels mean what they mean to browsers (``big5`` includes the Hong Kong characters), and windows-1251 is KZ-1048
    where the bytes are Kazakh. Unlike in browsers, a wrong header does not override a right meta element: old sites
    were moved to servers that send one header for all. Undecodable bytes become U+FFFD.

    Examples
    --------
    >>> decode("<p>嘅</p>".encode("big5hkscs"), "text/html; charset=Big5")
    ('<p>嘅</p>', 'big5hkscs')
    """
    mark, mark_bytes = read_bom(body)
    if mark is not None and mark_bytes is not None:
        return to_unicode(body[len(mark_bytes) :], mark), mark
    charset = _wide(body) or _labelled(body, content_type)
    if charset is None:
        return _decode_unlabelled(body)
    if charset == "utf-16":
        charset = "utf-16-le"  # the standard's meaning of the label without a byte order mark
    if charset == "cp1251" and _is_kazakh(body):
        charset = "kz1048"
    text = to_unicode(body, charset)
    return _decode_unlabelled(body) if charset == "utf-8" and _is_mislabelled(text) else (text, charset)


def decode_as(body: bytes, charset: str) -> str:
    """Return the text of a page whose encoding is known: what `decode` has returned with it.

    >>> decode_as("\ufeff<p>嘅</p>".encode(), "utf-8")
    '<p>嘅</p>'
    """
    mark, mark_bytes = read_bom(body)
    return to_unicode(body[len(mark_bytes) :] if mark is not None and mark_bytes else body, charset)


def _is_mislabelled(text: str) -> bool:
    """Return whether a text that was decoded as UTF-8 has more undecodable places than characters beyond ASCII."""
    n_undecodable = text.count(_UNDECODABLE)
    return n_undecodable >= _SURE_MISLABELLED and 2 * n_undecodable > len(text) - len(text.encode("ascii", "ignore"))


def _wide(body: bytes) -> str | None:
    """Return the UTF-16 that a body without byte order mark is in, None for any other encoding."""
    sample = body[:_WIDE_SAMPLE]
    if b"\0" not in sample:
        return None
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    enough = _WIDE_SHARE * len(sample)
    if odd > enough and even * 10 <= odd:
        return "utf-16-le"
    return "utf-16-be" if even > enough and odd * 10 <= even else None


def _labelled(body: bytes, content_type: str) -> str | None:
    """Return the encoding that header and page name, or the better of two; None if they name none."""
    header = _usable(http_content_type_encoding(content_type))
    declared = _declared(body)
    labels = list(dict.fromkeys(label for label in (header, declared) if label))
    if not labels or labels == ["utf-8"]:
        return labels[0] if labels else None
    fitting = [label for label in labels if _fits(body, label)] if len(labels) > 1 else labels
    if _is_utf8(body, labels):
        return "utf-8"
    if len(fitting) == 1:
        return fitting[0]
    guess = _guess(body)
    if guess in labels:
        return guess
    return labels[1] if labels[0] == _SERVER_DEFAULT else labels[0]


def _fits(body: bytes, charset: str) -> bool:
    try:
        body.decode(charset)
    except UnicodeDecodeError:
        return False
    return True


def _is_utf8(body: bytes, labels: list[str]) -> bool:
    """Return whether a body is UTF-8 beyond doubt, or beyond the doubt that labels which do not fit leave."""
    if body.isascii() or not _fits(body, "utf-8"):
        return False
    n_characters = len(body.translate(None, _INSIDE))
    return n_characters >= _SURE_UTF8 or "utf-8" in labels or not any(_fits(body, label) for label in labels)


def _is_kazakh(body: bytes) -> bool:
    return body.count(_YERU) > 0 and sum(map(body.count, _KAZAKH_ONLY)) >= _SURE_KAZAKH


def _usable(charset: str | None) -> str | None:
    if charset == "cp950":
        return "big5hkscs"  # Microsoft's Big5: pages that say so have the Hong Kong characters as often
    return charset if charset in _USABLE else None


def _declared(body: bytes) -> str | None:
    charset = _usable(html_body_declared_encoding(body))
    if charset is not None and charset.startswith(_WIDE):
        return "utf-8"  # a declaration that can be read as ASCII is wrong about UTF-16; the standard says UTF-8
    return charset


def _guess(body: bytes) -> str | None:
    guess = detect_encoding(body, html5_compatible=False)  # True turns cp949 (Korean) into UTF-8
    return _usable(resolve_encoding(guess)) if guess else None


def _is_private(text: str) -> bool:
    """Return whether many of the characters beyond ASCII are for private use."""
    n_private = len(_PRIVATE_USE.findall(text))
    return n_private > _PRIVATE_SHARE * (len(text) - len(text.encode("ascii", "ignore")))


def _decode_unlabelled(body: bytes) -> tuple[str, str]:
    try:
        return body.decode(), "utf-8"
    except UnicodeDecodeError:
        charset = _guess(body)
    if charset == "cp1251" and _is_kazakh(body):
        charset = "kz1048"
    text = to_unicode(body, charset or "utf-8")
    if charset in _OTHER_THAN_BIG5 and _is_private(text) and _fits(body, "big5hkscs"):
        charset, text = "big5hkscs", to_unicode(body, "big5hkscs")
    return text, charset or "utf-8"


def is_html(content_type: str, body: bytes) -> bool:
    """Return whether a response is an HTML page: by its Content-Type, and by its first bytes where that says nothing.

    Of several types (two headers, joined by a comma), the last one counts, as in browsers.

    Examples
    --------
    >>> is_html("text/html; charset=big5", b""), is_html("", b"<!DOCTYPE html><p>"), is_html("image/png", b"<html>")
    (True, True, False)
    """
    types = _TYPE.findall(_QUOTED.sub("", content_type))
    essence = types[-1].lower() if types else ""
    if essence in _UNKNOWN:
        return _MARKUP.search(body[:SNIFFED_BYTES].replace(b"\0", b"")) is not None  # without NULs also in UTF-16
    return essence in _HTML
