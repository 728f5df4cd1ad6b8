"""The link graph around a pair: partners face each other, everything is escaped, large ones are bounded."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import cast

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from twinlink.review.reading.snapshot import Snapshot
from twinlink.review.records import Neighbour, Page
from twinlink.review.views.neighbourhood import MAX_SHOWN, around, draw, face

SVG = "{http://www.w3.org/2000/svg}"


def page(page_id: int, title: str = "") -> Page:
    return Page(page_id, f"http://a.example/{page_id}", "a.example", title or f"Page {page_id}", "en", (), ())


def near(page_id: int, *partners: int, outgoing: bool = True, anchor: str = "", title: str = "") -> Neighbour:
    return Neighbour(
        page_id, f"http://a.example/{page_id}", title or f"Page {page_id}", "en", anchor, outgoing, partners
    )


@dataclass
class FakeTables:
    """As much of a `Snapshot` as the explorer asks for."""

    around: dict[int, list[Neighbour]]
    pairs: dict[int, tuple[int, ...]]
    asked: list[tuple[int, int]] = field(default_factory=list)

    def page(self, page_id: int) -> Page | None:
        return page(page_id) if page_id in self.around else None

    def partners(self, page_id: int) -> tuple[int, ...]:
        return self.pairs.get(page_id, ())

    def count_neighbours(self, page_id: int, without: Collection[int] = ()) -> int:
        return len({near.page_id for near in self.around[page_id]} - {*without})

    def neighbours(self, page_id: int, limit: int = 200, without: Collection[int] = ()) -> Sequence[Neighbour]:
        self.asked.append((page_id, limit))
        return [near for near in self.around[page_id] if near.page_id not in without][:limit]


def parsed(picture: str) -> etree._Element:
    return etree.fromstring(str(picture).encode())


class TestModel:
    def test_partners_face_each_other(self) -> None:
        shown = face(page(1), page(-1), [near(2), near(3, -3), near(4, -4)], [near(-4, 4), near(-9), near(-3, 3)])
        assert [node.page_id for node in shown.left] == [3, 4, 2]
        assert [node.page_id for node in shown.right] == [-3, -4, -9]
        assert shown.matches == ((0, 0), (1, 1))
        assert shown.share == 4 / 6

    def test_each_page_matches_once(self) -> None:
        shown = face(page(1), page(-1), [near(2, -2), near(3, -2)], [near(-2, 2, 3)])
        assert shown.n_matches == 1

    def test_link_in_both_ways_is_one_node(self) -> None:
        shown = face(page(1), None, [near(2, anchor="to"), near(2, outgoing=False, anchor="from")], [])
        (node,) = shown.left
        assert (node.outgoing, node.incoming, node.anchors) == (True, True, ("to", "from"))

    def test_the_two_pages_are_no_neighbours_of_theirs(self) -> None:
        shown = face(page(1), page(-1), [near(1), near(2), near(-1, 1)], [near(1, -1)])
        assert (shown.n_left, shown.n_right, shown.n_matches) == (1, 0, 0)

    def test_many_neighbours_are_counted(self) -> None:
        left = [near(k, -k) for k in range(2, 102)]
        right = [near(-k, k) for k in range(2, 102)]
        shown = face(page(1), page(-1), left, right)
        assert len(shown.left) == len(shown.right) == len(shown.matches) == MAX_SHOWN
        assert shown.more_left == shown.more_right == 100 - MAX_SHOWN
        assert shown.n_matches == 100

    @given(
        st.lists(st.tuples(st.integers(2, 9), st.lists(st.integers(-9, -2), max_size=2)), max_size=12),
        st.lists(st.integers(-9, -2), max_size=12),
        st.integers(1, 6),
    )
    def test_matches_are_one_to_one_and_true(
        self, left: list[tuple[int, list[int]]], right: list[int], limit: int
    ) -> None:
        shown = face(page(1), page(-1), [near(k, *of) for k, of in left], [near(k) for k in right], limit)
        partners = {k: set(of) for k, of in left}
        assert len({a for a, _ in shown.matches}) == len({b for _, b in shown.matches}) == len(shown.matches)
        assert all(shown.right[b].page_id in partners[shown.left[a].page_id] for a, b in shown.matches)
        assert len(shown.left) + shown.more_left == shown.n_left == len({k for k, _ in left})
        assert len(shown.right) + shown.more_right == shown.n_right == len(set(right))


class TestAround:
    def test_first_partner_is_taken_or_the_one_that_is_asked_for(self) -> None:
        fake = FakeTables({1: [near(2, -2)], -1: [near(-2, 2)], -7: []}, {1: (-1, -7)})
        tables = cast("Snapshot", fake)
        shown, other = around(tables, 1), around(tables, 1, -7)
        assert shown is not None
        assert other is not None
        assert shown.partner is not None
        assert shown.partner.page_id == -1
        assert shown.n_matches == 1
        assert other.partner is not None
        assert other.partner.page_id == -7

    def test_page_without_partner(self) -> None:
        shown = around(cast("Snapshot", FakeTables({1: [near(2)]}, {})), 1)
        assert shown is not None
        assert shown.partner is None
        assert "no partner" in draw(shown, str)

    def test_page_that_is_not_there(self) -> None:
        assert around(cast("Snapshot", FakeTables({}, {})), 1) is None

    def test_page_that_it_is_compared_with_is_not_there_or_the_same(self) -> None:
        """It is not told that the page has no partner."""
        fake = FakeTables({1: [near(2)], -1: []}, {1: (-1,)})
        assert around(cast("Snapshot", fake), 1, 99) is None
        assert around(cast("Snapshot", fake), 1, 1) is None

    def test_two_pages_that_are_no_pair(self) -> None:
        fake = FakeTables({1: [near(2)], -1: [], -5: []}, {1: (-1,)})
        shown, pair = around(cast("Snapshot", fake), 1, -5), around(cast("Snapshot", fake), 1, -1)
        assert shown is not None
        assert pair is not None
        assert (shown.is_pair, pair.is_pair) == (False, True)
        assert "match pair" not in draw(shown, str)
        assert "match pair" in draw(pair, str)

    def test_all_neighbours_are_counted_whether_looked_at_or_not(self) -> None:
        left, right = [near(k, -k) for k in range(-1, 3_000)], [near(-k, k) for k in range(2, 9)]
        shown = around(cast("Snapshot", FakeTables({1: left, -1: right}, {1: (-1,)})), 1)
        assert shown is not None
        assert (shown.n_left, shown.all_left, shown.more_left) == (1_000, 2_999, 2_999 - MAX_SHOWN)
        assert (shown.n_right, shown.all_right, shown.more_right, shown.n_matches) == (7, 7, 0, 7)

    def test_no_source_is_asked_for_all_it_has(self) -> None:
        fake = FakeTables({1: [], -1: []}, {1: (-1,)})
        around(cast("Snapshot", fake), 1)
        assert [limit for _, limit in fake.asked] == [1_000, 1_000]


class TestPicture:
    def test_nodes_are_links_and_lines_are_matches(self) -> None:
        shown = face(page(1), page(-1), [near(2, -2), near(3)], [near(-2, 2)])
        root = parsed(draw(shown, lambda page_id: f"/graph/{page_id}"))
        assert [link.get("href") for link in root.iter(f"{SVG}a")] == [
            "/graph/2", "/graph/3", "/graph/1", "/graph/-2", "/graph/-1",
        ]  # fmt: skip
        classes = [line.get("class") for line in root.iter(f"{SVG}line")]
        assert classes.count("match") == 1
        assert classes.count("match pair") == 1
        assert len([name for name in classes if name and name.startswith("edge")]) == 3

    def test_it_has_text_alternatives_and_no_styles(self) -> None:
        picture = draw(face(page(1), page(-1), [near(2, -2)], [near(-2, 2)]), str)
        root = parsed(picture)
        assert root.findtext(f"{SVG}title") == "Pages around Page 1 and Page -1"
        assert "1 on each side are partners" in (root.findtext(f"{SVG}desc") or "")
        assert all(link.find(f"{SVG}title") is not None for link in root.iter(f"{SVG}a"))
        assert "style" not in picture
        named = root.get("aria-labelledby", "").split()
        assert named == [element.get("id") for element in list(root)[:2]]

    def test_hostile_titles_stay_text(self) -> None:
        evil = '"><script>x</script>\u202e\0'
        shown = face(page(1, evil), page(-1, evil), [near(2, anchor=evil, title=evil)], [])
        root = parsed(draw(shown, lambda page_id: '"><script>'))
        assert {element.tag for element in root.iter()} <= {
            f"{SVG}{name}" for name in ("svg", "title", "desc", "line", "circle", "a", "text")
        }
        assert not any(str(name).startswith("on") for element in root.iter() for name in element.attrib)
        assert "\u202e" not in draw(shown, str)

    def test_names_fit(self) -> None:
        picture = draw(
            face(page(1), None, [near(2, title="字" * 90), near(3, title="x" * 90), near(4, title="y" * 34)], []), str
        )
        names = [text.text for text in parsed(picture).iter(f"{SVG}text")]
        assert "字" * 16 + "…" in names
        assert "x" * 33 + "…" in names
        assert "y" * 34 in names

    def test_what_is_not_drawn_is_reported(self) -> None:
        picture = draw(face(page(1), None, [near(k) for k in range(2, 2_000)], []), str)
        assert f"… {1_998 - MAX_SHOWN:,} more" in picture
        assert len(picture) < 40_000
