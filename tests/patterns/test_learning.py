"""URL patterns: the papers' examples, conventions one by one, the literal twin, what must not matter."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tests.both_ways import both_ways  # noqa: F401  (kernels of this module)
from tests.patterns.pattern_twin import twin_patterns
from twinlink.config.patterns import PatternSettings
from twinlink.errors import InputError, ShapeError
from twinlink.patterns import learning
from twinlink.patterns.credibility import pairs_of_patterns, url_clues
from twinlink.patterns.keys import Key, read_forms
from twinlink.patterns.learning import SitePatterns, learn_patterns, pattern_evidence

NAMES = ("about", "news/2007", "contact", "faq", "sitemap", "jobs/list")
ANY = PatternSettings(min_pairs=1, min_local=0.0)
PRINTED = PatternSettings(printed=True)


def made(*shapes: str, names: tuple[str, ...] = NAMES) -> list[str]:
    """Each name in each shape."""
    return [f"http://{shape.format(name)}" for shape in shapes for name in names]


def pairs_of(found: SitePatterns, urls: list[str]) -> set[tuple[str, str]]:
    used = found.used() if found.patterns else np.zeros(0, np.bool_)
    pairs = zip(found.sources[used].tolist(), found.targets[used].tolist(), strict=True)
    return {(min(urls[a], urls[b]), max(urls[a], urls[b])) for a, b in pairs}


def told(found: SitePatterns) -> list[tuple[str, str, int]]:
    return [(*pattern.key, pattern.n_pages) for pattern in found.patterns]


def test_example_of_the_paper_gives_its_key() -> None:
    """Zhang, Yao & Kit, section 2.1."""
    urls = ["http://www.legco.gov.hk/yr99-00/en/fc/esc/e0.htm", "http://www.legco.gov.hk/yr99-00/zh/fc/esc/e0.htm"]
    assert told(learn_patterns(urls, settings=ANY)) == [("en", "zh", 2)]


def test_example_of_the_deep_page_gives_its_key() -> None:
    """Zhang, Yao & Kit, table 1: a key of two tokens."""
    page = "http://www.fehd.gov.hk/{}/LLB_web/cagenda_20070904.htm"
    found = learn_patterns([page.format("tc_chi"), page.format("english")], settings=ANY)
    assert told(found) == [("english", "tc_chi", 2)]
    assert found.patterns[0].rule == "/english/ ↔ /tc_chi/"


@pytest.mark.parametrize(
    ("a", "b", "key", "rule"),
    [
        ("www.gnu.org/home.ca.html", "www.gnu.org/home.en.html", ("ca", "en"), ".ca. ↔ .en."),
        ("www.ua.es/va/index.html", "www.ua.es/en/index.html", ("en", "va"), "/en/ ↔ /va/"),
        ("www.ua.es/index.html", "www.ua.es/en/index.html", ("", "en"), "/ ↔ /en/"),
        ("www.dlsi.ua.es/index.html?id=val", "www.dlsi.ua.es/index.html?id=eng", ("id=eng", "id=val"), None),
        ("www.dlsi.ua.es/index.html", "www.dlsi.ua.es/index.html?id=eng", ("", "id=eng"), "… ↔ …?id=eng"),
    ],
)
def test_examples_of_bitextor_give_their_keys(a: Any, b: Any, key: tuple[str, str], rule: Any) -> None:
    """Esplà-Gomis & Forcada 2010, section 4.1."""
    (pattern,) = learn_patterns([f"http://{a}", f"http://{b}"], settings=ANY).patterns
    assert pattern.key == key
    assert pattern.rule == (rule or f"?{key[0]} ↔ ?{key[1]}")


def test_letter_keys_merge_token_keys() -> None:
    """⟨1e,1c⟩, ⟨2e,2c⟩, … are ⟨e,c⟩ (section 2.1): no single one of them pairs enough pages."""
    urls = made("x.hk/a/{}e.htm", "x.hk/a/{}c.htm", names=tuple(str(n) for n in range(1, 13)))
    (pattern,) = learn_patterns(urls).patterns
    assert (pattern.key, pattern.rule, pattern.n_pages, pattern.credibility) == (
        Key("*c", "*e"), "*c. ↔ *e.", 24, 1.0
    )  # fmt: skip


CONVENTIONS = [
    (("x.hk/en/{}.htm", "x.hk/tc/{}.htm"), "/en/ ↔ /tc/"),
    (("x.hk/en-US/{}.htm", "x.hk/zh-TW/{}.htm"), "/en-us/ ↔ /zh-tw/"),
    (("x.hk/en/{}.htm", "x.hk/zh_Hant_HK/{}.htm"), "/en/ ↔ /zh_hant_hk/"),
    (("en.x.hk/{}.htm", "tc.x.hk/{}.htm"), "//en. ↔ //tc."),
    (("www.x.hk/{}.htm", "tc.x.hk/{}.htm"), "//tc. ↔ //www."),
    (("x.hk/{}.htm", "tc.x.hk/{}.htm"), "// ↔ //tc."),
    (("x.hk/{}_e.htm", "x.hk/{}_c.htm"), "_c. ↔ _e."),
    (("x.hk/{}e.htm", "x.hk/{}c.htm"), "*c. ↔ *e."),
    (("x.hk/a/e_{}.htm", "x.hk/a/c_{}.htm"), "/c_ ↔ /e_"),
    (("x.hk/a/eng{}.htm", "x.hk/a/chi{}.htm"), "/chi* ↔ /eng*"),
    (("x.hk/{}.htm", "x.hk/{}_c.htm"), ". ↔ _c."),
    (("x.hk/{}.htm", "x.hk/{}c.htm"), "*. ↔ *c."),
    (("x.hk/{}.htm", "x.hk/tc/{}.htm"), "/ ↔ /tc/"),
    (("x.hk/{}.htm", "x.hk/{}.tc.htm"), ". ↔ .tc."),
    (("x.hk/{}.php?lang=en", "x.hk/{}.php?lang=zh-tw"), "?lang=en ↔ ?lang=zh-tw"),
    (("x.hk/{}.php?a=1&lang=en", "x.hk/{}.php?lang=tc&a=1"), "?lang=en ↔ ?lang=tc"),
    (("x.hk/{}.php?lang=en", "x.hk/{}.php?langue=fr"), "?lang=en ↔ ?langue=fr"),
    (("x.hk/{}.php", "x.hk/{}.php?tc"), "… ↔ …?tc"),
    (("x.hk/en/{}_en.htm", "x.hk/tc/{}_tc.htm"), "en … en ↔ tc … tc"),
    (("x.hk/%45N/{}.htm", "X.HK/T%63/{}.htm"), "/en/ ↔ /tc/"),
    (("x.hk/英文/{}.htm", "x.hk/%E4%B8%AD%E6%96%87/{}.htm"), "/中文/ ↔ /英文/"),
]


@pytest.mark.parametrize(("shapes", "rule"), CONVENTIONS, ids=[rule for _, rule in CONVENTIONS])
@pytest.mark.parametrize("langs", [None, ("en", "zh")], ids=["unknown", "known"])
def test_convention_is_found_and_pairs_all_pages(shapes: Any, rule: Any, langs: Any) -> None:
    urls = made(*shapes)
    n = len(NAMES)
    found = learn_patterns(urls, langs and [lang for lang in langs for _ in NAMES])
    assert [pattern.rule for pattern in found.patterns] == [rule]
    assert pairs_of(found, urls) == {tuple(sorted((urls[k], urls[n + k]))) for k in range(n)}
    assert found.credibility == 1.0


def test_three_languages_are_all_paired_with_each_other() -> None:
    found = learn_patterns(made("x.hk/en/{}.htm", "x.hk/tc/{}.htm", "x.hk/sc/{}.htm"))
    assert sorted(told(found)) == [("en", "sc", 12), ("en", "tc", 12), ("sc", "tc", 12)]


def test_folder_stands_for_its_default_document() -> None:
    urls = [f"http://x.hk/{lang}{folder}" for lang in ("en/", "tc/") for folder in ("", "a/", "b/")]
    urls = [f"{url}index.htm" if "tc" in url else url for url in urls]
    assert told(learn_patterns(urls, settings=ANY)) == [("en", "tc", 6)]
    urls = ["http://x.hk/", "http://x.hk/index_c.htm", "http://x.hk/a/", "http://x.hk/a/index_c.htm", "http://x.hk/b/"]
    urls += ["http://x.hk/b/index.htm", "http://x.hk/b/index_c.htm"]
    assert told(learn_patterns(urls, settings=ANY)) == [("", "c", 6)]


def test_one_page_under_several_addresses_is_one() -> None:
    urls = ["http://x.hk/en/a.htm", "https://x.hk/en/a.htm", "http://x.hk/EN/a.htm", "http://x.hk/tc/a.htm"]
    found = learn_patterns(urls, settings=ANY)
    assert found.n_pages == 2
    assert pairs_of(found, urls) == {("http://x.hk/EN/a.htm", "http://x.hk/tc/a.htm")}  # the first in order


def test_languages_on_a_host_with_and_without_www_are_paired() -> None:
    """The second difference of their addresses is none."""
    urls = [f"http://{host}/{lang}/p{n}.htm" for host, lang in (("x.hk", "en"), ("www.x.hk", "tc")) for n in range(5)]
    (found,) = learn_patterns(urls).patterns
    assert (found.rule, found.n_pages, found.verdict) == ("/en/ ↔ /tc/", 10, "credible")


def test_known_languages_forbid_pairs_of_one_language() -> None:
    urls = made("x.hk/news/{}.htm", "x.hk/old/{}.htm", "x.hk/zh/{}.htm")
    langs = ["en"] * 12 + ["zh"] * 6
    keys = {pattern.key for pattern in learn_patterns(urls, langs).patterns}
    assert keys == {("news", "zh"), ("old", "zh")}
    assert Key("news", "old") in {pattern.key for pattern in learn_patterns(urls).patterns}


def test_languages_of_both_sides_are_returned() -> None:
    urls = made("x.hk/tc/{}.htm", "x.hk/en/{}.htm")
    (pattern,) = learn_patterns(urls, ["zh-Hant"] * 6 + ["en"] * 5 + ["und"]).patterns
    assert (pattern.key, pattern.source_lang, pattern.target_lang) == (("en", "tc"), "en", "zh-Hant")


def test_numbers_are_keys_only_between_known_languages() -> None:
    urls = made("x.hk/1033/{}.htm", "x.hk/1028/{}.htm")
    assert Key("1028", "1033") not in {pattern.key for pattern in learn_patterns(urls).patterns}
    assert told(learn_patterns(urls, ["en"] * 6 + ["zh"] * 6)) == [("1028", "1033", 12)]


def test_weaker_key_does_not_keep_the_pages_of_a_stronger_one() -> None:
    """⟨news,old⟩ joins four pages, but ⟨en,tc⟩ joins all eight."""
    urls = [f"http://x.hk/{lang}/{part}/{n}.htm" for lang in ("en", "tc") for part in ("news", "old") for n in (1, 2)]
    assert told(learn_patterns(urls)) == [("en", "tc", 8), ("news", "old", 8)][:1]


def test_a_key_of_letters_that_is_credible_goes_before_a_key_of_tokens_that_is_weak() -> None:
    """60 of 63 pages end in e or c; three of them are there once more in another folder, which is too few for a key."""
    urls = [f"http://x.hk/en/{n}{letter}.htm" for n in range(30) for letter in "ec"]
    found = learn_patterns([*urls, *(f"http://x.hk/tc/{n}e.htm" for n in range(3))])
    assert [(each.key, each.n_pages, each.verdict) for each in found.patterns] == [(("*c", "*e"), 60, "credible")]


def test_a_key_of_tokens_is_credible_from_exactly_the_least_share_of_pages_on() -> None:
    """Ten of twenty pages: it goes before the key of letters, which has fourteen, and leaves it four."""
    urls = [f"http://x.hk/en/{n}{letter}.htm" for n in range(7) for letter in "ec"]
    urls += [*(f"http://x.hk/tc/{n}e.htm" for n in range(5)), "http://x.hk/other/page/here"]
    assert told(learn_patterns(urls, settings=PatternSettings(min_local=0.5))) == [("en", "tc", 10), ("*c", "*e", 4)]
    assert told(learn_patterns(urls, settings=PatternSettings(min_local=0.51)))[0] == ("*c", "*e", 14)


def test_key_with_too_few_remaining_pairs_is_dropped() -> None:
    """One of the two pairs of htm and txt goes to the stronger key: the other alone is no pattern, though 2 of 13."""
    urls = [f"http://x.hk/{lang}/p{n}.htm" for lang in ("en", "fr") for n in range(5)]
    rest = ["http://x.hk/en/p0.txt", "http://x.hk/a/b/c.htm", "http://x.hk/a/b/c.txt"]
    assert [each.key for each in learn_patterns([*urls, *rest]).patterns] == [("en", "fr")]
    alone = learn_patterns([*urls[1:], *rest, "http://x.hk/d/e/f/g.htm", "http://x.hk/d/e/f/g.txt"])
    assert [each.key for each in alone.patterns] == [("en", "fr"), ("htm", "txt")]


@pytest.mark.parametrize("n_pages", [4, 12])
def test_crowded_places_are_looked_up_for_keys_found_elsewhere(n_pages: int) -> None:
    """A hundred files of a folder differ in one place: they are not compared, but en and tc are found among them."""
    files = [f"http://x.hk/all/{name}.htm" for name in (*(f"f{n}x" for n in range(100)), "en", "tc")]
    urls = [*files, *made("x.hk/en/{}.htm", "x.hk/tc/{}.htm", names=NAMES[: n_pages // 2])]
    found = learn_patterns(urls)
    assert found.n_crowded > 0
    assert ("http://x.hk/all/en.htm", "http://x.hk/all/tc.htm") in {
        (urls[a], urls[b]) for a, b in zip(found.sources.tolist(), found.targets.tolist(), strict=True)
    }
    few = learn_patterns(urls, settings=PatternSettings(max_group=200))
    assert few.n_crowded == 0
    assert set(told(found)) <= set(told(few))


def test_the_strongest_keys_are_looked_up_in_crowded_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two keys only one is looked up: en and tc, which pair twelve pages elsewhere, before fr and de with ten."""
    monkeypatch.setattr(learning, "MAX_LOOKED_UP", 1)
    langs = ("en", "tc", "fr", "de")
    urls = [f"http://x.hk/all/{name}.htm" for name in (*(f"f{n}x" for n in range(100)), *langs)]
    urls += made("x.hk/en/{}.htm", "x.hk/tc/{}.htm") + made("x.hk/fr/b/{}.htm", "x.hk/de/b/{}.htm", names=NAMES[:5])
    found = learn_patterns(urls)
    in_crowd = {(urls[a], urls[b]) for a, b in zip(found.sources.tolist(), found.targets.tolist(), strict=True)}
    assert {pair for pair in in_crowd if "/all/" in pair[0]} == {("http://x.hk/all/en.htm", "http://x.hk/all/tc.htm")}


