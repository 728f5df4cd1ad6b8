"""Compiled templates: kept on disk, made anew where they cannot be used."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from jinja2 import Environment

from twinlink.review.templating import environment

_NAME = "review_error.html"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of compiled files, empty."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "cache"))
    return tmp_path / "cache"


def _files(cache: Path) -> list[Path]:
    return [path for path in cache.rglob("*") if path.is_file()]


def _compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    seen: list[str] = []
    compiled = Environment._generate

    def counted(self: Environment, source: object, name: str, *args: object, **kwargs: object) -> object:
        seen.append(name)
        return compiled(self, source, name, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(Environment, "_generate", counted)
    return seen


def test_a_template_is_compiled_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = _compilations(monkeypatch)
    for _ in range(3):
        environment().get_template(_NAME)
    assert seen == [_NAME]
    assert len(_files(cache)) == 1


@pytest.mark.parametrize("n_kept", [0, 5, 30, 60])
def test_a_damaged_file_is_made_anew(cache: Path, monkeypatch: pytest.MonkeyPatch, n_kept: int) -> None:
    environment().get_template(_NAME)
    (file,) = _files(cache)
    whole = file.read_bytes()
    file.write_bytes(whole[:n_kept])
    seen = _compilations(monkeypatch)
    environment().get_template(_NAME)
    assert seen == [_NAME]
    assert file.read_bytes() == whole


def test_a_change_of_the_compiler_makes_them_anew(cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environment().get_template(_NAME)
    seen = _compilations(monkeypatch)
    other = tmp_path / "compiler.py"
    other.write_text("")
    monkeypatch.setattr("twinlink.review.templating.compiler.__file__", str(other))
    environment().get_template(_NAME)
    assert seen == [_NAME]
    assert len(_files(cache)) == 1


def test_nothing_is_written_where_python_must_not_write(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    environment().get_template(_NAME)
    assert _files(cache) == []


def test_a_folder_that_cannot_be_made_does_not_matter(cache: Path) -> None:
    cache.write_text("a file is in the way")
    assert environment().get_template(_NAME).name == _NAME
