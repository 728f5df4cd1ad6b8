"""A command that makes no DataFrame does not load pandas, and one that makes some gets them as ever."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.made_sites import BASE, write_toy

CONVERTED = """
import sys
import numpy as np, pyarrow as pa
from twinlink.system.late_pandas import keep_pandas_out
keep_pandas_out()
import pyarrow.dataset
table = pa.table({"text": ["a", None], "number": pa.array(np.array([1.5, 2.5]))})
assert table["number"].to_numpy().tolist() == [1.5, 2.5]
assert pa.schema([("n", pa.int64())]).empty_table().num_rows == 0
assert "pandas" not in sys.modules
frame = table.to_pandas()
assert "pandas" in sys.modules
assert pa.array(frame["text"]).null_count == 1
assert pa.Table.from_pandas(frame).equals(table.cast(pa.Table.from_pandas(frame).schema))
keep_pandas_out()
assert pa.array(frame["text"]).null_count == 1
"""

MINED = """
import sys
from twinlink.cli import main
try:
    main()
finally:
    print("pandas" in sys.modules)
"""


def printed(code: str, *args: object) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, args)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_arrow_converts_without_pandas_until_there_is_a_frame() -> None:
    assert printed(CONVERTED) == ""


def test_a_site_is_mined_and_its_report_written_without_pandas(tmp_path: Path) -> None:
    pages, run = write_toy(tmp_path / "toy"), tmp_path / "run"
    given = ("--base-url", BASE, "--langs", "en,zh", "--workers", 1, "-q")
    assert printed(MINED, "mine", pages, "-o", run, "--align", *given).split()[-1] == "False"
    assert (run / "report.html").is_file()
    assert printed(MINED, "match", run, "--min-probability", "0.4", "-q").split()[-1] == "False"
