"""The benchmark of several languages reads site folders of one host as one site."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.bench import bench_languages
from tests.made_sites import write_pages, write_three_languages


def _site(folder: Path, lang: str, host: str = "www.town.org") -> Path:
    """The English pages and those of another language."""
    write_three_languages(folder / "all", 12)
    pages = {f"{each}/{n}.html": (folder / "all" / each / f"{n}.html") for each in ("en", lang) for n in range(12)}
    write_pages(folder / "site", {name: file.read_text() for name, file in pages.items()})
    (folder / "meta.json").write_text(json.dumps({"host": host, "lang_a": "en", "lang_b": lang}))
    (folder / "gold.tsv").write_text("".join(f"/en/{n}.html\t/{lang}/{n}.html\n" for n in range(12)))
    return folder


def test_every_two_languages_are_matched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sites = [str(_site(tmp_path / lang, lang)) for lang in ("fr", "de")]
    bench_languages.main([*sites, "--workers", "1", "2", "--runs", "1"])
    lines = capsys.readouterr().out.splitlines()
    starts = [f"{n} workers: 36 pairs, F1 1.000, " for n in (1, 2)]
    assert [line[: len(start)] for line, start in zip(lines, starts, strict=True)] == starts


def test_folders_of_two_hosts_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sites = [str(_site(tmp_path / "a", "fr")), str(_site(tmp_path / "b", "de", "other.example"))]
    with pytest.raises(SystemExit):
        bench_languages.main(sites)
    assert "of one host, got other.example, www.town.org" in capsys.readouterr().err
