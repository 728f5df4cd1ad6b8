"""What a job loads before it is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from twinlink.config import Config
from twinlink.errors import InputError
from twinlink.jobs.mine import mine_stages
from twinlink.rundir.directory import RunDirectory


@pytest.mark.parametrize(("langs", "loads"), [(["en", "zh-Hant"], True), (["en", "fr"], False), ([], False)])
def test_dictionary_of_chinese_is_loaded_only_for_chinese(langs: list[str], loads: bool) -> None:
    code = (
        f"import sys; from twinlink.jobs.mine import _load_match; _load_match({langs}); print('rjieba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(loads)


@pytest.mark.parametrize("method", ["weighed", "urls", "liu2014"])
def test_missing_pattern_library_is_an_error_before_pages_are_read(tmp_path: Path, method: str) -> None:
    run = RunDirectory.create(tmp_path / "run")
    config = Config().override({"match.method": method, "match.patterns.libraries": ["/none.tsv"]})
    (tmp_path / "site").mkdir()
    with pytest.raises(InputError, match=r"/none\.tsv"):
        mine_stages([str(tmp_path / "site")], run, config)
    assert not (run.path / "ingest").exists()
