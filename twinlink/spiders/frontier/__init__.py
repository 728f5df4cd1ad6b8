"""The frontier of a crawl, on disk: which addresses are queued, in which order, and what became of each.

Start with `Frontier`, which a crawl opens for writing: `Frontier.seed` adds start pages, `Frontier.take` gives the next
address, and `Frontier.settle` records its outcome and its links. A `FrontierReader`
returns what a crawl knows (counts, reports, rejects), also while it runs; `so_far` reads one that may not have begun.

- records: `FrontierEntry` (an address), `Outcome`, `Body` (the place of a page in the archive), `Budget`, `Counts`,
  `LedgerSummary`, `SiteCounts`
- guessed addresses, which have a ledger of their own: `GuessBook`, `Guessed`, `Answer`; `guess_rejects`, `guess_state`,
  `waiting_guesses`
- languages of addresses, and likely partners: `partners`; levels of urgency: `urgency`
- files: `LEDGER_NAME`, `CHOSEN_LEDGER`, `ARCHIVE_FOLDER`; errors of a damaged ledger: `ledger_error`

Behind them: `writing` (`Frontier`), `reading` (`FrontierReader`), and what `Frontier` does inside its transactions:
`urgency` (order), `bodies` (places of pages, repeated visits), `room` (limits of size). `schema` has the tables and
statements, `faults` checks them.
"""

from __future__ import annotations

from twinlink.run_files import CHOSEN_LEDGER, LEDGER_NAME
from twinlink.spiders.frontier.faults import ledger_error
from twinlink.spiders.frontier.guesses import (
    WAITING,
    Answer,
    GuessBook,
    Guessed,
    guess_rejects,
    guess_state,
    waiting_guesses,
)
from twinlink.spiders.frontier.reading import FrontierReader, so_far
from twinlink.spiders.frontier.records import (
    ARCHIVE_FOLDER,
    CHOSEN_PREFIX,
    LATER,
    PARTS_PREFIX,
    SAME_PAGE,
    SITEMAP_KEY,
    SPARE_PAGES,
    Body,
    Budget,
    Counts,
    FrontierEntry,
    LedgerSummary,
    Outcome,
    SiteCounts,
    is_failure,
)
from twinlink.spiders.frontier.writing import Frontier

__all__ = [
    "ARCHIVE_FOLDER",
    "CHOSEN_LEDGER",
    "CHOSEN_PREFIX",
    "LATER",
    "LEDGER_NAME",
    "PARTS_PREFIX",
    "SAME_PAGE",
    "SITEMAP_KEY",
    "SPARE_PAGES",
    "WAITING",
    "Answer",
    "Body",
    "Budget",
    "Counts",
    "Frontier",
    "FrontierEntry",
    "FrontierReader",
    "GuessBook",
    "Guessed",
    "LedgerSummary",
    "Outcome",
    "SiteCounts",
    "guess_rejects",
    "guess_state",
    "is_failure",
    "ledger_error",
    "so_far",
    "waiting_guesses",
]
