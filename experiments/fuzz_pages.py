"""Millions of broken pages through the parser: no crash, no hang, bounded memory.

::

    python -m experiments.fuzz_pages [--inputs 1000000] [--first 0] [--seed 1]

Each input is a page of the toy site, or pieces of markup, in one of several encodings, with some bytes cut, doubled or
replaced, and a Content-Type that may be wrong. An input depends only on its number and the seed, so that a failure can
be reproduced: ``--first NUMBER --inputs 1``. The tests do the same on a small scale with Hypothesis.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import time
from collections.abc import Sequence

from twinlink.pages.parser import ParsedPage, parse_page
from twinlink.toy import toy_site

__all__ = ["broken_page", "check", "fuzz", "main"]

URL = "http://www.example.org/a/b.html"
ENCODINGS = ("utf-8", "utf-8", "big5hkscs", "gb18030", "cp932", "euc_kr", "cp1251", "utf-16", "utf-16-le", "utf-16-be")
HEADERS = ("", "text/html", *(f"text/html; charset={name}" for name in ("utf-8", "big5", "gbk", "utf-16", "hex", "x")))
PIECES = tuple(
    b"< > </ /> <!-- --> <![CDATA[ ]]> <?xml & &# &#x110000; &amp \0 \xff \xa4 \x1b$B ~{ \xef\xbb\xbf \xff\xfe \xfe\xff"
    b" ' \" <a\thref=x> </a> <a\thref='//[::1'> <base\thref='//'> <p> </p> <b> </b> <i> <table> <tr> <td> </table>"
    b" <script> </script> <style> <svg> <math> <template> <title> </title> <textarea> <select> <option> <frameset>"
    b" <plaintext> <xmp> <noscript> <iframe> <img\tsrc=a\talt=b> <meta\tcharset=big5> <meta\tcharset=utf-16>"
    b" <meta\tcharset=hex> <html\tlang=x> <form> <input> <area\thref=y> <link\trel=alternate\thref=z> <br>"
    b" <meta\thttp-equiv=refresh\tcontent='0;url=w'> <!DOCTYPE\tx\t[<!ENTITY\ta\t'b'>]>".split(b" ")
)
MAX_COPIES = 2_000
PAGES = tuple(toy_site().pages.values())


def broken_page(number: int, seed: int) -> tuple[bytes, str]:
    """Return the page of a number, and its Content-Type."""
    rng = random.Random(f"{seed} {number}")
    if rng.random() < 0.8:
        text = rng.choice(PAGES)
        body = text.encode(rng.choice(ENCODINGS), "xmlcharrefreplace")
    else:
        body = b"".join(rng.choices(PIECES, k=rng.randrange(60)))
    for _ in range(rng.randrange(8)):
        body = _break(body, rng)
    return body, rng.choice(HEADERS)


def _break(body: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(body) + 1)
    n_removed = rng.choice((0, 0, 1, 2, 10, 100))
    kind = rng.randrange(5)
    if kind == 0:
        put = rng.randbytes(rng.randrange(6))
    elif kind == 1:
        put = body[place : place + rng.randrange(50)] * 2
    elif kind == 2 and rng.random() < 0.05:
        put = rng.choice(PIECES) * rng.randrange(MAX_COPIES)
    else:
        put = rng.choice(PIECES)
    return body[:place] + put + body[place + n_removed :]


def check(page: ParsedPage) -> None:
    """Check that a page satisfies the invariants of `ParsedPage`.

    Raises
    ------
    AssertionError
        If it is not.
    """
    for text in (page.title, *page.blocks, *(link.anchor for link in page.links), *page.images):
        text.encode()
    assert all(page.blocks)
    assert all(block == " ".join(block.split()) for block in page.blocks)
    assert all(link.url.startswith(("http://", "https://")) for link in page.links)


def fuzz(first: int, n_inputs: int, seed: int) -> dict[str, float]:
    """Parse the pages of these numbers; return the counts and the slowest page.

    Raises
    ------
    RuntimeError
        If the parser fails on one; the message has its number.
    """
    start = time.perf_counter()
    n_bytes = 0
    slowest, slowest_input = 0.0, first
    for number in range(first, first + n_inputs):
        body, header = broken_page(number, seed)
        n_bytes += len(body)
        begun = time.process_time()
        try:
            check(parse_page(body, URL, header))
        except Exception as error:
            raise RuntimeError(f"input {number} of seed {seed}: {error!r}") from error
        taken = time.process_time() - begun
        if taken > slowest:
            slowest, slowest_input = taken, number
    return {
        "inputs": n_inputs,
        "bytes": n_bytes,
        "seconds": round(time.perf_counter() - start, 1),
        "slowest_ms": round(1_000 * slowest, 1),
        "slowest_input": slowest_input,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    print(json.dumps(fuzz(given.first, given.inputs, given.seed)))


if __name__ == "__main__":
    main()
