"""The sides of a site from tables written by hand: languages to match, texts, and links within and between."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

from twinlink.match.sides import Group, SitePages, language_groups, language_pairs, of_varieties
from twinlink.pages.linearise import PageShape
from twinlink.tables import LINKS, PAGES

SITE, OUTSIDE = "x.example", 99
PAGE_COLUMNS = ("page_id", "site", "url", "canonical_url", "title", "blocks", "tags", "images")
Link = tuple[int, int | None] | tuple[int, int | None, str]
"""Source, target and hreflang, which may be left out."""


def pages(n: int) -> pa.Table:
    """Pages 10, 11, …; the odd ones have no title, and page 11 names page 10 as its canonical one."""
    rows = [
        {
            "page_id": 10 + k,
            "site": SITE,
            "url": f"http://{SITE}/{k}",
            "canonical_url": f"http://{SITE}/0" if k == 1 else None,
            "title": "" if k % 2 else f"title {k}",
            "blocks": [f"block {k}"],
            "tags": bytes([k]),
            "images": [f"{k}.png"],
        }
        for k in range(n)
    ]
    return pa.Table.from_pylist(rows, pa.schema([PAGES.field(name) for name in PAGE_COLUMNS]))


def links(*given: Link) -> pa.Table:
    empty = {field.name: "" for field in LINKS if field.type == pa.string()}
    rows = [
        {**empty, "source": source, "target": target, "hreflang": "".join(lang), "target_site": SITE}
        for source, target, *lang in given
    ]
    return pa.Table.from_pylist(rows, LINKS)


def group(lang: str, *rows: int) -> Group:
    return Group(lang, lang, np.array(rows))


# ---- languages


def groups(langs: Sequence[str], wanted: Sequence[str]) -> list[tuple[str, str, list[int]]]:
    return [(each.tag, each.lang, each.rows.tolist()) for each in language_groups(langs, wanted)]


def test_without_wanted_languages_the_two_most_frequent_are_taken() -> None:
    assert groups(["fr", "en", "fr", "und", "und", "und", "de", "en"], []) == [
        ("en", "en", [1, 7]),
        ("fr", "fr", [0, 2]),
    ]


def test_two_languages_that_nearly_all_pages_declare_come_before_more_frequent_ones() -> None:
    langs = ["fr"] * 10 + ["en"] * 6 + ["pt"] * 4
    declared = ["fr-FR"] * 10 + ["pt-BR"] * 10
    taken = [each.lang for each in language_groups(langs, [], declared)]
    assert sorted(taken) == ["fr", "pt"]
    assert sorted(each.lang for each in language_groups(langs, [], ["fr-FR"] * 10 + [""] * 10)) == ["en", "fr"]
    assert sorted(each.lang for each in language_groups(langs, [], ["fr-FR"] * 10 + ["de"] * 10)) == ["en", "fr"]
    assert sorted(each.lang for each in language_groups(langs, ["en", "fr"], declared)) == ["en", "fr"]


def test_both_chinese_scripts_are_two_languages_of_one_wanted_tag() -> None:
    langs = ["zh-Hant"] * 3 + ["zh-Hans"] * 3
    assert groups(langs, ["zh"]) == [("zh", "zh-Hans", [3, 4, 5]), ("zh", "zh-Hant", [0, 1, 2])]


def test_a_few_pages_of_the_other_script_are_taken_for_the_main_one() -> None:
    langs = ["zh-Hant"] * 20 + ["zh-Hans"]
    assert groups(langs, ["zh"]) == [("zh", "zh-Hant", list(range(21)))]


@pytest.mark.parametrize(
    ("wanted", "lang", "declared", "expected"),
    [
        ("pt-BR", "pt", ["pt_BR.UTF-8", "pt-PT", "pt", ""], [0, 2, 3]),
        ("pt-BR", "pt", ["pt-BR", "pt-PT", "pt", "pt-BR"], [0, 3]),
        ("nn", "no", ["nn", "nb-NO", "no", "nn-NO"], [0, 3]),
        ("sr-Latn", "sr", ["sr-Latn-RS", "sr-Cyrl", "en", "sr-latn"], [0, 2, 3]),
        ("en-GB", "en", ["en-GB", "en", "en", "en", "en-US"], [0, 1, 2, 3, 4]),  # too few: of the same version
        ("en-GB", "en", ["en-GB", "en", "en-US"], [0, 1]),  # enough to be a variety, too few to be a version of its own
        ("eng", "en", ["eng", "en", "en-US"], [0, 1, 2]),
        ("fil", "tl", ["fil", "tl"], [0, 1]),
        ("pt-BR", "pt", [], []),
        ("pt-BR", "pt", ["pt", "pt-PT"], [0, 1]),
        ("pt", "pt", ["pt-BR", "pt-PT"], [0, 1]),
        ("zh-TW", "zh-Hant", ["zh-TW", "zh-HK"], [0, 1]),
    ],
)
def test_pages_that_declare_another_variety_are_left_out(
    wanted: str, lang: str, declared: list[str], expected: list[int]
) -> None:
    (left,) = of_varieties([Group(wanted, lang, np.arange(len(declared)))], declared)
    assert left.rows.tolist() == expected


def test_a_wanted_script_excludes_the_other() -> None:
    assert groups(["zh-Hant", "zh-Hans"], ["zh-Hans"]) == [("zh-Hans", "zh-Hans", [1])]


@pytest.mark.parametrize(("n", "is_language"), [(17, True), (18, True), (19, False)])
def test_a_tenth_of_the_pages_makes_a_script_a_language(n: int, is_language: bool) -> None:
    """Two pages of 20 are a tenth, and two of 21 are less."""
    langs = ["zh-Hans"] * 2 + ["zh-Hant"] * n
    both = [("zh", "zh-Hans", [0, 1]), ("zh", "zh-Hant", list(range(2, n + 2)))]
    assert groups(langs, ["zh"]) == (both if is_language else [("zh", "zh-Hant", list(range(n + 2)))])


def test_what_is_no_language_of_its_own_belongs_to_the_most_frequent_one() -> None:
    langs = ["zh", *["zh-Hans"] * 10, *["zh-Hant"] * 12]
    assert groups(langs, ["zh"]) == [
        ("zh", "zh-Hans", list(range(1, 11))), ("zh", "zh-Hant", [0, *range(11, 23)]),
    ]  # fmt: skip


def test_pages_without_a_language_or_in_two_are_in_no_group() -> None:
    langs = ["und", "mul", "und", "mul", "fr", "en"]
    assert groups(langs, []) == [("en", "en", [5]), ("fr", "fr", [4])]
    assert groups(langs, ["en", "fr"]) == [("en", "en", [5]), ("fr", "fr", [4])]


def test_languages_of_one_wanted_tag_do_not_face_each_other() -> None:
    en, hans, hant, fr = (Group(tag, lang, np.arange(1)) for tag, lang in (
        ("en", "en"), ("zh", "zh-Hans"), ("zh", "zh-Hant"), ("fr", "fr")
    ))  # fmt: skip
    assert language_pairs([en, hans, hant, fr]) == [(en, hans), (en, hant), (en, fr), (hans, fr), (hant, fr)]


# ---- pages


def test_a_side_has_the_columns_of_its_pages() -> None:
    whole = SitePages(pages(4), links((10, 12), (12, 13), (13, 12)))
    side_a, side_b, _ = whole.facing(group("en", 2, 0), group("fr", 1))
    assert (side_a.lang, side_b.lang) == ("en", "fr")
    assert side_a.page_ids.tolist() == [12, 10]
    assert list(side_a.urls) == [f"http://{SITE}/2", f"http://{SITE}/0"]
    assert [list(texts) for texts in side_a.blocks] == [["title 2", "block 2"], ["title 0", "block 0"]]
    assert [list(texts) for texts in side_b.blocks] == [["block 1"]]  # an empty title is no text
    assert list(side_a.tags) == [b"\2", b"\0"]
    assert [list(names) for names in side_a.names] == [["img:2.png"], ["img:0.png"]]
    assert (list(side_a.canonical_urls), list(side_b.canonical_urls)) == ([None, None], [f"http://{SITE}/0"])
    assert side_a.shapes == ()
    assert side_a.graph.toarray().tolist() == [[False, False], [True, False]]
    assert side_a.lists is not None
    assert (side_a.lists.starts.tolist(), side_a.lists.targets.tolist()) == ([0, 0, 1], [0])


def test_shapes_are_those_of_the_pages() -> None:
    shapes = {number: PageShape(np.zeros(0, np.int32), np.zeros(0, np.int32), number) for number in range(10, 14)}
    side, _, _ = SitePages(pages(4), links(), shapes).facing(group("en", 3, 0), group("fr", 1))
    assert [shape.n_bytes for shape in side.shapes] == [13, 10]


def test_a_language_is_read_once() -> None:
    whole = SitePages(pages(3), links())
    one, other, _ = whole.facing(group("en", 0), group("fr", 1))
    again, third, _ = whole.facing(group("en", 0), group("de", 2))
    assert again is one
    assert third is not other


# ---- links


def test_links_lead_from_page_to_page_of_the_site() -> None:
    """Not from other pages, nor to other ones or to nothing; a language named makes no difference."""
    given = links((10, 11), (10, None), (10, OUTSIDE), (OUTSIDE, 10), (11, 10, "en"), (12, 12))
    assert SitePages(pages(3), given).graph.toarray().astype(int).tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]


def test_a_link_between_languages_weighs_its_share_of_the_page() -> None:
    """Pages 0 and 1 face pages 2, 3 and 4. The larger share of both directions counts."""
    given = links((10, 12), (10, 13), (10, 14), (11, 13), (10, 11), (14, 10), (14, 11))
    _, _, between = SitePages(pages(5), given).facing(group("en", 0, 1), group("fr", 2, 3, 4))
    third, half = np.float32(1 / 3), 0.5
    assert between.direct.toarray().tolist() == [[third, third, half], [0, 1, half]]
    assert between.direct.has_sorted_indices
    assert between.hreflang.nnz == 0
    assert between.labels is None


def test_a_version_in_another_language_is_named_in_either_direction() -> None:
    given = links((10, 12, "fr"), (13, 11, "en"), (11, 13, "fr"), (10, 13), (10, 11, "en"))
    _, _, between = SitePages(pages(4), given).facing(group("en", 0, 1), group("fr", 2, 3))
    assert between.hreflang.toarray().tolist() == [[1, 0], [0, 1]]
    assert between.hreflang.has_sorted_indices


def test_blocks_that_are_given_need_no_column() -> None:
    both = pages(3)
    chunks = [both["blocks"].chunk(0).slice(0, 2), both["blocks"].chunk(0).slice(2)]
    given = SitePages(both.drop_columns(["blocks"]), links(), read_blocks=lambda: iter(chunks))
    assert list(given.texts) == [["title 0", "block 0"], ["block 1"], ["title 2", "block 2"]]
    assert list(given.texts) == list(SitePages(both, links()).texts)