def test_all_addresses_of_a_crowded_place_are_counted() -> None:
    """Seven words in one folder, and in each place in which they differ stand all seven: more than six are crowded."""
    urls = [f"http://x.hk/{word}.htm" for word in ("alpha", "beta", "gamma", "delta", "omega", "kappa", "sigma")]
    found = learn_patterns(urls, settings=PatternSettings(max_group=6))
    assert found.n_crowded > 0
    assert found.n_crowded_masks == 7 * found.n_crowded
    few = learn_patterns(urls, settings=PatternSettings(max_group=7))
    assert (few.n_crowded, few.n_crowded_masks) == (0, 0)


def test_known_key_needs_one_pair_only_and_is_rescued() -> None:
    urls = [
        *made("x.hk/a/{}.htm", names=tuple(str(n) for n in range(40))),
        "http://x.hk/en/b.htm",
        "http://x.hk/tc/b.htm",
    ]
    assert learn_patterns(urls).patterns == ()
    (pattern,) = learn_patterns(urls, known={Key("en", "tc"): 0.5}).patterns
    assert (pattern.n_pages, pattern.verdict) == (2, "rescued")


def test_as_printed_one_pair_counts_and_the_threshold_is_not_credible() -> None:
    """C(p) sums over all sites that have a pair of the key; a key is weak unless C(p,w) > 0.1."""
    others = [f"http://x.hk/{letter * 3}/{letter}.htm" for letter in "abcdefghijklmnopqr"]
    urls = ["http://x.hk/en/1.htm", "http://x.hk/tc/1.htm", *others]
    langs = ["en", "zh", *["en"] * len(others)]
    assert learn_patterns(urls, langs).patterns == ()
    (pattern,) = learn_patterns(urls, langs, PRINTED).patterns
    assert (pattern.key, pattern.n_pages, pattern.credibility, pattern.verdict) == (Key("en", "tc"), 2, 0.1, "weak")
    assert learn_patterns(urls[:-1], langs[:-1], PRINTED).patterns[0].verdict == "credible"
    assert learn_patterns(urls, langs, PRINTED, {Key("en", "tc"): 1.0}).patterns[0].verdict == "rescued"


