"""Jobs for notebooks: `mine` pages of sites, `discover` further sites."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twinlink.jobs.notebook import as_texts, at_work, lexicon_settings, read_call, warn_without_pairs
from twinlink.jobs.python_words import speaking_python
from twinlink.language_names import check_two
from twinlink.run import Run, open_run
from twinlink.rundir.stored import run_path

if TYPE_CHECKING:
    from twinlink.progress import Report


@speaking_python()
def mine(
    inputs: str | Path | Sequence[str | Path],
    *,
    out: str | Path,
    langs: str | Sequence[str] = (),
    base_url: str = "",
    lexicon: str | Path | Sequence[str | Path] = (),
    add: bool = False,
    replace: bool = False,
    forget: str | Sequence[str] = (),
    workers: int | None = None,
    cluster: str = "",
    progress: bool | Report | None = None,
    **settings: Any,
) -> Run:
    """Mine page pairs: crawl or read ``inputs``, match, and open the result.

    Parameters
    ----------
    inputs : str, Path, or sequence of them
        Addresses, archives, folders.
    out : path
        The run directory, or ``s3://bucket/run``; stages that are done are not repeated.
    langs : str or sequence of str
        Wanted languages by code or name, ``("en", "zh-TW")`` or ``"en,zh"``; empty: those that the run remembers, or
        else, on each site, the two that nearly all pages declare, or the two most frequent ones.
    base_url : str
        Address that a folder of saved pages stands for (``ingest__base_url``).
    lexicon : path, or sequence of them
        Bilingual lexicons (``match__lexicons``); ``"auto"``: dictionaries that are installed.
    add : bool
        Add the inputs to a run that was made from others.
    replace : bool
        Replace the run by a new one; on success, its old results are removed, except the labels.
    forget : str or sequence of str
        Settings that take the default instead of the remembered value; in one text, with commas.
    workers : int, optional
        Processes that work on a stage; by default one for each core. The result is the same.
    cluster : str
        Address of a Dask scheduler whose workers do the work instead, ``tcp://host:8786`` (extra ``cluster``).
    progress : bool or callable, optional
        Whether to show the progress on standard error; by default in terminals and notebooks. A callable gets each
        report instead: the stage, the amount done, the total (None: unknown), and a detail.
    **settings
        Any setting by its name with ``__`` for the dot: ``match__ets__rounds=2``.

    Raises
    ------
    InputError
        If an input or a setting cannot be used.
    RunError
        If the run was made from other inputs, and neither ``add`` nor ``replace`` is given.
    NothingFoundError
        If no pair was found in a run that has some; the earlier pairs are kept.
    CrawlError
        If no page could be fetched.
    RunLockedError
        If another process works in the same run directory.

    Examples
    --------
    >>> import tempfile
    >>> from twinlink.toy import BASE, write_toy
    >>> folder = Path(tempfile.mkdtemp())
    >>> toy = write_toy(folder / "toy")
    >>> run = mine(str(toy), out=folder / "run", langs="en,zh", base_url=BASE, match__min_score=0.0)
    >>> len(run.pages), len(run.links), len(run.pairs)
    (10, 8, 5)
    """
    from twinlink.jobs.mine import mine_stages
    from twinlink.jobs.origin import source_mode
    from twinlink.system.workers import Workers

    how = source_mode(add=add, replace=replace)
    given = {**({"ingest.base_url": base_url} if base_url else {}), **lexicon_settings(lexicon), **settings}
    folder = run_path(out)
    call = read_call(None if replace else folder, given, langs, forget)
    check_two(call.config.langs)
    with at_work(folder, call, ("crawl", "ingest", "match"), progress) as (run, report):
        mine_stages(as_texts(inputs), run, call.config, report, how, workers=Workers(workers, cluster))
        warn_without_pairs(run, call.config)
    return open_run(run.path)


@speaking_python()
def discover(
    seeds: str | Path | Sequence[str | Path],
    *,
    out: str | Path,
    langs: str | Sequence[str] = (),
    forget: str | Sequence[str] = (),
    progress: bool | Report | None = None,
    **settings: Any,
) -> Run:
    """Grow a list of sites, and open the result.

    Parameters
    ----------
    seeds : str, Path, or sequence of them
        Addresses of sites, or files of them; an empty sequence means those that the loop in ``out`` was begun with.
    out : path
        The run directory, or ``s3://bucket/run``; a loop that was stopped is resumed.
    langs : str or sequence of str
        Wanted languages.
    forget : str or sequence of str
        Settings that take the default instead of the remembered value; in one text, with commas.
    progress : bool or callable, optional
        Whether to show the progress on standard error; by default in terminals and notebooks. A callable gets each
        report instead: the stage, the amount done, the total (None: unknown), and a detail.
    **settings
        Any setting by its name with ``__`` for the dot: ``discover__rounds=3``, ``discover__top=200``.

    Raises
    ------
    InputError
        If a seed or a setting cannot be used.
    CrawlError
        If not one seed could be fetched.
    RunError
        If the loop in ``out`` was begun with other seeds or settings.
    """
    from twinlink.jobs.discover import discover as discover_sites
    from twinlink.spiders.seeds import seeds_of

    folder = run_path(out)
    call = read_call(folder, settings, langs, forget)
    check_two(call.config.langs)
    with at_work(folder, call, ("discover",), progress) as (run, report):
        discover_sites(seeds_of(as_texts(seeds)), run, call.config, report)
    return open_run(run.path)
