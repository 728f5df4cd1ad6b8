"""The benchmark of the host graph makes files of Common Crawl's form and says what it read."""

from __future__ import annotations

import gzip

from experiments.bench.bench_webgraph import main, make_graph


def test_files_are_made_once_and_read(tmp_path, capsys):
    files = make_graph(tmp_path, 300, 3_000)
    lines = gzip.decompress(files.vertices[0].read_bytes()).decode().splitlines()
    assert lines[:4] == ["0\tcom.site0", "1\tcom.site0.sub", "2\tcom.site0.blog", "3\torg.site1"]
    rows = gzip.decompress(files.edges[0].read_bytes()).decode().splitlines()
    edges = [tuple(map(int, row.split("\t"))) for row in rows]
    assert len(edges) == 3_000
    assert edges == sorted(edges, key=lambda edge: edge[0])
    before = files.edges[0].stat()
    main([str(tmp_path), "--hosts", "300", "--edges", "3000", "--sites", "100", "--steps", "2"])
    assert files.edges[0].stat().st_mtime_ns == before.st_mtime_ns
    row = capsys.readouterr().out.split()
    assert "3,000" in row
    assert "100" in row
