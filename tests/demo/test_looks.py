"""Style sheet and pictures of the demo site: whole files, and every picture that the sheet names is there."""

from __future__ import annotations

import struct
import zlib

import pytest

from twinlink.demo.looks import CREST, STYLE_SHEET, look_files
from twinlink.review.safe_html.wanted import pictures_of_sheet
from twinlink.sources.resources import kind_of

FILES = look_files()


@pytest.mark.parametrize("path", [path for path in FILES if path.endswith(".png")])
def test_pictures_are_png_files(path: str) -> None:
    content = FILES[path]
    assert kind_of(content, "image/png") == "image/png"
    assert content[12:16] == b"IHDR"
    width, height = struct.unpack(">II", content[16:24])
    (length,) = struct.unpack(">I", content[33:37])
    data = content[41 : 41 + length]
    assert struct.unpack(">I", content[41 + length : 45 + length])[0] == zlib.crc32(b"IDAT" + data)
    assert len(zlib.decompress(data)) == height * (4 * width + 1)


def test_style_sheet_names_pictures_that_are_there() -> None:
    css = FILES[STYLE_SHEET]
    assert kind_of(css, "text/css") == "text/css"
    assert "prefers-color-scheme: dark" in css.decode()
    named = {url.removeprefix("http://a.org") for url in pictures_of_sheet(css.decode(), f"http://a.org{STYLE_SHEET}")}
    assert named | {CREST, STYLE_SHEET} == set(FILES)
