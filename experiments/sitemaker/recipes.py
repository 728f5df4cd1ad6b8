"""Places of pages in packages: one `Recipe` for each source of sites."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import msgspec

from experiments.sitemaker import help_archive, mallard, man_pages, website_texts
from experiments.sitemaker.languages import compact, language_folder


class RecipeError(Exception):
    """A site cannot be made; the message says why and what can be done."""


class Found(msgspec.Struct, frozen=True):
    """One page file.

    ``key`` is the same for all translations of a page, ``path`` is the position of the page on the site.
    """

    key: str
    file: Path
    path: str


class Recipe(msgspec.Struct, frozen=True):
    """Description of a site made from packages.

    Parameters
    ----------
    name : str
        Short name, first part of a site's name.
    source : str
        Language that the others were translated from.
    packages : callable
        Names of the packages with the pages of a language (``pt-br``): Debian's, or ``npm:NAME@VERSION``.
    parent : str
        Folder in the package with a folder for each language; if ``suffix`` is set, the folder of all pages.
    url : str
        Position of that folder on the site.
    license, note : str
        Copied to the site's description.
    prefix : str
        Start of the names of the folders, before the language.
    suffix : bool
        Languages are given by suffixes, ``page.es.html`` (none for the source language), not by folders.
    suffix_of_source : bool
        The source language has a suffix, too.
    only : str
        Regular expression that a key must match from its start.
    switchers : tuple of str
        Classes and ids of elements that only contain links to the other languages.
    aliases : tuple of (str, str)
        Language as given → language as the package calls it.
    write_pages : callable, optional
        Writes the pages of some languages into the unpacked packages, which only have their source.
    """

    name: str
    source: str
    packages: Callable[[str], tuple[str, ...]]
    parent: str
    url: str
    license: str
    note: str = ""
    prefix: str = ""
    suffix: bool = False
    suffix_of_source: bool = False
    only: str = ""
    switchers: tuple[str, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
    write_pages: Callable[[Sequence[Path], Collection[str]], None] | None = None

    def package_names(self, lang: str) -> tuple[str, ...]:
        """Return the packages that hold the pages of ``lang``, which may be written ``zhtw`` or ``zh-TW``."""
        lang = dict(self.aliases).get(compact(lang), compact(lang))
        return self.packages(f"{lang[:2]}-{lang[2:]}" if len(lang) > 3 else lang)

    def pages(self, roots: Sequence[Path], lang: str) -> tuple[str, list[Found]]:
        """Return the language in the notation of the package, and its page files in order of their keys.

        Symbolic links are not pages: apache2-doc uses them to show English if there is no translation.

        Raises
        ------
        RecipeError
            If no unpacked package in ``roots`` has the language.
        """
        parents = [folder for root in roots if (folder := root / self.parent).is_dir()]
        found = self._by_suffix(parents, lang) if self.suffix else self._by_folder(parents, lang)
        if found is None or not found[1]:
            known = ", ".join(sorted({f.name for p in parents for f in p.iterdir() if f.is_dir()})) or "no folder"
            raise RecipeError(f"{self.name}: no pages of language {lang!r} (the packages have: {known})")
        return found[0], sorted((f for f in found[1] if re.match(self.only, f.key)), key=lambda f: f.key)

    def key_of(self, path: str) -> str:
        """Return the key of the page at ``path``, for any language, even if the page does not exist.

        Examples
        --------
        >>> RECIPES["apache"].key_of("/manual/fr/mod/core.html")
        'mod/core.html'
        >>> RECIPES["lilypond"].key_of("/Documentation/web/intro.es.html")
        'web/intro'
        """
        place = path.removeprefix(self.url)
        return re.sub(r"(\.[a-z]{2})?\.html$", "", place) if self.suffix else place.partition("/")[2]

    def _by_folder(self, parents: Sequence[Path], lang: str) -> tuple[str, list[Found]] | None:
        found = [f for parent in parents for f in sorted(parent.iterdir()) if f.is_dir()]
        folders = {f.name.removeprefix(self.prefix): f for f in found if f.name.startswith(self.prefix)}
        tag = language_folder(sorted(folders), dict(self.aliases).get(compact(lang), lang))
        if tag is None:
            return None
        folder = folders[tag]
        keys = [(file.relative_to(folder).as_posix(), file) for file in _html_files(folder)]
        return tag, [Found(key, file, f"{self.url}{tag}/{key}") for key, file in keys]

    def _by_suffix(self, parents: Sequence[Path], lang: str) -> tuple[str, list[Found]]:
        is_bare = compact(lang) == self.source and not self.suffix_of_source
        ending = ".html" if is_bare else f".{compact(lang)}.html"
        found = []
        for parent in parents:
            for file in _html_files(parent):
                stem = file.name.removesuffix(ending)
                if file.name.endswith(ending) and "." not in stem:
                    place = file.relative_to(parent).as_posix()
                    found.append(Found(place.removesuffix(ending), file, self.url + place))
        return compact(lang), found


def _html_files(folder: Path) -> list[Path]:
    return [f for f in sorted(folder.rglob("*.html")) if f.is_file() and not f.is_symlink()]


def _one(package: str) -> Callable[[str], tuple[str, ...]]:
    return lambda lang: (package,)


def _help(document: str) -> Callable[[Sequence[Path], Collection[str]], None]:
    return lambda roots, langs: mallard.write_help(roots, document, langs)


def _each(pattern: str) -> Callable[[str], tuple[str, ...]]:
    return lambda lang: (pattern.format(lang),)


def _manuals(lang: str) -> tuple[str, ...]:
    """Return the packages with the manual pages of commands and of functions, and the program that converts them."""
    if lang == "en":
        return ("mandoc", "manpages", "manpages-dev", "coreutils", "util-linux")
    name = f"manpages-{lang.removesuffix('-cn').removesuffix('-tw')}"
    return (name, f"{name}-dev") if lang in _WITH_FUNCTIONS else (name,)


_WITH_FUNCTIONS = ("cs", "da", "de", "es", "fr", "it", "ja", "nl", "pl", "pt-br", "ru", "uk")
"""Languages that have another package with the functions."""

# Only manuals whose file names mean the same page in every language. Those that number their chapters (aptitude-doc,
# sylpheed-doc, dia-common, gosa-help) differ between versions of the manual: "Customizing aptitude" would be paired
# with the chapter on the game.
RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            name="lo",
            source="en-us",
            packages=_each("libreoffice-help-{}"),
            parent="usr/share/libreoffice/help",
            url="/",
            license="MPL-2.0 / LGPL-3+",
            note="pages link by <base href>",
            aliases=(("en", "enus"),),
        ),
        Recipe(
            name="apache",
            source="en",
            packages=_one("apache2-doc"),
            parent="usr/share/doc/apache2-doc/manual",
            url="/manual/",
            license="Apache-2.0",
            note="many pages are older than their original",
            switchers=("toplang", "bottomlang", "lang-toggle"),
        ),
        Recipe(
            name="instguide",
            source="en",
            packages=_one("installation-guide-amd64"),
            parent="usr/share/doc/installation-guide-amd64",
            url="/",
            license="GPL-2+",
        ),
        Recipe(
            name="gimp",
            source="en",
            packages=_each("gimp-help-{}"),
            parent="usr/share/gimp/2.0/help",
            url="/",
            license="GFDL-1.2+",
            note="hundreds of short pages of one kind; in some languages the greater part is not translated",
        ),
        Recipe(
            name="handbook",
            source="en-us",
            packages=_one("debian-handbook"),
            parent="usr/share/doc/debian-handbook/html",
            url="/",
            license="GPL-2+ / CC-BY-SA-3.0",
        ),
        Recipe(
            name="lilypond",
            source="en",
            packages=lambda lang: ("lilypond-doc-html" + ("" if lang == "en" else f"-{lang}"),),
            parent="usr/share/doc/lilypond/html/Documentation",
            url="/Documentation/",
            license="GFDL-1.3+",
            note="one folder for all languages; snippets are left out, their file names are translated",
            suffix=True,
            only="(notation|learning|usage|extending|essay|web)/",
        ),
        Recipe(
            name="debref",
            source="en",
            packages=_each("debian-reference-{}"),
            parent="usr/share/debian-reference",
            url="/debian-reference/",
            license="GPL-2+",
            note="long chapters; in some languages half of the text is not translated",
            suffix=True,
            suffix_of_source=True,
        ),
        Recipe(
            name="freedombox",
            source="en",
            packages=_each("freedombox-doc-{}"),
            parent="usr/share/freedombox/manual",
            url="/manual/",
            license="CC-BY-SA-4.0",
            note="pages of a wiki",
        ),
        Recipe(
            name="tuxpaint",
            source="en",
            packages=_one("tuxpaint-data"),
            parent="usr/share/doc/tuxpaint-data",
            url="/",
            license="GPL-2+",
            note="a few long manuals, and 80 short pages of one kind that are hardly translated",
        ),
        Recipe(
            name="bibletime",
            source="en",
            packages=_one("bibletime-data"),
            parent="usr/share/doc/bibletime-data/howto/html",
            url="/howto/",
            license="GPL-2",
        ),
        Recipe(
            name="doublecmd",
            source="en",
            packages=_each("doublecmd-help-{}"),
            parent="usr/share/doublecmd/doc",
            url="/doc/",
            license="GPL-2+",
            note="in some languages, pages are older than their original",
        ),
        Recipe(
            name="gnucash",
            source="en",
            packages=_one("gnucash-docs"),
            parent="usr/share/doc/gnucash-docs",
            prefix="gnucash-guide-",
            url="/guide/",
            license="GFDL-1.1+",
            note="older than their original: some chapters are cut into pages in another way, some are missing",
        ),
        Recipe(
            name="gnucashhelp",
            source="en",
            packages=_one("gnucash-docs"),
            parent="usr/share/doc/gnucash-docs",
            prefix="gnucash-help-",
            url="/help/",
            license="GFDL-1.1+",
            note="the older the translation, the fewer pages have a partner",
        ),
        Recipe(
            name="livemanual",
            source="en",
            packages=_one("live-manual-html"),
            parent="usr/share/doc/live-manual/html/live-manual",
            url="/live-manual/",
            license="GPL-3+",
            note="chapters with long lists of commands; in some languages, some are not translated",
            suffix=True,
            suffix_of_source=True,
        ),
        Recipe(
            name="gnome",
            source="en",
            packages=lambda lang: ("gnome-user-docs", "yelp-xsl"),
            parent=mallard.HTML,
            url="/help/",
            license="CC-BY-SA-3.0",
            note="293 pages of one form in English and 41 languages, some of them hardly translated",
            write_pages=_help("gnome-help"),
        ),
        Recipe(
            name="man",
            source="en",
            packages=_manuals,
            parent=man_pages.HTML,
            url="/man/",
            license="GPL-2+, GFDL-1.2+ and others, see each package",
            note="many pages of one kind; for most of them there is no translation",
            write_pages=man_pages.write_man_pages,
        ),
        Recipe(
            name="scilab",
            source="en-us",
            packages=lambda lang: ("scilab-doc" + ("" if lang.startswith("en") else f"-{lang}"),),
            parent=help_archive.HTML,
            url="/docs/",
            license="GPL-2, CeCILL-2.1",
            note="functions of a language; many pages are not translated, or only their titles and menus are",
            write_pages=help_archive.unpack_help,
        ),
        Recipe(
            name="electron",
            source="en-us",
            packages=_one("npm:electron-i18n@1.3136.0"),
            parent=website_texts.HTML,
            url="/",
            license="MIT",
            note="documentation of a library; many pages are not translated, or a few sentences of them",
            aliases=(("en", "enus"),),
            write_pages=website_texts.write_website,
        ),
    )
}