def test_as_printed_the_stronger_key_wins_whatever_is_known() -> None:
    """A known key goes first by our rules; by the paper's the one that pairs more pages does."""
    urls = [f"http://x.hk/{lang}/{n}.htm" for lang in ("en", "tc") for n in range(5)]
    urls += ["http://x.hk/en/0.old.htm"]
    known = {Key("", "old"): 1.0}
    assert learn_patterns(urls, known=known).patterns[0].key == Key("", "old")
    assert [each.key for each in learn_patterns(urls, settings=PRINTED, known=known).patterns] == [Key("en", "tc")]


@pytest.mark.parametrize(
    "urls",
    [
        [],
        ["mailto:x"],
        [f"http://x.hk/{lang}/{'a' * 40_000}" for lang in ("en", "tc")],
        ["http://x.hk/"],
        ["http://x.hk/", "http://x.hk/"],
    ],
)
def test_nothing_to_pair(urls: list[str]) -> None:
    found = learn_patterns(urls)
    assert (found.patterns, found.credibility, len(found.sources)) == ((), 0.0, 0)


def test_monstrous_addresses_do_no_harm() -> None:
    """More masks than there is room for: letters and digits in turn, many tokens, many variables."""
    turns = "a1b2c3d4" * 240
    monsters = [
        f"http://x.hk/{turns}/{'/'.join('ab' * 300)}?{'&'.join(f'v{n}=x' for n in range(200))}{end}" for end in "ef"
    ]
    urls = [*monsters, *(f"http://x.hk/{'x-' * 900}{n}" for n in "ab"), *made("x.hk/en/{}.htm", "x.hk/tc/{}.htm")]
    assert Key("en", "tc") in {pattern.key for pattern in learn_patterns(urls).patterns}


