"""Forms of address whose requests fail again and again."""

from __future__ import annotations

from twinlink.spiders.dead_forms import MAX_FAILED, DeadForms

SITE = "http://a.org"


def fail(forms: DeadForms, n_times: int) -> list[bool | None]:
    return [forms.see(f"{SITE}/p{n}.html", failed=True) for n in range(n_times)]


def test_a_form_dies_after_so_many_failures_in_a_row() -> None:
    forms = DeadForms()
    assert fail(forms, MAX_FAILED + 1) == [None] * (MAX_FAILED - 1) + [True, None]
    assert forms.is_dead(f"{SITE}/p999.html")
    assert not forms.is_dead(f"{SITE}/other/p999.html")


def test_a_page_in_between_starts_the_count_anew() -> None:
    forms = DeadForms()
    for _ in range(5):
        assert fail(forms, MAX_FAILED - 1) == [None] * (MAX_FAILED - 1)
        assert forms.see(f"{SITE}/p7.html", failed=False) is None


def test_a_form_that_came_alive_may_fail_twice_as_often() -> None:
    forms = DeadForms()
    fail(forms, MAX_FAILED)
    assert forms.see(f"{SITE}/p7.html", failed=False) is False
    assert not forms.is_dead(f"{SITE}/p8.html")
    assert fail(forms, 2 * MAX_FAILED) == [None] * (2 * MAX_FAILED - 1) + [True]


def test_an_address_that_shares_its_form_with_no_other_is_not_counted() -> None:
    forms = DeadForms()
    assert {forms.see(f"{SITE}/about", failed=True) for _ in range(2 * MAX_FAILED)} == {None}
    assert not forms.is_dead(f"{SITE}/about")
