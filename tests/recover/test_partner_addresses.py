"""Partners' addresses by URL patterns: the paper's example, conventions, the way back, the literal twin."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.patterns.pattern_twin import differences
from tests.patterns.test_learning import ANY, CONVENTIONS, NAMES, made
from twinlink.patterns.changes import Place, changes
from twinlink.patterns.keys import Key, read_forms
from twinlink.patterns.learning import SitePatterns, learn_patterns
from twinlink.recover.partner_addresses import Rule, guess_partners, site_rule, site_variants, variants_of

SITE = "x.hk"


def forms_of(urls: Sequence[str]) -> list[str]:
    """The written forms of some addresses of one site."""
    forms = read_forms(urls)
    return [forms.part(k) if k >= 0 else "" for k in forms.form_of.tolist()]


def rules_of(found: SitePatterns, urls: Sequence[str]) -> list[Rule]:
    pairs = list(zip(found.sources.tolist(), found.targets.tolist(), found.pattern_of.tolist(), strict=True))
    variants = site_variants(urls)
    return [
        site_rule(
            each.key,
            each.credibility,
            [(urls[a], urls[b]) for a, b, k in pairs if k == number],
            SITE,
            variants=variants,
        )
        for number, each in enumerate(found.patterns)
    ]


def test_deep_page_of_the_paper() -> None:
    """Zhang, Yao & Kit, table 1."""
    page = "http://www.fehd.gov.hk/{}/LLB_web/cagenda_20070904.htm"
    key = Key("english", "tc_chi")
    back = changes(page.format("tc_chi"), "fehd.gov.hk", key, back=True)
    assert [each.url for each in back] == [page.format("english")]
    forth = changes(page.format("english"), "fehd.gov.hk", key)
    assert [each.url for each in forth] == [page.format("tc_chi")]
    guesses = guess_partners([page.format("tc_chi")], ["zh"], [Rule(key, 0.5, ("en", "zh"))], "fehd.gov.hk", [()])
    assert [(each.url, each.lang, each.credibility, each.back) for each in guesses] == [
        (page.format("english"), "en", 0.5, True)
    ]


@pytest.mark.parametrize(("shapes", "rule"), CONVENTIONS, ids=[rule for _, rule in CONVENTIONS])
@pytest.mark.parametrize("side", [0, 1])
def test_missing_page_of_each_convention_is_guessed_and_nothing_else(shapes: Any, rule: Any, side: int) -> None:
    urls = [url.replace("X.HK", SITE) for url in made(*shapes)]
    n = len(NAMES)
    hidden = [urls[side * n + k] for k in (n - 2, n - 1)]
    seen = [url for url in urls if url not in hidden]
    found = learn_patterns(seen)
    paired = {*found.sources.tolist(), *found.targets.tolist()}
    has = [{"other"} if k in paired else set[str]() for k in range(len(seen))]
    guesses = guess_partners(seen, [""] * len(seen), rules_of(found, seen), SITE, has)
    everything = forms_of([*seen, *hidden, *(guess.url for guess in guesses)])
    assert sorted(everything[len(seen) : len(seen) + 2]) == sorted(everything[len(seen) + 2 :]), rule


def test_a_side_is_written_as_the_site_writes_it() -> None:
    names = ("about", "news", "contact")
    urls = [f"http://x.hk/{lang}/{name}.htm" for lang in ("en-US", "zh_Hant_HK") for name in names]
    (rule,) = rules_of(learn_patterns(urls[:-1], ["en"] * 3 + ["zh"] * 2), urls)
    (guess,) = guess_partners(urls[:-1], [""] * 5, [rule], SITE, [{"zh"}, {"zh"}, (), {"en"}, {"en"}])
    assert guess.url == urls[-1]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://x.hk/EN/a.htm", "http://x.hk/TC/a.htm"),
        ("http://x.hk/En/a.htm", "http://x.hk/Tc/a.htm"),
        ("http://x.hk/%65n/a.htm", "http://x.hk/tc/a.htm"),
        ("http://en.x.hk:8080/a", "http://tc.x.hk:8080/a"),
        ("http://x.hk/a_en.htm", "http://x.hk/a_tc.htm"),
    ],
)
def test_a_side_that_was_never_seen_is_written_like_the_other(url: str, expected: str) -> None:
    assert [each.url for each in changes(url, SITE, Key("en", "tc"))] == [expected]


@pytest.mark.parametrize(
    "url", ["http://en.hk/a", "http://x.hk/then/a", "http://x.hk/e/n", "http://x.hk/a?en=1&b=2x", "http://x.hk/"]
)
def test_what_is_no_such_token_stays(url: str) -> None:
    site = "en.hk" if "//en.hk" in url else SITE
    assert not [each for each in changes(url, site, Key("en", "tc")) if "?" not in url]
    assert not changes(url, site, Key("english", "tc_chi"))


def test_every_place_is_tried_and_all_at_once() -> None:
    found = changes("http://x.hk/en/about-en.htm", SITE, Key("en", "tc"))
    assert [each.url for each in found] == [
        "http://x.hk/tc/about-en.htm",
        "http://x.hk/en/about-tc.htm",
        "http://x.hk/tc/about-tc.htm",
    ]


def test_a_rule_is_applied_where_the_site_has_it() -> None:
    """The site replaces a folder; the same word in a file's name is another one."""
    urls = [f"http://x.hk/{lang}/{name}.htm" for lang in ("en", "tc") for name in ("a", "b", "c")]
    (rule,) = rules_of(learn_patterns(urls), urls)
    seen = [*urls, "http://x.hk/info/how-to-en.htm", "http://x.hk/en/new.htm"]
    guesses = guess_partners(seen, [""] * 8, [rule], SITE, [{"x"}] * 6 + [(), ()])
    assert [guess.url for guess in guesses] == ["http://x.hk/tc/new.htm"]


