"""A command loads what it uses; what it does not use comes as ever where it is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.made_sites import BASE, write_toy

CONVERTED = """
import sys
import numpy as np, pyarrow as pa
from twinlink.system.late_imports import load_late
load_late()
import pyarrow.dataset
table = pa.table({"text": ["a", None], "number": pa.array(np.array([1.5, 2.5]))})
assert table["number"].to_numpy().tolist() == [1.5, 2.5]
assert pa.schema([("n", pa.int64())]).empty_table().num_rows == 0
assert "pandas" not in sys.modules
frame = table.to_pandas()
assert "pandas" in sys.modules
assert pa.array(frame["text"]).null_count == 1
assert pa.Table.from_pandas(frame).equals(table.cast(pa.Table.from_pandas(frame).schema))
load_late()
assert pa.array(frame["text"]).null_count == 1
"""

PARTS = """
import sys
from twinlink.system.late_imports import NUMPY_PARTS, load_late
load_late()
import numpy, pyarrow, scipy.sparse, twinlink.sources.warc
inside = {"numpy.f2py.crackfortran", "numpy.ma.core", "numpy.random.mtrand", "numpy.polynomial.hermite", "fsspec"}
assert not inside & sys.modules.keys()
first = numpy.ma.MaskedArray
assert pyarrow.array(numpy.array([1, 2])).to_pylist() == numpy.unique([2, 1, 2]).tolist() == [1, 2]
assert numpy.median([1.0, 2.0, 4.0]) == 2
is_masked = numpy.ma.is_masked
assert not inside & sys.modules.keys()
assert not isinstance(numpy.array([1]), first)
class Own(first): pass
assert Own([1, 2], mask=[0, 1]).sum() == 1 and isinstance(Own([1]), first)
assert is_masked(Own([1], mask=[1])) and not is_masked([1])
assert first([1, 2], mask=[0, 1]).sum() == 1 and first.sum is numpy.ma.MaskedArray.sum
assert isinstance(numpy.ma.array([1]), numpy.ma.MaskedArray) and numpy.ma.MaskedArray is not first
loaded = numpy.ma
assert isinstance(numpy.ma.array([1]), first) and numpy.ma is sys.modules["numpy.ma"] is loaded
assert pyarrow.array(numpy.ma.array([1, 2], mask=[0, 1])).to_pylist() == [1, None]
from numpy.polynomial import Polynomial
assert Polynomial([1, 2])(3) == 7
import numpy.testing
numpy.testing.assert_array_equal([1], [1])
assert numpy.f2py.__version__
import scipy._lib._util
assert scipy._lib._util.check_random_state(numpy.random) is numpy.random.mtrand._rand
assert numpy.random.default_rng(1).integers(5) in range(5) and not isinstance(3, numpy.random.Generator)
assert scipy._lib.array_api_compat.numpy.random.Generator is numpy.random.Generator
assert len(numpy.ma.compressed(numpy.ma.array([1, 2], mask=[0, 1]))) == 1
import pydoc, pyarrow.acero, pyarrow.dataset
assert pydoc.locate("os.path")
assert pyarrow.table({"a": [1, 1, 2]}).group_by("a").aggregate([("a", "count")]).num_rows == 2
assert pyarrow.dataset.dataset(pyarrow.table({"a": [2, 1]})).sort_by("a").to_table()["a"].to_pylist() == [1, 2]
load_late()
import numpy.ma as ma
assert ma.masked_array is numpy.ma.masked_array
"""

CORE = """
import sys
from twinlink.system.late_imports import load_late
load_late()
import numpy
from numpy.ma.core import MaskedArray
assert numpy.ma.MaskedArray is not MaskedArray
assert isinstance(numpy.ma.array([1]), MaskedArray) and numpy.ma.MaskedArray is MaskedArray
assert numpy.ma.core.masked is numpy.ma.masked
"""

GRAPHS = """
import sys
from twinlink.system.late_imports import load_late
load_late()
load_late()
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, laplacian
assert connected_components(csr_array([[0, 1, 0], [0, 0, 0], [0, 0, 0]]))[0] == 2
assert not {"scipy.linalg", "scipy.sparse.linalg"} & sys.modules.keys()
product = laplacian(np.array([[0.0, 1.0], [1.0, 0.0]]), form="lo") @ np.array([[1.0], [2.0]])
assert product.tolist() == [[-1.0], [1.0]]
import scipy.sparse.linalg
assert scipy.sparse.linalg.norm(csr_array([[3.0, 4.0]])) == 5
assert scipy.sparse.linalg.LinearOperator.__module__.startswith("scipy.")
"""

COMPILER = """
import sys
from pathlib import Path
from twinlink.system.late_imports import load_late
load_late()
Path(".numba_config.yaml").write_text("debug: 1") if len(sys.argv) > 1 else None
import numba
print(numba.config.DEBUG, *sorted({"coverage", "yaml"} & sys.modules.keys()))
import coverage, yaml
assert yaml.safe_load("a: 1") == {"a": 1}
assert coverage.Coverage
"""

FUNCTIONS = """
import sys
if len(sys.argv) > 1:
    from twinlink.system.late_imports import load_late
    load_late()
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.compute import and_, utf8_zfill
if len(sys.argv) > 1:
    assert not {"is_in", "utf8_upper", "or_"} & vars(pc).keys()
    assert not hasattr(pc, "no_such_function")
