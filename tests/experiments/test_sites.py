"""Sites from packages: a little package made here stands for apache2-doc."""

from __future__ import annotations

import json
import re
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import lxml.html
import pytest
from typer.testing import CliRunner

from experiments.sitemaker import packages
from experiments.sitemaker.build import Options, Site, build_site
from experiments.sitemaker.choose import connected_sample
from experiments.sitemaker.gold import judge_pairs, judge_side
from experiments.sitemaker.packages import fetch
from experiments.sitemaker.pages import SitePage, count_words, parse, resolve, text_blocks
from experiments.sitemaker.recipes import RECIPES, RecipeError
from experiments.sites import app, make_site

TOPICS = ["bind", "cache", "filter", "proxy", "logs", "index"]
ENGLISH = (
    "This page explains how the server reads the section about {} in the main configuration file.",
    "Every administrator should check these settings before the machine is connected to a public network.",
)
FRENCH = (
    "Cette page explique comment le serveur lit la section sur {} dans le fichier de configuration principal.",
    "Chaque administrateur devrait vérifier ces réglages avant de connecter la machine à un réseau public.",
)
JAPANESE = (
    "このページでは、サーバが主設定ファイルの{}に関する節をどのように読み込むかを説明します。",
    "すべての管理者は、機械を公開ネットワークに接続する前に、これらの設定を確認する必要があります。",
)
VERSION = "2.4"  # text of a link to the same page in the other language
SWITCHER = '<div class="toplang"><a href="../en/{0}.html" hreflang="en">en</a> <a href="../fr/{0}.html">fr</a></div>'