def test_languages_say_which_way_a_rule_goes() -> None:
    rule = Rule(Key("a", "b"), 0.9, ("en", "zh-Hant"))
    urls = ["http://x.hk/a/1.htm", "http://x.hk/b/2.htm", "http://x.hk/a/3.htm", "http://x.hk/b/4.htm"]
    langs = ["en", "zh-Hant", "zh-Hant", "und"]
    guesses = guess_partners(urls, langs, [rule], SITE, [()] * 4)
    assert [(guess.page, guess.url, guess.lang) for guess in guesses] == [
        (0, "http://x.hk/b/1.htm", "zh-Hant"),
        (1, "http://x.hk/a/2.htm", "en"),
        (3, "http://x.hk/a/4.htm", "en"),
    ]


def test_a_page_with_a_partner_gets_no_other_of_its_language() -> None:
    rules = [Rule(Key("a", "b"), 0.9, ("en", "zh")), Rule(Key("a", "c"), 0.9, ("en", "fr"))]
    shown = [rule._replace(places=place) for rule, place in zip(rules, _anywhere("http://x.hk/a/1.htm"), strict=True)]
    urls = ["http://x.hk/a/1.htm", "http://x.hk/a/2.htm"]
    has = [{"zh"}, set[str]()]
    assert [guess.url for guess in guess_partners(urls, ["en", "en"], shown, SITE, has)] == [
        "http://x.hk/b/2.htm",
        "http://x.hk/c/1.htm",
        "http://x.hk/c/2.htm",
    ]
    # Rules of other sites are for pages without any partner.
    assert [guess.page for guess in guess_partners(urls, ["en", "en"], rules, SITE, has)] == [1, 1]


def _anywhere(url: str) -> list[Any]:
    return [
        (frozenset(each.place for each in changes(url, SITE, key)), frozenset())
        for key in (Key("a", "b"), Key("a", "c"))
    ]


def test_best_guesses_come_first_and_there_are_not_too_many() -> None:
    rules = [Rule(Key("e", side), 0.1 * n) for n, side in enumerate("abcd", 1)]
    urls = [f"http://x.hk/e/{n}.htm" for n in range(2)]
    guesses = guess_partners(urls, ["", ""], rules, SITE, [(), ()], per_page=3)
    assert [guess.url for guess in guesses] == [f"http://x.hk/{side}/{n}.htm" for side in "dcb" for n in range(2)]


