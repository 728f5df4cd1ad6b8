"""Content of the demo's pages: one function per kind of page composes title and blocks in both languages."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from typing import NamedTuple

from twinlink.demo.plan import Unit, section_name
from twinlink.demo.text import Text, phrase, phrases, same
from twinlink.demo.values import YEAR, Writer, date_text


class Block(NamedTuple):
    """A piece of a page: its kind (h2, p, ul, ol, dl, table, links) and its rows of cells.

    Of links there are no rows, but the units that they lead to.
    """

    kind: str
    rows: tuple[tuple[Text, ...], ...] = ()
    links: tuple[int, ...] = ()


class Content(NamedTuple):
    """Content of a unit."""

    title: Text
    blocks: tuple[Block, ...]


def compose(units: Sequence[Unit], writer: Writer) -> list[Content]:
    """Write the content of all units."""
    contents = []
    for unit in units:
        own = phrases(unit.section.key, "dept")
        writer.new_page(**({"dept": own[0]} if own else {}))
        contents.append(_COMPOSERS[unit.kind](writer, unit, units))
    return contents


def _p(*sentences: Text) -> Block:
    return Block("p", tuple((sentence,) for sentence in sentences))


def _list(kind: str, items: Sequence[Text]) -> Block:
    return Block(kind, tuple((item,) for item in items))


def _header(*columns: str) -> tuple[Text, ...]:
    return tuple(phrase("column", column) for column in columns)


def _topic(unit: Unit) -> Text:
    return section_name(unit.section)


def _elsewhere(writer: Writer) -> dict[str, Text]:
    """Values for a row about a place other than that of the page."""
    return {slot: writer.draw(slot) for slot in ("place", "street", "estate", "hk")}


def _sentence(writer: Writer, topic: str) -> Text:
    """A sentence on the topic, or sometimes one that fits any page."""
    return writer.say("any" if writer.rng.random() < 0.2 else topic, "s")


def _several(writer: Writer, topic: str, count: int) -> Block:
    return _p(*(_sentence(writer, topic) for _ in range(count)))


def _guide(writer: Writer, unit: Unit, _units: Sequence[Unit]) -> Content:
    topic, rng = unit.section.key, writer.rng
    title = writer.say(topic, "title")
    blocks = [_several(writer, topic, rng.randint(1, 3))]
    for _ in range(rng.randint(2, 4)):
        blocks.append(_list("h2", [writer.say("any", "heading")]))
        blocks.append(_several(writer, topic, rng.randint(1, 4)))
        if rng.random() < 0.4:
            items = [writer.say(topic if rng.random() < 0.6 else "any", "item") for _ in range(rng.randint(2, 5))]
            blocks.append(_list(rng.choice(("ul", "ul", "ol")), list(dict.fromkeys(items))))
    return Content(title, tuple(blocks))


def _faq(writer: Writer, unit: Unit, _units: Sequence[Unit]) -> Content:
    topic = unit.section.key
    rows = tuple(writer.say(topic, "faq").split() for _ in range(3))
    more = _several(writer, topic, 2)
    title = writer.fill(phrase("kind", "faq"), topic=_topic(unit))
    return Content(title, (_p(phrase("intro", "faq")), Block("dl", rows), more))


def _facility(writer: Writer, unit: Unit, _units: Sequence[Unit]) -> Content:
    title = writer.fill(phrase("kind", "facility"), topic=_topic(unit))
    rows = []
    for _ in range(writer.rng.randint(4, 9)):
        opening, closing = writer.draw("time"), writer.draw("time2")
        hours = Text(f"{opening.en} to {closing.en}", f"{opening.zh}至{closing.zh}")
        name = writer.say(unit.section.key, "facility", **_elsewhere(writer))
        rows.append((name, writer.draw("addr"), writer.draw("phone"), hours))
    table = Block("table", (_header("name", "address", "phone", "hours"), *rows))
    return Content(title, (_p(phrase("intro", "facility")), table, _p(_sentence(writer, unit.section.key))))


def _stat(writer: Writer, unit: Unit, _units: Sequence[Unit]) -> Content:
    last = writer.rng.randint(2005, YEAR - 1)
    title = writer.fill(phrase("kind", "stat"), topic=_topic(unit), year=same(last))
    years = tuple(same(year) for year in range(last - 3, last + 1))
    head = (*_header("indicator"), *years, *_header("change"))
    rows = [
        (item, *(writer.draw("num") for _ in years), same(writer.draw("pct").en))
        for item in writer.all(unit.section.key, "stat")
    ]
    intro, remark = writer.fill(phrase("intro", "stat")), _sentence(writer, unit.section.key)
    return Content(title, (_p(intro), Block("table", (head, *rows)), _p(remark)))


def _form(writer: Writer, unit: Unit, _units: Sequence[Unit]) -> Content:
    title = writer.fill(phrase("kind", "form"), topic=_topic(unit))
    rows = []
    for name in writer.all(unit.section.key, "form"):
        number = writer.draw("form")
        rows.append((number, name, same(f"/files/{number.en.lower()}.pdf")))
    table = Block("table", (_header("number", "name", "download"), *rows))
    return Content(title, (_p(writer.fill(phrase("intro", "form"))), table, _p(_sentence(writer, unit.section.key))))


def _tender(writer: Writer, _unit: Unit, _units: Sequence[Unit]) -> Content:
    title = writer.fill(phrase("kind", "tender"))
    invitation, *terms = writer.all("tender", "s")
    rows = [
        (writer.say("tender", "subject"), writer.draw("ref"), writer.draw("date2"), writer.draw("person"))
        for _ in range(writer.rng.randint(1, 3))
    ]
    table = Block("table", (_header("subject", "reference", "closing", "officer"), *rows))
    return Content(title, (_p(invitation), table, *(_p(term) for term in terms)))


def _district(writer: Writer, _unit: Unit, _units: Sequence[Unit]) -> Content:
    writer.new_page(place=writer.deal("place"))
    title = writer.fill(phrase("district", "title"))
    sentences = writer.all("district", "s")
    return Content(title, (_p(*sentences[:2]), _list("ul", sentences[2:5]), _p(*sentences[5:])))


def _committee(writer: Writer, unit: Unit, _units: Sequence[Unit]) -> Content:
    title = writer.fill(phrase("committee", "title"), topic=_topic(unit))
    rows = [(writer.draw("person"), writer.say("committee", "role")) for _ in range(writer.rng.randint(5, 9))]
    table = Block("table", (_header("member", "occupation"), *rows))
    return Content(title, (_p(*writer.all("committee", "s")), table, _p(_sentence(writer, unit.section.key))))


def _consultation(writer: Writer, unit: Unit, _units: Sequence[Unit]) -> Content:
    title = writer.fill(phrase("consultation", "title"), topic=_topic(unit))
    first, *rest = writer.all("consultation", "s")
    topic = _p(*(writer.say(unit.section.key, "s") for _ in range(2)))
    return Content(title, (_p(first), topic, _list("ol", writer.all("consultation", "question")), _p(*rest)))


def _press(writer: Writer, _unit: Unit, _units: Sequence[Unit]) -> Content:
    kind = "series" if writer.rng.random() < 0.6 else "press"  # most are such as come every week
    title, lead, follow = writer.say("press", kind).split()
    day = date_text(datetime.date(YEAR, 1, 1) + datetime.timedelta(days=writer.rng.randrange(180)))
    end = phrase("ui", "end")
    return Content(title, (_p(day), _p(lead), _p(follow), _p(Text(f"{end.en}/{day.en}", f"{end.zh}/{day.zh}"))))


def _internal(writer: Writer, unit: Unit, units: Sequence[Unit]) -> Content:
    content = _plain(writer, unit, units)
    return content._replace(blocks=(*content.blocks, Block("links", links=_numbers(units, kind="internal"))))


def _plain(writer: Writer, unit: Unit, _units: Sequence[Unit]) -> Content:
    """A page with all phrases of its kind, one per paragraph."""
    return Content(writer.say(unit.kind, "title"), tuple(_p(sentence) for sentence in writer.all(unit.kind, "s")))


def _index(_writer: Writer, unit: Unit, units: Sequence[Unit]) -> Content:
    intro = phrase("intro", "press" if unit.section.key == "press" else "index")
    children = tuple(i for i, other in enumerate(units) if other.section == unit.section and other.kind != "index")
    return Content(section_name(unit.section), (_p(intro), Block("links", links=children)))


def _home(writer: Writer, _unit: Unit, units: Sequence[Unit]) -> Content:
    news = Block("links", links=_numbers(units, kind="broken") + _numbers(units, kind="press")[:8])
    heading = _list("h2", [phrase("section", "press")])
    return Content(phrase("home", "title"), (_p(*writer.all("home", "s")), heading, news))


def _sitemap(writer: Writer, unit: Unit, units: Sequence[Unit]) -> Content:
    """Indexes and guides only, as site maps go."""
    content = _plain(writer, unit, units)
    links = Block("links", links=tuple(i for i, other in enumerate(units) if other.kind in ("index", "guide")))
    return content._replace(blocks=(*content.blocks, links))


def _numbers(units: Sequence[Unit], kind: str) -> tuple[int, ...]:
    return tuple(i for i, unit in enumerate(units) if unit.kind == kind)


_COMPOSERS: dict[str, Callable[[Writer, Unit, Sequence[Unit]], Content]] = {
    "about": _plain,
    "access": _plain,
    "broken": _plain,
    "committee": _committee,
    "consultation": _consultation,
    "contact": _plain,
    "district": _district,
    "empty": _plain,
    "facility": _facility,
    "faq": _faq,
    "form": _form,
    "guide": _guide,
    "home": _home,
    "index": _index,
    "internal": _internal,
    "press": _press,
    "privacy": _plain,
    "sitemap": _sitemap,
    "stat": _stat,
    "tender": _tender,
}
