"""Results of a run for other programs: page pairs with their texts, sentence pairs, link graph, archive of the pages.

- all of it: `export_run`; which pairs: `PairChoice`; what was written: `Exported`
- link graph: `link_matrix`, `page_graph`
- archive of chosen pages: `write_wacz`

The files of a form are written under temporary names, and renamed when they are complete.
"""

from __future__ import annotations

from twinlink.export.chosen_pairs import PairChoice
from twinlink.export.exporting import FORMATS, Exported, export_run
from twinlink.export.page_graph import link_matrix, page_graph
from twinlink.export.wacz_writer import write_wacz

__all__ = ["FORMATS", "Exported", "PairChoice", "export_run", "link_matrix", "page_graph", "write_wacz"]
