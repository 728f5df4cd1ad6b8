"""Languages that CLD2 does not know are languages of their own; what is only strange is not."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.language.declaration import DECLARATION
from tests.language.versions import said
from twinlink.language.identify import Guess, count_scripts, guess_language
from twinlink.language.naming import private_tags
from twinlink.language.site_languages import site_languages
from twinlink.language.site_text import read_site
from twinlink.language.unknown import unknown_languages
from twinlink.scripts import split_units

CODE = "Set MaxRequestWorkers in httpd.conf; restart with apachectl and read the error log"
NAMES = "Apache Linux Microsoft Washington Smith Johnson Geneva Paris London Alabama Kansas Oregon Texas Utah".split()


def page(words: Sequence[str], number: int, key: str = "") -> list[str]:
    """Sentences of a language, another part of them on each page, with code and names that all versions have."""
    start = 11 * number % len(words)
    turned = [*words[start:], *words[:start]][: len(words) * 2 // 3]
    rows = [" ".join(turned[i : i + 12]) for i in range(0, len(turned), 12)]
    return [*rows, f"{CODE} {number}", f"{NAMES[number % len(NAMES)]} {NAMES[number * 5 % len(NAMES)]} {key}{number}"]


def version(language: str, count: int) -> list[list[str]]:
    words = DECLARATION[language].split()
    return [page(words, number, language) for number in range(count)]


def site(**counts: int) -> tuple[list[list[str]], list[str]]:
    blocks = [page for language, count in counts.items() for page in version(language, count)]
    return blocks, [language for language, count in counts.items() for _ in range(count)]


def found_by_language(languages: Sequence[str], truth: Sequence[str]) -> dict[str, Counter[str]]:
    result: dict[str, Counter[str]] = {}
    for name, true in zip(languages, truth, strict=True):
        result.setdefault(true, Counter())[name] += 1
    return result


def cipher(text: str) -> str:
    """Return a text in a language that nobody speaks: other vowels for vowels, other consonants for consonants."""
    shuffled = random.Random(3)
    table: dict[int, str] = {}
    for letters in ("aeiouy", "bcdfghjklmnpqrstvwxz"):
        others = list(letters)
        shuffled.shuffle(others)
        table |= {ord(one): other for one, other in zip(letters, others, strict=True)}
    return text.lower().translate(table)


def test_unknown_text_is_unlike_the_language_that_it_is_taken_for() -> None:
    def likeness(text: str) -> float:
        return guess_language(count_scripts(split_units(text)), text).likeness

    assert min(likeness(DECLARATION[language]) for language in ("en", "fr")) > 0.8
    assert max(likeness(DECLARATION[language]) for language in ("nv", "hsb")) < 0.5


def test_marks_of_vowels_and_syllables_reach_cld2() -> None:
    hindi = "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।"
    korean = "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 이성과 양심을 부여받았다."
    for language, text in (("hi", hindi), ("ko", korean)):
        guess = guess_language(count_scripts(split_units(text)), text)
        assert guess.language == language
        assert guess.strength > 0.7
        assert guess.likeness > 0.5


@pytest.mark.parametrize("character", ["\ufffe", "\U0001ffff", "\U0010fffe"])
def test_a_character_that_unicode_does_not_have_hides_no_language(character: str) -> None:
    text = f"{DECLARATION['en']} {character}"
    assert guess_language(count_scripts(split_units(text)), text).language == "en"


@pytest.mark.parametrize("wanted", [["en", "fr"], ["fr", "de"], []])
def test_languages_that_cld2_does_not_know_are_groups_of_their_own(wanted: list[str]) -> None:
    blocks, truth = site(en=14, fr=14, nv=14, hsb=12)
    found = found_by_language(site_languages(blocks, [""] * len(blocks), wanted)[0], truth)
    assert found == {"en": {"en": 14}, "fr": {"fr": 14}, "nv": {"qaa": 14}, "hsb": {"qab": 12}}


def test_unknown_language_on_a_site_without_the_language_that_it_is_taken_for() -> None:
    blocks, truth = site(fr=14, nv=14)
    found = found_by_language(site_languages(blocks, [""] * 28, ["en", "fr"])[0], truth)
    assert found == {"fr": {"fr": 14}, "nv": {"qaa": 14}}


def test_few_pages_of_an_unknown_language_among_many() -> None:
    blocks, truth = site(en=60, fr=60, nv=6)
    assert found_by_language(site_languages(blocks, [""] * 126, ["en", "fr"])[0], truth)["nv"] == {"qaa": 6}


def test_pseudo_language() -> None:
    blocks, truth = site(en=14, fr=14)
    blocks += [[cipher(block) for block in page] for page in version("fr", 14)]
    found = site_languages(blocks, [""] * 42, ["en", "fr"])[0]
    assert found[:28] == truth
    assert set(found[28:]) == {"qaa"}


# Its name


def test_declared_language_is_its_name() -> None:
    blocks, truth = site(en=14, fr=14, nv=14)
    assert site_languages(blocks, truth, ["en", "fr"])[0] == truth


def test_links_that_name_it_are_its_name() -> None:
    blocks, truth = site(en=14, fr=14, nv=14)
    hints = [(f"named:{language}",) for language in truth]
    assert site_languages(blocks, [""] * 42, ["en", "fr"], hints=hints)[0] == truth


def test_address_is_its_name_where_addresses_name_languages() -> None:
    blocks, truth = site(en=14, fr=14, nv=14)
    assert site_languages(blocks, [""] * 42, [], hints=[(f"url:{language}",) for language in truth])[0] == truth
    only = [("url:nv",) if language == "nv" else ("url:docs",) for language in truth]
    assert set(site_languages(blocks, [""] * 42, [], hints=only)[0][28:]) == {"qaa"}


@pytest.mark.parametrize("claim", ["en", "fr", "xx", "12"])
def test_false_claim_is_no_name(claim: str) -> None:
    blocks, truth = site(en=14, fr=14, nv=14)
    declared = [claim if language == "nv" else language for language in truth]
    found = found_by_language(site_languages(blocks, declared, ["en", "fr"])[0], truth)
    assert found == {"en": {"en": 14}, "fr": {"fr": 14}, "nv": {"qaa": 14}}


def test_the_only_language_without_a_name_is_the_wanted_one_that_cld2_does_not_know() -> None:
    blocks, truth = site(en=14, fr=14, nv=14)
    assert site_languages(blocks, [""] * 42, ["en", "nv"])[0] == truth
    assert set(site_languages(blocks, [""] * 42, ["en", "de"])[0][28:]) == {"qaa"}
    assert set(site_languages(blocks, [""] * 42, ["en", "qaa"])[0][28:]) == {"qaa"}
    assert set(site_languages(blocks, [""] * 42, ["en", "os"])[0][28:]) == {"os"}  # CLD2 only has a name for Ossetian
    two, truth = site(en=14, nv=14, hsb=12)
    found = found_by_language(site_languages(two, [""] * 40, ["en", "nv"])[0], truth)
    assert {name for language in ("nv", "hsb") for name in found[language]} == {"qaa", "qab"}


def test_private_tags_are_those_of_the_registry() -> None:
    tags = list(private_tags())
    assert len(set(tags)) == len(tags) == 520
    assert (tags[0], tags[-1]) == ("qaa", "qtz")


# What is strange, and no language


def listing(number: int, rows: int = 30) -> list[str]:
    chance = random.Random(number)
    return [f"Table {number}"] + [
        " ".join([chance.choice(NAMES), *(str(chance.randrange(10**5)) for _ in range(6))]) for _ in range(rows)
    ]


def people(number: int) -> list[str]:
    chance = random.Random(number)
    first = "James Mary Robert Wei Fatima Ivan Olga Yuki Kenji Pierre Marie Linda David".split()
    last = "Smith Wang Zhang Tanaka Dubois Petrov Khan Singh Garcia Miller Lopez Brown".split()
    return [f"Members {number}"] + [f"{chance.choice(first)} {chance.choice(last)}" for _ in range(40)]


def program(number: int) -> list[str]:
    chance = random.Random(number)
    names = "self index buffer node value parser request handler session config".split()
    lines = ("for {0} in range(len({1})): {1}[{0}] = {2}", "if {0} is None: raise ValueError({1!r})",
             "def {0}_{1}({2}, *args): return {0}.{1}({2})", "import {0}; from {1} import {2}")  # fmt: skip
    return [chance.choice(lines).format(*chance.sample(names, 3)) for _ in range(40)]


def checksums(number: int) -> list[str]:
    chance = random.Random(number)
    return [f"{chance.getrandbits(256):064x}  pool/main/{chance.choice(NAMES).lower()}.deb" for _ in range(30)]


def placeholder(number: int) -> list[str]:
    words = (
        "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore"
        " magna aliqua enim ad minim veniam quis nostrud exercitation ullamco laboris nisi aliquip ex ea commodo"
    ).split()
    return [" ".join(random.Random(100 * number + i).choices(words, k=20)) for i in range(6)]


STRANGE = {"listing": listing, "people": people, "program": program, "checksums": checksums, "latin": placeholder}


@pytest.mark.parametrize("kind", STRANGE)
def test_strange_pages_are_no_language_of_their_own(kind: str) -> None:
    blocks, truth = site(en=20, fr=20)
    strange = [STRANGE[kind](number) for number in range(20)]
    found, _ = site_languages([*blocks, *strange], [""] * 60, ["en", "fr"])
    assert found[:40] == truth
    assert not [name for name in found if re.fullmatch("q[a-t][a-z]", name)]


def test_two_registers_are_one_language() -> None:
    other = (
        "The server reads this file when it starts. If you change a value, restart the server and look at the log."
        " Each directive stands on a line of its own, and its arguments are set off by spaces. Names of modules are"
        " not the same as names of files, so that the module that you have built can be loaded under another name."
    ).split()
    blocks = [*version("en", 20), *(page(other, number, "o") for number in range(20)), *version("fr", 20)]
    found, _ = site_languages(blocks, [""] * 60, ["en", "fr"])
    assert found == ["en"] * 40 + ["fr"] * 20


def test_doubtful_pages_in_a_language_that_cld2_knows_are_no_language_of_their_own() -> None:
    """Lists and short forms leave each page in doubt, but not their text as a whole."""
    blocks, _ = site(en=20, fr=30)
    pages = read_site(blocks, [""] * 50, None, None, 0.3)
    guesses = [Guess("en", 1.0, 1.0)] * 20 + [Guess("fr", 0.4, 0.0, 0.4)] * 30
    assert unknown_languages(pages, guesses, ["en", "fr"]) == []
    strange, _ = site(en=20)
    strange += [[cipher(block) for block in page] for page in version("fr", 30)]
    found = unknown_languages(read_site(strange, [""] * 50, None, None, 0.3), guesses, ["en", "fr"])
    assert [pages.tolist() for _, pages, _ in found] == [[*range(20, 50)]]


def test_quotations_in_a_known_language_do_not_name_an_unknown_one() -> None:
    blocks, _ = site(en=20)
    strange = [[cipher(block) for block in page] for page in version("fr", 20)]
    for number, page in enumerate(strange[:8]):
        page.extend(said("ru", number, 8))
    found, _ = site_languages([*blocks, *strange], [""] * 40, ["en"])
    assert found[:20] == ["en"] * 20
    assert len({*found[28:]}) == 1
    assert re.fullmatch("q[a-t][a-z]", found[28])


# Links and frames


def all_to(targets: Sequence[int], sources: Sequence[int], n_pages: int, n_links: int = 6) -> csr_array:
    """Link each source to some of the targets."""
    links = np.zeros((n_pages, n_pages))
    for i, source in enumerate(sources):
        links[source, [targets[(3 * i + k) % len(targets)] for k in range(n_links)]] = 1
    return csr_array(links)


@pytest.mark.parametrize("wanted", [["en", "fr"], ["en", "de"]])
def test_translated_pages_that_link_to_untranslated_ones_keep_the_language_of_their_text(wanted: list[str]) -> None:
    blocks, truth = site(en=200, fr=12)
    english = list(range(200))
    links = all_to(english, range(212), 212)
    assert site_languages(blocks, [""] * 212, wanted, links=links)[0] == truth


MENU = {
    "en": ["Home page", "All news of the office", "Contact us by mail", "Search this site"],
    "zh": ["首頁", "本處最新消息", "聯絡我們", "搜尋本網站"],
}
CHINESE = (
    "人人生而自由,在尊嚴和權利上一律平等。他們賦有理性和良心,並應以兄弟關係的精神相對待。人人有資格享有本宣言所載的一切權利和自由,"
    "不分種族、膚色、性別、語言、宗教、政治或其他見解、國籍或社會出身、財產、出生或其他身分等任何區別。"
)


def chinese(number: int) -> list[str]:
    turn = 5 * number % len(CHINESE)
    return [CHINESE[turn:] + CHINESE[:turn], f"{CODE} {number}"]


def test_page_is_judged_by_its_text_and_not_by_a_frame_in_the_other_language() -> None:
    english, others = version("en", 24), [chinese(number) for number in range(24)]
    framed = [[*MENU["zh"], *page] for page in (*english[:4], *others)] + [[*MENU["en"], *page] for page in english[4:]]
    links = all_to(range(4, 28), range(4), 48)
    found, _ = site_languages(framed, [""] * 48, ["en", "zh"], links=links)
    assert found == ["en"] * 4 + ["zh-Hant"] * 24 + ["en"] * 20


def test_frame_decides_where_the_text_leaves_it_open() -> None:
    english, french = version("en", 24), version("fr", 24)
    half = [[*one[:4], *other[:4]] for one, other in zip(english[:2], french[:2], strict=True)]
    menus = {"en": MENU["en"], "fr": ["Accueil", "Actualités du bureau", "Nous écrire", "Chercher sur ce site"]}
    pages = [[*menus["en"], *page] for page in (*english[2:], half[0])]
    pages += [[*menus["fr"], *page] for page in (*french[2:], half[1])]
    found, _ = site_languages(pages, [""] * 46, ["en", "fr"])
    assert found == ["en"] * 23 + ["fr"] * 23


def test_copies_of_a_page_do_not_hide_the_words_of_its_language() -> None:
    names = [
        " ".join(f"{chr(97 + number)}{chr(97 + k % 26)}{chr(97 + k // 26)}o" for k in range(120))
        for number in range(20)
    ]
    clear = [[*said("fr", number, 3), name] for number, name in enumerate(names)]
    in_doubt = [said("fr", number, 8) for number in range(50, 60)]
    pages = [*in_doubt, *clear, *[["Désolé, rubrique introuvable"]] * 120]
    guesses = [*[Guess("fr", 0.9, 0.2, 0.3)] * 10, *[Guess("fr", 1.0, 1.0)] * 140]
    assert not unknown_languages(read_site(pages, [""] * len(pages), None, None, 0.5), guesses, ["fr"])
