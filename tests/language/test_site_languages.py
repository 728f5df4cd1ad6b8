"""Languages of single texts and of the pages of a site."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.language.versions import said
from twinlink.config import LanguageSettings
from twinlink.errors import ShapeError
from twinlink.language.claims import claimed_languages
from twinlink.language.identify import Guess, guess_text, identify_text
from twinlink.language.site_languages import GUESS_SECONDS, TWO_LANGUAGES, _unspoken, site_languages
from twinlink.language.site_text import read_site
from twinlink.language.unique_text import languages_of_unique_text
from twinlink.languages import UNDETERMINED
from twinlink.scripts import chinese_variant, split_units
from twinlink.system import side_by_side

# Article 1 and 2 of the Universal Declaration of Human Rights, the beginning, as its publisher gives them.
TEXTS = {
    "en": "All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience"
    " and should act towards one another in a spirit of brotherhood.",
    "fr": "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de"
    " conscience et doivent agir les uns envers les autres dans un esprit de fraternité.",
    "de": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt"
    " und sollen einander im Geist der Brüderlichkeit begegnen.",
    "es": "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de razón y"
    " conciencia, deben comportarse fraternalmente los unos con los otros.",
    "pt": "Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Dotados de razão e de consciência,"
    " devem agir uns para com os outros em espírito de fraternidade.",
    "ru": "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и"
    " должны поступать в отношении друг друга в духе братства.",
    "kk": "Барлық адамдар тумысынан азат және қадір-қасиеті мен құқықтары тең болып дүниеге келеді. Адамдарға"
    " ақыл-парасат, ар-ождан берілген, сондықтан олар бір-бірімен туыстық, бауырмалдық қарым-қатынас жасаулары тиіс.",
    "ja": "すべての人間は、生れながらにして自由であり、かつ、尊厳と権利とについて平等である。",
    "ko": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
    "zh-Hant": "人人生而自由，在尊嚴和權利上一律平等。他們賦有理性和良心，並應以兄弟關係的精神相對待。",
    "zh-Hans": "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。",
}
CODE = "Set MaxRequestWorkers in httpd.conf; restart with apachectl -k graceful and check the error log output"


@pytest.mark.parametrize("language", TEXTS)
def test_identify_text_knows_plain_texts(language: str) -> None:
    found, score = identify_text(TEXTS[language])
    assert found == language
    assert 0.5 < score <= 1


@pytest.mark.parametrize("text", ["", "123 456", "— … !", "\x00\x01\ud800", "\ufffe"])
def test_text_without_letters_has_no_language(text: str) -> None:
    assert identify_text(text) == (UNDETERMINED, 0.0)


@pytest.mark.parametrize(("first", "last"), [("а", "я"), ("α", "ω"), ("ա", "ֆ"), ("ა", "ჰ")])
def test_tables_of_characters_have_no_language(first: str, last: str) -> None:
    letters = " ".join(map(chr, range(ord(first), ord(last) + 1)))
    assert identify_text(f"{TEXTS['fr']} {letters}")[0] == "fr"
    assert identify_text(letters) == (UNDETERMINED, 0.0)


def test_control_characters_and_surrogates_do_not_matter() -> None:
    assert identify_text("\x00" + TEXTS["fr"].replace(" ", " \x07\ud800 "))[0] == "fr"


def test_markup_in_text_is_text() -> None:
    # A page about HTML: `<p lang=de>` stands in its text, as code.
    assert identify_text('<p lang="de"> ' + TEXTS["fr"])[0] == "fr"


def test_chinese_wins_over_more_english() -> None:
    assert identify_text(TEXTS["zh-Hant"] + " " + CODE)[0] == "zh-Hant"


def test_one_foreign_word_changes_nothing() -> None:
    assert identify_text(TEXTS["en"] + " 中文")[0] == "en"


def test_variant_of_short_chinese() -> None:
    assert [identify_text(text)[0] for text in ("網頁", "网页", "中文")] == ["zh-Hant", "zh-Hans", "zh"]


def test_japanese_with_many_kanji_is_not_chinese() -> None:
    assert identify_text("設定変更の手順")[0] == "ja"


def test_variant_counts_characters() -> None:
    assert chinese_variant("網网网") == "zh-Hans"
    assert chinese_variant("abc") == "zh"


def test_units_are_words_or_characters() -> None:
    assert split_units("Über 10 Zeichen_x 使用サーバ") == ["Über", "Zeichen", "x", "使", "用", "サ", "ー", "バ"]


LENIENT = LanguageSettings(min_letters=0)


@pytest.mark.parametrize(("declared", "named"), [("en_GB", "en_gb"), ("EN-us", "eng"), ("eng", "en-gb")])
def test_what_pages_and_links_claim_may_be_written_in_any_way(declared: str, named: str) -> None:
    """A short page keeps the language that CLD2 gives it where the page claims it or a link names it."""
    site = read_site([[TEXTS["en"]]], [declared], None, [[f"named:{named}"]], 0.1)
    assert site.claimed == site.named == [frozenset({"en"})]


ENGLISH_MENU = ("Contact us", "Site map", "Search", "Terms")
FRENCH_MENU = ("Nous joindre", "Plan du site", "Recherche", "Avis")

# A site: pages in several languages with much that is the same in all of them


def page(language: str, number: int, menu: Sequence[str] = ()) -> list[str]:
    """Sentences of a language, in another order on each page, with code that stands in all language versions."""
    words = TEXTS[language].split(" ")
    if len(words) < 5:
        words = list(TEXTS[language])
    joint = "" if len(words[0]) == 1 else " "
    turn = number % len(words)
    unique = 100 * list(TEXTS).index(language) + number
    return [*menu, f"{unique}", joint.join(words[turn:] + words[:turn]), f"{CODE} {unique}"]


def site(*groups: tuple[str, int]) -> tuple[list[list[str]], list[str]]:
    blocks, languages = [], []
    for language, count in groups:
        blocks += [page(language, i) for i in range(count)]
        languages += [language] * count
    return blocks, languages


def test_languages_of_a_site() -> None:
    blocks, languages = site(("en", 8), ("fr", 8), ("zh-Hant", 8), ("kk", 4), ("ru", 4), ("ja", 3), ("ko", 3))
    found, scores = site_languages(blocks, [""] * len(blocks), ["en", "fr"])
    assert found == languages
    assert scores.dtype == np.float32
    assert scores.min() > 0.5
    assert scores.max() <= 1


@pytest.mark.parametrize("n_cores", [2, 4])
def test_languages_do_not_depend_on_the_number_of_cores(n_cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks, _ = site(("en", 40), ("fr", 40), ("kk", 20), ("zh-Hant", 8))
    alone = site_languages(blocks, [""] * len(blocks), ["en", "fr"])
    monkeypatch.setattr(side_by_side, "RANGE_SECONDS", 3 * GUESS_SECONDS)
    monkeypatch.setattr(side_by_side, "THREAD_SECONDS", 0)
    with side_by_side.on_cores(n_cores):
        found, scores = site_languages(blocks, [""] * len(blocks), ["en", "fr"])
    assert found == alone[0]
    np.testing.assert_array_equal(scores, alone[1])


def half(number: int, menu: Sequence[str] = ()) -> list[str]:
    """Return a page of which half was translated."""
    return [*page("en", number, menu), *page("fr", number)]


DRAWN = ["bright red stars", "thin green lines", "large blue circles", "a dark purple fish", "some yellow sand"]


def test_long_pages_among_short_ones_keep_their_language() -> None:
    """Only the long pages have versions: their terms are rare on English pages, and on all French ones."""
    terms = [f"mod_{one}{other}" for one in "bcdfgklmnprstv" for other in "air ent ix ode ump arg iss".split()]
    text = "Click and drag the mouse around your picture to draw {}. There is a slider at the bottom of the screen; it"
    text += " tells how large they will be when you let the button go. Click again if you want more of them."
    short = [[text.format(what)] for what in 12 * DRAWN]
    long = [
        [f"{80 * TEXTS[language]} {' '.join(terms[k:] + terms[:k])}"] for language in ("en", "fr") for k in range(8)
    ]
    found, _ = site_languages(short + long, [""] * 76, ["en", "fr"])
    assert found == ["en"] * 68 + ["fr"] * 8


def test_a_page_of_one_long_block_has_the_language_of_that_block() -> None:
    """Its title alone would be English to CLD2."""
    site = read_site([["Licence", " ".join(50 * [TEXTS["fr"]])]], [""], None, None, 0.3)
    assert len(site.sample(0)) > 3_000
    assert identify_text(site.sample(0))[0] == "fr"


def test_half_translated_page_follows_the_menu_of_its_version() -> None:
    english = [page("en", i, ENGLISH_MENU) for i in range(12)]
    french = [page("fr", i, FRENCH_MENU) for i in range(12)]
    blocks = [*english, *french, half(99, FRENCH_MENU), half(98, ENGLISH_MENU)]
    assert site_languages(blocks, [""] * len(blocks), ["en", "fr"])[0] == ["en"] * 12 + ["fr"] * 13 + ["en"]


def test_untranslated_page_has_the_language_of_its_text() -> None:
    english = [page("en", i, ENGLISH_MENU) for i in range(12)]
    french = [page("fr", i, FRENCH_MENU) for i in range(12)]
    blocks = [*english, *french, page("en", 99, FRENCH_MENU)]
    assert site_languages(blocks, [""] * len(blocks), ["en", "fr"])[0] == ["en"] * 12 + ["fr"] * 12 + ["en"]


def test_menu_that_was_not_translated_says_nothing() -> None:
    blocks = [page(language, i, ENGLISH_MENU) for language in ("en", "fr") for i in range(12)]
    assert site_languages(blocks, [""] * 24, ["en", "fr"])[0] == ["en"] * 12 + ["fr"] * 12


def test_single_page_in_another_language_stays() -> None:
    blocks, languages = site(("en", 10), ("fr", 10), ("de", 1))
    long = [*blocks[-1], TEXTS["de"], TEXTS["de"].upper()]
    assert site_languages([*blocks[:-1], long], [""] * 21, ["en", "fr"])[0] == languages


def test_false_declarations_do_not_decide() -> None:
    blocks, languages = site(("en", 10), ("fr", 10))
    assert site_languages(blocks, ["en"] * 20, ["en", "fr"])[0] == languages


def test_true_declarations_help_where_there_is_no_text() -> None:
    blocks, languages = site(("en", 10), ("fr", 10))
    empty = ["httpd", "12:30"]
    found, _ = site_languages([*blocks, empty, empty], [*languages, "fr-CA", "en-US"], ["en", "fr"], LENIENT)
    assert found[-2:] == ["fr", "en"]


def test_placeholder_latin_is_no_language() -> None:
    latin = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore"
    blocks, _ = site(("en", 6), ("fr", 6))
    filled = [*blocks, [latin, TEXTS["fr"][:60]], [latin, TEXTS["en"][:60]]]
    assert site_languages(filled, [""] * 14, ["en", "fr"])[0][-2:] == ["fr", "en"]


def test_page_without_letters_is_undetermined() -> None:
    blocks, _ = site(("en", 4))
    found, scores = site_languages([*blocks, ["12 : 30"], []], [""] * 6, ["en"])
    assert found[-2:] == [UNDETERMINED, UNDETERMINED]
    assert scores[-2:].tolist() == [0.0, 0.0]


def test_min_letters_is_respected() -> None:
    settings = LanguageSettings(min_letters=10_000)
    assert site_languages([[TEXTS["en"]]], [""], ["en"], settings)[0] == [UNDETERMINED]


def test_chinese_that_fits_both_scripts_follows_the_site() -> None:
    blocks, _ = site(("zh-Hant", 3), ("en", 3))
    assert site_languages([*blocks, ["中文大文化公司的上下水平和方法"]], [""] * 7, ["zh"])[0][-1] == "zh-Hant"


def test_site_without_pages() -> None:
    found, scores = site_languages([], [], ["en"])
    assert found == []
    assert scores.shape == (0,)


def test_declared_languages_must_fit() -> None:
    with pytest.raises(ShapeError, match="got 1 for 2 pages"):
        site_languages([["a"], ["b"]], [""], [])


# Neighbours, hints, pages in two languages


def links_within(*sizes: int) -> csr_array:
    """Link each page of a version to the next three of the same version, around."""
    total, start = sum(sizes), 0
    links = np.zeros((total, total))
    for size in sizes:
        for i in range(size):
            links[start + i, start + (i + np.arange(1, 4)) % size] = 1
        start += size
    return csr_array(links)


def test_page_of_another_language_inside_a_version_belongs_to_it() -> None:
    blocks, languages = site(("en", 12), ("fr", 12))
    blocks[5] = [*page("pt", 0), TEXTS["pt"], TEXTS["pt"].upper()]
    alone, _ = site_languages(blocks, [""] * 24, ["en", "fr"])
    found, scores = site_languages(blocks, [""] * 24, ["en", "fr"], links=links_within(12, 12))
    assert alone[5] == "pt"
    assert found == languages
    assert scores[5] <= 0.5


def test_without_wanted_languages_the_two_most_frequent_take_in_pages_of_others() -> None:
    blocks, languages = site(("en", 12), ("fr", 12), ("de", 4))
    for place in (5, 26):
        blocks[place] = [*page("pt", place), TEXTS["pt"], TEXTS["pt"].upper()]
    found, _ = site_languages(blocks, [""] * 28, [], links=links_within(12, 12, 4))
    assert found[26] == "pt"
    assert found[:24] == languages[:24]


def test_pages_of_a_third_version_stay() -> None:
    blocks, languages = site(("en", 12), ("fr", 12), ("de", 6))
    assert site_languages(blocks, [""] * 30, ["en", "fr"], links=links_within(12, 12, 6))[0] == languages


def test_link_that_names_the_language_keeps_the_page_out() -> None:
    blocks, _ = site(("en", 12), ("fr", 12))
    blocks[5] = [*page("pt", 0), TEXTS["pt"], TEXTS["pt"].upper()]
    hints = [("named:pt-br",) if i == 5 else () for i in range(24)]
    assert site_languages(blocks, [""] * 24, ["en", "fr"], links=links_within(12, 12), hints=hints)[0][5] == "pt"


def test_half_translated_page_follows_its_neighbours() -> None:
    blocks, languages = site(("en", 40), ("fr", 40))
    blocks[50], blocks[10] = half(99), half(98)
    assert site_languages(blocks, [""] * 80, ["en", "fr"], links=links_within(40, 40))[0] == languages


def test_a_page_that_clearly_speaks_one_language_is_in_none_of_which_it_has_hardly_a_word() -> None:
    fits = np.array([[0.9, 0.0, 0.3], [0.9, 0.0, 0.3], [0.1, 0.0, 0.0], [0.9, 0.0, 0.0], [0.0, 0.0, 0.0]])
    sure, unsure = Guess("en", 0.99, 0.99), Guess("en", 0.6, 0.6)
    closed = _unspoken([sure, unsure, sure, Guess("pl", 0.99, 0.99), sure], {"en": 0, "ru": 1, "de": 2}, fits)
    assert closed.tolist() == [[False, True, False], *[[False] * 3] * 4]


def test_a_page_of_a_version_that_is_hardly_translated_has_the_language_of_its_paragraph() -> None:
    names = [kind + end for kind in ("board", "layer", "symbol", "sheet", "track", "via", "zone", "pad", "net", "wire")
             for end in ("s", "ed", "ing", "er", "less", "name", "list", "view", "tool", "file")]  # fmt: skip
    numbers = iter(range(0, 1_000, 37))
    originals = [
        [f"{TEXTS['en']} {' '.join((names * 12)[(at := next(numbers)) : at + n])} {at}" for n in sizes]
        for sizes in ([40], [40, 40], [10, 10], [10], [40, 10], [40, 10])
    ]

    def version(language: str, *translated: int) -> list[list[str]]:
        """Return the pages, the first paragraph of some of them translated."""
        first = [f"{TEXTS[language]} {number}" for number in range(len(originals))]
        return [[first[n], *page[1:]] if n in translated else page for n, page in enumerate(originals)]

    blocks = [*originals, *version("ru", 0, 1, 2), *version("de", 2, 4)]
    found, _ = site_languages(blocks, [""] * 18, ["en", "ru"])
    assert found[:6] == ["en"] * 6
    assert (found[6], found[8]) == ("ru", "ru")


def test_neighbours_do_not_overrule_clear_text() -> None:
    blocks, languages = site(("en", 40), ("fr", 40))
    blocks[50], languages[50] = page("en", 99), "en"
    assert site_languages(blocks, [""] * 80, ["en", "fr"], links=links_within(40, 40))[0] == languages


def test_links_that_keep_to_no_language_say_nothing() -> None:
    blocks, languages = site(("en", 12), ("fr", 12))
    everywhere = csr_array(np.random.default_rng(3).random((24, 24)) < 0.2)
    assert site_languages(blocks, [""] * 24, ["en", "fr"], links=everywhere)[0] == languages


def test_meaning_of_address_parts_is_learned() -> None:
    blocks, languages = site(("en", 12), ("zh-Hant", 12))
    hints = [("url:p", "url:tc" if language == "zh-Hant" else "url:e") for language in languages]
    blank = ["httpd", "12:30"]
    found, _ = site_languages(
        [*blocks, blank, blank], [""] * 26, ["en", "zh"], LENIENT, hints=[*hints, ("url:tc",), ("url:e",)]
    )
    assert found[-2:] == ["zh-Hant", "en"]


def test_lone_page_of_another_language_on_a_very_small_site() -> None:
    blocks, languages = site(("en", 6), ("zh-Hant", 5), ("de", 1))
    assert site_languages(blocks, [""] * 12, ["en", "zh"])[0] == languages


NOTICE = (
    "The office is closed on all public holidays.", "辦事處於所有公眾假期休息，不便之處敬請原諒。",
    "Forms can be handed in at the counter on the second floor.", "表格可於二樓櫃位遞交，詳情請向職員查詢。",
    "Please bring your identity card with you.", "請攜帶閣下的身份證明文件。",
    "All fees are paid in cash at the counter.", "所有費用須於櫃位以現金繳付。",
)  # fmt: skip


def test_page_that_says_all_twice_is_in_two_languages() -> None:
    blocks, languages = site(("en", 6), ("zh-Hant", 6))
    pages = [*blocks, list(NOTICE), [*NOTICE[::2], *NOTICE[1::2]]]
    found, _ = site_languages(pages, [""] * 14, ["en", "zh"])
    assert found[:12] == languages
    assert found[12] == TWO_LANGUAGES
    assert found[13] != TWO_LANGUAGES
    assert TWO_LANGUAGES not in site_languages(pages, [""] * 14, ["en", "fr"])[0]


@pytest.mark.parametrize(("one", "other"), [("kk", "ru"), ("pt", "es"), ("zh-Hant", "zh-Hans"), ("zh-Hans", "ja")])
def test_relatives_are_distinguished(one: str, other: str) -> None:
    blocks, languages = site((one, 9), (other, 9))
    blocks = [block[:-1] for block in blocks]  # without the code, that weighs more than so little text
    assert site_languages(blocks, [""] * 18, [one, other])[0] == languages
    assert site_languages(blocks, [""] * 18, ["en", one], links=links_within(9, 9))[0] == languages


def test_hints_and_links_must_fit() -> None:
    with pytest.raises(ShapeError, match="hints for each page"):
        site_languages([["a"], ["b"]], ["", ""], [], hints=[()])
    with pytest.raises(ShapeError, match="links"):
        site_languages([["a"], ["b"]], ["", ""], [], links=csr_array((3, 3)))


def pages_in(language: str, n: int) -> list[list[str]]:
    """Pages of one language, with the same words and a number of their own."""
    words = TEXTS[language].split()
    return [[" ".join([*words[k % 5 :], f"{language}{k}", *words[: k % 5]])] for k in range(n)]


def test_a_quotation_in_another_script_is_not_the_language_of_the_page() -> None:
    """Each page quotes a Russian sentence, which the other version of the page has, too."""
    quotations = [f"{TEXTS['ru']} {TEXTS['ru']} № {k}" for k in range(8)]
    blocks = [
        [*own, quotation]
        for language in ("fr", "de")
        for own, quotation in zip(pages_in(language, 8), quotations, strict=True)
    ]
    assert site_languages(blocks, [""] * 16, ["fr", "de"])[0] == ["fr"] * 8 + ["de"] * 8


def test_a_quotation_within_each_block_is_not_the_language_that_the_page_claims() -> None:
    quotations = [f"{TEXTS['ru']} № {k}" for k in range(8)]
    blocks = [
        [f"{own[0]} {quotation}"]
        for language in ("fr", "de")
        for own, quotation in zip(pages_in(language, 8), quotations, strict=True)
    ]
    claims = ["fr"] * 8 + ["de"] * 8
    assert site_languages(blocks, claims, ["fr", "de"])[0] == claims


def test_one_claim_on_all_pages_is_not_trusted() -> None:
    """Russian pages with programs, made with the template of the English ones."""
    blocks = [[*own, f"{CODE} {k}"] for k, own in enumerate(pages_in("ru", 8))] + pages_in("en", 8) + pages_in("fr", 8)
    assert site_languages(blocks, ["en"] * 24, ["en", "fr"])[0] == ["ru"] * 8 + ["en"] * 8 + ["fr"] * 8


def test_text_that_is_wanted_in_its_script_is_no_quotation() -> None:
    blocks = [[*own, f"{CODE} {k}"] for k, own in enumerate(pages_in("ru", 8))] + pages_in("en", 8)
    assert site_languages(blocks, [""] * 16, ["en", "ru"])[0] == ["ru"] * 8 + ["en"] * 8


SERBIAN = (
    "Sva ljudska bića rađaju se slobodna i jednaka u dostojanstvu i pravima. Ona su obdarena razumom i svešću i treba"
    " jedni prema drugima da postupaju u duhu bratstva."
)
TEXTS_SR = "Сва људска бића рађају се слободна и једнака у достојанству и правима. Она су обдарена разумом и свешћу."
INDONESIAN = (
    "Semua orang dilahirkan merdeka dan mempunyai martabat dan hak-hak yang sama. Mereka dikaruniai akal dan hati"
    " nurani dan hendaknya bergaul satu sama lain dalam semangat persaudaraan."
)


@pytest.mark.parametrize(
    ("text", "claim", "expected"),
    [
        (SERBIAN, "sr-Latn", "sr"),
        (SERBIAN, "hr", "hr"),
        (SERBIAN, "bs", "bs"),
        (INDONESIAN, "id", "id"),
        (INDONESIAN, "ms", "ms"),
    ],
)
def test_of_languages_that_cld2_confuses_the_claimed_one_is_right(text: str, claim: str, expected: str) -> None:
    blocks = [[f"{text} {k}"] for k in range(6)] + pages_in("en", 6)
    languages = site_languages(blocks, [claim] * 6 + ["en"] * 6, ["en", claim])[0]
    assert languages == [expected] * 6 + ["en"] * 6


def test_one_claim_for_two_wanted_languages_that_cld2_confuses_is_not_trusted() -> None:
    serbian = [[f"{TEXTS_SR} {k}"] for k in range(6)]
    croatian = [[f"{SERBIAN} {k}"] for k in range(6)]
    languages = site_languages([*serbian, *croatian], ["hr"] * 12, ["hr", "sr"])[0]
    assert languages[:6] == ["sr"] * 6


def test_a_wrong_code_is_no_language_that_cld2_does_not_recognise() -> None:
    """The code of Northern Sami on pages in Swedish."""
    swedish = "Alla människor är födda fria och lika i värde och rättigheter. De har utrustats med förnuft"
    blocks = [[f"{swedish} {k}"] for k in range(8)] + pages_in("en", 8)
    assert site_languages(blocks, ["se"] * 8 + ["en"] * 8, ["en", "sv"])[0] == ["sv"] * 8 + ["en"] * 8


def test_a_claim_to_a_language_of_another_kind_changes_nothing() -> None:
    """The template of the English pages was used for the others."""
    blocks = [*pages_in("fr", 6), *pages_in("en", 6)]
    assert site_languages(blocks, ["en"] * 12, ["en", "fr"])[0] == ["fr"] * 6 + ["en"] * 6


def test_pages_of_a_few_letters_are_in_the_language_that_they_claim() -> None:
    """CLD2 takes half of the French ones for English."""
    english = ("Module Index", "Directive Index", "Authentication and Authorization", "Access Control", "Security Tips")
    french = (
        *("Index des modules", "Index des directives", "Authentification et autorisation"),
        *("Fichiers journaux", "Conseils sur la sécurité"),
    )
    blocks = [[title] for title in (*english, *french)]
    declared = ["en"] * len(english) + ["fr"] * len(french)
    assert site_languages(blocks, declared, ["en", "fr"])[0] == declared
    assert site_languages(blocks, [""] * len(blocks), ["en", "fr"])[0] != declared
    assert site_languages(blocks, ["fr"] * len(blocks), ["en", "fr"])[0][0] == "en"  # a claim of the template


def test_where_a_language_is_known_its_claims_on_short_pages_may_be_wrong() -> None:
    """Titles that were not translated stand under the claim of the template."""
    long = [[f"{TEXTS[lang]} {number}"] for lang in ("en", "fr") for number in range(5)]
    short = [["Privacy policy and cookies"], ["Terms and conditions of use"]]
    declared = ["en"] * 5 + ["fr"] * 7
    assert site_languages([*long, *short], declared, ["en", "fr"])[0] == ["en"] * 5 + ["fr"] * 5 + ["en"] * 2
    chinese = ["en"] * 3 + ["zh"] * 3
    titles = [[title] for title in ("Module Index", "Access Control", "Security Tips")]
    assert site_languages([*titles, *titles], chinese, ["en", "zh"])[0][0] == "en"


def test_a_list_of_names_has_the_language_that_it_claims() -> None:
    """CLD2 finds Urdu, Uzbek or Pashto in a few Persian names."""
    names = ["کابل قندهار هرات بلخ", "تاشکند سمرقند بخارا", "لاهور کراچی پیشاور", "هند پاکستان بنگلادش نپال"]
    text = "تمام افراد بشر آزاد به دنیا می آیند و از لحاظ حیثیت و حقوق با هم برابرند و همه دارای عقل و وجدان هستند"
    blocks = [[f"{text} {k}"] for k in range(8)] + [[name] for name in names] + pages_in("en", 8)
    claims = ["fa"] * 12 + ["en"] * 8
    for wanted in (["en", "fa"], []):
        assert site_languages(blocks, claims, wanted)[0] == claims
    assert site_languages(blocks, ["en"] * 20, [])[0] != claims  # of a template


@pytest.mark.parametrize(
    ("declared", "found"),
    [
        (["en"] * 20, set()),
        ([""] * 20, set()),
        (["en"] * 10 + ["fr-CA"] * 10, {"en", "fr"}),
        (["en"] * 18 + ["fr"] * 2, set()),
        (["en"] * 17 + ["fr"] * 3, {"en", "fr"}),
        (["en"] * 97 + ["fr"] * 3, set()),
        (["en", "fr", "de"] * 5 + [""] * 5, {"en", "fr", "de"}),
    ],
)
def test_languages_that_several_pages_claim_stand_for_wanted_ones(declared: list[str], found: set[str]) -> None:
    site = read_site([["text"]] * len(declared), declared, None, None, 0.5)
    assert claimed_languages(site) == found


def test_a_japanese_page_without_kana_is_in_the_language_that_it_claims() -> None:
    dates = [
        [f"令和{k}年 第{k}回 東京都 美術館 展覧会 予定表 月曜日 火曜日 水曜日 木曜日 金曜日 土曜日"] for k in range(3)
    ]
    blocks = [*([f"{TEXTS['ja']} {k}"] for k in range(8)), *dates, *pages_in("en", 8)]
    claims = ["ja"] * 11 + ["en"] * 8
    assert site_languages(blocks, claims, ["en", "ja"])[0] == claims


def test_vowel_points_are_not_read() -> None:
    assert identify_text("بِسْمِ ٱللَّهِ ٱلرَّحْمَٰنِ ٱلرَّحِيمِ ٱلْحَمْدُ لِلَّهِ رَبِّ ٱلْعَٰلَمِينَ")[0] == "ar"


DOCUMENTATION_MENU = ("Documentation", "Getting started", "API reference", "Tutorials", "Development", "Download")
NEWS_MENUS = {
    "ru": ("Документация", "Начало работы", "Новости сообщества", "Учебные пособия", "Разработка", "Скачать файлы"),
    "fr": ("Documents du projet", "Premiers pas", "Nouvelles", "Tutoriels", "Développement", "Télécharger"),
}
NEWS = {
    "ru": "Проект объявляет о выпуске нового издания свободной операционной системы для серверов и настольных машин",
    "fr": "Le projet annonce la publication de sa nouvelle édition du système libre pour les serveurs et les bureaux",
}


def documentation(language: str, number: int) -> list[str]:
    """Return a page of terms and sentences under a menu that was not translated."""
    terms = [
        f"win.set{name}(value) returns Boolean, throws Error {number}" for name in ("Size", "Title", "Menu", "Icon")
    ]
    return [*DOCUMENTATION_MENU, *terms, *said(language, number, 4)]


def news(language: str, number: int) -> list[str]:
    """Return a page of other words, under a menu of its language."""
    words = NEWS[language].split()
    turn = number % len(words)
    return [
        *NEWS_MENUS[language],
        f"{number} {' '.join(words[turn:] + words[:turn])}",
        f"{NEWS[language][:60]} {number}",
    ]


@pytest.mark.parametrize("language", ["ru", "fr"])
def test_translated_pages_keep_their_language_beside_more_of_another_kind(language: str) -> None:
    """Documentation with menus and terms in English, and news with menus of their own."""
    blocks = [documentation("en", k) for k in range(40)] + [documentation(language, k) for k in range(8)]
    blocks += [news(language, k) for k in range(80)]
    assert site_languages(blocks, [""] * 128, ["en", language])[0] == ["en"] * 40 + [language] * 88


def test_unique_text_in_another_script_decides_on_a_single_page() -> None:
    blocks = [documentation("en", k) for k in range(40)] + [documentation("ru", 0)]
    blocks += [news("ru", k) for k in range(80)]
    assert site_languages(blocks, [""] * 121, ["en", "ru"])[0] == ["en"] * 40 + ["ru"] * 81


@pytest.mark.parametrize(("n_linked", "expected"), [(0, "en"), (3, "en"), (4, "fr")])
def test_unique_text_decides_where_links_join_the_page_with_others_in_its_language(
    n_linked: int, expected: str
) -> None:
    blocks = [documentation("en", k) for k in range(40)] + [documentation("fr", 0)]
    blocks += [news("fr", k) for k in range(80)]
    links = np.zeros((121, 121))
    links[40, 41 : 41 + n_linked] = 1
    links[40, 8 : 8 + n_linked] = 1
    assert site_languages(blocks, [""] * 121, ["en", "fr"], links=csr_array(links))[0][40] == expected


def test_unique_text_does_not_decide_between_languages_that_cld2_takes_for_each_other() -> None:
    pages = [[f"{INDONESIAN} {k}"] for k in range(4)]
    site = read_site(pages, [""] * 4, None, None, 0.3)
    guesses, wanted = [guess_text(page[0]) for page in pages], ["id", "ms", "en"]
    tag = guesses[0].language
    assert languages_of_unique_text(site, guesses, ["en"] * 4, wanted) == dict.fromkeys(range(4), tag)
    assert languages_of_unique_text(site, guesses, [{"id": "ms", "ms": "id"}[tag]] * 4, wanted) == {}
