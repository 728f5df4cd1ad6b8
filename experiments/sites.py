"""Real bilingual sites with known page pairs, made from packages, to reproduce the figures.

::

    python -m experiments.sites lo-en-de apache-en-ja -o sites --opaque --drop 0.1 --max-pairs 1000

makes ``sites/lo1000-en-de-opaque`` and so on. A name is RECIPE-LANGUAGE-LANGUAGE; `--list` prints the recipes. Packages
are fetched with ``apt-get download`` (no root needed) or ``npm pack``, and kept. The same command on the same package
versions writes the same bytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.sitemaker.build import Options, build_site
from experiments.sitemaker.folder import write_site
from experiments.sitemaker.languages import compact
from experiments.sitemaker.packages import fetch
from experiments.sitemaker.recipes import RECIPES, Recipe, RecipeError

__all__ = ["app", "make_site"]

app = typer.Typer(add_completion=False)


def make_site(name: str, out: Path, cache: Path, options: Options) -> dict[str, object]:
    """Fetch what the site ``name`` needs, make it below ``out``, and return its description.

    Raises
    ------
    RecipeError
        If the name is not RECIPE-LANGUAGE-LANGUAGE, or the packages are not available or do not contain the site.
    """
    recipe, a, b = parse_name(name)
    wanted = dict.fromkeys(p for lang in (recipe.source, a, b, *options.noise) for p in recipe.package_names(lang))
    packages = [fetch(package, cache) for package in wanted]
    roots = [package.root for package in packages]
    if recipe.write_pages is not None:
        recipe.write_pages(roots, {recipe.source, a, b, *options.noise})
    site = build_site(recipe, a, b, roots, options)
    template = "-template" if options.one_template else ""
    folder = out / f"{site.name}{template}-{'opaque' if options.opaque else 'plain'}"
    out.mkdir(parents=True, exist_ok=True)
    return {"folder": str(folder)} | write_site(site, folder, [package.source for package in packages])


def parse_name(name: str) -> tuple[Recipe, str, str]:
    """Split ``lo-en-zhtw`` into its recipe and its two languages.

    Examples
    --------
    >>> recipe, a, b = parse_name("lo-en-zhtw")
    >>> recipe.package_names(b)
    ('libreoffice-help-zh-tw',)
    """
    parts = name.split("-")
    if len(parts) != 3 or parts[0] not in RECIPES or compact(parts[1]) == compact(parts[2]):
        raise RecipeError(f"{name!r}: expected RECIPE-LANGUAGE-LANGUAGE with a recipe of {', '.join(RECIPES)}")
    return RECIPES[parts[0]], parts[1], parts[2]


def list_recipes(wanted: bool) -> None:
    """Print the recipes and stop."""
    if wanted:
        for recipe in RECIPES.values():
            typer.echo(f"{recipe.name:10} from {recipe.source:6} {', '.join(recipe.package_names(recipe.source))}")
        raise typer.Exit


@app.command()
def main(
    names: Annotated[list[str], typer.Argument(help="Sites: RECIPE-LANGUAGE-LANGUAGE, e.g. lo-en-zhtw.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder that the site folders go to.")],
    opaque: Annotated[bool, typer.Option(help="Hide all hints outside text, tags and links.")] = False,
    drop: Annotated[
        float, typer.Option(min=0, max=1, help="Share of the pairs that lose a page on either side.")
    ] = 0.0,
    noise: Annotated[str, typer.Option(help="Languages whose pages are mixed in, e.g. ko,tr.")] = "",
    one_template: Annotated[bool, typer.Option(help="Put all pages into one skeleton.")] = False,
    max_pairs: Annotated[int, typer.Option(min=0, help="Take this many pairs that hang together; 0: all pages.")] = 0,
    seed: Annotated[int, typer.Option(help="Start of all random choices.")] = 1,
    cache: Annotated[Path | None, typer.Option(help="Where packages are kept. Default: OUT/.packages")] = None,
    listed: Annotated[  # noqa: ARG001  (its callback does the work)
        bool, typer.Option("--list", callback=list_recipes, is_eager=True, help="Print recipes.")
    ] = False,
) -> None:
    """Make site folders with gold page pairs from packages of Debian or npm.

    Example: python -m experiments.sites lo-en-de apache-en-ja -o sites --opaque --drop 0.1 --max-pairs 1000
    """
    options = Options(opaque, drop, tuple(filter(None, noise.split(","))), one_template, max_pairs, seed)
    for name in names:
        try:
            made = make_site(name, out, (cache or out / ".packages").absolute(), options)
        except RecipeError as error:
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(2) from None
        numbers = "{pages_a} + {pages_b} pages, {pages_noise} noise, {gold_pairs} gold, {ignore_pairs} ignored, "
        numbers += "{untranslated_pages} untranslated left out"
        typer.echo(f"{made['folder']}: {numbers.format_map(made)}")


if __name__ == "__main__":
    app()
