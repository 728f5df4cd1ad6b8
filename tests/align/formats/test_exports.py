"""Files for other programs: valid, read back, the same bytes every time."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime

import numpy as np
import pytest
from lxml import etree

from twinlink.align.formats.exports import (
    Row,
    open_for_reading,
    open_for_writing,
    write_jsonl,
    write_moses,
    write_tmx,
    write_tsv,
)
from twinlink.align.formats.sentence_files import bead_lines, read_beads
from twinlink.errors import InputError
from twinlink.tables import SEGMENTS

# What of the TMX 1.4b document type the files use: its content models and required attributes, less the optional ones
# that twinlink never writes. What is valid here is valid by the specification's tmx14.dtd.
DTD = """
<!ELEMENT tmx (header, body)> <!ATTLIST tmx version CDATA #FIXED "1.4">
<!ELEMENT header (note|prop|ude)*>
<!ATTLIST header creationtool CDATA #REQUIRED creationtoolversion CDATA #REQUIRED
  segtype (block|paragraph|sentence|phrase) #REQUIRED o-tmf CDATA #REQUIRED adminlang CDATA #REQUIRED
  srclang CDATA #REQUIRED datatype CDATA #REQUIRED o-encoding CDATA #IMPLIED creationdate CDATA #IMPLIED
  creationid CDATA #IMPLIED changedate CDATA #IMPLIED changeid CDATA #IMPLIED>
