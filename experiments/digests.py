"""Digests of the visible behaviour of twinlink, to verify that a change of structure changes nothing else.

``python -m experiments.digests SITE... -o before.json`` runs the command line on site folders, on the toy site as an
archive, and on the demo; it writes one digest per output and per column of a table. The file is written after every
source, so that an interruption loses one source at most. ``python -m experiments.digests --compare before.json
after.json`` prints the differences and exits with 1 if there are any.

A run has a fixed path, which is emptied first: two calls with the same code and sources give equal files.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.metadata
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import typer.main
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

import twinlink
from experiments.cases import langs_of, read_meta

Digests = dict[str, str]

DATE = "2026-01-02T03:04:05Z"
SMALL = 400  # pages of a site whose sentences are aligned, too
_ENVIRONMENT = {"COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb", "PYTHONHASHSEED": "0"}
_STYLE = re.compile(r"\x1b\[[\d;]*m")
_VARYING = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?(Z|UTC|[+-]\d\d:?\d\d))?"), "TIME"),
    (re.compile(r"\b\d{8}T\d{6}Z\b"), "TIME"),
    (re.compile(r"(127\.0\.0\.1|localhost):\d+"), r"\1:PORT"),
    (re.compile(r'("(?:seconds|elapsed|took|created|written)": )[\d.]+'), r"\1SECONDS"),
    (re.compile(r"\b\d+(\.\d+)? ?(s|sec|seconds|min|minutes)\b"), "SECONDS"),
)


def digest(content: str | bytes) -> str:
    """Return the digest of a text or of bytes."""
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()


def normalise(text: str, work: Path) -> str:
    """Return a text without the parts that vary between two calls of the same code."""
    text = text.replace(str(work), "WORK")
    for pattern, name in _VARYING:
        text = pattern.sub(name, text)
    return text


def call(work: Path, *arguments: str) -> tuple[int, str]:
    """Run the command line; return its exit code and its standard output."""
    command = [sys.executable, "-m", "twinlink", *arguments]
    done = subprocess.run(command, capture_output=True, check=False, env={**os.environ, **_ENVIRONMENT})
    if done.returncode:
        print(f"exit code {done.returncode}: twinlink {' '.join(arguments)}", file=sys.stderr)
    return done.returncode, normalise(done.stdout.decode("utf-8", "replace"), work)


def freeze_help() -> Digests:
    """Return the digest of the help of every verb."""
    (script,) = importlib.metadata.entry_points(group="console_scripts", name="twinlink")
    app = importlib.import_module(script.module).app
    return {f"help {name}": digest(text) for name, text in _helps(typer.main.get_command(app), "twinlink")}


def _helps(command: Any, name: str, parent: Any = None) -> Iterator[tuple[str, str]]:
    """Yield the name and the help of a command and of those below it."""
    os.environ.update(_ENVIRONMENT)
    context = command.make_context(name, [], parent=parent, resilient_parsing=True, terminal_width=120)
    yield context.command_path, _STYLE.sub("", command.get_help(context))
    for below in getattr(command, "commands", {}).values():
        yield from _helps(below, below.name, context)


def freeze_tables(run: Path, work: Path) -> Digests:
    """Return digests of a run's tables: of each schema, each column, and the set of rows."""
    found: Digests = {}
    for path in sorted(run.rglob("*.parquet")):
        table = pq.read_table(path)
        name = f"table {path.relative_to(run)}"
        found[f"{name} schema"] = digest(table.schema.to_string(show_schema_metadata=True, truncate_metadata=False))
        found |= {f"{name} {part}": value for part, value in _columns(table, work).items()}
    return found


def _columns(table: pa.Table, work: Path) -> Digests:
    """Return the digest of each column and of all rows, independent of the order of the rows."""
    values = {
        name: [repr(value).replace(str(work), "WORK") for value in table[name].to_pylist()]
        for name in table.column_names
    }
    rows = sorted("\t".join(row) for row in zip(*values.values(), strict=True))
    found = {f"column {name}": digest("\n".join(sorted(column))) for name, column in values.items()}
    return {"rows": digest("\n".join(rows)), **found}


def freeze_files(run: Path, work: Path) -> Digests:
    """Return digests of the files of a run that are not tables."""
    texts = {".tsv", ".html", ".json", ".jsonl", ".toml", ".tmx", ".txt", ".graphml", ".gexf"}
    files = (path for path in run.rglob("*") if path.is_file() and path.suffix in texts)
    paths = sorted(path for path in files if path.name != "log.txt")  # times, which vary
    return {f"file {path.relative_to(run)}": digest(normalise(path.read_text("utf-8"), work)) for path in paths}


