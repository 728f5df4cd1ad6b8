"""Options and arguments that several verbs share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from twinlink.cli.completion import complete_langs, complete_runs, complete_setting, one_of
from twinlink.cli.runs import existing_run, run_folder
from twinlink.config.match import MethodName


class Verifier(StrEnum):
    """`twinlink.baselines.verify.VERIFIERS`: of an option that is repeatable, typer takes no literals."""

    STRAND = "strand"
    HC1 = "hc1"
    HC2 = "hc2"
    MIXTURE = "mixture"
    JANGELDIN = "jangeldin"
    WEBMINING = "webmining"
    BITEXTOR2010 = "bitextor2010"
    WEIGHED = "weighed"


Inputs = Annotated[list[str], typer.Argument(metavar="URL|PATH...", help="Start addresses, archives, folders.")]
Out = Annotated[
    Path,
    typer.Option(
        "--out",
        "-o",
        metavar="RUN",
        help="Run directory, or s3://BUCKET/RUN; created or resumed.",
        parser=run_folder,
        autocompletion=complete_runs,
    ),
]
RunPath = Annotated[
    Path,
    typer.Argument(
        metavar="RUN",
        help="A run directory, or s3://BUCKET/RUN.",
        parser=existing_run,
        autocompletion=complete_runs,
    ),
]
Langs = Annotated[
    str,
    typer.Option(
        metavar="LANG,LANG",
        help="Wanted languages, e.g. en,zh. Default: the two most frequent on each site.",
        autocompletion=complete_langs,
    ),
]
ConfigFile = Annotated[
    Path | None, typer.Option("--config", "-c", metavar="FILE", help="Settings file (TOML); options override it.")
]
Settings = Annotated[
    list[str],
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any setting, e.g. match.ets.rounds=2; repeatable.",
        autocompletion=complete_setting,
    ),
]
Forget = Annotated[
    list[str],
    typer.Option(
        "--forget",
        metavar="NAME",
        help="Reset a setting that RUN stores, a group (match), or `all` to the default; repeatable.",
    ),
]
Add = Annotated[bool, typer.Option("--add", help="Add these sources to those of RUN; its pages stay.")]
Replace = Annotated[
    bool,
    typer.Option(
        "--replace",
        help="Rebuild RUN from these sources; its old results are removed on success (labels are kept).",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only the result.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", help="Also print the messages of RUN/log.txt, such as plans for memory.")
]
BaseUrl = Annotated[str, typer.Option(metavar="URL", help="Address of a mirror's top folder.")]
Lexicons = Annotated[
    list[Path],
    typer.Option(
        "--lexicon",
        metavar="FILE|auto",
        help="Bilingual lexicon (TSV, CC-CEDICT, FreeDict, MUSE), or auto: installed dictionaries; repeatable.",
    ),
]
SiteBy = Annotated[
    str,
    typer.Option(
        metavar="domain|host|path",
        help="What one site is: domain (registered domain), host, or path (the start page's folder).",
        autocompletion=one_of("domain", "host", "path"),
    ),
]
Seeds = Annotated[Path | None, typer.Option(metavar="FILE", help="File with more start addresses, one per line.")]
Contact = Annotated[
    str, typer.Option(metavar="MAIL|URL", help="Your e-mail or web address, sent to the sites that are crawled.")
]
Include = Annotated[
    list[str], typer.Option("--include", metavar="REGEX", help="Fetch only addresses that match this; repeatable.")
]
Exclude = Annotated[
    list[str], typer.Option("--exclude", metavar="REGEX", help="Do not fetch addresses that match this; repeatable.")
]
MaxSitePages = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Maximum number of pages to fetch from one site.")
]
UrlPrefixes = Annotated[
    list[str],
    typer.Option("--url-prefix", metavar="URL", help="Read only pages whose address begins with this; repeatable."),
]
NWorkers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        metavar="N",
        help="Number of processes. Default: one per core; the result is the same.",
    ),
]
Cluster = Annotated[
    str,
    typer.Option(
        "--cluster", metavar="ADDRESS", help="Let the workers of this Dask scheduler do the work: tcp://HOST:8786."
    ),
]
MaxPages = Annotated[int | None, typer.Option(min=1, metavar="N", help="Maximum number of pages to fetch.")]
Method = Annotated[
    MethodName | None,
    typer.Option("--method", help="Matching method: evidence weighed on the site (default), or the method of a paper."),
]
MinProbability = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        metavar="P",
        help="Minimum probability of a reported pair. Default: 0.5; none with --min-precision.",
    ),
]
MinPrecision = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        metavar="P",
        help="Report as many pairs as possible while the expected precision is at least this.",
    ),
]
Labels = Annotated[
    bool | None,
    typer.Option(
        "--labels/--no-labels",
        help="Keep the pairs that were accepted in `twinlink review`, drop the rejected ones. Default: no.",
        show_default=False,
    ),
]
GoldFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Known pairs: two tab-separated addresses per line.")
]
