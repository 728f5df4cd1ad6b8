"""Each reason for which a bead is not reported."""

from __future__ import annotations

import pytest

from twinlink.align.filters import (
    REASONS,
    UNSURE,
    Repeats,
    Segment,
    drop_unsure,
    is_damaged,
    judge,
    judge_page,
    pair_key,
)
from twinlink.align.lengths import LengthModel
from twinlink.align.near_repeats import NearRepeats
from twinlink.align.tokens import fold, numbers, split_words
from twinlink.config.align import SegmentFilterSettings
from twinlink.tables.schemas import SEGMENT

SETTINGS = SegmentFilterSettings()


def verdict(source, target, probability=0.9, per_word=0.5, identify=None):
    return judge(Segment(source, target, "1-1", probability, per_word), SETTINGS, LengthModel(), identify)


@pytest.mark.parametrize(
    ("reason", "source", "target"),
    [
        (SEGMENT, "The office is open on weekdays.", "Le bureau est ouvert en semaine."),
        ("unaligned", "The office is open.", ""),
        ("encoding", "The summer was long.", "L'Ã©tÃ© fut long."),
        ("encoding", "The summer was long.", "L'\ufffdt\ufffd fut long."),
        ("no-words", "2009", "2009"),
        ("copy", "Apache HTTP Server 2.4", "Apache HTTP Server 2.4."),
        ("length", "No.", "Le bureau est ouvert en semaine, sauf les jours de fête et pendant les vacances d'été."),
        ("numbers", "Open from 1998 to 2004", "Ouvert de 1997 à 2003"),
        ("numbers", "The bridge was built in 1998.", "Le pont fut bâti alors."),
        (SEGMENT, "The 3 bridges were built in 1,998.5 days.", "Les trois ponts furent bâtis en 1 998,5 jours."),
        (SEGMENT, "In 2009 100 people came.", "Cent personnes, donc 100, sont venues en 2009."),
    ],
)
def test_reasons_by_the_text(reason, source, target):
    assert verdict(source, target) == reason


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        ("Germany: ftp.fau.de: HTTP", "Новая Каледония: debian.nautile.nc: HTTP", "addresses"),
        ("Write to one@foo.org", "Пишите двум на two@bar.org", "addresses"),
        ("See http://www.foo.de/a", "Voir http://fr.foo.fr/b", SEGMENT),  # the same name
        ("Travel.gc.ca and more", "Voyage.gc.ca et plus", SEGMENT),  # of one government
        ("Open http://example.com/one", "Ouvrez http://exemple.com/un", SEGMENT),
        ("Open http://somehost/one or a.conf", "Ouvrez http://hote/un ou b.conf", SEGMENT),
        ("Germany: ftp.fau.de: HTTP", "Allemagne: en HTTP", SEGMENT),
        (
            "You find much more about all of this at www.foo.org if you like.",
            "Vous trouverez beaucoup plus sur tout cela à l'adresse www.bar.fr si vous voulez.",
            SEGMENT,
        ),
    ],
)
def test_addresses_of_other_sites(source, target, reason):
    assert verdict(source, target) == reason


def test_reasons_by_score():
    assert verdict("The office is open.", "Le bureau est ouvert.", probability=0.4) == "improbable"
    assert verdict("The office is open.", "Le bureau est ouvert.", per_word=-0.5) == "words"


def test_two_sides_of_one_language():
    texts = "The office is open on weekdays from nine.", "Our bureau opens every weekday at nine o'clock."
    assert verdict(*texts, identify=lambda text: "en") == "same-language"
    assert verdict(*texts, identify=lambda text: "und") == SEGMENT
    assert verdict("Open", "Ouvert", identify=lambda text: "en") == SEGMENT


def test_pages_without_support_give_no_segments():
    beads = [Segment("Open", "Ouvert", "1-1", 0.9, 0.5), Segment("Closed", "", "1-0", 0.9, 0.0)]
    assert judge_page(beads, 0.4, SETTINGS, LengthModel()) == ["page", "unaligned"]
    assert judge_page(beads, 0.6, SETTINGS, LengthModel()) == [SEGMENT, "unaligned"]
    assert judge_page(beads, 0.6, SETTINGS, LengthModel(), is_foreign=True) == ["third-language", "unaligned"]


def test_every_reason_is_known():
    assert len({*REASONS}) == len(REASONS)
    assert SEGMENT not in REASONS


@pytest.mark.parametrize(
    ("source", "target", "verdict"),
    [
        (
            '<ul class="menu"> <li>English</li> <li>More</li> </ul>',
            '<ul class="menu"> <li>Anglais</li> <li>Plus</li> </ul>',
            "code",
        ),
        (
            "if (ready) { speed = start(engine); return { ok: speed }; } // starts",
            "if (ready) { speed = start(engine); return { ok: speed }; } // démarre",
            "code",
        ),
        (
            "It is comparable to the <Directory> and <Location> directives.",
            "Elle est comparable aux directives <Directory> et <Location>",
            SEGMENT,
        ),
        (
            "Set { name = value } in the section of the server you mean.",
            "Écrivez { nom = valeur } là où votre hôte est décrit en détail.",
            SEGMENT,
        ),
    ],
)
def test_listings_are_no_segments(source, target, verdict):
    said = judge(Segment(source, target, "1-1", 1.0, 1.0), SegmentFilterSettings(), LengthModel())
    assert said == verdict


