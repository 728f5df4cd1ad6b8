"""Encodings: the text is right whatever is said about them, as long as one label or the bytes themselves are right."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlink.pages.decoding import decode
from twinlink.pages.parser import parse_page

URL = "http://www.example.org/a/page.html"

HANT = "立法會的會議紀錄在這裡,行政長官說的話我們都聽見了。歡迎瀏覽本網頁。"
CANTONESE = "立法會的會議紀錄,佢哋嘅嘢喺咗嚟啲度。行政長官"
HANS = "立法会的会议记录在这里,行政长官说的话我们都听见了。"
JAPANESE = "日本語のテキストです。会議の記録を読むことができます。"
KOREAN = "한국어 텍스트입니다. 회의 기록을 읽을 수 있습니다."
RUSSIAN = "Привет, как дела? Это русский текст о работе совета."
KAZAKH = "Қазақстан Республикасының Президенті халыққа жолдауын жариялады. Өмір сүру сапасы, ғылым және даму."
FRENCH = "Le président français a été élu à l'unanimité; où est la forêt où l'été naît?"

TABLE = {  # name: text, codec that writes the bytes, label that pages in it carry
    "Big5": (HANT, "big5", "big5"),
    "Big5-HKSCS labelled big5": (CANTONESE, "big5hkscs", "big5"),
    "GBK": (HANS, "gbk", "gbk"),
    "GBK labelled gb2312": (HANS, "gbk", "gb2312"),
    "GB18030": (HANS + "㐀𠀀", "gb18030", "gb18030"),
    "Shift_JIS": (JAPANESE, "cp932", "shift_jis"),
    "EUC-JP": (JAPANESE, "euc_jp", "euc-jp"),
    "EUC-KR": (KOREAN, "euc_kr", "euc-kr"),
    "windows-1251": (RUSSIAN, "cp1251", "windows-1251"),
    "windows-1251, Kazakh letters": (KAZAKH, "kz1048", "windows-1251"),
    "windows-1252": (FRENCH, "cp1252", "iso-8859-1"),
    "UTF-8": (HANT, "utf-8", "utf-8"),
}
WRONG = ["big5", "gbk", "gb18030", "shift_jis", "euc-kr", "windows-1251", "koi8-r", "iso-8859-1", "utf-8"]


def blocks(text: str, codec: str, header: str, meta: str) -> tuple[str, ...]:
    markup = f"{f'<meta charset={meta}>' if meta else ''}<title>{text}</title><p>{text}</p><p>{text}</p>"
    page = parse_page(markup.encode(codec), URL, f"text/html; charset={header}" if header else "text/html")
    return (page.title, *page.blocks)


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("place", ["header", "meta", "both", "neither"])
def test_right_labels_and_none(name: str, place: str) -> None:
    text, codec, label = TABLE[name]
    header = label if place in {"header", "both"} else ""
    meta = label if place in {"meta", "both"} else ""
    assert blocks(text, codec, header, meta) == (text,) * 3


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_meta_element_against_a_right_header(name: str, wrong: str) -> None:
    text, codec, label = TABLE[name]
    assert blocks(text, codec, label, wrong) == (text,) * 3


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_header_against_a_right_meta_element(name: str, wrong: str) -> None:
    text, codec, label = TABLE[name]
    assert blocks(text, codec, wrong, label) == (text,) * 3


@pytest.mark.parametrize("text", [HANT, HANS, JAPANESE, KOREAN, RUSSIAN, KAZAKH, FRENCH, "plain ASCII"])
@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("mark", ["\ufeff", ""])
def test_utf_16(text: str, codec: str, mark: str) -> None:
    headers = ("", "utf-16", "utf-16le", "utf-8", "big5", "iso-8859-1")
    for header, meta in itertools.product(headers, ("", "utf-16", "utf-8", "gbk")):
        tag = f"<meta charset={meta}>" if meta else ""
        body = f"{mark}<html><head>{tag}<title>t</title></head><body><p>{text}</p></body></html>".encode(codec)
        page = parse_page(body, URL, f"text/html; charset={header}" if header else "text/html")
        assert (page.blocks, page.charset) == ((text,), codec)


@pytest.mark.parametrize("label", ["windows-1252", "big5", "gbk", "windows-1251"])
def test_utf_8_beats_a_label_that_is_wrong(label: str) -> None:
    assert decode(f"<p>{HANT}".encode(), f"text/html; charset={label}") == (f"<p>{HANT}", "utf-8")


@pytest.mark.parametrize(
    ("text", "codec", "name"),
    [
        (FRENCH, "cp1252", "cp1252"),
        (HANS, "gb18030", "gb18030"),
        (HANT, "big5", "big5hkscs"),
        (RUSSIAN, "koi8-r", "koi8-r"),
    ],
)
def test_a_label_of_utf_8_is_not_believed_where_most_is_undecodable(text: str, codec: str, name: str) -> None:
    assert decode(f"<p>{text}".encode(codec), "text/html; charset=utf-8") == (f"<p>{text}", name)


def test_a_few_undecodable_bytes_do_not_turn_a_label_of_utf_8_over() -> None:
    for body in (b"<p>caf\xe9 r\xe9sum\xe9", f"<p>{HANT}".encode() + 5 * b"\xe9 "):
        assert decode(body, "text/html; charset=utf-8") == (body.decode(errors="replace"), "utf-8")


def test_a_chance_of_valid_utf_8_does_not() -> None:
    body = "<p>模式".encode("gbk")  # its bytes are also two letters in UTF-8
    assert body.decode("utf-8")
    assert decode(body, "text/html; charset=gbk")[0] == "<p>模式"


def test_short_text_in_big5_is_not_taken_for_characters_of_private_use() -> None:
    text = "<p>此函式傳回數值型表示式的代數符號。 之間的整數，用於指示傳送給函式的數字是正數、負數還是零。"
    body = text.encode("big5")
    assert any("\ue000" <= sign <= "\uf8ff" for sign in body.decode("gb18030"))  # which the bytes look like
    assert decode(body) == (text, "big5hkscs")


def test_one_character_of_private_use_does_not_turn_a_guess_over() -> None:
    body = "<p>中国政府网发布最新消息，今天上午在北京召".encode("gb18030") + b"\xa8\xbc"  # a letter of pinyin
    assert decode(body)[1] == "gb18030"


def test_a_bad_byte_does_not_turn_the_label_over() -> None:
    body = f"<p>{HANT}".encode("big5") + b"\xff"
    assert decode(body, "text/html; charset=big5") == (f"<p>{HANT}\ufffd", "big5hkscs")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Київ є столицею України, її історія", "Ukrainian"),
        ("Скопје е град; ќе дојде ѕвезда, куќа, среќа", "Macedonian"),
        ("Беларусь ўваходзіць, мы жывём ў краіне, ўсё", "Belarusian"),
        ("Он сказал «ќ»: это буква Ѕ? вы и мы", "Russian with two Macedonian letters"),
    ],
)
def test_other_languages_keep_windows_1251(text: str, name: str) -> None:
    assert decode(f"<p>{text}".encode("cp1251"), "text/html; charset=windows-1251") == (f"<p>{text}", "cp1251")


def test_kazakh_letters_as_references() -> None:
    body = b"<p>" + KAZAKH.encode("cp1251", "xmlcharrefreplace")
    assert parse_page(body, URL, "text/html; charset=windows-1251").blocks == (KAZAKH,)


def test_a_link_on_a_utf_16_page_asks_in_utf_8() -> None:
    page = parse_page("<html><body><a href='find?q=中'>x</a>".encode("utf-16-le"), URL)
    assert [link.url for link in page.links] == ["http://www.example.org/a/find?q=%E4%B8%AD"]


LABELS = st.sampled_from([*WRONG, "utf-16", "utf-16be", "utf-32", "iso-2022-jp", "hz-gb-2312", "euc-jp", "x", ""])


@given(st.binary(max_size=200), LABELS, LABELS, st.sampled_from([b"", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf"]))
def test_any_bytes_become_text(data: bytes, header: str, meta: str, mark: bytes) -> None:
    text, charset = decode(mark + f"<meta charset={meta}>".encode() + data, f"text/html; charset={header}")
    assert isinstance(text, str)
    assert len(text) <= 2 * (len(data) + 40)
    "".encode(charset)  # a name that Python knows