def test_no_address_of_the_site_is_guessed() -> None:
    urls = ["http://x.hk/en/a.htm", "https://x.hk/TC/a.htm", "http://x.hk/en/b.htm", "http://x.hk/tc/%62.htm"]
    assert guess_partners(urls, [""] * 4, [Rule(Key("en", "tc"), 1.0)], SITE, [()] * 4) == []


def test_a_folder_stands_for_its_default_document() -> None:
    folders = ("", "p/", "q/", "r/")
    urls = [f"http://x.hk/{folder}{name}" for name in ("index_e.htm", "index_c.htm") for folder in folders]
    urls = [url for url in urls if url != "http://x.hk/r/index_c.htm"]
    (rule,) = rules_of(learn_patterns(urls), urls)
    has = [set[str]() if url.startswith("http://x.hk/r/") else {"x"} for url in urls]
    assert [guess.url for guess in guess_partners(urls, [""] * 7, [rule], SITE, has)] == ["http://x.hk/r/index_c.htm"]
    urls = [f"http://x.hk/{folder}{name}" for name in ("", "index_c.htm") for folder in folders] + [
        "http://x.hk/s/index.htm"
    ]
    urls.remove("http://x.hk/r/")
    found = learn_patterns(urls)
    has = [set[str]() if "/r/" in url or "/s/" in url else {"x"} for url in urls]
    guesses = guess_partners(urls, [""] * len(urls), rules_of(found, urls), SITE, has)
    assert {guess.url for guess in guesses} == {"http://x.hk/r/index.htm", "http://x.hk/s/index_c.htm"}


def test_a_host_with_and_without_www_is_one_host() -> None:
    urls = [f"http://{host}x.hk/{n}.htm" for host in ("www.", "en.") for n in range(3)]
    urls += ["http://x.hk/", "http://x.hk/p.htm", "http://en.x.hk/q.htm"]
    (rule,) = rules_of(learn_patterns(urls), urls)
    assert rule.key == Key("en", "www")
    has = [{"x"} if url.endswith(("0.htm", "1.htm", "2.htm")) else set[str]() for url in urls]
    guesses = guess_partners(urls, [""] * len(urls), [rule], SITE, has)
    assert {guess.url for guess in guesses} == {"http://en.x.hk/", "http://en.x.hk/p.htm", "http://www.x.hk/q.htm"}


PARTS = st.sampled_from(["en", "tc", "a", "en-us", "e1", "1c", "x2e", "c", "EN", "news", "2007"])
NAMES_OF_FILES = st.sampled_from(["a.htm", "b_en.htm", "b_tc.htm", "p1e.htm", "p1c.htm", "en.tc.html", "", "q"])
QUERIES = st.sampled_from(["", "?lang=en", "?lang=tc&id=2", "?id=2", "?tc", "?id=2&lang=en"])
URLS = st.builds(
    lambda host, folders, name, query: f"http://{host}x.hk/{''.join(f'{each}/' for each in folders)}{name}{query}",
    st.sampled_from(["", "www.", "en.", "tc."]),
    st.lists(PARTS, max_size=3),
    NAMES_OF_FILES,
    QUERIES,
)
KEYS = st.sampled_from(
    [
        *(Key(*each) for each in (("en", "tc"), ("*c", "*e"), ("a*", "p*"), ("en-us", "tc"), ("", "tc"), ("*", "*c"))),
        *(Key(*each) for each in (("", "lang=en"), ("lang=en", "lang=tc"), ("en", "zh_Hant"), ("", "en"), ("", "www"))),
    ]
)


@settings(max_examples=300, deadline=None)
@given(URLS, KEYS, st.booleans())
def test_the_way_back_leads_to_the_address(url: str, key: Key, back: bool) -> None:
    key = Key(key.source.lower(), key.target.lower())
    for change in changes(url, SITE, key, back=back):
        returned = [each.url for each in changes(change.url, SITE, key, back=not back)]
        own, *others = forms_of([url, *returned])
        assert own in others, (url, change)


