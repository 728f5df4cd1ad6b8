"""WACZ files: read where they lie, damaged, hostile."""

from __future__ import annotations

import tracemalloc
import zipfile
from pathlib import Path

import pytest

from tests.archives import captures, respond, write_wacz
from twinlink.errors import InputError
from twinlink.sources import wacz
from twinlink.sources.documents import Document
from twinlink.sources.wacz import read_wacz
from twinlink.sources.warc import read_warc
from twinlink.tables import Reject

LIMIT = 100_000
URL = "http://www.example.org/"


def body(number: int) -> bytes:
    return b"<!DOCTYPE html><p>page %d" % number


def archive(folder: Path, name: str = "data.warc.gz", numbers: range = range(5), packed: bool = True) -> Path:
    for number in numbers:
        respond(folder / name, f"{URL}{number}", body(number), packed=packed)
    return folder / name


def read(path: Path) -> list[Document | Reject]:
    return list(read_wacz(path, LIMIT))


def numbers(path: Path) -> list[str]:
    return [item.url[-1] for item in read(path) if isinstance(item, Document)]


def rejects(path: Path) -> list[tuple[str, str]]:
    return [(item.url, item.reason) for item in read(path) if isinstance(item, Reject)]


@pytest.mark.parametrize("pack", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("name", ["data.warc.gz", "data.warc"])
def test_an_archive_in_it_reads_as_beside_it(tmp_path: Path, pack: int, name: str) -> None:
    plain = archive(tmp_path, name, packed=name.endswith("gz"))
    path = write_wacz(tmp_path / "x.wacz", [plain], [f"{URL}{n}" for n in range(5)], pack)
    beside = list(read_warc(plain, LIMIT))
    assert [(item.url, item.body, item.offset) for item in read(path)] == [(d.url, d.body, d.offset) for d in beside]
    assert {item.source for item in read(path)} == {f"x.wacz/archive/{name}"}
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([name, "x.wacz"])  # nothing was unpacked


def test_all_archives_are_read_as_one(tmp_path: Path) -> None:
    first, second = archive(tmp_path, "b.warc.gz", range(2)), archive(tmp_path, "a.warc", range(2, 4), packed=False)
    respond(first, URL + "x", body(7), WARC_Payload_Digest="sha1:X")
    respond(second, URL + "y", b"", packed=False, kind="revisit", WARC_Payload_Digest="sha1:X")
    documents = [item for item in read(write_wacz(tmp_path / "x.wacz", [first, second])) if isinstance(item, Document)]
    assert {document.url[-1]: document.body for document in documents} == {
        **{str(n): body(n) for n in range(4)},
        "x": body(7),
        "y": body(7),
    }


def test_pages_that_are_listed_but_not_there_are_counted(tmp_path: Path) -> None:
    pages = [URL + "1#top", URL + "gone", "about:blank", "no address"]
    path = write_wacz(tmp_path / "x.wacz", [archive(tmp_path)], pages)
    assert rejects(path) == [(URL + "gone", "missing-page")]


def test_no_list_and_no_description_are_needed(tmp_path: Path) -> None:
    path = tmp_path / "x.wacz"
    with zipfile.ZipFile(path, "w") as container:
        container.write(archive(tmp_path), "archive/data.warc.gz")
        container.writestr("pages/pages.jsonl", b'{"url": 5}\n\xff\nnull\n{"url"')
    assert (numbers(path), rejects(path)) == (list("01234"), [])


@pytest.mark.parametrize("pack", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_damage_loses_only_the_affected_records(tmp_path: Path, pack: int) -> None:
    plain = archive(tmp_path, numbers=range(9))
    path = write_wacz(tmp_path / "x.wacz", [plain], [], pack)
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as container:
        start = container.infolist()[0].header_offset + 30 + len("archive/data.warc.gz")
    place = start + captures(plain)[4][1] + 20
    data[place : place + 8] = b"\xff" * 8
    path.write_bytes(data)
    found = numbers(path)
    if pack == zipfile.ZIP_STORED:
        assert found == list("01235678")
    else:  # what comes behind damage in a packed member is lost, and said to be
        assert found == list("01234"[: len(found)])
    assert len(rejects(path)) == 1


def test_names_that_lead_elsewhere_lead_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "in" / "x.wacz"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as container:
        container.write(archive(tmp_path), "../../archive/evil.warc.gz")
        container.write(tmp_path / "data.warc.gz", "/etc/evil.warc.gz")
    assert numbers(path) == list("0123401234")
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["data.warc.gz", "in", "x.wacz"]


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "x.wacz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as container:
        with container.open("archive/bomb.warc", "w") as member:
            for _ in range(100):
                member.write(bytes(2**20))
        container.write(archive(tmp_path), "archive/data.warc.gz")
    tracemalloc.start()
    assert numbers(path) == list("01234")
    assert rejects(path) == [("x.wacz/archive/bomb.warc", "too-large")]
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()


def test_members_that_lie_over_each_other(tmp_path: Path) -> None:
    path = tmp_path / "x.wacz"
    with zipfile.ZipFile(path, "w") as container:
        container.write(archive(tmp_path), "archive/data.warc.gz")
        container.filelist *= 50
    with pytest.raises(InputError, match="members that overlap"):
        read(path)


def test_an_encrypted_member_is_counted(tmp_path: Path) -> None:
    plain = archive(tmp_path)
    path = write_wacz(tmp_path / "x.wacz", [plain, archive(tmp_path, "other.warc.gz", range(5, 7))])
    data = bytearray(path.read_bytes())
    central = data.rindex(b"PK\1\2", 0, data.index(b"archive/data.warc.gz", data.index(b"PK\1\2")))
    data[central + 8] |= 1
    path.write_bytes(data)
    assert numbers(path) == ["5", "6"]
    assert rejects(path) == [("x.wacz/archive/data.warc.gz", "damaged-record")]


def test_file_that_is_not_a_wacz(tmp_path: Path) -> None:
    path = tmp_path / "x.wacz"
    for data, text in ((b"", "zip"), (b"PK\3\4 broken", "zip")):
        path.write_bytes(data)
        with pytest.raises(InputError, match=text):
            read(path)
    with zipfile.ZipFile(path, "w") as container:
        container.writestr("pages/pages.jsonl", "")
    with pytest.raises(InputError, match="no archive"):
        read(path)
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path / "missing.wacz")


@pytest.mark.parametrize("pack", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_cut_anywhere_it_is_an_error_or_less(tmp_path: Path, pack: int) -> None:
    path = write_wacz(tmp_path / "x.wacz", [archive(tmp_path)], [], pack)
    data = path.read_bytes()
    for size in range(0, len(data), 37):
        path.write_bytes(data[:size])
        with pytest.raises(InputError):
            read(path)


def collection(folder: Path, pack: int = zipfile.ZIP_STORED, inner_pack: int = zipfile.ZIP_STORED) -> Path:
    """Write a WACZ file that has two in it."""
    with zipfile.ZipFile(folder / "all.wacz", "w", pack) as container:
        for number, name in enumerate(("a", "b")):
            inside = archive(folder, f"{name}.warc.gz", range(2 * number, 2 * number + 2))
            inner = write_wacz(folder / f"{name}.wacz", [inside], [f"{URL}{2 * number}", f"{URL}{name}"], inner_pack)
            container.write(inner, inner.name)
            inside.unlink()
            inner.unlink()
        container.writestr("datapackage.json", '{"profile": "multi-wacz-package"}')
    return folder / "all.wacz"


@pytest.mark.parametrize("pack", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("inner_pack", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_packages_in_a_package_are_read_where_they_lie(tmp_path: Path, pack: int, inner_pack: int) -> None:
    path = collection(tmp_path, pack, inner_pack)
    documents = [item for item in read(path) if isinstance(item, Document)]
    assert {document.url[-1]: document.body for document in documents} == {str(n): body(n) for n in range(4)}
    assert {document.source for document in documents} == {
        "all.wacz/a.wacz/archive/a.warc.gz",
        "all.wacz/b.wacz/archive/b.warc.gz",
    }
    assert rejects(path) == [(f"{URL}a", "missing-page"), (f"{URL}b", "missing-page")]
    assert [file.name for file in tmp_path.iterdir()] == ["all.wacz"]


def test_a_page_of_one_package_may_have_its_body_in_another(tmp_path: Path) -> None:
    first, second = archive(tmp_path, "a.warc.gz", range(1)), archive(tmp_path, "b.warc.gz", range(1, 2))
    respond(first, URL + "x", body(7), WARC_Payload_Digest="sha1:X")
    respond(second, URL + "y", b"", kind="revisit", WARC_Payload_Digest="sha1:X")
    with zipfile.ZipFile(tmp_path / "all.wacz", "w") as container:
        for inside in (second, first):
            container.write(write_wacz(tmp_path / f"{inside.name}.wacz", [inside]), f"{inside.name}.wacz")
    assert sorted(numbers(tmp_path / "all.wacz")) == ["0", "1", "x", "y"]


def test_invalid_package_does_not_affect_others(tmp_path: Path) -> None:
    good = write_wacz(tmp_path / "good.wacz", [archive(tmp_path)])
    with zipfile.ZipFile(tmp_path / "nested.wacz", "w") as container:
        container.write(good, "deep.wacz")
    with zipfile.ZipFile(tmp_path / "all.wacz", "w", zipfile.ZIP_DEFLATED) as container:
        container.writestr("a.wacz", b"no zip at all")
        container.write(good, "b.wacz")
        container.writestr("c.wacz", bytes(100_000_000))
        container.write(tmp_path / "nested.wacz", "d.wacz")
    path = tmp_path / "all.wacz"
    assert numbers(path) == ["0", "1", "2", "3", "4"]
    assert rejects(path) == [
        ("all.wacz/a.wacz", "damaged-record"),
        ("all.wacz/c.wacz", "too-large"),
        ("all.wacz/d.wacz/deep.wacz", "damaged-record"),
    ]


def test_lists_of_pages_are_read_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wacz, "_MAX_LISTED", 50)
    path = tmp_path / "x.wacz"
    with zipfile.ZipFile(path, "w") as container:
        container.write(archive(tmp_path), "archive/data.warc.gz")
        container.writestr("pages/pages.jsonl", "".join(f'{{"url": "{URL}{n}"}}\n' for n in range(3_000)))
    assert numbers(path) == list("01234")
    missing = [item for item in read(path) if isinstance(item, Reject)]
    assert len(missing) == 50 - 5 + 1
    assert missing[-1].url == "x.wacz"
    assert "more than 50 pages" in missing[-1].detail
