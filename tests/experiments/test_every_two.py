"""Every two languages of a site: versions come from addresses, plain or opaque."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.every_two import measure, versions
from experiments.few_translated import read_site

TEXTS = {
    "": "The committee meets in the town hall to talk about the budget of the schools of the town",
    "fr/": "Le comité se réunit à la mairie pour parler du budget des écoles de la ville et du quartier",
    "ru/": "Комитет собирается в городской ратуше, чтобы обсудить бюджет школ города и района",
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Ten pages in three languages, and a folder that is named like no language."""
    paths = [f"{folder}{name}" for folder in TEXTS for name in ("index.html", *(f"news/{n}.html" for n in range(9)))]
    for number, path in enumerate(paths):
        folder = next(folder for folder in ("fr/", "ru/", "") if path.startswith(folder))
        file = tmp_path / "site" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        code = f"{number % 10}{number % 10}71"
        file.write_text(f"<title>{code}</title><p>{TEXTS[folder]} {code}.</p><p>{code} {code}9</p>", encoding="utf-8")
    (tmp_path / "pages.tsv").write_text("".join(f"/{path}\tA\n" for path in paths), encoding="utf-8")
    (tmp_path / "gold.tsv").write_text("/index.html\t/fr/index.html\n", encoding="utf-8")
    meta = {"host": "town.example", "lang_a": "en", "lang_b": "fr"}
    (tmp_path / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    return tmp_path


def test_versions_have_one_path_below_the_folder_of_their_language(site: Path) -> None:
    found = versions(site)
    assert len(found) == 10
    assert found["/news/3.html"] == {"en": "/news/3.html", "fr": "/fr/news/3.html", "ru": "/ru/news/3.html"}


def test_opaque_addresses_come_from_the_table_of_names(site: Path) -> None:
    plain = [line.split("\t")[0] for line in (site / "pages.tsv").read_text(encoding="utf-8").splitlines()]
    rows = "".join(f"/p/{n}.html\t{path}\n" for n, path in enumerate(plain))
    (site / "names.tsv").write_text(rows, encoding="utf-8")
    assert versions(site)["/index.html"] == {"en": "/p/0.html", "fr": "/p/10.html", "ru": "/p/20.html"}


def test_every_two_languages_are_matched(site: Path) -> None:
    rows = measure(read_site(site), versions(site))
    assert [row.langs for row in rows] == ["en fr", "en ru", "fr ru"]
    assert all(row.gold == 10 and 0 <= row.f1 <= 1 for row in rows)
