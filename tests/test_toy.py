"""The toy site says what its docstring promises, and Figure 1 of Liu et al. comes out of it by hand."""

from __future__ import annotations

from urllib.parse import urljoin

import lxml.html
import numpy as np
import pytest

from twinlink.toy import toy_site, write_toy


def test_ten_pages_are_five_pairs():
    site = toy_site()
    assert len(site.pages) == 10
    assert len(site.pairs) == 5
    assert {url for pair in site.pairs for url in pair} == set(site.pages)


def test_the_folder_may_be_named_by_a_text(tmp_path):
    assert write_toy(str(tmp_path)) == tmp_path
    assert (tmp_path / "en" / "a.html").is_file()


def test_arrays_agree_with_the_pages():
    site = toy_site()
    for side in (0, 1):
        urls = [pair[side] for pair in site.pairs]
        links = [
            (urls.index(url), urls.index(urljoin(url, href)))
            for url in urls
            for href in lxml.html.document_fromstring(site.pages[url]).xpath("//a/@href")
        ]
        assert links == list(zip(site.source.tolist(), site.target.tolist(), strict=True))


def test_c_is_a_neighbour_of_all_others_and_they_of_c_alone():
    site = toy_site()
    neighbours = {page: set() for page in range(5)}
    for source, target in zip(site.source.tolist(), site.target.tolist(), strict=True):
        neighbours[source].add(target)
        neighbours[target].add(source)
    assert neighbours == {0: {2}, 1: {2}, 2: {0, 1, 3, 4}, 3: {2}, 4: {2}}


def test_content_finds_all_partners_except_that_of_c():
    internal = toy_site().internal.toarray()
    assert internal.argmax(axis=1).tolist() == [0, 1, 3, 3, 4]
    assert internal.argmax(axis=0).tolist() == [0, 1, 1, 3, 4]


def test_one_round_of_links_recovers_c():
    # By hand: the neighbours of C and C' match as A-A', B-B', D-D', E-E', so S_ext = 2 * 3.3 / 8. D' has C' alone.
    internal = toy_site().internal.toarray()
    external_right = 2 * (0.90 + 0.85 + 0.80 + 0.75) / 8
    external_wrong = 2 * max(internal[[0, 1, 3, 4], 2]) / (4 + 1)
    right = 0.4 * internal[2, 2] + 0.6 * external_right
    assert right == pytest.approx(0.635)
    assert right > 0.4 * internal[2, 3] + 0.6 * external_wrong


def test_all_entries_are_stored():
    internal = toy_site().internal
    assert internal.dtype == np.float32
    assert internal.nnz == internal.data.size == 25