def test_languages_must_fit() -> None:
    with pytest.raises(ShapeError, match="expected a language for each of 1"):
        learn_patterns(["http://x.hk/"], [])


PARTS = st.sampled_from(
    ["en", "tc", "e", "c", "a", "1e", "1c", "2c", "b12", "index.html", "zh_tw", "en.a", "x-en-1", "é"]
)
URLS = st.builds(
    lambda host, parts, query: f"http://{host}x.hk/{'/'.join(parts)}{query}",
    st.sampled_from(["", "en.", "tc.", "www."]),
    st.lists(PARTS, max_size=3),
    st.sampled_from(["", "", "?l=en", "?l=tc", "?l=1", "?b&l=en", "?p=a_e", "?en"]),
)
SITES = st.lists(st.tuples(URLS, st.sampled_from(["en", "zh", ""])), max_size=24, unique_by=lambda each: each[0])
FORMS = [ANY, PatternSettings(), PatternSettings(min_pairs=1, max_tokens=1, max_letters=1), PRINTED]
SOME = st.sampled_from(FORMS)


@settings(max_examples=150, deadline=None)
@given(SITES, st.booleans(), SOME, st.sets(st.sampled_from([Key("en", "tc"), Key("*c", "*e"), Key("", "en")])))
def test_same_as_the_literal_twin(site: Any, with_langs: bool, chosen: PatternSettings, known: Any) -> None:
    urls, langs = [url for url, _ in site], [lang for _, lang in site]
    forms = read_forms(urls)
    found = learn_patterns(urls, langs if with_langs else None, chosen, dict.fromkeys(known, 1.0))
    of_forms = [langs[place] for place in forms.places.tolist()] if with_langs else None
    expected = twin_patterns(forms, of_forms, chosen, known)
    form_of = dict(zip(forms.places.tolist(), range(len(forms)), strict=True))
    got = []
    for number, pattern in enumerate(found.patterns):
        own = found.pattern_of == number
        pairs = zip(found.sources[own].tolist(), found.targets[own].tolist(), strict=True)
        got.append((pattern.key, {(form_of[a], form_of[b]) for a, b in pairs}))
    assert got == expected