<!ELEMENT note (#PCDATA)> <!ELEMENT ude EMPTY>
<!ELEMENT prop (#PCDATA)> <!ATTLIST prop type CDATA #REQUIRED xml:lang CDATA #IMPLIED o-encoding CDATA #IMPLIED>
<!ELEMENT body (tu*)>
<!ELEMENT tu ((note|prop)*, tuv+)>
<!ATTLIST tu tuid CDATA #IMPLIED creationdate CDATA #IMPLIED srclang CDATA #IMPLIED>
<!ELEMENT tuv ((note|prop)*, seg)> <!ATTLIST tuv xml:lang CDATA #REQUIRED>
<!ELEMENT seg (#PCDATA)>
"""
ROWS = [
    Row(
        "http://x.org/en/1?a=1&b=2",
        "http://x.org/zh/1",
        "Tom & <b>Jerry</b>",
        "湯姆和傑利",
        0.98765,
        "1-1",
        1.5,
        "x.org",
    ),
    Row(
        "http://x.org/en/2",
        "http://x.org/zh/2",
        "A\ttab\nand \x0b more\x00",
        "第二\u2028句",
        1.0,
        "2-1",
        0.5,
        "x.org",
        0.25,
    ),
]
LANGS = ("en", "zh-Hant")
DATE = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def tmx(rows):
    file = io.BytesIO()
    assert write_tmx(iter(rows), file, LANGS, "0.1", DATE) == len(rows)
    return file.getvalue()


def test_tmx_is_valid_and_says_everything():
    tree = etree.fromstring(tmx(ROWS))
    dtd = etree.DTD(io.StringIO(DTD))
    assert dtd.validate(tree), dtd.error_log
    header = tree.find("header").attrib
    assert (header["srclang"], header["creationtool"], header["creationdate"]) == ("en", "twinlink", "20260102T030405Z")
    first, second = tree.iter("tu")
    assert [prop.text for prop in first.findall("prop")] == ["0.9877", "0.9877", "1.5000", "1-1"]
    assert [prop.text for prop in second.findall("prop")] == [
        "0.2500",
        "1.0000",
        "0.5000",
        "2-1",
    ]  # the chance, where it is known
    sides = first.findall("tuv")
    assert [side.get("{http://www.w3.org/XML/1998/namespace}lang") for side in sides] == ["en", "zh-Hant"]
    assert [side.findtext("prop") for side in sides] == [ROWS[0].url_a, ROWS[0].url_b]
    assert [side.findtext("seg") for side in sides] == [ROWS[0].source, ROWS[0].target]
    assert second.find("tuv/seg").text == "A\ttab\nand  more"
    assert [unit.get("tuid") for unit in (first, second)] == ["1", "2"]


def test_tmx_without_units_is_valid():
    assert etree.DTD(io.StringIO(DTD)).validate(etree.fromstring(tmx([])))


def test_translate_toolkit_reads_the_tmx():
    factory = pytest.importorskip("translate.storage.tmx")
    store = factory.tmxfile.parsestring(tmx(ROWS))
    assert store.units[0].source == ROWS[0].source
    assert store.units[0].target == ROWS[0].target


def test_tsv_has_the_columns_of_bitextor_and_one_line_a_pair():
    file = io.BytesIO()
    assert write_tsv(ROWS, file) == 2
    lines = file.getvalue().decode().split("\n")
    assert lines[0].split("\t") == ["url1", "url2", "src", "trg", "score", "per_word"]
    assert lines[1].split("\t") == [*ROWS[0][:4], "0.9877", "1.5000"]
    assert lines[2].split("\t")[2:4] == ["A tab and more\x00", "第二 句"]
    assert len(lines) == 4


def test_moses_files_have_as_many_lines():
    sides = io.BytesIO(), io.BytesIO()
    assert write_moses(ROWS, *sides) == 2
    assert [len(side.getvalue().decode().splitlines()) for side in sides] == [2, 2]


def test_json_lines_hold_all():
    file = io.BytesIO()
    assert write_jsonl(ROWS, file, LANGS) == 2
    first = json.loads(file.getvalue().splitlines()[0])
    assert first == {**ROWS[0]._asdict(), "score": ROWS[0].score, "lang_a": "en", "lang_b": "zh-Hant"}
    assert {*SEGMENTS.names} - {*first} == {"verdict"}


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_compressed_files_are_the_same_every_time_and_are_read_back(tmp_path, ending):
    for name in ("a.tsv", "b.tsv"):
        with open_for_writing(tmp_path / (name + ending)) as file:
            write_tsv(ROWS * 50, file)
    packed = (tmp_path / f"a.tsv{ending}").read_bytes()
    assert packed == (tmp_path / f"b.tsv{ending}").read_bytes()
    assert packed.startswith({".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}[ending])
    with open_for_writing(tmp_path / "plain.tsv") as file:
        write_tsv(ROWS * 50, file)
    with open_for_reading(tmp_path / f"a.tsv{ending}") as file:
        assert file.read() == (tmp_path / "plain.tsv").read_bytes()


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_damaged_or_truncated_file_is_an_os_error(tmp_path, ending):
    path = tmp_path / f"a.tsv{ending}"
    with open_for_writing(path) as file:
        write_tsv(ROWS * 50, file)
    whole = path.read_bytes()
    for damaged in (whole[:10] + b"\xff" * 10 + whole[20:], whole[:-10]):
        path.write_bytes(damaged)
        with pytest.raises(OSError, match=r"\w"), open_for_reading(path) as file:
            file.read()


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_another_byte_in_the_packed_text_is_noticed(tmp_path, ending):
    """A text of random words is stored nearly as it is, so that a changed byte gives another text, not an error."""
    path = tmp_path / f"a.txt{ending}"
    with open_for_writing(path) as file:
        file.write(np.random.default_rng(0).bytes(500))
    whole = path.read_bytes()
    for place in range(50, 450, 50):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(OSError, match=r"\w"), open_for_reading(path) as file:
            file.read()


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_a_failure_leaves_nothing(tmp_path, ending):
    with pytest.raises(RuntimeError), open_for_writing(tmp_path / f"c.tsv{ending}"):
        raise RuntimeError
    assert not (tmp_path / f"c.tsv{ending}").exists()


def test_beads_are_written_and_read_back(tmp_path):
    beads = [((0,), (0, 1)), ((), (2,)), ((1, 2), ())]
    path = tmp_path / "x.beads"
    path.write_text("\n".join(bead_lines(beads)) + "\n\n")
    assert read_beads(path) == beads
    path.write_text("[0]:[0]:0.5\n")
    assert read_beads(path) == [((0,), (0,))]
    path.write_text("[0] [0]\n")
    with pytest.raises(InputError, match=r"x\.beads:1"):
        read_beads(path)
    with pytest.raises(InputError):
        read_beads(tmp_path / "none")
