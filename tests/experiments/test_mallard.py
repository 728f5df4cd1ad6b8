"""Help in Mallard becomes one folder of HTML pages for each language; the style sheets here are short ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.sitemaker.mallard import HTML, write_help

XSL = 'xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:mal="http://projectmallard.org/1.0/" version="1.0"'
CACHE = f"""<xsl:stylesheet {XSL} xmlns:cache="http://projectmallard.org/cache/1.0/"><xsl:template match="/">
<titles><xsl:for-each select="//mal:page"><title><xsl:value-of select="document(@cache:href)//mal:title"/></title>
</xsl:for-each></titles></xsl:template></xsl:stylesheet>"""
PAGE = f"""<xsl:stylesheet {XSL} xmlns:exsl="http://exslt.org/common" extension-element-prefixes="exsl">
<xsl:template name="html.css"><style/></xsl:template><xsl:template name="html.js"/>
<xsl:template match="/"><exsl:document href="{{$html.output.prefix}}{{*/@id}}.html" method="html">
<html><xsl:call-template name="html.css"/><body><xsl:value-of select="//mal:title"/> of
<xsl:value-of select="count(document($mal.cache.file)//title)"/></body></html></exsl:document></xsl:template>
<xsl:param name="mal.cache.file"/><xsl:param name="html.output.prefix"/></xsl:stylesheet>"""


@pytest.fixture
def roots(tmp_path: Path) -> list[Path]:
    styles = tmp_path / "styles" / "usr/share/yelp-xsl/xslt/mallard"
    for name, text in (("cache/mal-cache.xsl", CACHE), ("html/mal2html.xsl", PAGE)):
        (styles / name).parent.mkdir(parents=True)
        (styles / name).write_text(text)
    for lang, title in (("C", "Sound"), ("pt_BR", "Som")):
        folder = tmp_path / "help" / "usr/share/help" / lang / "manual"
        folder.mkdir(parents=True)
        for n in (1, 2):
            page = f'<page xmlns="http://projectmallard.org/1.0/" id="p{n}"><title>{title} {n}</title></page>'
            (folder / f"p{n}.page").write_text(page)
    return [tmp_path / "help", tmp_path / "styles"]


def test_pages_of_the_named_languages_are_written(roots: list[Path]) -> None:
    write_help(roots, "manual", {"en", "ptbr", "xx"})
    out = roots[0] / HTML
    assert sorted(path.relative_to(out).as_posix() for path in out.rglob("*.*")) == [
        f"{lang}/p{n}.html" for lang in ("en", "pt-BR") for n in (1, 2)
    ]
    text = (out / "pt-BR" / "p2.html").read_text()
    assert "Som 2 of\n2" in text
    assert "<style" not in text


def test_pages_that_are_there_stay_and_half_of_a_folder_is_written_again(roots: list[Path]) -> None:
    out = roots[0] / HTML
    (out / "en").mkdir(parents=True)
    (out / "pt-BR.tmp").mkdir()
    write_help(roots, "manual", {"en", "ptbr"})
    assert [*(out / "en").iterdir()] == []
    assert len([*(out / "pt-BR").iterdir()]) == 2
    assert not (out / "pt-BR.tmp").exists()