@settings(max_examples=60, deadline=None)
@given(SITES, st.randoms(use_true_random=False))
def test_order_of_addresses_does_not_matter(site: list[tuple[str, str]], rng: random.Random) -> None:
    urls = [url for url, _ in site]
    other = urls.copy()
    rng.shuffle(other)
    found, again = learn_patterns(urls, settings=ANY), learn_patterns(other, settings=ANY)
    assert told(found) == told(again)
    assert pairs_of(found, urls) == pairs_of(again, other)


@settings(max_examples=60, deadline=None)
@given(SITES)
def test_name_of_the_host_does_not_matter(site: Any) -> None:
    urls = [url for url, _ in site]
    other = [url.replace("x.hk", "some-other.gov.example:8080") for url in urls]
    found, again = learn_patterns(urls, settings=ANY), learn_patterns(other, settings=ANY)
    assert [(*p.key, p.n_pages, p.rule) for p in found.patterns] == [
        (*p.key, p.n_pages, p.rule) for p in again.patterns
    ]
    assert (found.sources.tolist(), found.targets.tolist()) == (again.sources.tolist(), again.targets.tolist())


def test_evidence_has_the_sparsity_of_the_candidates() -> None:
    urls = made("x.hk/en/{}.htm", "x.hk/tc/{}.htm")
    extra = ["http://x.hk/other.htm"]
    found = learn_patterns([*urls, *extra])
    candidates = csr_array(([1, 1, 1], ([0, 0, 2], [0, 1, 6])), shape=(6, 7))
    values = pattern_evidence(urls[:6], [*urls[6:], *extra], candidates, found, [*urls, *extra])
    assert values.nnz == 3
    np.testing.assert_allclose(values.data, [12 / 13, 0, 0], rtol=1e-6)
    values = pattern_evidence(urls[6:], urls[:6], csr_array(np.eye(6)), found, [*urls, *extra], {Key("en", "tc"): 0.99})
    np.testing.assert_allclose(values.data, [0.99] * 6, rtol=1e-6)


