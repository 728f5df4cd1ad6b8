"""Cost of large pages that are made to take long: processor time and memory of the parser, in a process each.

::

    python -m experiments.worst_pages [--bytes 8388608] [--plain]

A page repeats one piece of markup up to its size; some begin with elements that stay open. ``--plain`` measures the
parser whose callbacks are not compiled. What is printed bounds `twinlink.ingest.page_spool.LARGE_PAGE`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections.abc import Iterator, Sequence

from twinlink.pages.parser import parse_page

__all__ = ["main", "worst_pages"]

PIECES = (
    "<a> <div> <p> <b> <br> <li> <dd> <form> <h1> <td> <tbody> <title> <style> <script> <noscript> <option> <html> </p>"
    " </div> <!-- <?a> <!a> ]]> < &amp; &bogus; &#0; x abc é <table><tr><td> <select><option> <svg><g> <ul><li> <b><p>"
    " <font><b><i> <div></div> <b></p> <a></b> </p><br> <b></b></i></u></p> <p>x</p> <p>字 <p>\U00020000"
).split()
PIECES_WITH_SPACES = (
    "<a href=x>",
    "<p><a href=y>z</a></p>",
    "<a title=x>y</a>",
    "<a href='",
    "<p x=y>",
    "<p lang=fr>x",
    "<body a=b>",
    "<img src=u>",
    "<frame src=q>",
    "<link rel=canonical href=x>",
    "<meta name=a content=b>",
    "<base href=x>",
    "x ",
    "\r\n",
    "\0",
)
BEGINNINGS = ("<i>" * 900, "<b>" * 990, "<div>" * 900)
REPEATED_INSIDE = ("</b>", "</p><br>", "<p>x</p>")


def worst_pages(n_bytes: int) -> Iterator[tuple[str, bytes]]:
    """Yield pages of a size with their names.

    >>> dict(worst_pages(12))["<td>"]
    b'<td><td><td>'
    """
    for piece in (*PIECES, *PIECES_WITH_SPACES):
        yield piece, _repeated(piece, n_bytes)
    for beginning in BEGINNINGS:
        for piece in REPEATED_INSIDE:
            yield (
                f"{beginning[:5]}… {beginning.count('<')} times, then {piece}",
                beginning.encode() + _repeated(piece, n_bytes),
            )
    yield "many attributes", b"<a " + b" ".join(b"x%d=1" % number for number in range(n_bytes // 10)) + b">"
    yield "one attribute", b"<a href='" + b"x" * n_bytes + b"'>x</a>"
    yield "one comment", b"<!--" + _repeated("x-", n_bytes) + b"-->"
    yield "half closed", _repeated("<div>", n_bytes // 2) + _repeated("</div>", n_bytes // 2)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the cost of each page, the worst first."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--bytes", type=int, default=8 * 2**20)
    parser.add_argument("--plain", action="store_true", help="do not compile the callbacks")
    given = parser.parse_args(arguments)
    if not given.plain:
        from twinlink.pages.libxml2 import compiled_parser  # loads numba, for which the parser looks

        compiled_parser()
    context = multiprocessing.get_context("fork")  # each begins with the parser loaded, and nothing else
    costs = []
    for name, page in worst_pages(given.bytes):
        with context.Pool(1) as pool:
            costs.append((*pool.apply(cost, (page,)), name))
    for seconds, megabytes, name in sorted(costs, reverse=True):
        print(f"{seconds:6.2f} s {megabytes:6.0f} MB  {name!r}")


def cost(page: bytes) -> tuple[float, float]:
    """Return the processor time and the memory in MB that a page takes."""
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    parse_page(page, "http://www.example.org/a")
    return time.process_time() - start, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held) / 1024


def _repeated(piece: str, n_bytes: int) -> bytes:
    data = piece.encode()
    return data * (n_bytes // len(data))


if __name__ == "__main__":
    main()
