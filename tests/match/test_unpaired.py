"""Every reason that a page without a pair has, and every sentence of `explain`, is borne out by the tables."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp

from tests.baselines.test_methods import CHINESE, ENGLISH
from tests.made_sites import page, write_pages
from twinlink.baselines.url_rule import url_pairs
from twinlink.config import Config, MatchSettings
from twinlink.damage import list_tables
from twinlink.errors import ConfigError
from twinlink.explain.explanation import explain
from twinlink.explain.outcomes import WITHOUT_PROBABILITIES
from twinlink.graph.matching import Matching
from twinlink.ingest.stage import ingest
from twinlink.jobs.stages import match_stage
from twinlink.labels.book import Label, LabelBook, Verdict
from twinlink.languages import includes_language
from twinlink.match.evidence import FoundPairs, Side
from twinlink.match.labels import PairLabel
from twinlink.match.methods.registry import check_cut
from twinlink.match.selection import SideMatch, choose_pairs
from twinlink.match.unpaired import unpaired_pages
from twinlink.run import Run
from twinlink.rundir.commit import SIGNATURE
from twinlink.rundir.directory import RunDirectory
from twinlink.similarity.decision import EVEN
from twinlink.tables import REJECTS, Reject, read_table, write_table
from twinlink.wording import reason_words

FRENCH = (
    "Le comité se réunit à la mairie pour parler du budget des écoles de la ville.",
    "La bibliothèque ouvre à neuf heures du matin et ferme à huit heures du soir.",
    "De nouveaux trains rouleront entre le port et l'aéroport dès l'été prochain.",
    "Les personnes de plus de soixante ans peuvent visiter le musée sans rien payer.",
    "De fortes pluies sont attendues sur la côte, et les plages seront fermées demain.",
    "L'hôpital cherche des infirmières qui voudraient travailler la nuit et les jours fériés.",
    "Les paysans vendent leurs légumes sur la place du marché chaque samedi avant midi.",
    "Le pont sur la rivière a été construit il y a cent ans et sera réparé cette année.",
)
RUSSIAN = "Эта страница на русском языке рассказывает о погоде и о городской библиотеке."
TEXTS = {"en": ENGLISH, "tc": CHINESE, "fr": FRENCH}
HERE = "http://one.org"
METHODS = ("weighed", "liu2014", "urls", "bitextor2010", "webmining", "jangeldin")


def made_page(side: str, number: int, longer: int = 0) -> str:
    """Page n has n lists of n + 1 items, 9 - n paragraphs, and its number in its text."""
    text = f"{TEXTS[side][number - 1]} {1000 + 37 * number}."
    lists = f"<ul>{f'<li>{text}</li>' * (number + 1)}</ul>" * number
    paragraphs = "".join(f"<p>{text}</p>" for _ in range(9 - number + longer))
    links = "".join(f'<a href="page-{other}.html">{other}</a>' for other in range(1, 9) if other % number == 0)
    return f"<!doctype html><meta charset=utf-8><title>{number}</title><body>{paragraphs}{lists}{links}</body>"


def made_sites(folder: Path) -> Path:
    """A site in three languages with pages that have no partner, for every reason; and one in a single language."""
    pages = {f"{side}/page-{n}.html": made_page(side, n) for side in TEXTS for n in range(1, 9)}
    del pages["fr/page-3.html"], pages["tc/page-5.html"], pages["tc/page-7.html"], pages["fr/page-7.html"]
    pages |= {"en/page-2b.html": made_page("en", 2), "en/page-4-long.html": made_page("en", 4, longer=60)}
    pages |= {f"en/notes/{name}/x.html": page(f"{text} {text}") for name, text in zip("abc", ENGLISH, strict=False)}
    both = "".join(f"<p>{one}<p>{other}" for one, other in zip(ENGLISH, CHINESE, strict=True))
    pages |= {"ru.html": page(RUSSIAN * 3), "numbers.html": page("1 2 3"), "both.html": page(both)}
    write_pages(folder / "one.org", pages)
    write_pages(folder / "two.org", {f"en/page-{n}.html": made_page("en", n) for n in range(1, 6)})
    return folder


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has read the pages."""
    folder = tmp_path_factory.mktemp("unpaired")
    run = RunDirectory.create(folder / "run")
    ingest(run, [made_sites(folder / "sites")], Config().ingest)
    return run.path


