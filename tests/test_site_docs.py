"""The documentation as a site: it builds without a warning, loads nothing from elsewhere, and shows what runs."""

from __future__ import annotations

import contextlib
import doctest
import functools
import importlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urldefrag, urlsplit

import lxml.html
import numpy as np
import pyarrow as pa
import pytest

from tests.calling import twinlink
from tests.match.methods.weighed.made_sites import made_site
from tests.test_docs import ROOT, VERBS, Block, blocks, run_python
from twinlink.cli.settings import settings_of
from twinlink.config import Config
from twinlink.demo import serve, write_site
from twinlink.demo.site import MIN_PAGES
from twinlink.match.measures import measure
from twinlink.rundir.signature import leaves as leaves_of_settings
from twinlink.tables import schemas as tables

load_config = pytest.importorskip(
    "mkdocs.config", reason="the documentation is built with the extra `docs`"
).load_config

DOCS = ROOT / "docs"
TOOLS = DOCS / "tools"
FIGURES = DOCS / "figures"
OF_THEME = ("only-light", "only-dark")
"""Anchors of pictures by which the theme shows them in one of its colour schemes."""
FROM_NOTHING = [DOCS / "tour.md", DOCS / "tutorial.md"]
"""Pages of instructions that begin in an empty folder; the others have a run and files in theirs."""
WITH_RUN = [DOCS / "gallery.md", *sorted((DOCS / "howto").glob("*.md")), *sorted((DOCS / "extend").glob("*.md"))]
OF_WHOLE_DEMO = DOCS / "howto" / "precision.md"
"""The page of instructions that shows a number of the demo site as large as the command makes it."""
PLACEHOLDER = "https://www.example.gov.hk"
FOR_SHELL = re.compile(r"[|&;<>()$`*?\[#~\\\n]")
"""What a shell would do something with."""
ELSEWHERE = re.compile(r"^(?:https?:)?//", re.IGNORECASE)
IN_CSS = re.compile(r"""(?:@import\s*|url\()\s*["']?\s*((?:https?:)?//[^)"'\s]+)""", re.IGNORECASE)
LOADING = {
    "audio": ("src",), "embed": ("src",), "iframe": ("src",), "image": ("href", "xlink:href"), "img": ("src", "srcset"),
    "input": ("src",), "link": ("href",), "object": ("data",), "script": ("src",), "source": ("src", "srcset"),
    "track": ("src",), "use": ("href", "xlink:href"), "video": ("src", "poster"),
}  # fmt: skip
NOT_LOADED = {"canonical", "next", "prev", "author", "license"}  # relations of a <link> that a browser does not fetch


