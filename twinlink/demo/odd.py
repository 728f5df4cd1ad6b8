"""Odd pages of the demo site: a broken page, an endless calendar, a page that is too large, and a PDF."""

from __future__ import annotations

import calendar
import random
from html import escape

from twinlink.demo.layout import Anchor, ui
from twinlink.demo.text import phrase, phrases
from twinlink.demo.values import Writer, month_text

__all__ = ["CALENDAR", "MARK", "REGISTER", "break_page", "calendar_body", "pdf", "register_rows"]

CALENDAR = ("/en/calendar", "/tc/calendar")
REGISTER = ("/en/records/register.html", "/tc/records/register.html")
MARK = "<!-- content -->"  # where the server puts what it makes up into a page's shell

_DEPTH = 300


def break_page(body: bytes) -> bytes:
    """Damage a page: NULs, bytes that are no UTF-8, 300 open divisions, tags without end. Its text stays readable.

    >>> broken = break_page(b"<body><h1>Storm</h1><p>Rain.</p></body></html>")
    >>> broken.count(b"<div>"), b"Rain." in broken, b"</html>" in broken
    (300, True, False)
    """
    head, start, rest = body.partition(b"<h1>")
    rest = rest.replace(b"</h1>", b"</h1>\x00\x00" + b"<div>" * _DEPTH, 1).replace(b"</p>", b"\x00<b><i>")
    rest = rest.replace(b"</body>", b"\xff\xfe\xc3<a href='<table><tr").replace(b"</html>", b"")
    return head + start + rest


def calendar_body(side: int, year: int, month: int) -> str:
    """Return the inner HTML of the calendar of a month, with links to the months before and after it."""
    name = month_text(year, month)[side]
    days = "".join(
        f"<tr><td>{day}</td><td>{_event(side, year, month, day)}</td></tr>\n"
        for day in range(1, calendar.monthrange(year, month)[1] + 1)
    )
    steps = ((ui("previous", side), year * 12 + month - 2), (ui("next", side), year * 12 + month))
    links = " | ".join(f'<a href="{calendar_url(side, step // 12, step % 12 + 1)}">{word}</a>' for word, step in steps)
    return f'<h2>{name}</h2>\n<p>{links}</p>\n<table class="data">\n{days}</table>\n'


def calendar_url(side: int, year: int, month: int) -> str:
    """Return the address of a month."""
    return f"{CALENDAR[side]}?month={year:04}-{month:02}"


def _event(side: int, year: int, month: int, day: int) -> str:
    events = phrases("calendar", "event")
    choice = (year * 372 + month * 31 + day) * 7919 % 53
    return events[choice][side] if choice < len(events) else ""


def register_rows(side: int, seed: int) -> str:
    """Return table rows that the server repeats until the page is too large for any crawler."""
    writer = Writer(random.Random(f"register {seed}"))
    rows = (writer.fill(phrase("register", "row"))[side] for _ in range(200))
    return "".join(f"<tr><td>{escape(row, quote=False)}</td></tr>\n" for row in rows)


def pdf(anchor: Anchor) -> bytes:
    """Return a PDF file of one line; the text of the anchor must be ASCII."""
    stream = b"BT /F1 14 Tf 72 760 Td (" + anchor.text.encode("ascii", "replace") + b") Tj ET"
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    )
    body, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(body))
        body += b"%d 0 obj%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    trailer = b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % len(body)
    return body + b"xref\n0 6\n0000000000 65535 f \n" + table + trailer
