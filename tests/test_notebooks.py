"""The notebooks of the documentation: clean as they are kept, and true when they are run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

from jupyter_client.kernelspec import KernelSpecManager  # noqa: E402
from jupyter_client.manager import KernelManager  # noqa: E402

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
SECONDS = 300  # for one cell, on a busy machine
CLAIMS = {
    "mine-a-site": {
        "found.f1 > 0.97": "the demo is mined well",
        "found.n_gold == 119": "scored against the whole truth",
        "abs(run.pairs['probability'].mean() - found.precision) < 0.05": "the expected precision is near it",
        "opaque['url_a'].str.contains('/doc/').all() and len(opaque) > 5": "opaque addresses are paired",
        "run.explain(alone.iloc[0]).state == 'no pair'": "the page without a partner has none",
        "len(good) > 100": "there are sentences to show",
        "(run.path / 'align' / 'en-zh-Hant.tmx').is_file()": "and they are exported",
    },
    "link-graph": {
        "alike > 0.85": "partners are about equally central",
        "share > 0.75": "communities are found along languages",
        "agreement(pages, images) > 3 * agreement(pages, shuffled)": "communities of the halves agree",
        "0.95 < symmetry.loc['all links', 'partners'] < 1": "with menus nearly all is mirrored, yet not all",
        "symmetry.loc['all links', 'partners'] > symmetry.loc['without menus', 'partners'] > 0.6": "without them less",
        "(symmetry['partners'] > 5 * symmetry['at random']).all()": "and far more than at random",
        "right / len(linked) > 0.75": "links alone find most partners",
    },
    "liu2014": {
        "by_command <= by_hand and len(by_command) > 100": "the cells find the pairs of the command",
        "ets.residual < 0.02": "three rounds are enough",
        "by_round.loc[0, 'random'] < 0.1": "random values know nothing",
        "(by_round.loc[3:].max() - by_round.loc[3:].min() < 0.001).all()": "scores are stable after the third round",
        "by_round.loc[0, 'internal'] > 0.99 and by_round.loc[1:, 'internal'].nunique() == 1": "S_in is stable at once",
        "by_alpha.loc[0.6, 'numbers only'] > by_alpha.loc[0, 'numbers only'] + 0.01": "links help weak content",
        "by_alpha.loc[0.6, 'S_in'] == by_alpha.loc[0, 'S_in']": "links add nothing to S_in",
    },
    "growing-a-seed-list": {
        "run.rounds['added'].tolist()[1:3] == [4, 5]": "the first rounds find bilingual sites almost only",
        "run.rounds['added'].iloc[-1] <= 2": "then the web is nearly exhausted",
        "(probes['added'] == probes['truth'])[probes['round'] > 0].all()": "verdicts are true",
        "run.patterns.set_index('site').loc['archives.example', 'verdict'] == 'rescued'": "a weak key is rescued",
        "set(probes.loc[(probes['round'] == 3) & (probes['place'] < 3), 'site'])"
        " == {'search.example', 'weather.example'}": "portals come first in round 3",
        "(candidates['by_in_links'] < 0).all()": "many links are no good sign any more",
        "int(orders['ours'][:5].sum()) > int(orders['sum_linkout'][:5].sum())": "counting links is not enough",
    },
}
"""Expressions in the names of a notebook, once it has been run: what its text says."""


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def run_notebook(path: Path, folder: Path, after: str) -> Any:
    """Run a notebook, and a cell after it, in a kernel of this interpreter; no installed kernel is looked for."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(after))
    specs = KernelSpecManager(kernel_dirs=[], ensure_native_kernel=True)
    manager = KernelManager(kernel_name="python3", kernel_spec_manager=specs)
    client = nbclient.NotebookClient(
        notebook, km=manager, resources={"metadata": {"path": str(folder)}}, timeout=SECONDS
    )
    return client.execute(cleanup_kc=True)  # a kernel that was given is not ended unless one says so


def test_every_notebook_has_claims() -> None:
    assert {path.stem for path in NOTEBOOKS} == set(CLAIMS)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_kept_clean(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(text, as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    assert [cell.id for cell in code_cells(notebook) if cell.outputs or cell.execution_count is not None] == []
    assert [cell.id for cell in notebook.cells if cell.metadata] == []
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert notebook.metadata.kernelspec.name == "python3"
    assert set(notebook.metadata.language_info) == {"name"}
    assert text.endswith("}\n")
    code = "\n".join(cell.source for cell in code_cells(notebook))
    assert re.findall(r"""["'](?:/(?:home|tmp|root|usr|work|mnt)\b|[A-Za-z]:\\)[^"']*""", code) == []
    assert re.findall(r"https?://[^\s\"')]+", code) == [], "code reaches for nothing outside"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_begins_with_a_title_and_explains_every_step(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert re.match(r"# \S", notebook.cells[0].source)
    kinds = [cell.cell_type for cell in notebook.cells]
    assert kinds[-1] == "markdown", "it ends in words"
    assert all("markdown" in kinds[place : place + 3] for place in range(len(kinds) - 2)), "two cells of code at most"
    assert max(len(line) for cell in notebook.cells for line in cell.source.splitlines()) <= 120


@pytest.mark.docs
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_and_what_it_says_holds(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"):
        folder = tmp_path / name.lower()
        folder.mkdir()
        monkeypatch.setenv(name, str(folder))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    claims = CLAIMS[path.stem]
    check = f"import json\nprint(json.dumps([claim for claim in {list(claims)!r} if not eval(claim)]))"
    done = run_notebook(path, tmp_path, check)
    said = "".join(out.text for out in done.cells[-1].outputs if out.output_type == "stream" and out.name == "stdout")
    failed = json.loads(said)  # a slow kernel may send the end of the line by itself
    assert [f"{claims[claim]}: {claim}" for claim in failed] == []
    streams = [out for cell in code_cells(done) for out in cell.outputs if out.output_type == "stream"]
    assert [out.text for out in streams if out.name == "stderr"] == [], "warnings belong into no documentation"
    images = [
        out.data["image/png"] for cell in code_cells(done) for out in cell.outputs if "image/png" in out.get("data", {})
    ]
    assert images
    assert max(len(image) for image in images) < 300_000