@settings(max_examples=150, deadline=None)
@given(st.lists(URLS, min_size=2, max_size=6, unique=True))
@example(["http://x.hk/a.htm", "http://www.x.hk/a.htm", "http://en.x.hk/a.htm"])
def test_every_difference_of_two_addresses_can_be_made(urls: list[str]) -> None:
    """The literal twin compares all addresses with all and names the keys; each makes the one of the other."""
    forms = read_forms(urls)
    parts = [forms.part(k) for k in range(len(forms))]
    url_of = [urls[place] for place in forms.places.tolist()]
    if any(url.partition("?")[0].endswith("/") for url in urls) and any(".htm" in url for url in urls):
        return  # default documents are another matter, see above
    variants = site_variants(urls)
    for (source, target), pairs in differences(parts, None, ANY).items():
        key = Key(source, target)
        for u, v, *_ in pairs:
            for page, partner, back in ((u, v, False), (v, u, True)):
                bases = variants_of(url_of[page], variants)
                made_of = [each.url for base in bases for each in changes(base, SITE, key, back=back)]
                *written, wanted = forms_of([*made_of, url_of[partner], *urls])[: len(made_of) + 1]
                assert wanted in written, (key, url_of[page], url_of[partner], made_of)


@settings(max_examples=150, deadline=None)
@given(URLS, st.sampled_from([Key("en", "tc"), Key("*c", "*e"), Key("lang=en", "lang=tc"), Key("en-us", "tc")]))
def test_what_is_made_is_a_difference_that_is_found(url: str, key: Key) -> None:
    """Learned from the two addresses alone, with the key known, the pattern is that key."""
    for change in changes(url, SITE, key):
        found = learn_patterns([url, change.url], settings=ANY, known={key: 1.0})
        assert key in {pattern.key for pattern in found.patterns}, (url, change)


@given(st.permutations(range(6)))
def test_order_of_pages_does_not_matter(order: list[int]) -> None:
    urls = [f"http://x.hk/{lang}/{n}.htm" for lang, n in itertools.product(("en", "tc"), range(3))]
    rules = [Rule(Key("en", "fr"), 0.5), Rule(Key("en", "it"), 0.4), Rule(Key("de", "tc"), 0.3)]
    guesses = guess_partners([urls[k] for k in order], [""] * 6, rules, SITE, [()] * 6)
    expected = guess_partners(urls, [""] * 6, rules, SITE, [()] * 6)
    assert {(each.url, urls[order[each.page]]) for each in guesses} == {
        (each.url, urls[each.page]) for each in expected
    }


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://x.hk/list/en", [("http://x.hk/list/tc", Place("/", ""))]),
        ("http://x.hk/en?id=1", [("http://x.hk/tc?id=1", Place("/", "?"))]),
        ("http://x.hk/a?en", [("http://x.hk/a?tc", Place("?", "?"))]),
        ("http://x.hk/a?en&id=1", [("http://x.hk/a?tc&id=1", Place("?", "?"))]),
        ("http://x.hk/a?l=en", []),  # a variable is changed as a whole: its key is l=en and l=tc
    ],
)
def test_a_token_is_changed_in_its_place_and_a_variable_as_a_whole(url: str, expected: list[tuple[str, Place]]) -> None:
    assert [(each.url, each.place) for each in changes(url, "x.hk", Key("en", "tc"))] == expected


@pytest.mark.parametrize(("query", "mark"), [("", ""), ("?id=1", "?")])
def test_a_folder_can_be_put_behind_a_path_that_does_not_end_with_one(query: str, mark: str) -> None:
    behind = {each.url: each.place for each in changes(f"http://x.hk/page{query}", "x.hk", Key("", "en"))}
    assert behind[f"http://x.hk/page/en{query}"] == Place("/", mark, -2)
    folder = changes(f"http://x.hk/page/{query}", "x.hk", Key("", "en"))
    assert f"http://x.hk/page/en/{query}" in {each.url for each in folder}
    assert not [each.url for each in folder if "//" in each.url.removeprefix("http://")]
