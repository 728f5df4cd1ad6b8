"""Elements and links of many pages, gathered by compiled code: what pages repeat, as their menus, is read once.

The result for a page is what `twinlink.pages.parser.parse_page` finds, with numbers instead of its links and images.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from twinlink.pages.elements import Elements, RawLink
from twinlink.pages.libxml2 import ANCHOR, IMAGE, TAKES_OF, TITLE, link_of, values_of
from twinlink.pages.parser import MAX_ADDRESS_CHARACTERS, Link, base_of, canonical_of, language_of
from twinlink.pages.spaces import collapse
from twinlink.pages.tags import TAG_CODES
from twinlink.urls import MAX_URL_LENGTH, folder_decides, folder_of, join, page_id

__all__ = ["MAX_EVENTS", "PageElements", "Repeated"]

MAX_EVENTS = MAX_ADDRESS_CHARACTERS // MAX_URL_LENGTH
"""Events of a page at most: so few have neither too many links nor too long addresses in all."""

_REMEMBERED_BYTES = 500
"""Elements that are read once if they are repeated: their bytes at most."""
_ENTRY_BYTES = 300
"""What an entry takes beside its texts, about."""

_NOTHING, _LINK, _IMAGE, _OTHER = range(4)
"""What an element means: nothing; one link; the name of one image; what `Elements` makes of it on its page."""
_OF_FORMS = frozenset(map(TAG_CODES.__getitem__, ("button", "form", "input", "option", "select")))
"""Elements whose meaning depends on others."""

_Element = tuple[int, int, Mapping[str, str]]
"""Meaning of an element, number of its link or image, its attributes."""
_NO_ATTRIBUTES: Mapping[str, str] = {}
_INERT = _NOTHING, 0, _NO_ATTRIBUTES
_UNUSABLE = RawLink("data:")
"""Stands for links whose address is too long, such as pictures written out in it."""
_FRESH = vars(Elements())


class PageElements(NamedTuple):
    """What the elements of a page say; each field as in `twinlink.pages.parser.ParsedPage`."""

    title: str
    links: Sequence[int]
    """Numbers of links among `Repeated.links`."""
    images: Sequence[int]
    """Numbers of names among `Repeated.images`."""
    declared_lang: str
    canonical: str


class Repeated:
    """The distinct elements and links of all pages so far."""

    def __init__(self) -> None:
        self.links: list[Link] = []
        """The distinct links."""
        self.targets: list[int] = []
        """The page_id of the address of each."""
        self.images: list[str] = []
        """The distinct names of images."""
        self._known: tuple[dict[bytes, _Element], ...] = tuple({} for _ in range(256))  # by the code of their tag
        self._raw_links: list[tuple[RawLink, bool]] = []  # and whether the folder of a page decides where it leads
        self._number_of_raw_link: dict[RawLink, int] = {}
        self._number_of_link: dict[Link, int] = {}
        self._number_of_image: dict[str, int] = {}
        self._led: dict[tuple[str, str], dict[int, int | None]] = {}  # folder, encoding → raw link → link
        self.n_bytes = 0
        """Memory that is held, about."""

    def read(
        self, events: Sequence[Sequence[int]], attributes: bytes, first: int, url: str, charset: str, language: str
    ) -> PageElements:
        """Read the elements of a page.

        Parameters
        ----------
        events, attributes : sequence, bytes
            Those of the page, and what they point at, see `twinlink.pages.libxml2.Gathered`.
        first : int
            Number of the first event.
        url, charset : str
            Of the page.
        language : str
            Content-Language header.
        """
        title, links, images = "", list[int](), list[int]()
        elements, known = _Numbered(links, self._number_raw), self._known
        for number, (code, start, end, inside) in enumerate(events, first):
            words = attributes[start:end]
            if code == TITLE:
                title = collapse(words.decode())
                continue
            meaning, place, values = known[code].get(words) or self._learn(code, words)
            if meaning == _LINK:
                within = events[inside - first : number - first] if code == ANCHOR else ()
                links.append(self._with_images(words, within, attributes) if within else place)
            elif meaning == _IMAGE:
                images.append(place)
            elif meaning == _OTHER:
                TAKES_OF[code](elements, values)
        elements.close()
        base = base_of(elements.base, url)
        return PageElements(
            title,
            self._resolved(links, base, charset),
            images,
            language_of(elements, language),
            canonical_of(elements.canonicals, url, base, charset),
        )

    def _learn(self, code: int, words: bytes) -> _Element:
        """Return what an element means, and remember it."""
        element = self._anchor(words) if code == ANCHOR else self._element(code, values_of(words))
        if len(words) <= _REMEMBERED_BYTES:
            self._known[code][words] = element
            self.n_bytes += _ENTRY_BYTES + len(words)
        return element

    def _anchor(self, words: bytes) -> _Element:
        link = link_of(words)
        return _INERT if link is None else (_LINK, self._number_raw(link), _NO_ATTRIBUTES)

    def _with_images(self, words: bytes, within: Iterable[Sequence[int]], attributes: bytes) -> int:
        """Return the number of the link of an anchor with other elements in it, given their events."""
        images = (values_of(attributes[start:end]).get("alt") for code, start, end, _ in within if code == IMAGE)
        link = link_of(words, [name for name in images if name])
        assert link is not None
        return self._number_raw(link)

    def _element(self, code: int, values: Mapping[str, str]) -> _Element:
        elements = Elements()
        TAKES_OF[code](elements, values)
        changed = {name for name, value in vars(elements).items() if value != _FRESH[name]}
        if code in _OF_FORMS or changed - {"links", "images"}:
            return _OTHER, 0, values
        for image in elements.images:
            return _IMAGE, self._numbered(image, self.images, self._number_of_image, len(image)), _NO_ATTRIBUTES
        for link in elements.links:
            return _LINK, self._number_raw(link), _NO_ATTRIBUTES
        return _INERT

    def _number_raw(self, link: RawLink) -> int:
        if len(link.href) > MAX_URL_LENGTH:
            link = _UNUSABLE
        number = self._number_of_raw_link.get(link)
        if number is None:
            number = self._number_of_raw_link[link] = len(self._raw_links)
            self._raw_links.append((link, folder_decides(link.href)))
            self.n_bytes += _ENTRY_BYTES + len(link.href) + len(link.anchor)
        return number

    def _numbered(self, value: Any, values: list[Any], numbers: dict[Any, int], size: int) -> int:
        """Return the number of a value, which is added if it is new."""
        number = numbers.get(value)
        if number is None:
            number = numbers[value] = len(values)
            values.append(value)
            self.n_bytes += _ENTRY_BYTES + size
        return number

    def _resolved(self, raw_links: Iterable[int], base: str, charset: str) -> list[int]:
        """Return the usable links, each once."""
        folder = folder_of(base), charset
        if folder not in self._led:
            self._led[folder] = {}
            self.n_bytes += _ENTRY_BYTES + len(folder[0])
        led = self._led[folder]
        links = dict[int | None, None]()
        for number in raw_links:
            if number in led:
                links[led[number]] = None
                continue
            raw_link, is_decided = self._raw_links[number]
            link = self._link(raw_link, base, charset)
            if is_decided:
                led[number] = link
                self.n_bytes += _ENTRY_BYTES // 3  # two numbers
            links[link] = None
        return [link for link in links if link is not None]

    def _link(self, raw_link: RawLink, base: str, charset: str) -> int | None:
        """Return the number of a link; None if it is not usable."""
        href, *others = raw_link
        url = join(base, href, charset)
        if url is None:
            return None
        n_links = len(self.links)
        number = self._numbered(Link(url, *others), self.links, self._number_of_link, len(url))
        if number == n_links:
            self.targets.append(page_id(url))
        return number


class _Numbered(Elements):
    """Elements of a page, whose links are gathered by their numbers."""

    def __init__(self, numbers: list[int], number_of: Callable[[RawLink], int]) -> None:
        super().__init__()
        self._numbers, self._number_of = numbers, number_of

    def add(self, link: RawLink | None) -> None:
        """Take a link, if there is one."""
        if link is not None:
            self._numbers.append(self._number_of(link))