def test_patterns_with_a_third_language_are_no_evidence_between_two() -> None:
    urls = made("x.hk/en/{}.htm", "x.hk/tc/{}.htm", "x.hk/fr/{}.htm")
    values = pattern_evidence(urls[:6], urls[6:12], csr_array(np.eye(6)), learn_patterns(urls), urls)
    np.testing.assert_allclose(values.data, [12 / 18] * 6, rtol=1e-6)


def test_pages_of_weak_patterns_are_no_evidence() -> None:
    urls = [
        *made("x.hk/a/{}.htm", names=tuple(str(n) for n in range(99))),
        *made("x.hk/{}_e.htm", "x.hk/{}_c.htm", names=("p", "q")),
    ]
    found = learn_patterns(urls)
    assert [(p.key, p.verdict) for p in found.patterns] == [(("c", "e"), "weak")]
    assert pattern_evidence(urls, urls, csr_array(np.ones((103, 103))), found, urls).sum() == 0
    assert found.judged({Key("c", "e"): 0.5}).patterns[0].verdict == "rescued"
    assert found.judged({Key("en", "tc"): 0.5}).patterns[0].verdict == "weak"


def test_a_credible_pattern_is_not_rescued() -> None:
    found = learn_patterns(made("x.hk/en/{}.htm", "x.hk/tc/{}.htm"))
    assert [each.verdict for each in found.judged({Key("en", "tc"): 0.5}).patterns] == ["credible"]


def test_a_rescued_pattern_counts_as_much_as_it_does_here() -> None:
    """Two of 42 pages; what its key is worth on other sites is not given."""
    urls = [*(f"http://x.hk/{n}/{n}/" for n in range(40)), "http://x.hk/en/b.htm", "http://x.hk/tc/b.htm"]
    found = learn_patterns(urls, known={Key("en", "tc"): 0.5})
    values = pattern_evidence(urls[40:41], urls[41:], csr_array(np.ones((1, 1))), found, urls)
    np.testing.assert_allclose(values.data, [2 / 42], rtol=1e-6)