Matched = Callable[..., Run]


@pytest.fixture
def matched(read: Path, tmp_path: Path) -> Matched:
    def match(method: str, langs: str = "en zh fr", said: Sequence[PairLabel] = (), **more: object) -> Run:
        wanted = {"langs": langs.split(), "match.method": method, **{f"match.{k}": v for k, v in more.items()}}
        config = Config().override({**wanted, "match.labels": bool(said)})
        shutil.copytree(read, tmp_path / "run")
        run = RunDirectory(tmp_path / "run")
        run.config_file.write_text(config.to_toml())
        for each in said:
            verdict: Verdict = "accept" if each.accepted else "reject"
            LabelBook(run.path).add(Label(each.url_a, each.url_b, verdict, "ann", datetime.now(UTC)))
        match_stage(run, config)
        return Run(run.path)

    return match


class Tables:
    """What the tables of a run say of its pages."""

    def __init__(self, run: Run) -> None:
        self.run, self.config = run, run.config
        self.url = dict(zip(run.pages["page_id"], run.pages["url"], strict=True))
        self.number = {url: number for number, url in self.url.items()}
        self.lang = dict(zip(run.pages["url"], run.pages["lang"], strict=True))
        self.site = dict(zip(run.pages["url"], run.pages["site"], strict=True))
        rows = run.rejects[run.rejects["stage"] == "match"]
        self.why = {row.url: (row.reason, row.detail) for row in rows.itertuples()}
        assert len(rows) == len(self.why)
        self.partners: dict[str, list[str]] = {}
        self._candidates: dict[str, pd.DataFrame] = {}
        for url_a, url_b in zip(run.pairs["url_a"], run.pairs["url_b"], strict=True):
            self.partners.setdefault(url_a, []).append(url_b)
            self.partners.setdefault(url_b, []).append(url_a)
        self.order = list(dict.fromkeys(name for name in run.filters["filter"] if name != "kept"))

    def candidates(self, url: str) -> pd.DataFrame:
        """The candidates of a page, with the address of the other page."""
        if url in self._candidates:
            return self._candidates[url]
        table, number = self.run.candidates, self.number[url]
        own = table[(table["page_a"] == number) | (table["page_b"] == number)]
        others = [b if a == number else a for a, b in zip(own["page_a"], own["page_b"], strict=True)]
        self._candidates[url] = own.assign(other=[self.url[other] for other in others])
        return self._candidates[url]

    def score(self, url_a: str, url_b: str) -> float:
        own = self.candidates(url_a)
        return float(own.loc[own["other"] == url_b, "score"].iloc[0])

    def goes_with(self, url: str) -> list[str]:
        """The pages that a page goes with in the matching, reported or not."""
        named = re.findall(r"with (http\S+?)(?:,|$)", self.why[url][1]) if url in self.why else []
        return [*self.partners.get(url, []), *named]

    def tag(self, url: str) -> str:
        return next((tag for tag in self.config.langs if includes_language(tag, self.lang[url])), "")


def in_words(reason: str, detail: str) -> str:
    """Return a reason as `explain` gives it: with its description, and with a detail that adds something."""
    is_said = reason.startswith("filter-") or reason in {
        "two-languages",
        "only-language",
        "no-candidate",
        "no-partner-left",
    }
    return f"{reason}, {reason_words(reason)}" + (f" ({detail})" if detail and not is_said else "")


def check_reason(tables: Tables, url: str) -> None:
    """Look a reason up in the tables."""
    reason, detail = tables.why[url]
    assert url not in tables.partners
    assert reason_words(reason)
    if reason.startswith("filter-"):
        check_filter(tables, url, reason)
    else:
        REASON_CHECKS[reason](tables, url, detail)


def check_filter(tables: Tables, url: str, reason: str) -> None:
    own = tables.candidates(url)
    assert len(own)
    assert own["filter"].notna().all()
    furthest = max(tables.order.index(name) for name in own["filter"])
    assert reason == f"filter-{tables.order[furthest]}"


