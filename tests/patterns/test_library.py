"""Credibility by hand, rescue by both forms, libraries that can be merged in any order, files that are refused."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.both_ways import both_ways  # noqa: F401  (kernels of this module)
from twinlink.config.patterns import PatternSettings
from twinlink.errors import InputError
from twinlink.patterns import library as library_module
from twinlink.patterns.credibility import credible_keys, is_rescued
from twinlink.patterns.keys import Key
from twinlink.patterns.learning import SitePatterns, learn_patterns
from twinlink.patterns.library import PARTS, KeySums, PatternLibrary, read_libraries, read_library, write_library

EN_TC = Key("en", "tc")
TOP_OF_THE_PAPER = {"en-tc": 13997.36, "eng-tc": 12869.56, "english-tc_chi": 11436.12}
"""Zhang, Yao & Kit, table 2."""


def site(n_pairs: int, n_pages: int, n_letters: int = 0) -> SitePatterns:
    """A site with some pairs by en and tc, some by _e and _c, and pages without a partner that share no key."""
    urls = [f"http://x.hk/{lang}/a{n}b.htm" for lang in ("en", "tc") for n in range(n_pairs)]
    urls += [f"http://x.hk/{n}/x{n}_{lang}.htm" for lang in ("e", "c") for n in range(n_letters)]
    urls += [f"http://x.hk/{n}/{n}/" for n in range(n_pages - len(urls))]
    return learn_patterns(urls)


def library_of(*sites: SitePatterns) -> PatternLibrary:
    library = PatternLibrary()
    for each in sites:
        library.add(each)
    return library


def test_credibility_by_hand() -> None:
    """Site 1: 8 of 10 pages by en-tc. Site 2: 6 of 20 by en-tc and 4 of 20 by e-c."""
    one, two = site(4, 10), site(3, 20, 2)
    assert [(p.key, p.n_pages, p.credibility) for p in one.patterns] == [(EN_TC, 8, 0.8)]
    assert [(p.key, p.n_pages, p.credibility) for p in two.patterns] == [(EN_TC, 6, 0.3), (("c", "e"), 4, 0.2)]
    assert (one.credibility, two.credibility) == (0.8, 0.3)  # C(w)
    library = library_of(one, two)
    assert library[EN_TC].credibility == pytest.approx(0.8 * 8 + 0.3 * 6, abs=1e-9)  # C(p) = 8.2
    assert library[Key("c", "e")].credibility == pytest.approx(0.2 * 4, abs=1e-9)
    assert library[EN_TC].mean == pytest.approx(8.2 / 14, abs=1e-9)
    assert (library[EN_TC].n_sites, library[EN_TC].n_pages) == (2, 14)
    assert [key for key, _ in library.rows()] == [EN_TC, Key("c", "e")]


def test_credibility_does_not_depend_on_how_sites_are_cut() -> None:
    """|w| counts: the same pairs on twice as many pages are worth half, here and on all sites."""
    small, large = library_of(site(4, 10)), library_of(site(4, 20))
    assert small[EN_TC].credibility == pytest.approx(2 * large[EN_TC].credibility, abs=1e-9)


def test_weak_key_is_rescued_by_the_threshold_of_the_paper() -> None:
    by_sum = PatternSettings(rescue="sum")
    top = [KeySums(1, 1, 20_000, round(value * PARTS)) for value in TOP_OF_THE_PAPER.values()]
    assert all(is_rescued(sums, by_sum) for sums in top)
    assert not is_rescued(KeySums(1, 1, 20_000, 500 * PARTS), by_sum)  # C(p) > 500
    assert is_rescued(KeySums(1, 1, 20_000, 500 * PARTS + 1), by_sum)
    assert not is_rescued(top[0], PatternSettings(rescue="none"))


def test_rescue_by_the_mean_is_free_of_scale() -> None:
    once = library_of(*(site(4, 10) for _ in range(3)), site(2, 60))
    assert [p.verdict for p in site(2, 60).patterns] == ["weak"]
    assert credible_keys(once) == {EN_TC: pytest.approx((3 * 6.4 + 4 * 4 / 60) / 28, abs=1e-9)}
    often = PatternLibrary()
    for _ in range(100):
        often.merge(once)
    means = [{key: sums.mean for key, sums in library.rows()} for library in (often, once)]
    assert means[0] == pytest.approx(means[1], abs=1e-9)
    assert often[EN_TC].credibility == pytest.approx(100 * once[EN_TC].credibility, abs=1e-6)
    assert credible_keys(library_of(site(4, 10), site(4, 10))) == {}  # on two sites only


def test_as_printed_the_sum_rescues_whatever_the_form() -> None:
    printed = PatternSettings(printed=True, rescue="none")
    assert not is_rescued(KeySums(9, 9, 1_000, 500 * PARTS), printed)
    assert is_rescued(KeySums(1, 0, 20_000, 500 * PARTS + 1), printed)


def test_limits_of_the_mean_are_the_least_that_is_rescued() -> None:
    """A quarter of 8 pages is 2, without rounding."""
    settings = PatternSettings(min_mean=0.25, min_sites=3)
    assert is_rescued(KeySums(3, 3, 8, 2 * PARTS), settings)
    assert not is_rescued(KeySums(3, 3, 8, 2 * PARTS - 1), settings)
    assert not is_rescued(KeySums(3, 2, 8, 2 * PARTS), settings)


def test_weak_key_of_a_small_site_is_helped_by_others() -> None:
    known = credible_keys(library_of(*(site(4, 10) for _ in range(3))))
    urls = ["http://y.hk/en/p.htm", "http://y.hk/tc/p.htm", *(f"http://y.hk/{n}/{n}/" for n in range(30))]
    assert learn_patterns(urls).patterns == ()
    assert [(p.key, p.verdict) for p in learn_patterns(urls, known=known).patterns] == [(EN_TC, "rescued")]


SUMS = st.builds(
    lambda more, credible, pages, parts: KeySums(credible + more, credible, pages, parts),
    *(st.integers(0, 10**6) for _ in range(3)),
    st.integers(0, 2**80),
)
TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=6)
LIBRARIES = st.dictionaries(st.builds(Key, TEXT, TEXT), SUMS, max_size=5).map(PatternLibrary)


def merged(*libraries: PatternLibrary) -> PatternLibrary:
    whole = PatternLibrary()
    for each in libraries:
        whole.merge(each)
    return whole


@settings(max_examples=50, deadline=None)
@given(LIBRARIES, LIBRARIES, LIBRARIES)
def test_merging_is_associative_commutative_and_has_a_zero(a: Any, b: Any, c: Any) -> None:
    assert merged(a, b) == merged(b, a)
    assert merged(merged(a, b), c) == merged(a, merged(b, c)) == merged(c, a, b)
    assert merged(a, PatternLibrary()) == merged(a)


@settings(max_examples=30, deadline=None)
@given(st.permutations([(4, 10, 0), (3, 20, 2), (2, 60, 0), (5, 13, 0), (2, 7, 0)]))
def test_order_of_sites_does_not_matter(shapes: Any) -> None:
    sites = [KNOWN[shape] for shape in shapes]
    whole = library_of(*sites)
    assert whole == merged(library_of(*sites[:2]), library_of(*sites[2:])) == library_of(*KNOWN.values())
    exact = sum(Fraction(p.n_pages**2, each.n_pages) for each in sites for p in each.patterns if p.key == EN_TC)
    assert abs(Fraction(whole[EN_TC].parts, PARTS) - exact) <= Fraction(len(sites), PARTS)


KNOWN = {shape: site(*shape) for shape in [(4, 10, 0), (3, 20, 2), (2, 60, 0), (5, 13, 0), (2, 7, 0)]}


@pytest.mark.parametrize("name", ["library.tsv", "library.parquet"])
@settings(max_examples=25, deadline=None)
@given(library=LIBRARIES)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, name: str, library: PatternLibrary) -> None:
    path = tmp_path_factory.mktemp("library") / name
    write_library(library, path)
    assert read_library(path) == library
    assert [file.name for file in path.parent.iterdir()] == [name]


def test_concatenated_files_are_added(tmp_path: Path) -> None:
    path = tmp_path / "library.tsv"
    write_library(library_of(site(4, 10)), path)
    path.write_text(path.read_text() * 3)
    assert read_library(path) == merged(*[library_of(site(4, 10))] * 3)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "source\ttarget\nen\ttc\n",
        "{head}en\ttc\t1\t1\t4\n",
        "{head}en\ttc\t1\t1\t4\tmuch\n",
        "{head}en\ttc\t1\t2\t4\t9\n",
        "{head}en\ttc\t3\t3\t4\t%s\n" % ("9" * 400),  # no float holds it
        "{head}%s\ttc\t1\t1\t4\t9\n" % ("a" * 200_000),
        "\0",
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "library.tsv"
    path.write_text(text.format(head="source\ttarget\tn_sites\tn_credible\tn_pages\tparts\n"))
    with pytest.raises(InputError, match=r"library\.tsv"):
        read_library(path)


def test_byte_order_mark_of_an_editor_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "library.tsv"
    write_library(library_of(site(4, 10)), path)
    path.write_text(path.read_text(encoding="utf-8").replace("\n", "\r\n"), encoding="utf-8-sig")
    assert read_library(path) == library_of(site(4, 10))


def test_only_plain_files_are_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path, Path()):
        with pytest.raises(InputError, match="cannot be written"):
            write_library(PatternLibrary(), path)
    assert pipe.is_fifo()
    assert [file.name for file in tmp_path.iterdir()] == ["pipe"]


def test_missing_and_broken_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    for name in ("none.tsv", "none.parquet", "broken.parquet"):
        with pytest.raises(InputError, match=name):
            read_library(tmp_path / name)
    with pytest.raises(InputError, match="cannot be written"):
        write_library(PatternLibrary(), tmp_path / "no" / "folder.tsv")


def test_a_file_without_its_line_of_names_is_refused(tmp_path: Path) -> None:
    """Its first row would be taken for names, or lost."""
    file = tmp_path / "mine.tsv"
    write_library(library_of(site(4, 10), site(3, 20, 2)), file)
    _, *rows = file.read_text().splitlines(keepends=True)
    file.write_text("".join(rows))
    with pytest.raises(InputError, match="expected a first line source target"):
        read_library(file)


def test_lines_are_counted_from_the_line_of_names_on(tmp_path: Path) -> None:
    file = tmp_path / "mine.tsv"
    write_library(library_of(site(4, 10)), file)
    file.write_text(file.read_text() + "en\n")
    with pytest.raises(InputError, match="line 3: expected 6 columns, got 1"):
        read_library(file)


def test_libraries_are_merged_and_a_file_named_twice_counts_once(tmp_path: Path) -> None:
    one, two = library_of(site(4, 10)), library_of(site(3, 20, 2))
    write_library(one, tmp_path / "one.tsv")
    write_library(two, tmp_path / "two.parquet")
    names = [str(tmp_path / name) for name in ("one.tsv", "two.parquet", "../" + tmp_path.name + "/one.tsv")]
    assert read_libraries(names) == merged(one, two)
    assert read_libraries(names[:1]) == one
    assert read_libraries([]) == PatternLibrary()


def test_tables_of_too_many_keys_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = library_of(site(3, 20, 2))
    write_library(library, tmp_path / "two.parquet")
    monkeypatch.setattr(library_module, "_MAX_ROWS", 2)
    assert len(read_library(tmp_path / "two.parquet")) == 2
    monkeypatch.setattr(library_module, "_MAX_ROWS", 1)
    with pytest.raises(InputError, match="expected at most 1 keys, got 2"):
        read_library(tmp_path / "two.parquet")


def test_counts_are_those_that_64_bits_hold(tmp_path: Path) -> None:
    most = PatternLibrary({EN_TC: KeySums(2**63 - 1, 1, 2**63 - 1, PARTS)})
    for name in ("mine.tsv", "mine.parquet"):
        write_library(most, tmp_path / name)
        assert read_library(tmp_path / name) == most
    (tmp_path / "mine.tsv").write_text((tmp_path / "mine.tsv").read_text().replace(f"{2**63 - 1}", f"{2**63}"))
    with pytest.raises(InputError, match="row 1: expected counts"):
        read_library(tmp_path / "mine.tsv")


def table(**columns: list[object]) -> pa.Table:
    """Two keys as a library of Parquet has them, some columns replaced."""
    row: dict[str, list[object]] = {"source": ["en", "en"], "target": ["tc", "sc"], "n_sites": [1, 1]}
    row |= {"n_credible": [1, 1], "n_pages": [4, 4], "parts": ["9", "9"]}
    return pa.table({name: pa.array(column) for name, column in (row | columns).items()})


def test_tables_with_other_columns_are_refused(tmp_path: Path) -> None:
    """Source and target exchanged would be taken for other keys, a missing side for one of nothing."""
    path = tmp_path / "mine.parquet"
    pq.write_table(table(), path)
    assert set(read_library(path).sums) == {EN_TC, Key("en", "sc")}
    names = table().column_names
    pq.write_table(table().select([names[1], names[0], *names[2:]]), path)
    with pytest.raises(InputError, match=r"expected columns source, target, .*, got target, source, "):
        read_library(path)
    for wrong in (table(source=[None, "en"]), table(target=["tc", None]), table(n_pages=[None, 4])):
        pq.write_table(wrong, path)
        with pytest.raises(InputError, match="not a pattern library"):
            read_library(path)


def test_a_table_whose_bytes_are_damaged_is_refused(tmp_path: Path) -> None:
    """Its pages are zeros; what stands at its end says that it is a whole file of one key."""
    path = tmp_path / "mine.parquet"
    write_library(library_of(site(4, 10)), path)
    whole = path.read_bytes()
    path.write_bytes(whole[:4] + bytes(36) + whole[40:])
    with pytest.raises(InputError, match="cannot be read as a pattern library"):
        read_library(path)


def test_a_path_may_be_text(tmp_path: Path) -> None:
    library = library_of(site(3, 6))
    write_library(library, str(tmp_path / "own.tsv"))
    assert read_library(str(tmp_path / "own.tsv")) == library
