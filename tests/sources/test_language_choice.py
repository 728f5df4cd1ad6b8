"""Signs that a site chooses the language of a page by what a browser sends."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.archives import HTML, add_record, respond
from twinlink.sources.language_choice import Sign, language_choice


def archive(folder: Path, *headers: tuple[str, str], status: str = "200 OK", url: str = "http://a.org/") -> Path:
    respond(folder / "a.warc.gz", url, b"<html><p>one</p>", status, (*HTML, *headers))
    return folder / "a.warc.gz"


@pytest.mark.parametrize(
    ("header", "text", "sent"),
    [
        (("Vary", "Accept-Encoding, accept-language"), "Vary: Accept-Language", "Accept-Language: …"),
        (("Vary", "Cookie"), "Vary: Cookie", "Cookie: …"),
        (("set-cookie", "pll_language=fr; path=/"), "Set-Cookie: pll_language=…", "Cookie: pll_language=…"),
        (
            ("Set-Cookie", ".AspNetCore.Culture=c%3Dfr"),
            "Set-Cookie: .AspNetCore.Culture=…",
            "Cookie: .AspNetCore.Culture=…",
        ),
    ],
)
def test_headers_that_show_it(tmp_path: Path, header: tuple[str, str], text: str, sent: str) -> None:
    found = language_choice([archive(tmp_path, header)])
    assert found is not None
    assert found[1:] == (text, sent)


@pytest.mark.parametrize(
    "header",
    [
        ("Vary", "Accept-Encoding"),
        ("Vary", "*"),
        ("Set-Cookie", "session=language"),
        ("Set-Cookie", "lang';x='=1"),
        ("Content-Language", "fr"),
    ],
)
def test_headers_that_show_nothing(tmp_path: Path, header: tuple[str, str]) -> None:
    path = archive(tmp_path, header)
    assert language_choice([path, tmp_path / "none.warc", path]) is None


def test_the_clearest_sign_counts(tmp_path: Path) -> None:
    archive(tmp_path, ("Vary", "Cookie"))
    archive(tmp_path, ("Set-Cookie", "lang=fr"), ("Location", "/"), status="302 Found")
    path = archive(tmp_path, ("Content-Language", "fr-CA"), url="http://a.org/b")
    assert language_choice([path]) == Sign(2, "Set-Cookie: lang=…", "Cookie: lang=…")
    archive(tmp_path, ("Content-Language", "fr"), url="http://a.org/b")
    assert language_choice([path]) == Sign(2, "Set-Cookie: lang=…", "Cookie: lang=…"), "a variety is no other language"
    archive(tmp_path, ("Content-Language", "de, fr"), url="http://a.org/b")
    assert language_choice([path]) == Sign(4, "http://a.org/b was captured in fr and in de")


def test_damage_and_other_records_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    add_record(path, "metadata", "http://a.org/", b"Vary: Cookie")
    with path.open("ab") as file:
        file.write(b"junk")
    assert language_choice([archive(tmp_path, ("Vary", "Cookie"))]) == Sign(1, "Vary: Cookie", "Cookie: …")