def html(lang: str, topic: str, sentences: tuple[str, ...], *, body: str = "") -> str:
    links = "".join(f'<li><a href="{other}.html#top">{other} {lang}</a></li>' for other in TOPICS if other != topic)
    paragraphs = "".join(f"<p id='p{i}'>{s.format(topic)}</p>" for i, s in enumerate(sentences))
    paragraphs += "<p>Apache</p>" if topic == "proxy" else ""
    return (
        f'<!DOCTYPE html><html lang="{lang}"><head><meta http-equiv="Content-Type" content="text/html; charset=UTF-8">'
        f"<title>{topic} {lang}</title><script src='x.js'></script></head><body onload='go()'><!-- {lang} -->"
        f"<h1>{topic.title()}</h1>{SWITCHER.format(topic)}{paragraphs}{body}"
        f'<p><a href="../{"fr" if lang == "en" else "en"}/{topic}.html">{VERSION}</a></p>'
        f'<a href="https://example.org/{lang}/">elsewhere</a><img src="../images/up.gif"><ul>{links}</ul></body></html>'
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Unpacked package: six topics in English, French and Japanese; `logs` is not translated to French."""
    parent = tmp_path / "cache" / "apache2-doc_1_all" / RECIPES["apache"].parent
    for lang, sentences in (("en", ENGLISH), ("fr", FRENCH), ("ja", JAPANESE)):
        for topic in TOPICS:
            file = parent / lang / f"{topic}.html"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(html(lang, topic, sentences), encoding="utf-8")
    (parent / "fr" / "logs.html").unlink()
    (parent / "fr" / "logs.html").symlink_to(parent / "en" / "logs.html")
    (tmp_path / "cache" / "apache2-doc_1_all.deb").touch()
    return tmp_path / "cache" / "apache2-doc_1_all"


@pytest.fixture
def make(root: Path, tmp_path: Path) -> Callable[..., tuple[Path, dict[str, object]]]:
    def run(name: str = "apache-en-fr", **options: object) -> tuple[Path, dict[str, object]]:
        made = make_site(name, tmp_path / "out", root.parent, Options(**options))  # type: ignore[arg-type]
        return Path(str(made["folder"])), made

    return run


def rows(file: Path) -> list[list[str]]:
    return [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines()]


def page(text: str, lang: str = "fr", key: str = "k", path: str = "/k") -> SitePage:
    return SitePage(key, lang, path, b"", "utf-8", "", (text,), (text,), {})


def built(root: Path, **options: object) -> Site:
    return build_site(RECIPES["apache"], "en", "fr", [root], Options(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("href", "base", "expected"),
    [
        ("b.html", "", "/en/b.html"),
        ("../fr/b.html?x=1#y", "", "/fr/b.html"),
        ("./", "", "/en/index.html"),
        ("b.html", "../../", "/b.html"),
        ("%C3%A9.html", "", "/en/é.html"),
        ("#top", "", None),
        ("", "", None),
        ("https://example.org/en/b.html", "", None),
        ("mailto:a@example.org", "", None),
        ("http://[broken", "", None),
    ],
)
def test_resolve(href: str, base: str, expected: str | None) -> None:
    head = f'<base href="{base}">' if base else ""
    _, tree = parse(f"<html><head>{head}</head><body></body></html>".encode())
    assert resolve(tree, "/en/a.html", href) == expected


def test_text_blocks_know_prose_from_code() -> None:
    source = (
        b"<body>One <b>two</b><p>Set <code>Listen</code> now<br>here<!-- no --></p><pre>x = 1</pre><script>f</script>"
    )
    assert list(text_blocks(parse(source)[1])) == [
        ("One two", "One two"),
        ("Set Listen now here", "Set now here"),
        ("x = 1", ""),
    ]


def test_declared_charset_is_used() -> None:
    source = '<head><meta http-equiv="Content-Type" content="text/html; charset=EUC-KR"></head><p>한국어'.encode(
        "euc-kr"
    )
    charset, tree = parse(source)
    assert (charset, list(text_blocks(tree))) == ("cp949", [("한국어", "한국어")])


@pytest.mark.parametrize(
    ("text", "expected"), [("", 0), ("12 %", 0), ("Two words", 2), ("日本語 text", 4), ("서버 설정", 2)]
)
def test_count_words(text: str, expected: int) -> None:
    assert count_words(text) == expected


def test_links_in_the_file_system_are_no_pages(root: Path) -> None:
    tag, found = RECIPES["apache"].pages([root], "fr")
    assert tag == "fr"
    assert [f.key for f in found] == sorted(f"{topic}.html" for topic in TOPICS if topic != "logs")
    assert found[0].path == "/manual/fr/bind.html"


def test_unknown_language_names_those_that_are_there(root: Path) -> None:
    with pytest.raises(RecipeError, match=r"no pages of language 'xx'.*en, fr, ja"):
        RECIPES["apache"].pages([root], "xx")


def test_languages_told_by_suffix(tmp_path: Path) -> None:
    folder = tmp_path / RECIPES["lilypond"].parent / "notation"
    folder.mkdir(parents=True)
    for name in ("a.html", "a.es.html", "a.ja.html", "b.html"):
        (folder / name).touch()
    (folder.parent / "notation-big-page.html").touch()
    pages = RECIPES["lilypond"].pages
    assert [f.key for f in pages([tmp_path], "en")[1]] == ["notation/a", "notation/b"]
    assert [f.path for f in pages([tmp_path], "es")[1]] == ["/Documentation/notation/a.es.html"]


def test_names_of_folders_may_begin_with_that_of_the_manual(tmp_path: Path) -> None:
    parent = tmp_path / RECIPES["gnucash"].parent
    for name in ("gnucash-guide-en", "gnucash-guide-pt", "gnucash-help-pt"):
        (parent / name).mkdir(parents=True)
        (parent / name / "index.html").touch()
    for manual, url in (("gnucash", "/guide/pt/index.html"), ("gnucashhelp", "/help/pt/index.html")):
        tag, found = RECIPES[manual].pages([tmp_path], "pt")
        assert (tag, [page.path for page in found]) == ("pt", [url])
        assert RECIPES[manual].key_of(url) == "index.html"


@pytest.mark.parametrize(
    ("recipe", "lang", "package"),
    [
        ("lo", "en", "libreoffice-help-en-us"),
        ("lo", "zh-TW", "libreoffice-help-zh-tw"),
        ("lo", "ptbr", "libreoffice-help-pt-br"),
        ("gimp", "ko", "gimp-help-ko"),
        ("lilypond", "en", "lilypond-doc-html"),
        ("lilypond", "es", "lilypond-doc-html-es"),
        ("man", "zh-CN", "manpages-zh"),
        ("man", "ptbr", "manpages-pt-br manpages-pt-br-dev"),
        ("scilab", "en-us", "scilab-doc"),
        ("scilab", "ptbr", "scilab-doc-pt-br"),
    ],
)
def test_package_names(recipe: str, lang: str, package: str) -> None:
    assert RECIPES[recipe].package_names(lang) == tuple(package.split())


LONG_EN = ENGLISH[0] + " " + ENGLISH[1]
LONG_FR = FRENCH[0] + " " + FRENCH[1]


@pytest.mark.parametrize(
    ("blocks", "kind"),
    [
        ((LONG_FR,), "translated"),
        ((LONG_EN,), "untranslated"),
        ((LONG_EN.replace("server", "daemon"),), "untranslated"),  # English of another version
        ((LONG_EN, FRENCH[1]), "partly"),
        ((*FRENCH, "Listen"), "translated"),
        (("Très peu de mots",), "partly"),
        (("Listen",), "partly"),
    ],
)
def test_kind_of_a_translation(blocks: tuple[str, ...], kind: str) -> None:
    original = SitePage("k", "en", "/en", b"", "", "", (), (LONG_EN, ENGLISH[1], "Listen"), {})
    translation = SitePage("k", "fr", "/fr", b"", "", "", (), blocks, {})
    (judged,) = judge_side([translation], {"k": original})
    assert judged.kind == kind


def test_text_in_a_third_language_is_not_scored() -> None:
    spanish = "Esta página explica cómo el servidor lee la sección de ajustes en el archivo de configuración principal."
    (judged,) = judge_side([page(spanish)], {"k": page(LONG_EN, "en")})
    assert judged.kind == "partly"


def test_original_in_another_language_is_not_scored() -> None:
    kinds = [judged.kind for judged in judge_side([page(LONG_EN, "en", "1"), page(LONG_FR, "en", "2")], {})]
    assert kinds == ["translated", "partly"]


def test_menus_do_not_count() -> None:
    menu = "Contents Index Search in all modules and in the pages of other volumes of this large manual"
    originals = {str(i): SitePage(str(i), "en", "", b"", "", "", (), (menu, LONG_EN), {}) for i in range(10)}
    pages = [SitePage(str(i), "fr", "", b"", "", "", (), (menu, FRENCH[0].format(i), FRENCH[1]), {}) for i in range(10)]
    judged = judge_side(pages, originals)
    assert {j.share for j in judged} == {1.0}
    assert {j.body_words for j in judged} == {count_words(FRENCH[0].format(0))}
    assert {j.share < 1 for j in judge_side(pages[:9], originals)} == {True}


def test_own_script_tells_translated_blocks() -> None:
    original = page(LONG_EN, "en")
    mixed = SitePage("k", "ja", "/ja", b"", "", "", (), (*JAPANESE, LONG_EN), {})
    (judged,) = judge_side([mixed], {"k": original})
    own = sum(map(count_words, JAPANESE))
    assert judged.share == pytest.approx(own / (own + count_words(LONG_EN)))


def test_translation_without_original_is_left_out() -> None:
    (orphan,) = judge_side([page(LONG_FR)], {"other": page(LONG_EN, "en", "other")})
    assert orphan.kind == "orphan"
    (original,) = judge_side([page(LONG_EN, "en")], {})
    assert judge_pairs([original], [orphan]) == ([], [])


def test_pairs_with_hardly_a_word_are_not_scored() -> None:
    (stub,) = judge_side([page("See above", "en")], {})
    (other,) = judge_side([page(LONG_FR)], {"k": page("See above", "en")})
    gold, ignored = judge_pairs([stub], [other])
    assert (len(gold), len(ignored)) == (0, 1)


def test_plain_site(make: Callable[..., tuple[Path, dict[str, object]]]) -> None:
    folder, meta = make()
    translated = sorted(topic for topic in TOPICS if topic != "logs")
    assert folder.name == "apache-en-fr-plain"
    assert rows(folder / "gold.tsv") == [[f"/manual/en/{t}.html", f"/manual/fr/{t}.html"] for t in translated]
    assert (meta["pages_a"], meta["pages_b"], meta["gold_pairs"], meta["unpaired_a"]) == (6, 5, 5, 1)
    assert rows(folder / "ignore.tsv") == rows(folder / "equiv.tsv") == rows(folder / "unscored.txt") == []
    paths = {row[0]: row[1:3] for row in rows(folder / "pages.tsv")}
    assert paths["/manual/fr/bind.html"] == ["B", "fr"]
    assert sorted(paths) == sorted(row[0] for row in rows(folder / "urls.txt"))
    assert all((folder / "site" / path[1:]).is_file() for path in paths)
    assert (folder / "site/manual/fr/bind.html").read_text(encoding="utf-8") == html("fr", "bind", FRENCH)
    assert json.loads((folder / "meta.json").read_text())["source"] == "Debian apache2-doc_1_all"


def test_opaque_pages_tell_nothing_but_text_tags_and_links(
    make: Callable[..., tuple[Path, dict[str, object]]], root: Path
) -> None:
    folder, meta = make(opaque=True)
    old = dict(rows(folder / "names.tsv"))
    plain = built(root).pages
    for name, path in old.items():
        source = (folder / "site" / name[1:]).read_text(encoding="utf-8")
        assert re.fullmatch(r"/p/\d{6}\.html", name)
        assert not re.search(r"""\b(lang|hreflang|id|onload)=|<script|<!--|example\.org|\.\./|manual""", source)
        tree = lxml.html.document_fromstring(source.encode())
        hrefs = [a.get("href") for a in tree.iter("a") if a.get("href")]
        original = plain[path][1].page
        expected = [t for t in original.links if t.split("/")[2] == original.lang and t != path]
        assert [old.get(href, "absent") for href in hrefs] == [t if t in plain else "absent" for t in expected]
        blocks = [block for block, _ in text_blocks(parse(source.encode())[1])]
        assert blocks == [block for block in original.blocks if block not in ("en fr", VERSION)]
    assert meta["links_to_own_translation"] == 0
    assert sorted((old[a], old[b]) for a, b in rows(folder / "gold.tsv")) == sorted(
        (f"/manual/en/{t}.html", f"/manual/fr/{t}.html") for t in TOPICS if t != "logs"
    )


def test_same_command_same_bytes_and_other_seed_other_names(
    make: Callable[..., tuple[Path, dict[str, object]]],
) -> None:
    options = {"opaque": True, "drop": 0.4, "noise": ("ja",)}

    def content() -> dict[str, bytes]:
        folder, _ = make(**options)
        return {f.relative_to(folder).as_posix(): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}

    first = content()
    assert content() == first
    options["seed"] = 2
    assert content()["names.tsv"] != first["names.tsv"]


def test_dropped_pages_leave_partners_behind(make: Callable[..., tuple[Path, dict[str, object]]]) -> None:
    folder, meta = make(drop=0.4)
    assert (meta["gold_pairs"], meta["pages_a"], meta["pages_b"]) == (3, 5, 4)
    assert len(list((folder / "site").rglob("*.html"))) == 9


def test_noise_is_neither_side(make: Callable[..., tuple[Path, dict[str, object]]]) -> None:
    folder, meta = make(noise=("ja",))
    noise = [row for row in rows(folder / "pages.tsv") if row[1] == "N"]
    assert len(noise) == meta["pages_noise"] == round(0.25 * 6)
    assert {row[2] for row in noise} == {"ja"}
    assert len(rows(folder / "seeds.txt")) == 3


def test_sample_of_pairs_hangs_together() -> None:
    def linked(i: int, *targets: int) -> SitePage:
        return SitePage(str(i), "en", f"/{i}", b"", "", "", (), (), {f"/{t}": "" for t in targets})

    from random import Random

    pages = [linked(0), linked(1, 2, 3, 4), linked(2, 5), linked(3), linked(4), linked(5), linked(6, 0)]
    pairs = [(one, page("", path=f"/b{one.key}")) for one in pages]
    chosen = {one.key for one, _ in connected_sample(pairs, 5, Random(1))}
    assert chosen == {"1", "2", "3", "4", "5"}
    assert len(connected_sample(pairs, 6, Random(1))) == 6
    assert len(connected_sample(pairs, 100, Random(1))) == 7


def test_max_pairs_takes_pairs_only(make: Callable[..., tuple[Path, dict[str, object]]]) -> None:
    folder, meta = make(max_pairs=3)
    assert folder.name == "apache3-en-fr-plain"
    assert (meta["pages_a"], meta["pages_b"], meta["gold_pairs"]) == (3, 3, 3)


def test_one_template_has_one_tag_sequence(make: Callable[..., tuple[Path, dict[str, object]]], root: Path) -> None:
    folder, _ = make(opaque=True, one_template=True)
    old = dict(rows(folder / "names.tsv"))
    site = built(root, opaque=True)
    sequences = set()
    for name, path in old.items():
        tree = lxml.html.document_fromstring((folder / "site" / name[1:]).read_bytes())
        sequences.add(tuple(e.tag for e in tree.iter()))
        original = site.pages[path][1].page
        assert [p.text for p in tree.iter("p") if p.text] == list(original.blocks)
        linked = {old[a.get("href")] for a in tree.iter("a") if a.get("href") in old}
        assert linked - {path} == set(site.links(original))
    assert len(sequences) == 1


def test_pages_with_the_same_text_stand_for_each_other(
    make: Callable[..., tuple[Path, dict[str, object]]], root: Path
) -> None:
    english = root / RECIPES["apache"].parent / "en"
    (english / "bind2.html").write_text((english / "bind.html").read_text(encoding="utf-8"), encoding="utf-8")
    folder, meta = make()
    groups = rows(folder / "equiv.tsv")
    assert meta["equiv_groups"] == 1
    assert groups == [["0", "A", "/manual/en/bind.html"], ["0", "A", "/manual/en/bind2.html"]]


def test_two_translations_are_both_checked_against_the_original(
    make: Callable[..., tuple[Path, dict[str, object]]],
) -> None:
    folder, meta = make("apache-fr-ja")
    assert (meta["pages_a"], meta["pages_b"], meta["gold_pairs"]) == (5, 6, 5)
    assert ["/manual/fr/bind.html", "/manual/ja/bind.html"] in rows(folder / "gold.tsv")


def test_without_apt_the_message_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages.shutil, "which", lambda name: None)
    with pytest.raises(RecipeError, match=r"apt-get and dpkg-deb are not here.*Debian or Ubuntu"):
        fetch("apache2-doc", tmp_path)


def test_unknown_package_shows_what_apt_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failed:
        returncode, stderr = 100, "W: x\nE: Unable to locate package nope\n"

    monkeypatch.setattr(packages.shutil, "which", lambda name: name)
    monkeypatch.setattr(packages.subprocess, "run", lambda *_, **__: Failed)
    with pytest.raises(RecipeError, match=r"Unable to locate package nope \(is the package list up to date"):
        fetch("nope", tmp_path)


NPM = "npm:nope@1.0.0"


@pytest.mark.parametrize(
    ("npm", "message"),
    [
        (None, "npm is not here"),
        ("npm", r"npm pack --silent nope@1.0.0: npm error code E404; not found \(is its name right"),
    ],
)
def test_without_an_npm_package_the_message_says_why(
    npm: str | None, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failed:
        returncode, stderr = 1, "npm error code E404\nnot found\n"

    monkeypatch.setattr(packages.shutil, "which", lambda name: npm)
    monkeypatch.setattr(packages.subprocess, "run", lambda *_, **__: Failed)
    with pytest.raises(RecipeError, match=message):
        fetch(NPM, tmp_path)


def test_an_npm_package_is_unpacked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs.json").write_text("{}")
    with tarfile.open(tmp_path / "nope-1.0.0.tgz", "w:gz") as archive:
        archive.add(tmp_path / "docs.json", "package/dist/docs.json")
    monkeypatch.setattr(packages.shutil, "which", lambda name: None)
    found = fetch(NPM, tmp_path)
    assert (found.source, (found.root / "package/dist/docs.json").read_text()) == ("npm nope-1.0.0", "{}")
    (tmp_path / "nope-1.0.0.tgz").write_bytes(b"")
    assert fetch(NPM, tmp_path) == found


def test_an_npm_package_is_packed_beside_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package is in the cache as a whole, whatever npm calls its file."""

    def run(command: list[str], cwd: Path | None, **_: object) -> subprocess.CompletedProcess[str]:
        if command[0] != "npm":
            return original(command, cwd=cwd, capture_output=True, text=True, check=False)
        assert cwd is not None
        (tmp_path / "page").write_text("text")
        with tarfile.open(cwd / "scope-nope-1.0.0.tgz", "w:gz") as archive:
            archive.add(tmp_path / "page", "package/page")
        return subprocess.CompletedProcess(command, 0, "", "")

    original = subprocess.run
    monkeypatch.setattr(packages.shutil, "which", lambda name: name)
    monkeypatch.setattr(packages.subprocess, "run", run)
    found = fetch("npm:@scope/nope@1.0.0", tmp_path)
    assert (found.root / "package/page").read_text() == "text"
    assert [path.name for path in tmp_path.glob("*.tgz")] == ["-scope-nope-1.0.0.tgz"]


def test_a_damaged_npm_package_is_told(tmp_path: Path) -> None:
    (tmp_path / "nope-1.0.0.tgz").write_bytes(b"no archive")
    with pytest.raises(RecipeError, match=r"tar -xzf .*\.tgz -C .*: .*not in gzip format.* \(if .*\.tgz is damaged"):
        fetch(NPM, tmp_path)
    assert not (tmp_path / "nope-1.0.0").exists()


def test_command_line(root: Path, tmp_path: Path) -> None:
    arguments = ["apache-en-fr", "-o", str(tmp_path / "out"), "--cache", str(root.parent), "--opaque", "--noise", "ja"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "apache-en-fr-opaque: 6 + 5 pages, 2 noise, 5 gold, 0 ignored" in result.output


@pytest.mark.parametrize("name", ["apache", "nothing-en-fr", "apache-en-en", "apache-en-xx"])
def test_command_line_refuses_what_it_cannot_make(name: str, root: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, [name, "-o", str(tmp_path), "--cache", str(root.parent)])
    assert result.exit_code == 2
    assert "error: " in result.output


def test_recipes_are_listed() -> None:
    result = CliRunner().invoke(app, ["--list"])
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.output.splitlines()] == list(RECIPES)
