"""Registered domains and public suffixes: the rules below one top-level domain answer as the whole list does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from publicsuffixlist import PublicSuffixList

from twinlink.domains import is_public_name, is_registered, public_suffix, registered_domain

_WHOLE = PublicSuffixList(accept_unknown=False)
_RULES = sorted(_WHOLE._publicsuffix)


@given(st.sampled_from(_RULES), st.lists(st.sampled_from(["a", "www", "kobe", "city", "xn--p1ai"]), max_size=3))
def test_each_rule_counts_as_in_the_whole_list(rule: str, labels: list[str]) -> None:
    host = ".".join([*labels, rule.lstrip("!").replace("*", "x")])
    assert is_registered(host) == (_WHOLE.privatesuffix(host) is not None)
    if "." in host:
        assert public_suffix(host) == (_WHOLE.publicsuffix(host) or host.rpartition(".")[2])
        if _WHOLE.publicsuffix(host):
            assert registered_domain(host) == (_WHOLE.privatesuffix(host) or host)


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.xn--55qx5d.xn--j6w193g", "www.xn--55qx5d.xn--j6w193g"), ("a.公司.香港", "a.公司.香港"),
        ("A.B.Co.UK.", "b.co.uk"), ("www.city.kobe.jp", "city.kobe.jp"), ("a.b.kobe.jp", "a.b.kobe.jp"),
        ("www.unknown.example", "unknown.example"),
    ],
)  # fmt: skip
def test_registered_domain(host: str, domain: str) -> None:
    assert registered_domain(host) == domain


@given(st.lists(st.sampled_from(["a", "jp", "kobe", "city", "com", "", "公司", "香港"]), max_size=5).map(".".join))
def test_a_name_that_nobody_checked_counts_as_in_the_whole_list(host: str) -> None:
    assert is_registered(host) == (_WHOLE.privatesuffix(host) is not None)


def test_a_name_below_no_known_suffix_is_not_registered() -> None:
    assert [is_registered(host) for host in ("router.lan", "gov.hk", "info.gov.hk", "INFO.GOV.HK.")] == [
        False, False, True, True,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "site", ["com", "co.uk", "a..b.com", "localhost", "router.lan", f"{'a' * 64}.com", "a.home.arpa"]
)
def test_what_no_site_of_the_public_web_is_called(site: str) -> None:
    assert not is_public_name(site)
    assert is_public_name(f"{'a' * 63}.com")
    assert not is_public_name(f"{'.'.join(['a' * 60] * 5)}.com")
