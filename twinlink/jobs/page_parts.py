"""Page parts: style sheets and pictures of the pages of pairs, fetched so that the review shows how these pages look.

What is wanted is what the review asks for when it shows a page (`twinlink.review.safe_html.wanted`). Scrapy fetches it
into ``RUN/page_parts``, where the stages do not look for pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import PurePosixPath
from urllib.parse import urlsplit

import msgspec
from tinycss2.bytes import decode_stylesheet_bytes

from twinlink.config import Config
from twinlink.files import write_text
from twinlink.progress import Report
from twinlink.review.reading.snapshot import Snapshot
from twinlink.review.safe_html.wanted import pictures_of_sheet, wanted_parts
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.signature import Signature
from twinlink.sources.resources import find_resources, read_resource
from twinlink.spiders.crawling import CrawlProgress, crawl_parts
from twinlink.spiders.frontier import LEDGER_NAME, FrontierReader
from twinlink.urls import normalise

_STAGE = "page_parts"
_DONE = "fetched.json"
"""File with the signature of what the folder has all parts of."""


def fetch_page_parts(run: RunDirectory, config: Config, report: Report) -> None:
    """Fetch the style sheets and pictures of the pages of all pairs, unless that is off, or done.

    Parameters
    ----------
    run : RunDirectory
        With pairs; the pages of a run without a crawl are left alone, because nobody asked for their sites.
    config : Config
        Its ``crawl``.
    report : callable

    Raises
    ------
    CrawlError, RunError, KeyboardInterrupt
        See `twinlink.spiders.crawling.crawl_parts`; what was fetched is kept, and the next call goes on.
    """
    if config.crawl.page_parts == "none" or not (run.path / LEDGER_NAME).is_file():
        return
    settings = {name: getattr(config.crawl, name) for name in ("page_parts", "max_site_parts")}
    signature = Signature.of(_STAGE, settings, [str(run.read_signature("match"))])
    if _fetched(run) == signature.stored():
        return
    sheets, pictures = _wanted(Snapshot(run), report)
    starts = FrontierReader(run.path).starts()
    fetch = partial(crawl_parts, starts=starts, folder=run.parts_folder, settings=config.crawl, pause=run.pause_file)
    for urls in ([*sheets, *pictures], None):  # then the pictures of the sheets, which must be here to name them
        wanted = list(_pictures_of_sheets(run)) if urls is None else urls
        if wanted:
            fetch(wanted, on_progress=partial(_show, report))
    if run.parts_folder.is_dir():
        write_text(run.parts_folder / _DONE, msgspec.json.encode(signature).decode())
        run.publish()


def _fetched(run: RunDirectory) -> Signature | None:
    try:
        return msgspec.json.decode((run.parts_folder / _DONE).read_bytes(), type=Signature)
    except (OSError, msgspec.MsgspecError):
        return None


def _wanted(pages: Snapshot, report: Report) -> tuple[Sequence[str], Sequence[str]]:
    """Return the style sheets and the pictures of the pages of pairs, those of the most pages first."""
    numbers = dict.fromkeys([*pages.pairs["page_a"].tolist(), *pages.pairs["page_b"].tolist()])
    sheets: Counter[str] = Counter()
    pictures: Counter[str] = Counter()
    for place, number in enumerate(numbers):
        report("page parts", place, len(numbers), "looking for style sheets and pictures")
        document = pages.document(number)
        if document is not None:
            wanted = wanted_parts(document)
            sheets.update(_usable(wanted.sheets))
            pictures.update(_usable(wanted.pictures))
    return [url for url, _ in sheets.most_common()], [url for url, _ in pictures.most_common()]


def _pictures_of_sheets(run: RunDirectory) -> Iterator[str]:
    for archive in run.part_archives():
        for found in find_resources(archive):
            stored = read_resource(archive, found.archive, found.offset)
            if stored is not None and stored.content_type == "text/css":
                text, _ = decode_stylesheet_bytes(stored.content)
                yield from _usable(pictures_of_sheet(str(text), found.url))


def _usable(urls: Iterable[str]) -> Iterator[str]:
    """Yield normalised addresses, each once; SVG is not shown, so it need not be fetched."""
    known = set()
    for url in urls:
        address = normalise(url)
        is_svg = address is not None and PurePosixPath(urlsplit(address).path).suffix.lower() in {".svg", ".svgz"}
        if address is not None and not is_svg and address not in known:
            known.add(address)
            yield address


def _show(report: Report, progress: CrawlProgress) -> None:
    n_answered = progress.fetched + progress.redirects + progress.rejected
    detail = f"rejected {progress.rejected}" if progress.rejected else ""
    report("page parts", n_answered, n_answered + progress.queued, " · ".join(filter(None, [progress.wait, detail])))
