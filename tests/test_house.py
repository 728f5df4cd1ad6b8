"""How the house is built: links at the root, public names, cheap imports, and the package as it is installed."""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import twinlink
from tests.linked import link_into, needed
from tests.made_sites import BASE, write_town

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("graph", "similarity", "spiders")
FOUND = list(pkgutil.walk_packages(twinlink.__path__, "twinlink."))
MODULES = sorted(module.name for module in FOUND if not module.name.endswith("__main__"))
FOLDERS = sorted(module.name for module in FOUND if module.ispkg)
HEAVY = ("numba", "numpy", "pandas", "pyarrow", "scipy", "scrapy", "twisted")
NEEDLESS = (
    "duckdb",
    "langcodes",
    "networkx",
    "numba",
    "opencc",
    "rjieba",
    "scrapy",
    "starlette",
    "twisted",
)
"""What `mine` does without on a few pages of common languages in the Latin script."""


@pytest.mark.parametrize("room", ROOMS)
def test_room_at_the_root_is_a_link_into_the_package(room: str) -> None:
    assert (ROOT / room).is_symlink()
    assert os.readlink(ROOT / room) == f"twinlink/{room}"  # noqa: PTH115  (the text of the link, not where it leads)
    assert (ROOT / room / "__init__.py").samefile(ROOT / "twinlink" / room / "__init__.py")


@pytest.mark.parametrize("name", ["twinlink", *FOLDERS])
def test_names_listed_by_packages_exist(name: str) -> None:
    """Some names are loaded when they are used, which the linter cannot follow."""
    menu = importlib.import_module(name)
    assert [each for each in getattr(menu, "__all__", []) if not hasattr(menu, each)] == []


def test_every_dependency_has_its_licence_in_the_documentation() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(line for extra, lines in extras.items() if extra != "dev" for line in lines)]
    text = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    table = text.partition("## Licences")[2].partition("\n## ")[0]
    names = {re.match(r"[\w.-]+", line)[0] for line in wanted} - {"twinlink"}  # type: ignore[index]
    assert sorted(name for name in names if not re.search(rf"[ |]{re.escape(name)}[ ,]", table, re.IGNORECASE)) == []


def test_a_citation_names_the_version_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert f"version: {twinlink.__version__}" in lines
    assert f"  - name: {project['authors'][0]['name']}" in lines


@pytest.mark.parametrize("code", ["import twinlink", "import twinlink.cli", "import twinlink.errors"])
def test_import_is_cheap(code: str) -> None:
    show = f"{code}; import sys; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_packages_are_attributes_without_an_import_of_their_own() -> None:
    folders = {module.name.removeprefix("twinlink.") for module in FOUND if module.name.count(".") == 1}
    public = folders & set(dir(twinlink))
    assert {"errors", "graph", "ingest", "rundir", "similarity", "tables"} <= public
    assert dir(twinlink) == sorted({*twinlink.__all__, *public, "__version__"})
    show = f"import twinlink; print(*(getattr(twinlink, name).__name__ for name in {sorted(public)!r}))"
    done = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [f"twinlink.{name}" for name in sorted(public)]


def test_mine_loads_only_what_its_pages_need(tmp_path: Path) -> None:
    folder, run = write_town(tmp_path / "town", 8), tmp_path / "run"
    code = f"""
import sys
from twinlink.cli import main
sys.argv = ["twinlink", "mine", {str(folder)!r}, "--base-url", {BASE!r}, "--langs", "en,fr", "-q", "-o", {str(run)!r}]
try:
    main()
finally:
    print("loaded:", *(name for name in {NEEDLESS!r} if name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].split() == ["loaded:"]
    assert len((run / "pairs.tsv").read_text().splitlines()) == 9
    assert (run / "report.html").is_file()


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheel made from the source archive, so that nothing left over from an older build gets in."""
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run([sys.executable, "-m", "build", "--outdir", folder, ROOT], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def elsewhere(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Environment of its own, far from the checkout, with nothing but the wheel and what it asks for."""
    folder = tmp_path_factory.mktemp("elsewhere")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    (packages,) = (folder / "venv").glob("lib/python*/site-packages")
    (metadata,) = (name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".dist-info/METADATA"))
    asked = Parser().parsestr(zipfile.ZipFile(wheel).read(metadata).decode()).get_all("Requires-Dist")
    assert asked
    link_into(packages, needed(asked))
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "venv/bin/python"), "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", "--no-compile", "--no-index", wheel], check=True, cwd=folder)
    for file in (ROOT / "twinlink").rglob("__pycache__/*.code"):  # compiled before by the same numba, or not used
        target = folder / "code" / file.parent.parent.name / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
    return folder


def run_elsewhere(folder: Path, *command: str) -> str:
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    env["NUMBA_CACHE_DIR"] = str(folder / "code")
    program, *arguments = command
    done = subprocess.run(
        [folder / "venv/bin" / program, *arguments], cwd=folder, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.wheel
@pytest.mark.xdist_group("wheel")
def test_wheel_holds_the_files_of_the_package_and_no_others(wheel: Path) -> None:
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "twinlink"]
    listed = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    expected = {name for name in listed if (ROOT / name).is_file()}
    assert "twinlink/tables/schemas.py" in expected
    assert {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name} == expected


@pytest.mark.wheel
@pytest.mark.xdist_group("wheel")
def test_wheel_works_somewhere_else(elsewhere: Path) -> None:
    from importlib.metadata import version

    assert run_elsewhere(elsewhere, "twinlink", "--version").strip() == f"twinlink {version('twinlink')}"
    where = run_elsewhere(elsewhere, "python", "-c", "import twinlink; print(twinlink.__file__)").strip()
    assert Path(where).is_relative_to(elsewhere)
    code = "import importlib; [importlib.import_module(name) for name in {!r}]".format(["twinlink", *MODULES])
    run_elsewhere(elsewhere, "python", "-c", code)


@pytest.mark.wheel
@pytest.mark.xdist_group("wheel")
def test_demo_runs_from_the_wheel(elsewhere: Path) -> None:
    said = run_elsewhere(elsewhere, "twinlink", "demo", "-q", "-o", "run")
    assert "F1" in said
    assert (elsewhere / "run" / "pairs.tsv").stat().st_size > 0