def check_no_language(tables: Tables, url: str, detail: str) -> None:
    assert tables.lang[url] == "und"


def check_two_languages(tables: Tables, url: str, detail: str) -> None:
    assert tables.lang[url] == "mul"


def check_other_language(tables: Tables, url: str, detail: str) -> None:
    assert not tables.tag(url)
    assert detail == tables.lang[url]


def check_only_language(tables: Tables, url: str, detail: str) -> None:
    others = [other for other, site in tables.site.items() if site == tables.site[url]]
    assert {tables.tag(other) for other in others} - {""} == {tables.tag(url)}
    assert tables.candidates(url).empty


def check_no_candidate(tables: Tables, url: str, detail: str) -> None:
    assert tables.candidates(url).empty
    assert tables.tag(url)


def check_label(tables: Tables, url: str, detail: str) -> None:
    labels = tables.run.labels
    if told := re.fullmatch(r"not with (\S+): a label rejects the pair", detail):
        ends = {url, told[1]}
        assert (labels["url_a"].isin(ends) & labels["url_b"].isin(ends) & (labels["verdict"] == "reject")).any()
    else:
        assert (labels["verdict"] == "accept").any()


def check_lost(tables: Tables, url: str, detail: str) -> None:
    """Each candidate goes with another page, at least as well; those with a label do not say with which."""
    own = tables.candidates(url)
    kept = own[own["filter"].isna()]
    assert len(kept)
    for row in kept.itertuples():
        assert tables.why.get(row.other, [""])[0] == "label" or any(
            tables.score(row.other, partner) >= row.score
            for partner in tables.goes_with(row.other)
            if partner in set(tables.candidates(row.other)["other"])
        )


def check_copy(tables: Tables, url: str, detail: str) -> None:
    """The other page has the same content; it is in a pair of the matching, or has a reason of its own."""
    told = re.fullmatch(r"the same content as (\S+)", detail)
    assert told is not None
    assert told[1] != url
    pages = tables.run.pages.set_index("url")
    assert list(pages.loc[url, "blocks"]) == list(pages.loc[told[1], "blocks"])
    assert tables.goes_with(told[1]) or tables.why[told[1]][0] != "copy"


def check_limit(tables: Tables, url: str, detail: str) -> None:
    told = re.fullmatch(r"match\.(min_score|max_pairs) leaves out its pair with (\S+), of score (\S+)", detail)
    assert told is not None
    score = tables.score(url, told[2])
    assert float(told[3]) == pytest.approx(score, abs=1e-4)
    if told[1] == "min_score":
        assert score < tables.config.match.min_score
    else:
        langs = {tables.lang[url], tables.lang[told[2]]}
        pairs = tables.run.pairs[tables.run.pairs["lang_a"].isin(langs) & tables.run.pairs["lang_b"].isin(langs)]
        assert len(pairs) <= tables.config.match.max_pairs
        assert (pairs["score"] >= score).all()


def check_doubtful(tables: Tables, url: str, detail: str) -> None:
    reason, _ = tables.why[url]
    told = re.fullmatch(r"probability (\S+) with (\S+?)(?:, one of (\d+) pairs that are equally good)?", detail)
    assert told is not None
    assert told[2] in set(tables.candidates(url)["other"])
    assert (told[3] is not None) == (reason == "tie")
    least = tables.config.match.min_probability
    if tables.config.match.min_precision is None:
        assert float(told[1]) <= (EVEN if least is None else least) + 1e-4
    if told[3]:
        ends = pd.concat([tables.candidates(end) for end in (url, told[2])]).drop_duplicates(["page_a", "page_b"])
        equal = (ends["score"] >= tables.score(url, told[2]) - 1e-5).sum()
        assert 2 <= int(told[3]) <= equal


REASON_CHECKS = {
    "no-language": check_no_language,
    "two-languages": check_two_languages,
    "other-language": check_other_language,
    "only-language": check_only_language,
    "no-candidate": check_no_candidate,
    "crowded-address": check_no_candidate,
    "no-partner-left": check_lost,
    "copy": check_copy,
    "over-limit": check_limit,
    "doubtful": check_doubtful,
    "tie": check_doubtful,
    "label": check_label,
}