@pytest.fixture(scope="module")
def tools() -> Iterator[Callable[[str], Any]]:
    """Import a script of the documentation by its name."""
    sys.path.insert(0, str(TOOLS))
    yield importlib.import_module
    sys.path.remove(str(TOOLS))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the built site; a warning is an error. Notebooks are shown as they are: their own tests run them."""
    folder = tmp_path_factory.mktemp("site")
    env = {**os.environ, "TWINLINK_DOCS_EXECUTE": "false", "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],  # with --quiet, none is counted
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr
    return folder


@pytest.mark.docs
@pytest.mark.xdist_group("site")
def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    loads = [f"{page.relative_to(site)}: {url}" for page in pages_of(site) for url in loaded(parsed(page))]
    loads += [
        f"{file.relative_to(site)}: {url}"
        for file in site.rglob("*.css")
        for url in IN_CSS.findall(file.read_text(encoding="utf-8"))
    ]
    assert loads == []


@pytest.mark.parametrize(
    "html",
    [
        '<script src="https://cdn.example/x.js"></script>',
        '<link rel="stylesheet" href="//cdn.example/x.css">',
        '<img src="a.png" srcset="https://cdn.example/a.png 2x">',
        "<style>@import 'https://cdn.example/x.css'</style>",
        '<p style="background: url(https://cdn.example/x.png)">',
        '<script type="module">import x from "https://cdn.example/x.mjs"</script>',
    ],
)
def test_checker_finds_what_is_loaded_from_elsewhere(html: str) -> None:
    assert loaded(lxml.html.document_fromstring(f"<html><body>{html}</body></html>"))


@pytest.mark.docs
@pytest.mark.xdist_group("site")
def test_every_link_and_anchor_of_the_site_leads_somewhere(site: Path) -> None:
    pages = {page: parsed(page) for page in pages_of(site)}
    names = {page: {*tree.xpath("//@id"), *tree.xpath("//a/@name")} for page, tree in pages.items()}
    broken = []
    for page, tree in pages.items():
        for href in tree.xpath("//a/@href | //img/@src | //link/@href | //script/@src"):
            target, anchor = target_of(site, page, href)
            if target is None:
                continue
            is_there = not anchor or anchor in OF_THEME or anchor in names.get(target, set())
            if not target.is_file() or not is_there:
                broken.append(f"{page.relative_to(site)}: {href}")
    assert broken == []


@pytest.mark.parametrize("is_set", [False, True])
def test_only_a_site_for_a_host_has_a_menu_of_versions(
    monkeypatch: pytest.MonkeyPatch, tools: Callable[[str], Any], is_set: bool
) -> None:
    monkeypatch.setenv(tools("hook").VERSIONS, "1" if is_set else "")
    config = load_config(str(ROOT / "mkdocs.yml"))
    extra = tools("hook").on_config(config).extra
    assert extra.get("version", {}).get("provider") == ("mike" if is_set else None)


@pytest.mark.docs
@pytest.mark.xdist_group("site")
def test_the_search_ranks_the_api_after_prose(site: Path) -> None:
    entries = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))["docs"]
    ranks = [(entry["location"].startswith("reference/api"), entry.get("boost", 1)) for entry in entries]
    assert {boost < 1 for is_api, boost in ranks if is_api} == {True}
    assert {boost < 1 for is_api, boost in ranks if not is_api} == {False}


@pytest.mark.docs
@pytest.mark.xdist_group("site")
def test_every_picture_has_a_text(site: Path) -> None:
    silent = [
        f"{page.relative_to(site)}: {image.get('src')}"
        for page in pages_of(site)
        for image in parsed(page).xpath("//article//img")
        if not (image.get("alt") or "").strip()
    ]
    assert silent == []


@pytest.mark.docs
@pytest.mark.xdist_group("site")
def test_every_command_and_option_is_on_the_page_of_commands(site: Path, tools: Callable[[str], Any]) -> None:
    text = text_of(site / "reference/commands.html")
    missing = [verb for verb in VERBS if f"twinlink {verb}" not in text]
    missing += [
        f"{verb} {option}"
        for verb, command in tools("site_commands").verbs().items()
        for parameter in command.params
        for option in (parameter.opts if parameter.param_type_name == "option" else [])
        if option not in section_of(site / "reference/commands.html", f"twinlink-{verb}")
    ]
    assert missing == []


@pytest.mark.docs
@pytest.mark.xdist_group("site")
def test_every_setting_is_on_the_page_of_settings_with_its_text(site: Path, tools: Callable[[str], Any]) -> None:
    names = set(parsed(site / "reference/settings.html").xpath("//@id"))
    settings = {each.name: each for each in tools("site_settings").all_settings()}
    assert set(settings) == set(leaves(Config()))
    assert [name for name in settings if name.replace(".", "-") not in names] == []
    text = text_of(site / "reference/settings.html")
    assert [name for name, each in settings.items() if plain(each.text) not in text] == []


@pytest.mark.docs
@pytest.mark.xdist_group("site")
def test_every_column_is_on_the_page_of_tables(site: Path, tools: Callable[[str], Any]) -> None:
    schemas = tools("site_tables").schemas()
    assert {name for name, value in vars(tables).items() if isinstance(value, pa.Schema)} == {
        n.upper() for n in schemas
    }
    for name, schema in schemas.items():
        section = section_of(site / "reference/tables.html", name)
        assert [column for column in schema.names if column not in section] == [], name


def test_figures_are_what_the_package_draws(tools: Callable[[str], Any]) -> None:
    drawn = tools("figures").draw_all()
    assert {path.name for path in FIGURES.glob("*.svg")} == set(drawn)
    changed = [name for name, text in drawn.items() if not alike(text, (FIGURES / name).read_text(encoding="utf-8"))]
    assert changed == [], "python docs/tools/figures.py draws them anew"


@pytest.mark.parametrize("name", ["site_commands", "site_settings", "site_tables", "site_docstrings"])
def test_examples_in_the_scripts_run(name: str, tools: Callable[[str], Any]) -> None:
    found = doctest.testmod(tools(name))
    assert found.attempted
    assert not found.failed


class Materials(NamedTuple):
    """What the pages of instructions start from, and the address that stands for the placeholder in them."""

    folder: Path
    base: str


@contextlib.contextmanager
def laid_out(folder: Path, **options: int) -> Iterator[Materials]:
    """Serve a demo site, and lay out the files that the instructions name: run, archive, mirror, lists.

    The crawl leaves the calendar out, whose pages without end are half of what it would get.
    """
    site = write_site(folder / "demo", **options)
    with serve(site.folder) as served:
        base, folder = served.rstrip("/"), folder / "here"
        folder.mkdir()
        starts = [base + path for path in site.seeds]
        given = f"--langs en,zh --lexicon {site.lexicon} --exclude /calendar -q"
        assert "pairs" in run_shell(f"twinlink mine {' '.join(starts)} -o run {given}", folder)[0]
        shutil.copytree(site.site, folder / "mirror")
        shutil.copy(site.gold, folder / "gold.tsv")
        shutil.copy(next((folder / "run/warc").glob("*.warc.gz")), folder / "crawl.warc.gz")
        (folder / "sites.txt").write_text("\n".join(["# where to begin", *starts, ""]), encoding="utf-8")
        english = ["The library opens at 9:30.", "Readers may borrow 6 books.", "Call 2345 6789."]
        french = ["La bibliothèque ouvre à 9:30.", "Les lecteurs peuvent emprunter 6 livres.", "Appelez le 2345 6789."]
        for name, lines in (("en.txt", english), ("fr.txt", french)):
            (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        yield Materials(folder, base)


@pytest.fixture(scope="module")
def materials(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Materials]:
    """What most pages start from: as few pages as a demo site can have, for they show none of its numbers."""
    with laid_out(tmp_path_factory.mktemp("materials"), pages=MIN_PAGES) as made:
        yield made


@pytest.fixture
def start(page: Path, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Materials]:
    """What one page starts from: its blocks may write there."""
    if page in FROM_NOTHING:
        yield Materials(tmp_path, PLACEHOLDER)
    elif page == OF_WHOLE_DEMO:
        with laid_out(tmp_path) as made:
            yield made
    else:
        shared: Materials = request.getfixturevalue("materials")
        yield Materials(Path(shutil.copytree(shared.folder, tmp_path / "here")), shared.base)


@pytest.mark.docs
@pytest.mark.parametrize(
    "page",
    [
        *(pytest.param(page, id=page.stem) for page in FROM_NOTHING),
        *(pytest.param(page, id=page.stem, marks=pytest.mark.xdist_group("instructions")) for page in WITH_RUN),
    ],
)
def test_instructions_run(page: Path, start: Materials, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run all blocks of a page in order, in one folder; the demo site stands for the address in them."""
    names: dict[str, object] = {"__name__": page.stem}
    monkeypatch.chdir(start.folder)
    for block in blocks(page):
        if block.runs:
            run_block(block, start.folder, start.base, names)