def test_labels_of_a_column_do_not_matter() -> None:
    urls = made("x.hk/en/{}.htm", "x.hk/tc/{}.htm")
    langs = pd.Series(["en"] * 6 + ["zh"] * 6, index=range(3, 15))
    assert learn_patterns(urls, langs).patterns == learn_patterns(urls, langs.tolist()).patterns


def test_of_equal_addresses_the_first_has_the_evidence() -> None:
    urls = made("x.hk/en/{}.htm", "x.hk/tc/{}.htm")
    sides = [*urls[:6], urls[0]], [*urls[6:], urls[6]]
    values = pattern_evidence(*sides, csr_array(np.ones((7, 7))), learn_patterns(urls), urls).toarray()
    assert values[0].tolist() == [1, 0, 0, 0, 0, 0, 0]


def test_evidence_can_be_changed_without_the_candidates() -> None:
    urls = made("x.hk/en/{}.htm", "x.hk/tc/{}.htm")
    candidates = csr_array(np.ones((6, 6)))
    pattern_evidence(urls[:6], urls[6:], candidates, learn_patterns(urls), urls).eliminate_zeros()
    assert candidates.toarray().all()


def test_transposed_candidates_are_read_by_rows() -> None:
    urls = made("x.hk/en/{}.htm", "x.hk/tc/{}.htm")
    candidates = csr_array(np.ones((3, 6))).T
    values = pattern_evidence(urls[:6], urls[6:9], candidates, learn_patterns(urls), urls)
    assert values.toarray().tolist() == np.eye(6, 3).tolist()


LISTED = [f"http://x.hk/{lang}/{name}.htm" for lang in ("en", "tc") for name in ("home", "news", "jobs")]


@pytest.mark.parametrize(
    "column",
    [
        list,
        pa.array,
        lambda langs: pa.chunked_array([langs[:2], langs[2:]]),
        lambda langs: pa.array(langs).dictionary_encode(),
        np.array,
        pd.Series,
    ],
)
def test_languages_may_be_a_column_of_any_library(column):
    """Pages of one language are never paired; with languages that nobody reads they would be."""
    assert not learn_patterns(LISTED, column(["en"] * 6)).patterns
    (found,) = learn_patterns(LISTED, column(["en"] * 3 + ["zh"] * 3)).patterns
    assert (found.source_lang, found.target_lang) == ("en", "zh")


def test_a_language_may_be_missing_and_must_be_a_text():
    for missing in (None, float("nan"), pd.NA):
        assert learn_patterns(LISTED, ["en", missing] * 3).patterns == learn_patterns(LISTED, ["en", None] * 3).patterns
    with pytest.raises(InputError, match="langs: expected a text or null for each address, got 1"):
        learn_patterns(LISTED, pa.array([1] * 6))


def test_a_known_key_may_be_a_pair_in_any_order():
    urls = [*LISTED, *(f"http://x.hk/{k}{'q' * (k % 5)}/z{k * k}.php" for k in range(80))]
    assert [each.verdict for each in learn_patterns(urls).patterns] == ["weak"]
    for key in (Key("en", "tc"), Key("tc", "en"), ("tc", "en")):
        assert [each.verdict for each in learn_patterns(urls, known={key: 0.9}).patterns] == ["rescued"]
    for wrong in ("en", ("en",), ("en", 1)):
        with pytest.raises(InputError, match="expected a URL key such as"):
            learn_patterns(urls, known={wrong: 0.9})


def test_evidence_from_columns_and_from_other_addresses():
    found, candidates = learn_patterns(LISTED), csr_array(np.ones((3, 3)))
    columns = [pa.array(part) for part in (LISTED[:3], LISTED[3:])]
    evidence = pattern_evidence(*columns, candidates, found, pd.Series(LISTED, index=range(5, 11)))
    assert evidence.toarray().tolist() == np.eye(3).tolist()
    with pytest.raises(ShapeError, match="urls: expected the 6 addresses or more that the patterns are from, got 3"):
        pattern_evidence(*columns, candidates, found, LISTED[:3])
    langs, settings = ("en", "zh"), PatternSettings()
    assert pairs_of_patterns(*columns, langs, settings)[0].nnz == 3
    assert url_clues(*columns, langs, settings).pairs.nnz == 3
