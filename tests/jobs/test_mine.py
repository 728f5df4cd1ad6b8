"""What a job loads before it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(("langs", "loads"), [(["en", "zh-Hant"], True), (["en", "fr"], False), ([], False)])
def test_dictionary_of_chinese_is_loaded_only_for_chinese(langs: list[str], loads: bool) -> None:
    code = (
        f"import sys; from twinlink.jobs.mine import _load_match; _load_match({langs}); print('rjieba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(loads)