def test_steps_of_a_new_kind_of_evidence_lead_to_one_that_is_weighed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add the kind of the page on evidence to what is measured: weights and chances must follow by themselves."""
    names: dict[str, Any] = {"__name__": "evidence"}
    run_python(next(b for b in blocks(DOCS / "extend/evidence.md") if b.runs and b.kind == "python"), names)
    made = made_site(40, noise=0.6, tag_noise=0.9)
    pictures = [[{f"{number}.png", "logo.png"} for number in side.page_ids] for side in (made.a, made.b)]

    def with_pictures(site: Any, state: Any, rivalry: Any) -> dict[str, Any]:
        values = names["shared_pictures"](*pictures, state.pattern)
        return {**measure(site, state, rivalry), "pictures": values.astype(np.float64)}

    before = made.found()
    monkeypatch.setattr("twinlink.match.methods.weighed.round.measure", with_pictures)
    after = made.found()
    right = {(number, number) for number in made.a.page_ids.tolist()}
    assert "pictures" not in before.weights
    assert after.weights["pictures"] > 0.1
    assert len(made.pairs(after) & right) > len(made.pairs(before) & right)


NAMED = re.compile(r"`(?P<name>\w+)`(?:, `(?P<other>\w+)`)? in `(?P<file>twinlink/[\w/]+\.py)`")
DOTTED = re.compile(r"`(twinlink(?:\.\w+)+)`")
FILES = re.compile(r"`((?:twinlink|tests|experiments)/[\w/]+\.(?:py|toml))`")
TEXTS = [pytest.param(page, id=page.relative_to(DOCS).as_posix()) for page in sorted(DOCS.rglob("*.md"))]


@pytest.mark.parametrize("page", TEXTS)
def test_names_on_a_page_exist_in_the_code(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [name for name in FILES.findall(text) if not (ROOT / name).is_file()] == []
    assert [name for name in DOTTED.findall(text) if not is_there(name)] == []
    for found in NAMED.finditer(text):
        source = (ROOT / found["file"]).read_text(encoding="utf-8")
        for name in filter(None, (found["name"], found["other"])):
            assert re.search(rf"^\s*(?:def |class |)_?{name}\b(?:\(|:| =)|^{name}\b", source, re.MULTILINE), found[0]


_SET = re.compile(r"""--set (?:'([^']+)'|"([^"]+)"|([\w.]+=[^\s`,;)]+))""")
_SETTING = re.compile(r"`((?:match|bitext|crawl|rank|ranking|recover|discover|run|ingest|language)\.[\w.]+=[^`]+)`")


