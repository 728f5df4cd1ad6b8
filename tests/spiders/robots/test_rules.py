"""Robots.txt as Protego reads it, although other robots share a name; hostile files at a bounded cost."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from protego import Protego
from protego._ruleset import _RuleSet

from twinlink.spiders.robots.known import Known, KnownRules
from twinlink.spiders.robots.robots import MAX_ROBOTS_BYTES, read_robots

AGENT = "twinlink"
HOST = "http://a.org"
NAMES = ["*", "twinlink", "TwinLink", "Twin", "t", "twin*", "*link", "twinlinker", "other", "Other-Bot", "**", "", "é"]
FIELDS = ["Disallow", "disallow ", "Dissallow", "Allow", "ALLOW", "Crawl-delay", "crawl delay", "Request-rate"]
FIELDS += [
    "User-agent",
    "user agent",
    "Useragent",
    "Sitemap",
    "site-map",
    "Host",
    "Visit-time",
    "Clean-param",
    "",
    "x y",
]
DELAYS = [
    "2",
    "0.5",
    "-1",
    "nan",
    "inf",
    "1e3",
    "soon",
    "1/5",
    "10/1m",
    "1/2h",
    "0/3",
    "1/5 0900-1200",
    "1/5 0900",
    "1/",
]
paths = st.text(alphabet=list("/ab*$?=.%41Fé(&~ #:"), max_size=8).map(lambda text: f"/{text}")
values = st.one_of(
    paths,
    st.sampled_from(
        ["", "/", "*", "$", "/*", "/a*b$", "/index.html", "/a/index.html$", "b", "https://a.org/a", "/%2F"]
    ),
)
lines = st.one_of(
    st.builds(lambda name: f"User-agent: {name}", st.sampled_from(NAMES)),
    st.builds(lambda field, value: f"{field}: {value}", st.sampled_from(["Disallow", "Allow"]), values),
    st.builds(
        lambda field, mark, value: f"{field}{mark}{value}",
        st.sampled_from(FIELDS),
        st.sampled_from([": ", ":", " ", " : ", "\t"]),
        st.one_of(values, st.sampled_from(NAMES), st.sampled_from(DELAYS)),
    ),
    st.text(alphabet=list("ab:/# \t"), max_size=6),
)
ADDRESSES = [
    "",
    "/",
    "/a",
    "/ab",
    "/a*b",
    "/a?b=a",
    "/a%2Fb",
    "/%C3%A9",
    "/a/index.html",
    "/b/a/",
    "/robots.txt",
    "/a$b",
]


def by_protego(text: str) -> tuple[Protego, float, tuple[str, ...]]:
    parser = Protego.parse(text)
    rate = parser.request_rate(AGENT)
    delays = (parser.crawl_delay(AGENT) or 0.0, rate.seconds / rate.requests if rate else 0.0)
    return parser, min(max(delays), 86_400), tuple(parser.sitemaps)


@settings(max_examples=600, deadline=None)
@given(st.lists(lines, max_size=14), st.lists(paths, max_size=6), st.sampled_from(["\n", "\r\n", "\r", "\u2028"]))
def test_every_file_is_read_as_protego_reads_it(text: list[str], more: list[str], end: str) -> None:
    written = end.join(text)
    parser, delay, sitemaps = by_protego(written)
    rules = read_robots(written.encode(), AGENT)
    assert rules.delay == delay
    assert rules.sitemaps == sitemaps
    for path in [*ADDRESSES, *(path.partition("#")[0] for path in more)]:
        url = HOST + path
        assert rules.allows(url) == parser.can_fetch(url, AGENT), url


def test_paths_and_rules_that_are_no_utf_8_are_compared_by_their_bytes() -> None:
    rules = read_robots(b"User-agent: *\nDisallow: /" + "中文".encode("big5"), AGENT)
    assert not rules.allows(f"{HOST}/%A4%A4%A4%E5/x")
    assert rules.allows(f"{HOST}/%A4%A4%A5%E5/x")
    assert not rules.allows(f"{HOST}/%a4%a4%A4%e5")


def numbered(line: str, n: int) -> bytes:
    return "".join(line.replace("#", str(number)) + "\n" for number in range(n)).encode()


@pytest.mark.parametrize("agent", ["a#", "twinlink", "twin", "*", "a#:b", "*a#"])
@pytest.mark.parametrize("form", ["User-agent: {}", "useragent {}", "USER  AGENT {}"])
def test_agents_by_rules_cost_no_more_than_the_rules(agent: str, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: Counter[str] = Counter()
    disallow = _RuleSet.disallow
    monkeypatch.setattr(_RuleSet, "disallow", lambda own, rule: (taken.update(["taken"]), disallow(own, rule)))
    body = numbered(form.format(agent), 1_300) + b"User-agent: *\n" + numbered("Disallow: /#", 1_000)
    rules = read_robots(body, AGENT)
    assert taken["taken"] <= 3 * 1_000  # for the name of the robot, for all robots, and for all others together
    assert not rules.allows(f"{HOST}/999")
    assert rules.allows(f"{HOST}/x")


def test_truncated_file_does_not_allow_more() -> None:
    head = b"User-agent: *\nDisallow: /private\n"
    for last, closed in ((b"Allow: /private", True), (b"Disallow: /private/a", True)):
        filler = b"#" * (MAX_ROBOTS_BYTES - len(head) - len(last) - 1) + b"\n"
        rules = read_robots(head + filler + last + b"/open/only/this", AGENT)
        assert rules.allows(f"{HOST}/private/a") is not closed
        assert rules.allows(f"{HOST}/b")
    rules = read_robots(b"User-agent: *\rDisallow: /a\r" * MAX_ROBOTS_BYTES, AGENT)
    assert not rules.allows(f"{HOST}/a")


def test_rules_of_many_hosts_take_bounded_room_and_none_is_forgotten_that_is_waited_for() -> None:
    answers = KnownRules(max_hosts=3, max_bytes=1_000)
    future = asyncio.new_event_loop().create_future()
    answers.put("waits", Known(future))
    for number in range(5):
        answers.put(f"{number}", Known(future))
        answers.settle(f"{number}", 9.0, 100)
    assert [name for name in ("waits", *"01234") if answers.get(name)] == ["waits", "3", "4"]
    answers.get("3")
    answers.put("large", Known(future))
    answers.settle("large", 9.0, 900)
    assert [name for name in ("waits", "3", "4", "large") if answers.get(name)] == ["waits", "3", "large"]
    answers.settle("large", 9.0, 950)
    assert [name for name in ("waits", "3", "large") if answers.get(name)] == ["waits", "large"]
