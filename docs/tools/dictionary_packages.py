"""Which Debian packages have a dictionary between two languages: the list that the package comes with.

::

    python docs/tools/dictionary_packages.py > twinlink/similarity/dictd_packages.tsv

asks ``apt-cache`` on a Debian system. The languages are those in a package's name, or else in its description.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping

from twinlink.similarity.installed_dictionaries import two_languages_in

__all__ = ["package_lines", "packages_table"]

VIRTUAL = "dictd-dictionary"  # what each package with a dictionary provides
_PROVIDER = re.compile(r"^(\S+) \S+ \(= .*\)$", re.MULTILINE)
_FREEDICT = re.compile(r"dict-freedict-\w+-\w+")


def package_lines(descriptions: Mapping[str, str]) -> Iterator[str]:
    r"""Yield a line for each package between two languages, sorted.

    >>> list(package_lines({"dict-freedict-fra-eng": "", "mueller7-dict": "Mueller English/Russian", "dict-wn": ""}))
    ['package\tlang_a\tlang_b', 'dict-freedict-fra-eng\ten\tfr', 'mueller7-dict\ten\tru']
    """
    yield "package\tlang_a\tlang_b"
    for package, description in sorted(descriptions.items()):
        named = _FREEDICT.fullmatch(package) is not None
        langs = two_languages_in(package, codes=True) if named else two_languages_in(description)
        if langs:
            yield "\t".join([package, *sorted(langs)])


def packages_table() -> str:
    """Return the list as a table for the documentation."""
    from twinlink.language_names import name_of
    from twinlink.similarity.installed_dictionaries import debian_packages

    rows = [
        f"| {', '.join(map(name_of, sorted(langs)))} | {', '.join(f'`{package}`' for package in packages)} |"
        for langs, packages in sorted(debian_packages().items(), key=lambda item: sorted(item[0]))
    ]
    return "\n".join(["| languages | packages |", "|---|---|", *rows])


def _descriptions() -> dict[str, str]:
    providers = _PROVIDER.findall(_apt("showpkg", VIRTUAL).partition("Reverse Provides:")[2])
    shown = _apt("show", "--no-all-versions", *sorted(set(providers)))
    found = re.findall(r"^Package: (\S+)$.*?^Description(?:-en)?: (.*?)$", shown, re.MULTILINE | re.DOTALL)
    return dict(found)


def _apt(*words: str) -> str:
    return subprocess.run(["apt-cache", *words], capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in package_lines(_descriptions()))