def test_repeats_are_kept_once_and_classified_by_frequency():
    menu, rare = Segment("Home", "Accueil", "1-1", 1.0, 1.0), Segment("A rare one", "Un rare", "1-1", 1.0, 1.0)
    pages = [[menu, rare] if k < 2 else [menu] for k in range(20)]
    said = [[SEGMENT] * len(page) for page in pages]
    repeats = Repeats()
    repeats.judge(pages, said, 0.1)
    assert said == [[SEGMENT, SEGMENT], ["boilerplate", "duplicate"], *[["boilerplate"]] * 18]
    again = [[SEGMENT]]
    repeats.judge([[rare]], again, 0.1)
    assert again == [["duplicate"]]


@pytest.mark.parametrize(("ignore_digits", "said"), [(True, "digits"), (False, SEGMENT)])
@pytest.mark.parametrize(
    "words", ["", " for all voters of this state who send their forms by mail or bring them in person"]
)
def test_pairs_that_differ_only_in_digits(ignore_digits, said, words):
    texts = [("3 May", "3 mai"), ("9 May", "9 mai"), ("9 may.", "9 mai"), ("9 May", "9 mai")]
    page = [Segment(f"{a}{words}", f"{b}{words}", "1-1", 1.0, 1.0) for a, b in texts]
    verdicts = [[SEGMENT] * len(page)]
    near = NearRepeats(0.9, ignore_digits=ignore_digits)
    Repeats(near, ignore_digits=ignore_digits).judge([page], verdicts, 0.1)
    assert verdicts == [[SEGMENT, said, "duplicate", "duplicate"]]


def test_other_digits_of_a_pair_on_many_pages_are_no_boilerplate():
    pages = [[Segment(f"By {day} May", f"Au {day} mai", "1-1", 1.0, 1.0)] for day in (1, 2, 2, *range(3, 20))]
    verdicts = [[SEGMENT] for _ in pages]
    Repeats().judge(pages, verdicts, 0.1)
    assert verdicts == [[SEGMENT], ["digits"], ["boilerplate"], *[["digits"]] * 17]


def test_signs_of_names_count():
    keys = {pair_key(f"See {name}.", f"Voir {name}.") for name in ("C", "C++", "C#", "C.", "C+")}
    assert len(keys) == 3


@pytest.mark.parametrize(("least", "said"), [(0.0, SEGMENT), (0.5, SEGMENT), (0.9, UNSURE)])
def test_segments_below_the_minimum_chance_are_dropped(least, said):
    verdicts = [[SEGMENT, "copy"], [], [SEGMENT, SEGMENT]]
    drop_unsure(verdicts, [0.5, None, 0.95, None], least)
    assert verdicts == [[said, "copy"], [], [SEGMENT, SEGMENT]]


@pytest.mark.parametrize(
    "text",
    [
        "Größe", "naïve café", "Ärger", "Ã", "中文，可以。", "Ðanh", "Қазақстан",
        "ĐÃ\u00a0BÁN HẾT", "«\u00a0A IRMÃ\u00a0»", "«IRMÃ»",
    ],
)  # fmt: skip
def test_good_text_is_not_taken_for_damaged(text):
    assert not is_damaged(text)


@pytest.mark.parametrize("text", ["Ã©", "SÃ£o", "Ã\u00a0 la", "voilÃ\u00a0", "aoÃ»t", "Ã‰tÃ\u0089", "NÃº", "Ã¼"])
def test_utf8_read_as_latin_is_damaged(text):
    assert is_damaged(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("कल बाज़ार में मिलूँगा", "कल बाज़ार में मिलूँगी"),
        ("กิน", "กัน"),
        ("e\u0301te\u0301", "e\u0300te\u0300"),
    ],
)
def test_vowel_signs_and_accents_tell_pairs_apart(one, other):
    assert pair_key("Text", one) != pair_key("Text", other)
    assert pair_key("Text", one) == pair_key("text.", f"{one}! 2")


def test_invisible_characters_and_normal_forms_count_nothing():
    assert split_words("жаға\u00adлау e\u0301te\u0301\u200b") == ["жағалау", "\u00e9t\u00e9"]
    assert split_words("می\u200cخواهم") != split_words("میخواهم")
    assert pair_key("жаға\u00adлау", "e\u0301te\u0301\u200f") == pair_key("жағалау", "\u00e9t\u00e9")


def test_references_to_characters_are_no_numbers():
    assert numbers("Don&#x27;t &#39;pay&#39; 27") == ["27"]


def test_words_of_any_language():
    assert split_words("Tél. +41 44 12 www.sac-cas.ch/fr info@sac.ch", "") == [
        "tél", "41", "44", "12", "www.sac-cas.ch/fr", "info@sac.ch",
    ]  # fmt: skip
    assert split_words("हिन्दी में", "hi") == ["हिन्दी", "में"]
    for text in ("বাংলা ভাষা", "தமிழ் மொழி", "తెలుగు భాష", "ગુજરાતી ભાષા", "മലയാള ഭാഷ", "शब्द।"):
        assert split_words(text) == text.strip("।").split()
    assert numbers("٣٤ und 1’000") == ["1000", "34"]
    assert numbers("12 345 678 und 5 000 in 2009 100 000") == ["100000", "12345678", "2009", "5000"]
    assert fold("Қазақстан") == fold("Kazakstan")
