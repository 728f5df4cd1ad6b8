"""Sites whose pages name canonical addresses that were not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.canonical import BASE, canonical_copy


@pytest.mark.parametrize(("linked", "target"), [(False, "b.html"), (True, "b")])
def test_pages_name_addresses_without_an_ending(tmp_path: Path, linked: bool, target: str) -> None:
    (tmp_path / "site" / "en").mkdir(parents=True)
    body = "<html><head><title>t</title></head><a href='b.html#x'>b</a><a href=index.html>i</a></html>"
    for name in ("a.html", "index.html"):
        (tmp_path / "site" / "en" / name).write_text(body, encoding="utf-8")
    copy = canonical_copy(tmp_path / "site", tmp_path / "copy", linked)
    links = f"<title>t</title></head><a href='{target}#x'>b</a><a href=index.html>i</a></html>"
    assert (copy / "en" / "a.html").read_text() == f'<html><head><link rel=canonical href="{BASE}/en/a">{links}'
    assert (copy / "en" / "index.html").read_text() == f"<html><head>{links}"
