"""Sites of look-alikes and clues that lie: what the experiments make is what they say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from experiments.lies import exchanged
from experiments.look_alikes import FORMS, RESULTS, make_forms


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sites") / "made"
    pairs = []
    for k in range(30):
        for lang, word in (("en", "word"), ("fr", "mot")):
            texts = [f"{word} {chr(97 + k)}{chr(97 + i)} " * 12 for i in range(7)]
            body = f"<title>{word} {k}</title><h1>{word} {k}</h1>" + "".join(f"<p>{text}</p>" for text in texts)
            file = folder / "site" / lang / f"{k}.html"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f'<html lang="{lang}"><head></head><body>{body}</body></html>', encoding="utf-8")
        pairs.append(f"/en/{k}.html\t/fr/{k}.html\n")
    (folder / "gold.tsv").write_text("".join(pairs), encoding="utf-8")
    (folder / "meta.json").write_text(json.dumps({"lang_a": "en", "lang_b": "fr"}), encoding="utf-8")
    return folder


def rows(file: Path) -> list[list[str]]:
    return [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines()]


def test_a_tenth_of_the_results_has_no_partner(site: Path, tmp_path: Path) -> None:
    plain, opaque = make_forms(site, tmp_path)
    for folder in (plain, opaque):
        pages = {path: side for path, side, _ in rows(folder / "pages.tsv")}
        assert len(pages) == 2 + 2 * 180 + 20
        assert len(rows(folder / "gold.tsv")) == 1 + int(0.9 * FORMS * RESULTS)
        assert all((pages[a], pages[b]) == ("A", "B") for a, b in rows(folder / "gold.tsv"))
        assert all((folder / "site" / path.lstrip("/")).is_file() for path in pages)


def test_the_opaque_one_hides_languages_and_addresses(site: Path, tmp_path: Path) -> None:
    _, opaque = make_forms(site, tmp_path)
    starts = {old: new for new, old in rows(opaque / "names.tsv") if old.startswith("/start")}
    for page in (opaque / "site" / "p").iterdir():
        text = page.read_text(encoding="utf-8")
        assert page.name[:-5].isdigit()
        assert "lang=" not in text
        assert "/start-" not in text
        assert any(f'href="{start}"' in text for start in starts.values())


@pytest.mark.parametrize(("listed", "is_same"), [("same", True), ("titles", False)])
def test_start_pages_list_the_results_in_an_order(site: Path, tmp_path: Path, listed: str, is_same: bool) -> None:
    plain, opaque = make_forms(site, tmp_path, listed=listed)
    named = dict(rows(opaque / "names.tsv"))
    lists = {}
    for lang in ("en", "fr"):
        linked = re.findall('href="([^"]+)"', (plain / "site" / f"start-{lang}.html").read_text(encoding="utf-8"))
        lists[lang] = [path for path in linked if path.startswith("/results")]
        (start,) = (number for number, path in named.items() if path == f"/start-{lang}.html")
        hidden = re.findall('href="([^"]+)"', (opaque / "site" / start.lstrip("/")).read_text(encoding="utf-8"))
        assert [named[number] for number in hidden if named[number].startswith("/results")] == lists[lang]
    assert {*lists["en"], *lists["fr"]} == {path for path, *_ in rows(plain / "pages.tsv") if "/start" not in path}
    places = {path.replace("/results-fr/", "/results/"): place for place, path in enumerate(lists["fr"])}
    in_both = [places[path] for path in lists["en"] if path in places]
    assert (in_both == sorted(in_both)) is is_same


def test_pages_exchange_places_two_by_two() -> None:
    order = exchanged(50, 0.1)
    moved = np.flatnonzero(order != np.arange(50))
    assert len(moved) == 4
    assert (order[order] == np.arange(50)).all()


def test_further_languages_have_nine_of_ten_results(site: Path, tmp_path: Path) -> None:
    for k in range(30):
        german = site / "site" / "de" / f"{k}.html"
        german.parent.mkdir(exist_ok=True)
        text = (site / "site" / "fr" / f"{k}.html").read_text(encoding="utf-8")
        german.write_text(text.replace("mot", "wort"), encoding="utf-8")
    _, opaque = make_forms(site, tmp_path, others=["de"])
    sides = [side for _, side, _ in rows(opaque / "pages.tsv")]
    assert len(sides) == 2 + 2 * 180 + 20 + sides.count("de")
    assert 150 < sides.count("de") < 200
    assert len(rows(opaque / "gold.tsv")) == 1 + int(0.9 * FORMS * RESULTS)
    names = [name for _, name in rows(opaque / "names.tsv")]
    assert sum(name.startswith("/results-de/") for name in names) == sides.count("de") - 1
