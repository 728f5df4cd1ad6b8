"""Digests of the toy site: two calls of the same code agree, and a change is named."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from experiments import digests
from twinlink.cli import app


@pytest.fixture
def in_process(monkeypatch):
    """Run the verbs in this process: loading the program anew for each call takes most of the time."""

    def call(work, *arguments):
        done = CliRunner().invoke(app, arguments)
        return done.exit_code, digests.normalise(done.stdout, work)

    monkeypatch.setattr(digests, "call", call)


def test_a_call_returns_what_the_command_line_says(tmp_path):
    code, text = digests.call(tmp_path, "explain", str(tmp_path / "none"), "http://h/", "--json")
    assert code == 3
    assert '"error"' in text
    assert str(tmp_path) not in text


def test_two_calls_agree_and_a_changed_table_is_named(tmp_path, in_process):
    old, new, work = tmp_path / "old.json", tmp_path / "new.json", tmp_path / "work"
    first = digests.freeze([], old, work, demo=False)
    digests.freeze([], new, work, demo=False)
    assert digests.main(["--compare", str(old), str(new)]) == 0

    (path,) = (work / "run" / "match" / "pairs").glob("*.parquet")
    name = f"table {path.relative_to(work / 'run')}"
    assert {f"toy: {name} rows", "help twinlink mine", "config", "toy: json explain pair"} <= first.keys()
    table = pq.read_table(path)
    column = table.schema.get_field_index("score")
    changed = table.set_column(column, table.schema.field(column), pa.array([0.5] * len(table), table["score"].type))
    pq.write_table(changed, path)
    frozen = {f"toy: {key}": value for key, value in digests.freeze_tables(work / "run", work).items()}
    assert digests.compare(first, {**first, **frozen}) == [
        f"differs: toy: {name} column score",
        f"differs: toy: {name} rows",
    ]
    assert digests.compare({"a": "1"}, {"b": "1"}) == ["gone: a", "new: b"]