@pytest.mark.parametrize("page", TEXTS)
def test_settings_on_a_page_can_be_set_as_printed(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    printed = [next(filter(None, found)) for found in _SET.findall(text)] + _SETTING.findall(text)
    for assignment in printed:
        if not assignment.startswith("NAME="):
            settings_of(None, None, [assignment], {})  # raises an error if it cannot be set


def test_every_row_of_the_index_names_something_in_a_file() -> None:
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    rows = text.partition("## Where is …")[2].partition("\n## ")[0].strip().splitlines()[2:]
    assert len(rows) > 30
    assert [row for row in rows if not (NAMED.search(row) or FILES.search(row))] == []


def is_there(name: str) -> bool:
    """Tell whether a dotted name is a module, or something in one."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            thing: Any = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for part in parts[cut:]:
            if not hasattr(thing, part):
                return False
            thing = getattr(thing, part)
        return True
    return False


def run_block(block: Block, folder: Path, base: str, names: dict[str, object]) -> None:
    """Run a block by its kind; what is none of these is shown only, and says so by having no kind."""
    place = f"{block.page}:{block.line}"
    if block.kind in ("python", "pycon"):
        run_python(block, names)
    elif block.kind == "toml":
        Config().override(dict(leaves_of_settings(tomllib.loads(block.text))))
    elif block.kind == "console":
        run_steps(block, folder, base, place)
    else:
        assert block.kind in ("", "text"), f"{place}: blocks of kind {block.kind} are not run; mark this one as not run"


def run_steps(block: Block, folder: Path, base: str, place: str) -> None:
    """Run the lines of a block that begin with `$`, and compare what they print where something is shown."""
    for step in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        line, _, shown = step.partition("\n")
        printed, told = (text.replace(base, PLACEHOLDER) for text in run_shell(line.replace(PLACEHOLDER, base), folder))
        # A terminal shows both; most pages show only what a pipe would get.
        is_shown = fits(shown, printed) or fits(shown, told + printed)
        assert is_shown, f"{place} {line}\nshown:\n{shown}\ntold:\n{told}\nprinted:\n{printed}"


def fits(shown: str, printed: str) -> bool:
    """Tell whether what was printed is what is shown: ``...`` stands for anything, nothing at all included."""
    words = re.escape(" ".join(shown.split())).replace(r"\ ", " ").replace(r"\.\.\.", ".*").replace(" .*", "(?: .*|.*)")
    pattern = words.replace(".* ", ".* ?")
    return not shown.strip() or re.fullmatch(pattern, " ".join(printed.split())) is not None


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("2 pairs ...\n", "2 pairs, all right\nnext", True),
        ("...\n2 pairs\n...\n", "2 pairs\n", True),
        ("...\n2 pairs\n...\n", "one\n2 pairs\nthree", True),
        ("P 0.9...\n", "P 0.95", True),
        ("2 pairs\n", "3 pairs\n", False),
        ("2 pairs\n", "2 pairs\nnext\n", False),
        ("...\n2 pairs\n...\n", "3 pairs", False),
        ("", "anything", True),
    ],
)
def test_what_is_shown_is_compared_with_what_is_printed(shown: str, printed: str, same: bool) -> None:
    assert fits(shown, printed) is same


def run_shell(line: str, folder: Path) -> tuple[str, str]:
    """Run a command line, with this checkout's twinlink; return what it prints, and what it tells beside that.

    A line that is twinlink alone needs no shell: to call it in this process saves its start.
    """
    if line.startswith("twinlink ") and not FOR_SHELL.search(line):
        with contextlib.chdir(folder):
            called = twinlink(*shlex.split(line)[1:])
        assert called.returncode == 0, f"{line}\n{called.stdout}{called.stderr}"
        return called.stdout, called.stderr
    ours = f'twinlink() {{ "{sys.executable}" -m twinlink "$@"; }}; set -o pipefail; '
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-c", ours + line], cwd=folder, env=env, capture_output=True, text=True, encoding="utf-8", timeout=300
    )
    assert done.returncode in (0, 141), f"{line}\n{done.stdout}{done.stderr}"  # 141: `head` has seen enough
    return done.stdout, done.stderr


def leaves(record: Any, prefix: str = "") -> Iterator[str]:
    for name in record.__struct_fields__:
        value = getattr(record, name)
        if hasattr(value, "__struct_fields__"):
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name


def pages_of(site: Path) -> list[Path]:
    found = sorted(site.rglob("*.html"))
    assert len(found) > 30
    return found


@functools.cache
def parsed(page: Path) -> Any:
    """Return the tree of a page of the built site; several tests look at each."""
    return lxml.html.document_fromstring(page.read_bytes())


def loaded(tree: Any) -> list[str]:
    """Return what a browser that opens a page would fetch from another host."""
    found = [
        url
        for tag, attributes in LOADING.items()
        for element in tree.iter(tag)
        if not (tag == "link" and set(element.get("rel", "").lower().split()) & NOT_LOADED)
        for attribute in attributes
        for url in (element.get(attribute) or "").replace(",", " ").split()
        if ELSEWHERE.match(url)
    ]
    for style in [*(each.text or "" for each in tree.iter("style")), *tree.xpath("//@style")]:
        found += IN_CSS.findall(style)
    for script in tree.iter("script"):
        if script.get("type") != "application/json":
            found += re.findall(r"""(?:import|from|src\s*=)\s*\(?\s*["']((?:https?:)?//[^"']+)""", script.text or "")
    return found


def target_of(site: Path, page: Path, href: str) -> tuple[Path | None, str]:
    """Return the file that a link leads to, and the anchor in it; None for another host."""
    address, anchor = urldefrag(href)
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return None, ""
    start = site if parts.path.startswith("/") else page.parent  # the page for errors may stand anywhere
    target = page if not parts.path else (start / unquote(parts.path).lstrip("/")).resolve()
    return (target / "index.html" if target.is_dir() else target), unquote(anchor)


def plain(text: str) -> str:
    return " ".join(text.replace("`", "").split())


def text_of(page: Path) -> str:
    (article,) = parsed(page).xpath("//article")
    return plain(article.text_content())


def section_of(page: Path, name: str) -> str:
    """Return the text from the heading of that name to the next one."""
    tree = parsed(page)
    (heading,) = tree.xpath("//h2[@id=$name]", name=name)
    texts = []
    for element in heading.itersiblings():
        if element.tag == "h2":
            break
        texts.append(element.text_content())
    return plain(" ".join(texts))


def alike(drawn: str, kept: str) -> bool:
    """Tell whether two drawings are the same but for the last digit of numbers, which may differ between machines."""
    number = re.compile(r"-?\d+\.?\d*")
    if number.sub("#", drawn) != number.sub("#", kept):
        return False
    pairs = zip(number.findall(drawn), number.findall(kept), strict=True)
    return all(abs(float(a) - float(b)) <= 0.11 for a, b in pairs)
