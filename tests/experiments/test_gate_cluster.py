"""The gate through a cluster: real workers on the loopback interface give what local processes give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments import gate_cluster
from tests.made_sites import write_town


def write_case(folder: Path, host: str, first: int) -> Path:
    write_town(folder / "site", 6, first)
    meta = {"host": host, "lang_a": "en", "lang_b": "fr"}
    (folder / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    pairs = "".join(f"/en/{n}.html\t/fr/{n}.html\n" for n in range(first, first + 6))
    (folder / "gold.tsv").write_text(pairs, encoding="utf-8")
    return folder


def test_both_ways_give_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sites = [write_case(tmp_path / name, f"www.{name}.example", first) for name, first in (("one", 0), ("two", 20))]
    with pytest.raises(SystemExit) as ended:
        gate_cluster.main([*map(str, sites), "--workers", "1"])
    assert ended.value.code == 0
    head, one, two, tables = capsys.readouterr().out.splitlines()
    assert (head.split(), one.split()[0], two.split()[0]) == (["site", "local", "cluster"], "one", "two")
    assert "tables equal" in tables


def test_two_sites_of_one_host_are_refused(tmp_path: Path) -> None:
    sites = [write_case(tmp_path / name, "www.one.example", 0) for name in ("one", "two")]
    with pytest.raises(SystemExit, match="another site has the host"):
        gate_cluster.main([str(site) for site in sites])


def test_another_row_is_another_digest(tmp_path: Path) -> None:
    from tests.experiments.test_bench_cluster import write

    first, same = (write(tmp_path / name, "pairs.parquet", [1, 2]) for name in ("first", "same"))
    other = write(tmp_path / "other", "pairs.parquet", [1, 3])
    assert gate_cluster.digest(first) == gate_cluster.digest(same) != gate_cluster.digest(other)