def check_parts(tables: Tables, url_a: str, url_b: str, verdict: str) -> set[str]:
    """Look up each part of what is said of two pages, and return what kinds of parts there were."""
    kinds = set()
    both = tables.candidates(url_a)
    both = both[both["other"] == url_b]
    for part in re.split(r"; (?!the two pages had|one of)", verdict.removeprefix("not a pair: ")):
        kind = next((kind for kind in SAID if re.fullmatch(kind, part)), "")
        assert kind, part
        told = re.fullmatch(kind, part)
        assert told is not None
        SAID[kind](tables, url_a, url_b, both, told)
        kinds.add(kind)
    return kinds


def _different_sites(tables: Tables, a: str, b: str, both: pd.DataFrame, told: re.Match[str]) -> None:
    assert {tables.site[a], tables.site[b]} == {told[1], told[2]}
    assert told[1] != told[2]


def _one_language(tables: Tables, a: str, b: str, both: pd.DataFrame, told: re.Match[str]) -> None:
    assert includes_language(told[1], tables.lang[a])
    assert includes_language(told[1], tables.lang[b])


def _candidate(tables: Tables, a: str, b: str, both: pd.DataFrame, told: re.Match[str]) -> None:
    assert both["filter"].isna().all()
    assert float(told[1]) == pytest.approx(both["score"].iloc[0], abs=1e-4)


def _filtered(tables: Tables, a: str, b: str, both: pd.DataFrame, told: re.Match[str]) -> None:
    assert both["filter"].tolist() == [told[1]]


def _by_address(tables: Tables, a: str, b: str, both: pd.DataFrame, told: re.Match[str]) -> None:
    assert both.empty
    assert tables.config.match.method in {"bitextor2010", "jangeldin", "urls"}
    if tables.config.match.method != "urls":
        assert not url_pairs([a], [b], tables.config.match.url_rule).pattern.nnz


def _no_candidate(tables: Tables, a: str, b: str, both: pd.DataFrame, told: re.Match[str]) -> None:
    assert both.empty
    counts = [len(tables.candidates(url)) for url in (a, b)]
    assert counts == [int(told[1]), int(told[2])]


def _taken(tables: Tables, a: str, b: str, both: pd.DataFrame, told: re.Match[str]) -> None:
    assert told[2] in tables.partners[told[1]]
    assert len({told[1], told[2]} & {a, b}) == 1
    assert {tables.tag(told[1]), tables.tag(told[2])} == {tables.tag(a), tables.tag(b)}


def _rejected(tables: Tables, a: str, b: str, both: pd.DataFrame, told: re.Match[str]) -> None:
    assert told[1] in {a, b}
    reason, detail = tables.why[told[1]]
    assert told[2] == in_words(reason, detail)


def _label(tables: Tables, a: str, b: str, both: pd.DataFrame, told: re.Match[str]) -> None:
    labels = tables.run.labels
    assert ((labels["url_a"] == a) & (labels["url_b"] == b) & (labels["verdict"] == "reject")).any()


