"""Style sheet and pictures of the demo site, light and dark; the pictures are drawn here."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable
from importlib.resources import files

STYLE_SHEET = "/look/site.css"
CREST = "/look/crest.png"
_BANNER = "/look/banner.png"

_Pixel = tuple[int, int, int, int]
_NOTHING: _Pixel = (0, 0, 0, 0)
_WHITE: _Pixel = (255, 255, 255, 255)


def look_files() -> dict[str, bytes]:
    """Return the style sheet and the pictures by their paths."""
    return {
        STYLE_SHEET: files("twinlink.demo").joinpath("site.css").read_bytes(),
        CREST: _png(96, 96, _crest),
        _BANNER: _png(360, 96, _hills),
    }


def _crest(x: int, y: int) -> _Pixel:
    """Return a pixel of a white flower of five petals on a green disc."""
    across, down = x - 47.5, y - 47.5
    radius, angle = math.hypot(across, down), math.atan2(down, across)
    if radius > 46:
        return _NOTHING
    if radius > 42:
        return _WHITE
    petal = 12 + 22 * abs(math.cos(2.5 * (angle + math.pi / 2)))
    return _WHITE if 5 < radius < petal else (23, 128, 122, 255)


def _hills(x: int, y: int) -> _Pixel:
    """Return a pixel of hills above a harbour, which fade out to the left."""
    fade = min(1.0, x / 240)
    for height, colour in ((30, (90, 170, 168)), (52, (60, 140, 140)), (78, (38, 112, 116))):
        crest = height + 11 * math.sin(x / 23 + height) + 6 * math.sin(x / 9 + 2 * height)
        if y >= 96 - (96 - crest) * fade:
            return (*colour, int(150 * fade))
    return _NOTHING


def _png(width: int, height: int, pixel: Callable[[int, int], _Pixel]) -> bytes:
    """Return a picture as PNG (ISO/IEC 15948): 8 bits for each of red, green, blue and opacity, no filter."""
    rows = (b"\0" + bytes(value for x in range(width) for value in pixel(x, y)) for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(b"".join(rows), 9)), (b"IEND", b""))
    written = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(written)