names = [name for name in sys.argv[1:] or vars(pc) if not name.startswith("_")]
assert pa.array([1, 2, None]).drop_null().to_pylist() == [1, 2]
assert and_(pa.array([True, True]), pc.is_in(pa.array([1, 2]), pa.array([2]))).to_pylist() == [False, True]
assert pc.utf8_zfill(pa.array(["7"]), width=2).to_pylist() == ["07"]
assert pa.table({"a": [2, 1]}).sort_by("a").filter(pc.field("a") > 1)["a"].to_pylist() == [2]
print(*(name for name in names if callable(getattr(pc, name))))
"""

MINED = """
import sys
from twinlink.cli import main
try:
    main()
finally:
    print(bool({"pandas", "fsspec", "scipy.sparse.csgraph", "asyncio", "pydantic"} & sys.modules.keys()))
"""


def printed(code: str, *args: object, folder: Path | None = None) -> str:
    call = [sys.executable, "-c", code, *map(str, args)]
    done = subprocess.run(call, capture_output=True, text=True, check=False, timeout=300, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_arrow_converts_without_pandas_until_there_is_a_frame() -> None:
    assert printed(CONVERTED) == ""


def test_functions_of_arrow_are_wrapped_when_they_are_used() -> None:
    all_names = printed(FUNCTIONS).split()
    assert len(all_names) > 200
    assert printed(FUNCTIONS, *all_names).split() == all_names


def test_parts_of_numpy_come_when_they_are_used() -> None:
    assert printed(PARTS) == ""


def test_masked_arrays_are_of_one_class_whichever_module_is_imported_first() -> None:
    assert printed(CORE) == ""


def test_graphs_come_without_linear_algebra_until_it_is_used() -> None:
    assert printed(GRAPHS) == ""


def test_the_compiler_loads_no_library_for_other_programs(tmp_path: Path) -> None:
    """PyYAML reads its settings, where the user has some."""
    assert printed(COMPILER, folder=tmp_path).split() == ["0"]
    assert printed(COMPILER, "with settings", folder=tmp_path).split() == ["1", "yaml"]


def test_a_site_is_mined_and_its_report_written_without_what_it_does_not_use(tmp_path: Path) -> None:
    pages, run = write_toy(tmp_path / "toy"), tmp_path / "run"
    given = ("--base-url", BASE, "--langs", "en,zh", "--workers", 1, "-q")
    assert printed(MINED, "mine", pages, "-o", run, "--align", *given).split()[-1] == "False"
    assert (run / "report.html").is_file()
    assert printed(MINED, "match", run, "--min-probability", "0.4", "-q").split()[-1] == "False"
