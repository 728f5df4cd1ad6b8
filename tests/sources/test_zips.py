"""Zips whose list of members is made to fill the memory, or to be read many times over."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest

from twinlink.sources.zips import open_zip


def packed(n_members: int, comment: bytes = b"") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as container:
        for number in range(n_members):
            container.writestr(f"{number:04}", b"x")
        container.comment = comment
    return file.getvalue()


def large(n_bytes: int) -> bytes:
    """Return the end of a zip of many members, whose list has so many bytes."""
    end = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, n_bytes, 0)
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, 0, 1)
    return end + locator + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 1, 1, 46, 0, 0)


@pytest.mark.parametrize("comment", [b"", b"a comment"])
def test_a_list_of_members_up_to_its_limit(comment: bytes) -> None:
    data = packed(10, comment)
    assert len(open_zip(io.BytesIO(data), 500).infolist()) == 10  # 46 bytes and a name each
    with pytest.raises(zipfile.BadZipFile, match="500 bytes, expected at most 499"):
        open_zip(io.BytesIO(data), 499)


def test_a_large_zip_says_it_elsewhere() -> None:
    with pytest.raises(zipfile.BadZipFile, match="5000000000 bytes"):
        open_zip(io.BytesIO(bytes(100) + large(5_000_000_000)), 10**6)


def test_a_size_that_looks_like_another_end() -> None:
    mark = int.from_bytes(b"PK\5\6", "little")
    data = bytes(100) + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 1, 1, mark, 0, 0)
    with pytest.raises(zipfile.BadZipFile, match=f"{mark} bytes"):
        open_zip(io.BytesIO(data), 10**6)


@pytest.mark.parametrize("data", [b"", b"PK\5\6", b"no zip at all", b"PK\5\6" + bytes(17)])
def test_file_that_is_not_a_zip(data: bytes) -> None:
    with pytest.raises(zipfile.BadZipFile):
        open_zip(io.BytesIO(data), 10**6)


def test_members_over_each_other() -> None:
    data = packed(2)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as container:
        container.writestr("a", data * 50)
        container.filelist *= 50
    with pytest.raises(zipfile.BadZipFile, match="members that overlap"):
        open_zip(file, 10**6)
