"""The object `Run` for notebooks: tables as DataFrames, link graph, explanations, evaluation."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twinlink.errors import DamagedError
from twinlink.frames import address_pairs, pair_ranks
from twinlink.jobs import notebook as jobs
from twinlink.jobs.notebook import Means, listed, unwatched
from twinlink.jobs.python_words import speaking_python
from twinlink.run_tables import RunTables
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.stored import run_path
from twinlink.tables import SEGMENT, SEGMENTS, count_rows, iter_parts, read_table

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd
    import scipy.sparse as sp

    from twinlink.evaluation.expected import ExpectedPrecision
    from twinlink.evaluation.gold import Evaluation, Gold
    from twinlink.evaluation.labelled import LabelScores
    from twinlink.explain.explanation import Explanation
    from twinlink.export import Exported
    from twinlink.progress import Report


@speaking_python()
def open_run(path: str | Path) -> Run:
    """Open a run directory that exists, or a run on an object store (``s3://bucket/run``).

    The run stays the same one when the current folder changes.

    Raises
    ------
    RunError
        If there is no such directory, or it is not a run.
    """
    return Run(RunDirectory.existing(run_path(path, exists=True)).path.absolute())


class Run(RunTables):
    """The result of a mining job; tables are read on first access.

    Access to a table whose stage has not been done raises `MissingStageError`, which names the method. Tables are read
    once, and again after a job has changed the run or after `reload`.

    Parameters
    ----------
    path : str or Path
        A run directory; that it is one is not checked (`open_run` does).
    for_commands : bool
        Whether errors name commands of the shell instead of methods, as the command line needs it.

    Examples
    --------
    >>> import tempfile
    >>> from twinlink import mine
    >>> from twinlink.toy import BASE, write_toy
    >>> folder = Path(tempfile.mkdtemp())
    >>> toy = write_toy(folder / "toy")
    >>> run = mine(str(toy), out=folder / "run", langs=("en", "zh"), ingest__base_url=BASE, match__min_score=0.0)
    >>> run.pages["lang"].value_counts().to_dict()
    {'en': 5, 'zh-Hant': 5}
    >>> run.graph().nodes[f"{BASE}/en/c.html"]["partner"]
    'https://toy.example/zh/c.html'
    >>> run.sites[["site", "state", "n_pages", "n_pairs"]].values.tolist()
    [['toy.example', 'crawled', 10, 5]]
    >>> run.columns("sites")["n_pages"]
    'pages of the site that were read'
    >>> run.segments
    Traceback (most recent call last):
    ...
    twinlink.errors.MissingStageError: ...: no align here yet; run `run.align()` first
    """

    def __init__(self, path: str | Path, *, for_commands: bool = False) -> None:
        super().__init__(path)
        self._for_commands = for_commands

    def _speaking(self) -> AbstractContextManager[None]:
        return nullcontext() if self._for_commands else speaking_python()

    def __repr__(self) -> str:
        return f"<Run {str(_from_here(self.path))!r}: {', '.join(self._figures()) or 'no pages yet'}>"

    def _figures(self) -> Iterator[str]:
        """Yield the number of pages and of pairs, as far as they are there."""
        for stage, table in (("ingest", "pages"), ("match", "pairs")):
            if self.has(stage):
                with suppress(DamagedError):
                    yield f"{count_rows(self.path / stage / table):,} {table}"
        if self.has("align"):
            with suppress(DamagedError):
                yield f"{self._n_sentence_pairs():,} sentence pairs"

    def _n_sentence_pairs(self) -> int:
        import pyarrow.compute as pc

        parts = iter_parts(self.path / "align" / "segments")
        verdicts = (read_table(part, SEGMENTS, ("verdict",))["verdict"] for part in parts)
        return sum(pc.sum(pc.equal(column, SEGMENT)).as_py() or 0 for column in verdicts)

    def _repr_html_(self) -> str:
        from twinlink.run_html import run_html

        return run_html(self)

    def link_matrix(self) -> sp.csr_array:
        """Return the links among kept pages as a boolean matrix; rows and columns in the order of `pages`."""
        from twinlink.export import link_matrix

        return link_matrix(self)

    def graph(self) -> nx.DiGraph[str]:
        """Return the links among kept pages as a networkx graph.

        Nodes are addresses in the order of `pages`, with site, title, lang and partner: the page it is paired with, the
        most probable one of several languages; if pages have several, ``partner_LANG`` is the one in each language.
        Unknown values are empty texts, so that every format can be written.
        """
        from twinlink.export import page_graph

        return page_graph(self)

    def explain(self, url_a: str, url_b: str | None = None) -> Explanation:
        """Return why two pages are a pair or not, or the outcome of one page; displayed as tables in a notebook.

        Raises
        ------
        InputError
            If the run neither kept nor rejected such an address.
        MissingStageError
            If the run has not been matched.
        """
        from twinlink.explain.explanation import explain

        with self._speaking():
            return explain(self, url_a, url_b)

    def evaluate(self, gold: str | Path | Gold) -> Evaluation:
        """Return precision, recall and F1 against known pairs.

        Parameters
        ----------
        gold : path or Gold
            A gold file, or the result of `twinlink.read_gold`; see `twinlink.evaluation.gold`.
        """
        from twinlink.evaluation.gold import evaluate

        with self._speaking():
            return evaluate(address_pairs(self.pairs), self._gold(gold))

    def expected_precision(self) -> ExpectedPrecision | None:
        """Return the expected precision of the pairs and its 90 % interval, as `twinlink match` prints them.

        None without pairs, and where some have no probability.
        """
        from twinlink.evaluation.expected import expected_of

        return expected_of(self.pairs)

    def score_labels(self) -> LabelScores:
        """Return precision, recall and F1 estimated from labels, each with a 95 % interval.

        ``print`` shows the measures with enough labels, and the number of labels needed for the others. The
        measures are biased for pairs that were matched with these labels (``match.labels``).
        """
        from twinlink.evaluation.labelled import score_labels
        from twinlink.labels.book import LabelBook

        return score_labels(self.pairs, LabelBook(self.path).current())

    def precision_coverage(self, gold: str | Path | Gold) -> pd.DataFrame:
        """Return precision and recall of the list of pairs cut after each pair, the most probable first.

        Columns: coverage, share of the pairs that are kept, 0 to 1; score, probability of the last one (its score where
        the method gives no probability); precision and recall of those kept. Pairs that are not scored are left out.
        """
        import pandas as pd

        from twinlink.evaluation.gold import precision_coverage

        pairs = self.pairs
        rows = precision_coverage(address_pairs(pairs), pair_ranks(pairs).tolist(), self._gold(gold))
        curve = pd.DataFrame(rows, columns=["score", "precision", "recall"], dtype="float64")
        curve.insert(0, "coverage", [(row + 1) / len(rows) for row in range(len(rows))])
        return curve

    def _gold(self, gold: str | Path | Gold) -> Gold:
        """Return known pairs that may have the run's pages under any address that leads to them."""
        from twinlink.evaluation.gold import as_gold

        return self.addresses.known_pairs(as_gold(gold))

    def report(self, target: str | Path | None = None, gold: str | Path | Gold | None = None) -> Path:
        """Write the report, one HTML file, and return where it is.

        Parameters
        ----------
        target : path, optional
            The file; ``RUN/report.html`` by default.
        gold : path or Gold, optional
            Known pairs as for `evaluate`; the report then has precision and recall.
        """
        from twinlink.review.report.stage import write_report

        known = Path(gold) if isinstance(gold, str) else gold
        with self._speaking():
            return write_report(self._directory, None if target is None else Path(target), known)

    def review(self, port: int = 0, who: str = "") -> Run:
        """Serve the review on this machine, as `twinlink review` does, until the call is interrupted.

        The address is printed. Interrupt the kernel of a notebook, or press Ctrl-C, to end it; the labels are kept in
        the run, and `labels` of the returned run has them.

        Parameters
        ----------
        port : int
            Port on 127.0.0.1; 0: any free port.
        who : str
            Name of the reviewer, stored with each label; empty: the name of the user account.

        Raises
        ------
        InputError
            If the port cannot be used.
        """
        from twinlink.review.server import review

        def show(address: str) -> None:
            if sys.stdout is not None:  # as in a program without a console
                sys.stdout.write(f"review: {address}\n")
                sys.stdout.flush()

        with self._speaking(), suppress(KeyboardInterrupt):  # it is how a review ends
            review(self.path, port, who, show)
        return self.reload()

    def export(
        self,
        folder: str | Path | None = None,
        formats: str | Sequence[str] = ("jsonl", "parquet"),
        *,
        langs: str | Sequence[str] = (),
        min_probability: float = 0.0,
        progress: bool | Report | None = None,
    ) -> Exported:
        """Write page pairs in the forms of other programs, as `twinlink export` does.

        Parameters
        ----------
        folder : path, optional
            Where the files go. Default: ``RUN/export``.
        formats : str or sequence of str
            Names of `twinlink.export.FORMATS`: jsonl, parquet, dataset, wacz, graphml, gexf.
        langs : str or sequence of str
            Only pairs between these languages; empty: all.
        min_probability : float
            Minimum probability of a pair.
        progress : bool or callable, optional
            As for `twinlink.mine`.

        Returns
        -------
        twinlink.export.Exported
            With ``files``, and ``n_pairs`` by languages.
        """
        from twinlink.export import PairChoice, export_run
        from twinlink.progress import reporter

        choice = PairChoice(tuple(listed(langs)), min_probability)
        with self._speaking(), reporter(unwatched(progress)) as report:
            return export_run(self, None if folder is None else Path(folder), listed(formats), choice, report)

    def match(
        self,
        *,
        langs: str | Sequence[str] = (),
        lexicon: str | Path | Sequence[str | Path] = (),
        name: str = "",
        forget: str | Sequence[str] = (),
        workers: int | None = None,
        cluster: str = "",
        progress: bool | Report | None = None,
        **settings: Any,
    ) -> Run:
        """Match the pages again, as `twinlink match` does; `pairs` of the returned run has the new pairs.

        Parameters
        ----------
        langs : str or sequence of str
            Wanted languages, see `twinlink.mine`; empty: those that the run remembers.
        lexicon : path, or sequence of them
            Bilingual lexicons (``match__lexicons``); none: those that the run remembers.
        name : str, optional
            Keep the pairs of this run, and return another run with the new ones, ``RUN/matches/NAME``; see
            `twinlink.compare`.
        forget, workers, cluster, progress
            As for `twinlink.mine`.
        **settings
            Any setting by its name with ``__`` for the dot: ``match__min_precision=0.99``.

        Raises
        ------
        NothingFoundError
            If no pair was found; the earlier pairs are kept.
        """
        folder = jobs.match(self.path, langs, lexicon, settings, name, Means(forget, workers, cluster, progress))
        return Run(folder) if name else self.reload()

    def align(
        self,
        lexicon: str | Path | Sequence[str | Path] | None = None,
        *,
        forget: str | Sequence[str] = (),
        workers: int | None = None,
        cluster: str = "",
        progress: bool | Report | None = None,
        **settings: Any,
    ) -> Run:
        """Align the sentences of the page pairs, as `twinlink align` does; `segments` has them.

        Parameters
        ----------
        lexicon : path, or sequence of them
            Start values of the word model (``bitext__lexicons``); none: those that the run remembers.
        forget, workers, cluster, progress
            As for `twinlink.mine`.
        **settings
            Any setting by its name with ``__`` for the dot.
        """
        jobs.align(self.path, lexicon, settings, Means(forget, workers, cluster, progress))
        return self.reload()

    def learn_patterns(
        self, *, forget: str | Sequence[str] = (), progress: bool | Report | None = None, **settings: Any
    ) -> Run:
        """Learn the URL patterns of the sites, as `twinlink patterns` does; `patterns` has them.

        Parameters
        ----------
        forget, progress
            As for `twinlink.mine`.
        **settings
            Any setting by its name with ``__`` for the dot.
        """
        jobs.learn_patterns(self.path, settings, Means(forget, progress=progress))
        return self.reload()

    def rank(self, *, forget: str | Sequence[str] = (), progress: bool | Report | None = None, **settings: Any) -> Run:
        """Rank the sites that the pages link to, as `twinlink rank` does; `sites` has them.

        Parameters
        ----------
        forget, progress
            As for `twinlink.mine`.
        **settings
            Any setting by its name with ``__`` for the dot.
        """
        jobs.rank(self.path, settings, Means(forget, progress=progress))
        return self.reload()


def _from_here(path: Path) -> Path:
    """Return a path below the current folder without the path of that folder; any other path as it is."""
    with suppress(ValueError, OSError):  # it is elsewhere; or the current folder is gone
        return path.relative_to(Path.cwd())
    return path
