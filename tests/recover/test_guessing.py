"""Which guesses are asked for in a round: one for each page and language, a few of a new pattern, within the budget."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from twinlink.config.recover import RecoverSettings
from twinlink.recover.guessing import NOT_ASKED, next_round
from twinlink.spiders.frontier import Answer, Guessed

SETTINGS = RecoverSettings(probes=2, trial=3, max_site_addresses=100)


def guess(page: int, side: str = "tc", lang: str = "zh", ending: str = "htm") -> Guessed:
    url = f"http://x.hk/{side}/{page}.{ending}"
    return Guessed(url, "x.hk", f"http://x.hk/en/{page}.{ending}", f"en → {side}", 0.5, lang, "en")


def answer(asked: Guessed, outcome: str) -> Answer:
    return Answer(asked, outcome, "", "done", "", "", "")


def test_made_up_addresses_go_first_and_once_for_each_shape() -> None:
    guesses = [guess(1), guess(2), guess(3, ending="php")]
    chosen, others = next_round(guesses, [], SETTINGS)
    assert [each.kind for each in chosen] == ["probe"] * 4 + ["guess"] * 3
    assert [each for each in chosen if each.kind == "guess"] == guesses
    assert {each.url.rpartition(".")[2] for each in chosen[:2]} == {"htm"}
    assert others == {}
    later, _ = next_round([*guesses, guess(4)], [answer(each, "found") for each in chosen], SETTINGS)
    assert later == [guess(4)]


def test_second_guess_for_a_page_waits_for_the_first() -> None:
    guesses = [guess(1), guess(1, "zh"), guess(1, "fr", "fr")]
    chosen, others = next_round(guesses, [], RecoverSettings(probes=0))
    assert chosen == [guesses[0], guesses[2]]  # of another language: at once
    assert others == {guesses[1].url: ""}
    chosen, others = next_round(guesses, [answer(each, "not-found") for each in chosen], RecoverSettings(probes=0))
    assert (chosen, others) == ([guesses[1]], {})
    _, others = next_round(guesses, [answer(guesses[0], "found")], RecoverSettings(probes=0))
    assert others == {guesses[1].url: "not-needed"}


def test_a_pattern_without_a_hit_gets_its_tries_and_no_more() -> None:
    guesses = [guess(page) for page in range(6)]
    settings = RecoverSettings(probes=0, trial=3)
    chosen, others = next_round(guesses, [], settings)
    assert (chosen, set(others.values())) == (guesses[:3], {"given-up"})
    missed = [answer(each, "soft-404") for each in chosen]
    assert next_round(guesses, missed, settings)[0] == []
    hit = [*missed[:2], answer(guesses[2], "found")]
    assert next_round(guesses, hit, settings) == (guesses[3:], {})


def test_redirects_count_for_no_try_of_their_own() -> None:
    moved = answer(guess(0)._replace(url="http://x.hk/tc/0/", hops=1), "not-found")
    chosen, _ = next_round([guess(page) for page in range(6)], [moved], RecoverSettings(probes=0, trial=3))
    assert len(chosen) == 3


def test_budget_counts_made_up_addresses() -> None:
    guesses = [guess(page) for page in range(6)]
    chosen, others = next_round(guesses, [], RecoverSettings(probes=2, max_site_addresses=5))
    assert (len(chosen), list(others.values())) == (5, ["over-budget"] * 3)
    chosen, others = next_round(guesses[:1], [], RecoverSettings(probes=2, max_site_addresses=2))
    assert (chosen, others) == ([], {guesses[0].url: "over-budget"})  # no probes without the guess


def test_value_that_names_a_language_stays_in_made_up_addresses() -> None:
    asked = guess(1)._replace(url="http://x.hk/show.php?id=7&lang=tc", page="http://x.hk/show.php?id=7&lang=en")
    chosen, _ = next_round([asked], [], SETTINGS)
    assert all("lang=tc" in each.url and "id=7" not in each.url for each in chosen if each.kind == "probe")


GUESSES = st.lists(
    st.builds(guess, st.integers(0, 5), st.sampled_from(["tc", "zh", "sc"]), st.sampled_from(["zh", ""])),
    max_size=20,
    unique_by=lambda each: each.url,
)


@settings(max_examples=100, deadline=None)
@given(GUESSES, st.data(), st.integers(1, 12), st.integers(1, 4))
def test_rounds_end_ask_nothing_twice_and_leave_nothing_without_a_word(
    guesses: list[Guessed], data: st.DataObject, budget: int, trial: int
) -> None:
    limits = RecoverSettings(probes=1, max_site_addresses=budget, trial=trial)
    answers: list[Answer] = []
    for _ in range(len(guesses) + 1):
        chosen, others = next_round(guesses, answers, limits)
        if not chosen:
            break
        outcomes = st.sampled_from(["found", "not-found"])
        answers += [answer(each, data.draw(outcomes) if each.kind == "guess" else "made-up") for each in chosen]
    else:
        raise AssertionError("no end")
    urls = [each.guess.url for each in answers]
    assert len(urls) == len(set(urls)) <= budget
    assert {each.url for each in guesses} == {url for url in urls if url in {g.url for g in guesses}} | set(others)
    assert set(others.values()) <= set(NOT_ASKED)