def _reading_verbs(run: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield a name and the arguments of each call that reads a run."""
    lines = (run / "pairs.tsv").read_text("utf-8").splitlines()[1:]
    pairs = [line.split("\t")[:2] for line in lines]
    if pairs:
        (first, partner), (_, stranger) = pairs[0], pairs[-1]
        yield "explain page", ["explain", str(run), first]
        yield "explain pair", ["explain", str(run), first, partner]
        yield "explain other", ["explain", str(run), first, stranger]
    yield "patterns", ["patterns", str(run), "--export", str(run / "patterns.tsv")]
    yield "recover", ["recover", str(run), "--dry-run"]
    for kind in ("graphml", "gexf", "parquet"):
        yield f"rank {kind}", ["rank", str(run), "--export", str(run / f"ranked.{kind}")]


def freeze_run(work: Path, sources: Sequence[str], gold: Path | None, small: bool) -> Digests:
    """Mine sources and return the digests of the run and of the output of every verb that reads it."""
    run = work / "run"
    shutil.rmtree(run, ignore_errors=True)
    found = {"say mine": _say(work, ["mine", *sources, "-o", str(run)])}
    if not (run / "pairs.tsv").exists():
        return found
    verbs = list(_reading_verbs(run))
    if gold is not None:
        verbs.append(("evaluate", ["evaluate", str(run), "--gold", str(gold), "--curve"]))
    verbs.append(("verify", ["verify", str(run / "pairs.tsv"), "--run", str(run), "-o", str(run / "verdicts.tsv")]))
    if small:
        verbs.append(("align", ["align", str(run), "--format", "tmx,tsv,moses,jsonl"]))
    for name, arguments in verbs:
        found[f"say {name}"] = _say(work, arguments)
    for name, arguments in (*verbs, ("report", ["report", str(run)])):
        found[f"json {name}"] = _say(work, [*arguments, "--json"])
    return found | freeze_tables(run, work) | freeze_files(run, work)


def _say(work: Path, arguments: Sequence[str]) -> str:
    """Return the digest of the output of a call."""
    code, text = call(work, *arguments)
    return digest(f"{code}\n{text}")


def freeze_site(folder: Path, work: Path) -> Digests:
    """Return the digests of a site folder with meta.json, gold.tsv and site/."""
    meta = read_meta(folder)
    langs = ",".join(langs_of(meta))
    gold = work / "gold.tsv"
    base = "http://h"
    rows = [line.split("\t")[:2] for line in (folder / "gold.tsv").read_text("utf-8").splitlines()]
    gold.write_text("".join(f"{base}{a}\t{base}{b}\n" for a, b in rows), "utf-8")
    sources = [str((folder / "site").resolve()), "--base-url", base, "--langs", langs]
    return freeze_run(work, sources, gold, meta["pages"] <= SMALL)


def toy_pages() -> dict[str, bytes]:
    """Return the bytes of the toy site's pages by address."""
    pages = twinlink.toy_site().pages
    return {url: html.encode() for url, html in pages.items()}


def write_archive(path: Path, pages: Mapping[str, bytes]) -> None:
    """Write pages to a WARC file; its dates and record names are fixed."""
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for number, (url, html) in enumerate(pages.items()):
            head = StatusAndHeaders("200 OK", [("Content-Type", "text/html; charset=utf-8")], protocol="HTTP/1.1")
            named = {"WARC-Date": DATE, "WARC-Record-ID": f"<urn:uuid:00000000-0000-4000-8000-{number:012d}>"}
            payload = io.BytesIO(head.to_bytes() + html)
            writer.write_record(writer.create_warc_record(url, "response", payload=payload, warc_headers_dict=named))


def freeze_toy(work: Path) -> Digests:
    """Return the digests of the toy site as an archive."""
    archive = work / "toy.warc.gz"
    write_archive(archive, toy_pages())
    os.utime(archive, (1_700_000_000, 1_700_000_000))
    return freeze_run(work, [str(archive), "--langs", "en,zh"], None, small=True)


def freeze_demo(work: Path) -> Digests:
    """Return the digests of the demo's pairs; the order and the times of its crawl vary."""
    run = work / "demo"
    shutil.rmtree(run, ignore_errors=True)
    code, _ = call(work, "demo", "-o", str(run), "--json")
    found = {"exit code": digest(str(code))}
    for path in sorted(run.rglob("pairs.tsv")):
        pairs = sorted("\t".join(line.split("\t")[:4]) for line in path.read_text("utf-8").splitlines())
        name = path.relative_to(run)
        found[f"pairs {name}"] = digest(normalise("\n".join(pairs), work))
        found[f"number of pairs {name}"] = str(len(pairs) - 1)
    return found


def _write(path: Path, found: Digests) -> None:
    """Write digests under a temporary name, then rename the file."""
    half = path.with_name(f"{path.name}.half")
    half.write_text(json.dumps(found, indent=0, sort_keys=True, ensure_ascii=False) + "\n", "utf-8")
    half.replace(path)


def freeze(folders: Sequence[Path], out: Path, work: Path, demo: bool = True) -> Digests:
    """Write the digests of everything to a file and return them."""
    work.mkdir(parents=True, exist_ok=True)
    found = {**freeze_help(), "config": digest(twinlink.Config().to_toml())}
    parts: dict[str, Callable[[], Digests]] = {"toy": partial(freeze_toy, work)}
    if demo:
        parts["demo"] = partial(freeze_demo, work)
    parts |= {folder.name: partial(freeze_site, folder, work) for folder in folders}
    for name, part in parts.items():
        found |= {f"{name}: {key}": value for key, value in part().items()}
        _write(out, found)
        print(f"{name}: {len(found)} digests", file=sys.stderr)
    return found


def compare(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """Return one line per digest that differs or exists on one side only."""
    lines = []
    for key in sorted(old.keys() | new.keys()):
        if old.get(key) != new.get(key):
            what = "gone" if key not in new else "new" if key not in old else "differs"
            lines.append(f"{what}: {key}")
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Write digests, or compare two files of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, help="site folders with site/, gold.tsv and meta.json")
    parser.add_argument("-o", "--out", type=Path, default=Path("digests.json"))
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "twinlink-digests")
    parser.add_argument("--no-demo", action="store_true", help="leave out the crawl of the demo")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("OLD", "NEW"))
    chosen = parser.parse_args(arguments)
    if chosen.compare:
        old, new = (json.loads(path.read_text("utf-8")) for path in chosen.compare)
        lines = compare(old, new)
        print("\n".join(lines) or f"{len(old)} digests, all equal")
        return int(bool(lines))
    freeze(chosen.folders, chosen.out, chosen.work.resolve(), not chosen.no_demo)
    return 0


if __name__ == "__main__":
    sys.exit(main())