SAID = {
    r"they are of different sites \((\S+), (\S+)\), and each site is matched separately": _different_sites,
    r"both pages are in the same language \((\S+)\)": _one_language,
    r"it was a candidate, of score (\S+)": _candidate,
    r"it was a candidate, which the filter (\S+) rejected": _filtered,
    r"it was not a candidate: (the URL rule|neither hreflang|no URL pattern).*": _by_address,
    r"it was not a candidate; the two pages had (\d+) and (\d+) others": _no_candidate,
    r"(\S+) ↔ (\S+) was chosen instead": _taken,
    r"a label rejects it": _label,
    r"(\S+): rejected in match: (.*)": _rejected,
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("langs", ["en zh fr", "en zh"])
def test_every_reason_of_a_page_is_true(matched: Matched, method: str, langs: str) -> None:
    run = matched(method, langs)
    tables = Tables(run)
    assert set(tables.why) | set(tables.partners) == set(tables.number)
    for url, (reason, detail) in tables.why.items():
        check_reason(tables, url)
        assert run.explain(url).verdict == f"no pair; rejected in match: {in_words(reason, detail)}"
    reasons = {reason for reason, _ in tables.why.values()}
    assert {"no-language", "other-language", "only-language"} <= reasons
    assert len(run.pairs) >= 6


@pytest.mark.parametrize("method", METHODS)
def test_every_sentence_about_two_pages_is_true(matched: Matched, method: str) -> None:
    run = matched(method)
    tables, kinds = Tables(run), set()
    chosen = [url for url in tables.number if re.search(r"page-[27]b?\.|notes/a|ru|both|numbers", url)]
    for url_a, url_b in combinations(chosen, 2):
        told = explain(run, url_a, url_b)
        assert (told.state == "pair") == (url_b in tables.partners.get(url_a, []))
        if told.state != "pair":
            kinds |= check_parts(tables, url_a, url_b, told.verdict)
    assert len(kinds) >= 5
    for row in run.pairs.itertuples():
        verdict = run.explain(row.url_b, row.url_a).verdict
        chance = "no probability (the method gives none)"
        chance = chance if method in WITHOUT_PROBABILITIES else f"probability {row.probability:.3f}"
        assert verdict == f"a pair: {chance}, score {row.score:.4f}, best rival {row.rival:.4f}"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("limit", [{"min_score": 0.9}, {"max_pairs": 4, "min_score": 0.3}])
def test_limits_are_reported_as_limits(matched: Matched, method: str, limit: dict[str, float]) -> None:
    """Not as doubt, and not as a better partner of each candidate."""
    tables = Tables(matched(method, "en zh", **limit))
    for url in tables.why:
        check_reason(tables, url)
    if "max_pairs" in limit:
        assert "over-limit" in {reason for reason, _ in tables.why.values()}


@pytest.mark.parametrize("method", METHODS)
def test_reasons_with_labels(matched: Matched, method: str) -> None:
    one, two, four, six = ((f"{HERE}/en/page-{n}.html", f"{HERE}/tc/page-{n}.html") for n in (1, 2, 4, 6))
    said = [PairLabel(*one, accepted=False), PairLabel(two[0], four[1], accepted=True), PairLabel(*six, accepted=False)]
    said.append(PairLabel(f"{HERE}/en/page-3.html", six[1], accepted=True))
    run = matched(method, "en zh", said)
    tables = Tables(run)
    for url in tables.why:
        check_reason(tables, url)
    for pair in (one, six):
        told = run.explain(*pair)
        assert told.state == "no pair"
        assert r"a label rejects it" in check_parts(tables, *pair, told.verdict)
    assert run.explain(two[0], four[1]).state == "pair"
    accepted = run.pairs[run.pairs["probability"].isna()]
    for row in accepted.itertuples() if method in {"weighed", "liu2014"} else ():
        assert "no probability (a label made it a pair)" in run.explain(row.url_a, row.url_b).verdict


def test_evidence_and_weights_are_those_of_the_two_languages(matched: Matched) -> None:
    """A page in three languages has candidates in two others: those of the third are no rivals of a pair."""
    run = matched("weighed")
    tables = Tables(run)
    chinese = run.pairs[(run.pairs["lang_a"] == "en") & (run.pairs["lang_b"] == "zh-Hant")]
    weights = run.weights[(run.weights["lang_a"] == "en") & (run.weights["lang_b"] == "zh-Hant")]
    for row in chinese.itertuples():
        told = run.explain(row.url_a, row.url_b)
        assert told.weights == pytest.approx(dict(zip(weights["evidence"], weights["weight"], strict=True)))
        ends = pd.concat([tables.candidates(url) for url in (row.url_a, row.url_b)])
        langs = {tables.lang[row.url_a], tables.lang[row.url_b]}
        others = ends[[tables.lang[url] in langs and url not in {row.url_a, row.url_b} for url in ends["other"]]]
        best = others.sort_values("score", ascending=False, kind="stable").iloc[0]
        shown = told.evidence.set_index("evidence")["rival"]
        assert {name: float(best[name]) for name in shown.index} == pytest.approx(dict(shown))


def test_a_kept_page_that_ingest_told_of_is_not_called_rejected_by_it(matched: Matched) -> None:
    """An older capture of its address is no reason why it has no pair."""
    run = matched("weighed")
    url = next(iter(Tables(run).why))
    file = run.path / "ingest" / "rejects.parquet"
    older = {"url": url, "stage": "ingest", "reason": "older-capture", "detail": ""}
    rows = [*read_table(file, REJECTS).to_pylist(), older]
    write_table(pa.Table.from_pylist(rows, REJECTS), REJECTS, file)
    signature = file.with_name(SIGNATURE)
    record = {**json.loads(signature.read_bytes()), "tables": list_tables(file.parent)}
    signature.write_text(json.dumps(record))
    assert "older-capture" not in run.reload().explain(url).verdict


@pytest.mark.parametrize("method", METHODS)
def test_methods_without_probabilities(method: str) -> None:
    settings = Config().override({"match.method": method, "match.min_precision": 0.9}).match
    if method in WITHOUT_PROBABILITIES:
        with pytest.raises(Exception, match="gives no probabilities"):
            check_cut(settings)
    else:
        check_cut(settings)


@pytest.mark.parametrize(("cut", "is_refused"), [(0.0, False), (0.48, False), (0.5, False), (0.501, True)])
def test_cuts_above_the_default_need_a_method_with_probabilities(cut: float, is_refused: bool) -> None:
    """The default cut is in every settings file, so it cannot be an error; a lower one asks for less."""
    settings = Config().override({"match.method": "urls", "match.min_probability": cut}).match
    with pytest.raises(ConfigError, match="gives no probabilities") if is_refused else nullcontext():
        check_cut(settings)


# ---- by hand: two languages of three pages each


def side_of(lang: str) -> Side:
    urls = [f"/{lang}/{n}" for n in range(3)]
    return Side(lang, np.arange(3), urls, [[]] * 3, [b""] * 3, sp.csr_array((3, 3), dtype=np.bool_))


def match_of(
    scores: Sequence[Sequence[float]],
    pairs: Sequence[tuple[int, int]],
    chances: Sequence[float] = (),
    *,
    filters: Sequence[str] = (),
    filter_of: Sequence[str] = (),
    n_equal: Sequence[int] | None = None,
    labels: Sequence[Sequence[int]] | None = None,
    langs: tuple[str, str] = ("en", "fr"),
    settings: MatchSettings | None = None,
) -> SideMatch:
    """Return a match with these pairs, best first; their chances are 1 unless they are given."""
    matrix = sp.csr_array(np.array(scores, np.float32))
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    found = FoundPairs(
        scores=matrix,
        evidence={},
        matching=Matching(ends[:, 0], ends[:, 1], np.array([scores[a][b] for a, b in pairs], np.float32)),
        rivals=np.zeros(len(pairs)),
        probabilities=np.array(chances or [1.0] * len(pairs)),
        weights={},
        n_filtered=dict.fromkeys([*filters, *(["kept"] if filters else [])], 1),
        filter_of=filter_of,
        n_equal=None if n_equal is None else np.array(n_equal),
    )
    said = None if labels is None else sp.csr_array(np.array(labels))
    match_ = SideMatch(*map(side_of, langs), found, np.ones(len(pairs), np.bool_), labels=said)
    return choose_pairs(match_, settings or MatchSettings())


def reasons_of(*matches: SideMatch) -> dict[str, tuple[str, str]]:
    """Return reason and detail of each page of the matches that is in no pair."""
    sides = {side.lang: side for match_ in matches for side in (match_.side_a, match_.side_b)}
    urls = [url for side in sides.values() for url in side.urls]
    langs = [side.lang for side in sides.values() for _ in side.urls]
    rejects = unpaired_pages(urls, langs, np.ones(len(urls), np.bool_), matches)
    assert {reject.stage for reject in rejects} <= {"match"}
    return {reject.url: (reject.reason, reject.detail) for reject in rejects}


NO_CANDIDATE = ("no-candidate", "it has no candidate")
GOOD = ("no-partner-left", "the matching gave each of its candidates to another page that is equally good or better")
OUTVOTED = ("no-partner-left", "pages in further languages are evidence for other pairs of its candidates")
UNLABELLED = [[0] * 3] * 3
"""Labels, but none of these pages: there are any at all."""
APART = ("label", "labels rejected pairs, and the remaining pages were not matched again")


def test_pages_in_a_pair_have_no_reason() -> None:
    assert reasons_of(match_of(np.eye(3).tolist(), [(0, 0), (1, 1), (2, 2)])) == {}


def test_pages_that_lose_their_candidates_to_better_ones_or_have_none() -> None:
    """Page 1 of A loses to page 0, equally good; page 1 of B to page 0, which is better."""
    scores = [[0.5, 0.25, 0], [0.5, 0, 0], [0, 0, 0]]
    assert reasons_of(match_of(scores, [(0, 0)])) == {
        "/en/1": GOOD, "/en/2": NO_CANDIDATE, "/fr/1": GOOD, "/fr/2": NO_CANDIDATE,
    }  # fmt: skip


def test_only_labels_leave_a_candidate_to_a_worse_page() -> None:
    """Page 1 of A is better for page 0 of B than page 0 is, and pages 2 have only each other."""
    scores = [[0.5, 0, 0], [0.75, 0, 0], [0, 0, 0.5]]
    assert reasons_of(match_of(scores, [(0, 0)], labels=UNLABELLED)) == {
        "/en/1": APART, "/en/2": APART, "/fr/1": NO_CANDIDATE, "/fr/2": APART,
    }  # fmt: skip


def test_without_labels_further_languages_leave_a_candidate_to_a_worse_page() -> None:
    scores = [[0.5, 0, 0], [0.75, 0, 0], [0, 0, 0.5]]
    assert reasons_of(match_of(scores, [(0, 0)])) == {
        "/en/1": OUTVOTED, "/en/2": OUTVOTED, "/fr/1": NO_CANDIDATE, "/fr/2": OUTVOTED,
    }  # fmt: skip


def test_a_page_of_a_doubtful_pair_has_that_pair_for_a_reason() -> None:
    """Though labels left page 1 of B, which is better for page 0 of A, without a pair."""
    scores = [[0.5, 0.75, 0], [0, 0, 0], [0, 0, 0]]
    found = reasons_of(match_of(scores, [(0, 0)], [0.125], labels=UNLABELLED))
    assert found["/en/0"] == ("doubtful", "probability 0.1250 with /fr/0")
    assert found["/fr/0"] == ("doubtful", "probability 0.1250 with /en/0")
    assert found["/fr/1"] == APART


def test_the_last_filter_that_a_candidate_of_a_page_reached_counts() -> None:
    """Candidates in rows: page 0 of A has two, pages 1 and 2 have one each. That of page 2 passes, and is lost."""
    scores = [[0.5, 0.5, 0], [0, 0.5, 0], [0, 0, 0.5]]
    filter_of = ["length", "content", "length", ""]
    last, first, lost = *(f"filter-{name}" for name in ("content", "length")), "no-partner-left"
    found = reasons_of(match_of(scores, [], filters=["length", "content"], filter_of=filter_of))
    assert {url: reason for url, (reason, _) in found.items()} == {
        "/en/0": last, "/en/1": first, "/en/2": lost, "/fr/0": first, "/fr/1": last, "/fr/2": lost,
    }  # fmt: skip
    assert found["/en/0"][1] == "none of its candidates passed this filter"


def test_a_filtered_candidate_is_left_to_no_worse_page() -> None:
    """Page 1 of A has a higher score, but the filter rejected it."""
    scores = [[0.5, 0, 0], [0.75, 0, 0], [0, 0, 0]]
    found = reasons_of(match_of(scores, [(0, 0)], filters=["length"], filter_of=["", "length"]))
    assert found["/en/1"][0] == "filter-length"


@pytest.mark.parametrize(
    ("chance", "n", "reason", "detail"),
    [
        (0.25, 1, "doubtful", "probability 0.2500 with {}"),
        (0.25, 2, "doubtful", "probability 0.2500 with {}"),
        (0.375, 2, "tie", "probability 0.3750 with {}, one of 2 pairs that are equally good"),
        (0.25, 3, "tie", "probability 0.2500 with {}, one of 3 pairs that are equally good"),
    ],
)
def test_a_tie_is_a_doubt_of_which_one_is_probably_right(chance: float, n: int, reason: str, detail: str) -> None:
    """Two at a chance of a quarter each are as likely wrong as right."""
    match_ = match_of(np.eye(3).tolist(), [(0, 0), (1, 1), (2, 2)], [1, chance, 1], n_equal=[1, n, 1])
    assert reasons_of(match_) == {"/en/1": (reason, detail.format("/fr/1")), "/fr/1": (reason, detail.format("/en/1"))}


def test_limits_name_the_pair_that_they_leave_out() -> None:
    scores = np.diag([0.75, 0.5, 0.25]).tolist()
    settings = MatchSettings(max_pairs=1, min_score=0.5)
    text = "match.{} leaves out its pair with /{}/{}, of score {}"
    assert reasons_of(match_of(scores, [(0, 0), (1, 1), (2, 2)], settings=settings)) == {
        f"/{own}/{n}": ("over-limit", text.format(limit, other, n, score))
        for n, limit, score in ((1, "max_pairs", "0.5000"), (2, "min_score", "0.2500"))
        for own, other in (("en", "fr"), ("fr", "en"))
    }


def test_a_rejected_pair_is_the_reason_of_both_pages() -> None:
    labels = [[-1, 0, 0], [0, 0, 0], [0, 0, 0]]
    found = reasons_of(match_of(np.diag([0, 0.5, 0.5]).tolist(), [(1, 1), (2, 2)], labels=labels))
    assert found == {
        "/en/0": ("label", "not with /fr/0: a label rejects the pair"),
        "/fr/0": ("label", "not with /en/0: a label rejects the pair"),
    }


NOTHING = [[0.0] * 3] * 3
ONE = [[0.5, 0, 0], [0, 0, 0], [0, 0, 0]]
FILTERS = ["length", "content"]
STEPS: list[tuple[str, dict[str, Any]]] = [
    ("no-candidate", {"scores": NOTHING, "pairs": []}),
    ("filter-length", {"scores": ONE, "pairs": [], "filters": FILTERS, "filter_of": ["length"]}),
    ("filter-content", {"scores": ONE, "pairs": [], "filters": FILTERS, "filter_of": ["content"]}),
    ("no-partner-left", {"scores": [[0.5, 0, 0], [0.5, 0, 0], [0, 0, 0]], "pairs": [(1, 0)]}),
    ("doubtful", {"scores": ONE, "pairs": [(0, 0)], "chances": [0.125]}),
    ("tie", {"scores": ONE, "pairs": [(0, 0)], "chances": [0.25], "n_equal": [3]}),
    ("over-limit", {"scores": ONE, "pairs": [(0, 0)], "settings": MatchSettings(max_pairs=0)}),
]
"""Reasons of page 0 in the order of how far it came, each in another language."""


@pytest.mark.parametrize(("first", "second"), list(combinations(range(len(STEPS)), 2)))
def test_of_several_languages_that_counts_in_which_a_page_came_furthest(first: int, second: int) -> None:
    for order in ((first, second), (second, first)):
        matches = [match_of(**STEPS[k][1], langs=("en", lang)) for k, lang in zip(order, ("fr", "de"), strict=True)]
        assert reasons_of(*matches)["/en/0"][0] == STEPS[second][0]


def test_a_pair_in_one_language_is_enough() -> None:
    paired = match_of(ONE, [(0, 0)], langs=("en", "de"))
    assert "/en/0" not in reasons_of(match_of(NOTHING, []), paired)
    assert reasons_of(match_of(NOTHING, []), paired)["/fr/0"] == NO_CANDIDATE


@pytest.mark.parametrize(
    ("lang", "is_wanted", "reason", "detail"),
    [
        ("und", False, "no-language", ""),
        ("mul", False, "two-languages", "block by block in two of the wanted languages"),
        ("ru", False, "other-language", "ru"),
        ("en", True, "only-language", "no page of its site is in a matched language other than en"),
    ],
)
def test_pages_that_were_not_compared(lang: str, is_wanted: bool, reason: str, detail: str) -> None:
    (reject,) = unpaired_pages(["/a"], [lang], np.array([is_wanted]), [])
    assert reject == Reject("/a", "match", reason, detail)
