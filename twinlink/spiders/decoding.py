"""From the bytes of a page to text, as browsers decide it, but safe for every label that a page may carry."""

from __future__ import annotations

from resiliparse.parse.encoding import detect_encoding
from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    resolve_encoding,
    to_unicode,
)

__all__ = ["decode"]

# The decoders of the WHATWG Encoding Standard by Python's names, after w3lib has put big5 to big5hkscs, gbk to gb18030
# and so on; HZ beside them for old Chinese pages. Any other label of Python's is refused: hex and rot13 are no text
# encodings, unicode_escape and idna raise whatever the error handler, punycode takes quadratic time.
_USABLE = frozenset(
    "utf-8 utf-16 utf-16-le utf-16-be utf-32-le utf-32-be big5hkscs gb18030 hz euc_jp cp932 iso2022_jp cp949"
    " cp866 cp874 koi8-r koi8-u mac-roman mac-cyrillic"
    " cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258"
    " iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-10 iso8859-13 iso8859-14 iso8859-15"
    " iso8859-16".split()
)


def decode(body: bytes, content_type: str = "") -> tuple[str, str]:
    """Decode a page; return its text and the encoding that was taken (Python's name of it).

    The first that says something decides: byte order mark, charset of the Content-Type header, meta element or XML
    declaration in the first 4,096 bytes, UTF-8 if the body is valid in it, a guess from the bytes (uchardet in
    resiliparse), UTF-8. Labels mean what they mean to browsers (``big5`` includes the Hong Kong characters).
    Undecodable bytes become U+FFFD.

    Examples
    --------
    >>> decode("<p>嘅</p>".encode("big5hkscs"), "text/html; charset=Big5")
    ('<p>嘅</p>', 'big5hkscs')
    """
    mark, mark_bytes = read_bom(body)
    if mark is not None and mark_bytes is not None:
        return to_unicode(body[len(mark_bytes) :], mark), mark
    charset = _usable(http_content_type_encoding(content_type)) or _declared(body)
    if charset is None:
        return _decode_unlabelled(body)
    if charset == "utf-16":
        charset = "utf-16-le"  # the standard's meaning of the label without a byte order mark
    return to_unicode(body, charset), charset


def _usable(charset: str | None) -> str | None:
    if charset == "cp950":
        return "big5hkscs"  # Microsoft's Big5: pages that say so have the Hong Kong characters as often
    return charset if charset in _USABLE else None


def _declared(body: bytes) -> str | None:
    charset = _usable(html_body_declared_encoding(body))
    if charset is not None and charset.startswith(("utf-16", "utf-32")):
        return "utf-8"  # a declaration that can be read as ASCII is wrong about UTF-16; the standard says UTF-8
    return charset


def _decode_unlabelled(body: bytes) -> tuple[str, str]:
    try:
        return body.decode(), "utf-8"
    except UnicodeDecodeError:
        guess = detect_encoding(body, html5_compatible=False)  # True turns cp949 (Korean) into UTF-8
    charset = _usable(resolve_encoding(guess)) if guess else None
    return to_unicode(body, charset or "utf-8"), charset or "utf-8"
