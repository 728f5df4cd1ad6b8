from __future__ import annotations

import re
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import numpy as np
import pytest
from msgspec.structs import replace

from tests.archives import write_toy_archive
from tests.made_sites import LANGS
from tests.review.conftest import OURS, PORT, TestClient, Visiting, Visitor
from tests.review.fakes import FakeRun, page_a, page_b, toy_page
from twinlink.align.stage import align_run
from twinlink.config import Config
from twinlink.ingest.stage import ingest
from twinlink.labels.book import Label, LabelBook
from twinlink.match.stage import match
from twinlink.progress import Latest
from twinlink.review.app.app import make_app
from twinlink.review.app.filters import VIEWS, Selection, page_number, selection_of
from twinlink.review.app.listing import Session
from twinlink.review.app.security import FRAME_POLICY
from twinlink.review.reading.orders import ORDERS, Order, ordered
from twinlink.review.reading.run_view import RunView
from twinlink.review.records import Compared
from twinlink.rundir.directory import RunDirectory

CONFIG = Config().override({"langs": list(LANGS), "match.method": "liu2014", "match.min_score": 0.0})


def pair_of(number: int) -> str:
    return f"/pair/{page_a(number)}/{page_b(number)}"


def ends(number: int) -> dict[str, int]:
    return {"a": page_a(number), "b": page_b(number)}


def verdicts(visitor: Visitor) -> dict[str, str]:
    """What is said of each pair: numbers of the two addresses → verdict."""
    numbers = re.compile(r"/(\d+)\.html")
    return {"-".join(numbers.findall(f"{a} {b}")): label.verdict for (a, b), label in visitor.labels.current().items()}


class TestQueue:
    def test_what_teaches_most_comes_first(self, visiting: Visiting) -> None:
        run = FakeRun(30)
        order = [str(row) for row in ordered(run.pairs, {}, "teach").tolist()]
        visitor = visiting(run)
        assert re.findall(r"Annual report (\d+)", visitor.get("/queue")) == order[:25]
        assert "How the pairs are ordered" in visitor.get("/queue")
        assert "How the pairs are ordered" not in visitor.get("/queue?by=doubt")

    def test_most_doubtful_pair_is_first(self, visiting: Visiting) -> None:
        page = visiting().get("/queue?by=doubt")
        assert re.findall(r"Annual report (\d+)", page) == list("76543210")

    @pytest.mark.parametrize(("by", "first"), [("probable", 0), ("doubt", 7)])
    def test_orders(self, visiting: Visiting, by: str, first: int) -> None:
        assert re.findall(r"Annual report (\d+)", visiting().get(f"/queue?by={by}"))[0] == str(first)

    def test_random_order_is_another_one_and_stays_the_same(self, visiting: Visiting) -> None:
        visitor = visiting(FakeRun(20))
        first, again = (re.findall(r"Annual report (\d+)", visitor.get("/queue?by=random")) for _ in range(2))
        assert first == again
        assert sorted(first) == sorted(str(number) for number in range(20))
        assert first not in (sorted(first, key=int), sorted(first, key=int, reverse=True))

    def test_is_narrowed_to_a_site(self, visiting: Visiting) -> None:
        page = visiting(FakeRun(10)).get("/queue?site=other.example")
        assert sorted(re.findall(r"Annual report (\d+)", page)) == ["4", "9"]
        assert "0 of 2" in page

    def test_languages_that_no_pair_has_leave_none(self, visiting: Visiting) -> None:
        assert "No pair in this selection" in visiting().get("/queue?langs=fr+de")

    def test_long_queue_comes_in_pages(self, visiting: Visiting) -> None:
        visitor = visiting(FakeRun(60))
        assert re.findall(r"Annual report (\d+)", visitor.get("/queue?by=doubt&page=3")) == [
            str(k) for k in range(9, -1, -1)
        ]
        assert "Page 3 of 3" in visitor.get("/queue?page=999999")
        assert "Page 1 of 3" in visitor.get("/queue?page=-4")

    def test_labelled_pairs_come_last_and_can_be_chosen(self, visiting: Visiting) -> None:
        visitor = visiting()
        visitor.post("/label", **ends(7), verdict="reject")
        assert re.findall(r"Annual report (\d+)", visitor.get("/queue"))[-1] == "7"
        assert re.findall(r"Annual report (\d+)", visitor.get("/queue?show=reject")) == ["7"]
        assert "7" not in re.findall(r"Annual report (\d+)", visitor.get("/queue?show=open"))

    def test_tells_who_said_what(self, visiting: Visiting) -> None:
        visitor = visiting(who="béa")
        visitor.post("/label", **ends(7), verdict="accept")
        assert re.search(r"accepted</span>\s*<span class=\"muted\">by <bdi>béa</bdi>, <time", visitor.get("/queue"))

    def test_tells_precision_by_labels_beside_the_expected_one(self, visiting: Visiting) -> None:
        visitor = visiting()
        before = visitor.get("/queue")
        assert "none yet" in before
        assert f"{100 * np.linspace(0.99, 0.55, 8).mean():.1f} %" in before
        visitor.post("/label", **ends(0), verdict="reject")
        few = visitor.get("/queue")
        assert "precision by the labels: too few (" in few
        assert re.search(r"about \d+ in random order are needed", few)
        for number in range(1, 8):
            visitor.post("/label", **ends(number), verdict="accept")
        page = visitor.get("/queue")
        assert "8 of 8" in page
        assert "<b>87.5 %</b>" in page  # all pairs have a label: 7 of 8

    def test_no_precision_is_expected_where_a_pair_has_no_probability(self, visiting: Visiting) -> None:
        run = FakeRun()
        run.pairs.loc[3, "probability"] = np.nan
        page = visiting(run).get("/queue")
        assert "no expected precision: not every pair has a probability" in page
        assert "tells no probability" not in page

    def test_start_is_the_live_view_until_there_are_pairs(self, visiting: Visiting) -> None:
        visitor = visiting(FakeRun(0))
        assert visitor.place(visitor.client.get("/")) == "/live"
        visitor.run.grow(3)
        assert visitor.place(visitor.client.get("/")) == "/queue"


class TestPair:
    @pytest.mark.parametrize("view", VIEWS)
    def test_every_view_shows_both_pages(self, visiting: Visiting, view: str) -> None:
        page = visiting().get(f"{pair_of(3)}?view={view}")
        assert "Annual report 3" in page
        assert "年報 3" in page
        assert 'aria-current="true"' in page

    def test_look_is_framed_without_any_right(self, visiting: Visiting) -> None:
        page = visiting().get(f"{pair_of(3)}?view=look")
        frames = re.findall(r"<iframe[^>]*>", page)
        assert [re.search(r'src="([^"]*)"', frame)[1] for frame in frames] == ["/look/1003", "/look/-1003"]  # type: ignore[index]
        assert all('sandbox=""' in frame for frame in frames)

    def test_page_whose_archive_is_gone_is_reported_in_its_frame(self, visiting: Visiting) -> None:
        answer = visiting(FakeRun(3)).client.get("/look/1003")
        assert answer.status_code == 404
        assert answer.headers["content-security-policy"] == FRAME_POLICY  # the other one forbids any frame
        assert "do not contain this page" in answer.text

    def test_evidence_stands_with_its_weight_heaviest_first(self, visiting: Visiting) -> None:
        page = visiting().get(pair_of(3))
        table = page[page.index('<table class="evidence"') :]
        names = re.findall(r'<th scope="row"><span title="([^"]*)">(\w+)', table)
        assert [name for _, name in names] == ["content", "external", "structure", "length"]
        assert names[0][0] == "content similarity S_cb: lexicons and shared tokens"
        weights = [row.rsplit("</svg>", 1)[1].split("</td>")[0].strip() for row in table.split("<tr>")[2:]]
        assert weights == ["50 %", "30 %", "20 %", "0 %"]

    def test_rivals_can_be_opened_and_chosen(self, visiting: Visiting) -> None:
        page = visiting().get(pair_of(3))
        assert "/pair/1003/-1004?instead=1003.-1003" in page
        assert re.search(r'name="new_b" value="-1004"', page)

    def test_a_rival_is_accepted_in_place_of_the_pair(self, visiting: Visiting) -> None:
        page = visiting().get("/pair/1003/-1004?instead=1003.-1003")
        assert 'action="/repair"' in page
        assert "Accept instead" in page

    def test_search_finds_pages_of_the_wanted_side(self, visiting: Visiting) -> None:
        visitor = visiting()
        found = visitor.get(f"{pair_of(3)}?q=5&side=b")
        assert 'aria-label="Choose 年報 5"' in found
        assert 'aria-label="Choose Annual report 5"' not in found
        assert 'aria-label="Choose Annual report 5"' in visitor.get(f"{pair_of(3)}?q=eport+5&side=a")
        assert "No page in zh-Hant" in visitor.get(f"{pair_of(3)}?q=nowhere")

    def test_ways_to_the_pairs_around(self, visiting: Visiting) -> None:
        page = visiting().get(pair_of(3) + "?by=probable")
        assert f'href="{pair_of(2)}?by=probable" rel="prev"' in page
        assert f'href="{pair_of(4)}?by=probable" rel="next"' in page
        assert "Pair 4 of 8" in page

    def test_turned_round_is_turned_back(self, visiting: Visiting) -> None:
        visitor = visiting()
        assert visitor.place(visitor.client.get(f"/pair/{page_b(3)}/{page_a(3)}")) == pair_of(3)

    @pytest.mark.parametrize(
        "path", ["/pair/1/2", "/pair/1000/1000", "/pair/x/-1000", "/pair/1000/99999999999999999999"]
    )
    def test_pages_that_are_not_there(self, visiting: Visiting, path: str) -> None:
        assert "<h1>Not found</h1>" in visiting().get(path, 404)

    def test_unknown_address_and_method(self, visiting: Visiting) -> None:
        assert "There is nothing at this address." in visiting().get("/pairs", 404)
        assert "does not accept this method" in visiting().post("/queue", 405).text

    def test_huge_table_comes_in_parts(self, visiting: Visiting) -> None:
        huge = toy_page(page_a(0))
        blocks = tuple(f"cell {k}" for k in range(2_500))
        pages = {page_a(0): replace(huge, blocks=blocks)}
        visitor = visiting(FakeRun(pages=pages))
        page = visitor.get(pair_of(0))
        assert len(page) < 400_000
        assert "Part 1 of" in page
        assert "cell 2400" in visitor.get(f"{pair_of(0)}?part=99999")

    def test_tags_are_shown_with_the_distances_and_their_bounds(self, visiting: Visiting) -> None:
        visitor = visiting()
        assert "What the method compared" not in visitor.get(f"{pair_of(3)}?view=tags")
        visitor.run.checks = (
            Compared("size", 0.125, "<=", 0.3, "passed", "bytes"),
            Compared("structure", None, "<=", 52.9369, "failed", "tag distance"),
        )
        page = re.sub(r"<[^>]*>", " ", visitor.get(f"{pair_of(3)}?view=tags"))
        assert "distance 2: insertions and deletions" in page  # ul and li
        assert re.search(r"size +bytes +0\.1250 +(<|&lt;)= 0\.3000 +passed", page)
        assert re.search(r"structure +tag distance +– +(<|&lt;)= 52\.9369 +failed", page)
        assert "What the method compared" not in visitor.get(f"{pair_of(3)}?view=text")

    def test_sentences_that_were_not_aligned(self, visiting: Visiting) -> None:
        assert "have not been aligned" in visiting().get("/pair/1003/-1004?view=sentences")


class TestLabels:
    def test_next_pair_comes_by_itself(self, visiting: Visiting) -> None:
        visitor = visiting()
        answer = visitor.post("/label", **ends(7), verdict="accept", by="doubt", view="look")
        assert visitor.place(answer) == f"{pair_of(6)}?by=doubt&view=look"
        assert "Accepted: Annual report 7 ↔ 年報 7" in answer.text
        assert verdicts(visitor) == {"7-7": "accept"}

    def test_skipped_pair_comes_again_at_the_end(self, visiting: Visiting) -> None:
        visitor = visiting(FakeRun(3))
        places = []
        for number, verdict in [(2, "skip"), (1, "accept"), (0, "reject")]:
            places.append(visitor.place(visitor.post("/label", **ends(number), verdict=verdict)))
        assert places == [pair_of(1), pair_of(0), pair_of(2)]
        assert verdicts(visitor) == {"1-1": "accept", "0-0": "reject"}

    def test_order_and_choice_are_kept_on_the_way(self, visiting: Visiting) -> None:
        visitor = visiting(FakeRun(10))
        answer = visitor.post("/label", **ends(4), verdict="accept", by="probable", site="other.example")
        assert visitor.place(answer) == f"{pair_of(9)}?by=probable&site=other.example"

    def test_after_the_last_pair_comes_the_queue(self, visiting: Visiting) -> None:
        visitor = visiting(FakeRun(1))
        answer = visitor.post("/label", **ends(0), verdict="reject")
        assert visitor.place(answer) == "/queue"
        assert "That was the last pair" in answer.text
        assert visitor.place(visitor.client.get("/next")) == "/queue"

    def test_label_is_changed_by_another(self, visiting: Visiting) -> None:
        visitor = visiting()
        visitor.post("/label", **ends(7), verdict="accept")
        visitor.post("/label", **ends(7), verdict="reject", note="  another year ")
        assert verdicts(visitor) == {"7-7": "reject"}
        assert "another year" in visitor.get(pair_of(7))

    def test_pairing_anew_is_one_step(self, visiting: Visiting) -> None:
        visitor = visiting()
        answer = visitor.post("/repair", **ends(7), new_a=page_a(7), new_b=page_b(5), by="doubt")
        assert visitor.place(answer) == f"{pair_of(6)}?by=doubt"
        assert verdicts(visitor) == {"7-7": "reject", "7-5": "accept"}
        visitor.post("/undo")
        assert verdicts(visitor) == {}

    def test_undo_goes_back_to_the_pair(self, visiting: Visiting) -> None:
        visitor = visiting()
        visitor.post("/label", **ends(7), verdict="accept")
        answer = visitor.post("/undo", here=pair_of(6), by="probable")
        assert visitor.place(answer) == f"{pair_of(7)}?by=probable"
        assert verdicts(visitor) == {}
        assert "You have no label to undo." in visitor.post("/undo", here="/labels").text

    def test_undo_never_leads_away(self, visiting: Visiting) -> None:
        for here in ("https://evil.example/", "//evil.example/", "/\\evil.example"):
            assert visiting().post("/undo", here=here).url.host == "127.0.0.1"

    def test_labels_and_undo_outlive_a_restart(self, visiting: Visiting, tmp_path: Path) -> None:
        visiting().post("/label", **ends(7), verdict="accept")
        again = visiting()
        assert verdicts(again) == {"7-7": "accept"}
        assert "1 of 8" in again.get("/queue")
        again.post("/undo")
        assert verdicts(again) == {}

    def test_undo_takes_back_only_ones_own(self, visiting: Visiting) -> None:
        visiting(who="ann").post("/label", **ends(7), verdict="accept")
        bob = visiting(who="bob")
        bob.post("/undo")
        assert verdicts(bob) == {"7-7": "accept"}

    def test_history_shows_steps_and_what_was_taken_back(self, visiting: Visiting) -> None:
        visitor = visiting()
        visitor.post("/label", **ends(7), verdict="accept")
        visitor.post("/undo")
        visitor.post("/repair", **ends(6), new_a=page_a(6), new_b=page_b(5))
        page = visitor.get("/labels")
        assert "2 labels active: 1 accepted, 1 rejected" in page
        assert page.index(", re-paired") < page.index("<strong>undone</strong>")

    def test_label_is_changed_in_the_history(self, visiting: Visiting) -> None:
        visitor = visiting()
        visitor.post("/label", **ends(0), verdict="accept")
        assert "Reject instead" in visitor.get("/labels")
        answer = visitor.post("/label", **ends(0), verdict="reject", here="/labels")
        assert visitor.place(answer) == "/labels"
        assert verdicts(visitor) == {"0-0": "reject"}
        assert visitor.get("/labels").count(" instead</button>") == 1  # only the label in force can be changed

    def test_long_history_comes_in_pages(self, visiting: Visiting) -> None:
        visitor = visiting()
        for _ in range(51):
            visitor.post("/label", **ends(7), verdict="accept")
        assert "Page 2 of 2" in visitor.get("/labels?page=2")

    def test_export(self, visiting: Visiting) -> None:
        visitor = visiting()
        visitor.post("/label", **ends(7), verdict="accept")
        visitor.post("/label", **ends(6), verdict="reject")
        lines = visitor.get("/export/labels.tsv").splitlines()
        assert [line.split("\t")[:4] for line in lines[1:]] == [
            ["http://toy.example/en/7.html", "http://toy.example/tc/7.html", "accept", "ann"],
            ["http://toy.example/en/6.html", "http://toy.example/tc/6.html", "reject", "ann"],
        ]
        assert visitor.get("/export/labels.gold.tsv").split() == lines[1].split("\t")[:2]

    @pytest.mark.parametrize(
        ("path", "form"),
        [
            ("/label", {"a": "1000", "b": "-1000", "verdict": "maybe"}),
            ("/label", {"a": "x", "b": "-1000", "verdict": "accept"}),
            ("/label", {"verdict": "accept"}),
            ("/repair", {"a": "1000", "b": "-1000", "new_a": "1000", "new_b": "-1000"}),
            ("/pause", {"wanted": "perhaps"}),
        ],
    )
    def test_forms_that_make_no_sense_change_nothing(self, visiting: Visiting, path: str, form: dict[str, str]) -> None:
        visitor = visiting()
        visitor.post(path, 400, **form)
        assert visitor.labels.history() == ()

    def test_file_that_cannot_be_written_is_reported(self, visiting: Visiting, tmp_path: Path) -> None:
        visitor = visiting()
        (tmp_path / "review").write_text("in the way")
        answer = visitor.post("/label", 500, **ends(7), verdict="accept")
        assert "cannot be read" in answer.text


class TestLive:
    def test_tells_what_has_come(self, visiting: Visiting) -> None:
        page = visiting(FakeRun(working=True, live_pairs=2)).get("/live")
        assert "Pairs: 2" in page
        assert "fetch pages" in page
        assert "http://toy.example/en/new.html" in page
        assert "robots.txt asks not to fetch it" in page
        assert 'hx-trigger="every' in page

    def test_shows_the_pairs_so_far_of_a_site_in_work(self, visiting: Visiting) -> None:
        run = FakeRun(working=True, live_pairs=2)
        page = visiting(run).get("/live")
        assert "Pairs so far: 10" in page
        assert "provisional" in page
        assert f'href="{pair_of(50)}' in page
        run.working = False
        assert "provisional" not in visiting(run).get("/live")

    @pytest.mark.parametrize(
        ("stage", "words"), [("crawl", "0:09 left for the pages known so far"), ("match", "0:09 left")]
    )
    def test_time_left_is_that_of_the_stage_that_reports_it(self, visiting: Visiting, stage: str, words: str) -> None:
        latest = Latest(stage, 100, 400, "", 10.0, 9.0)
        page = visiting(FakeRun(working=True, state="waiting", latest=latest)).get("/live")
        assert f"· {words}</span>" in page

    def test_a_stage_has_ended_and_the_next_one_has_not_reported_yet(self, visiting: Visiting) -> None:
        latest = Latest("match", 399, 400, "", 10.0, 0.1)
        assert "<h1>Mining</h1>" in visiting(FakeRun(working=True, state="done", latest=latest)).get("/live")

    def test_pause_and_go_on(self, visiting: Visiting) -> None:
        visitor = visiting(FakeRun(working=True))
        assert "Go on" in visitor.post("/pause", wanted="yes").text
        visitor.post("/pause", wanted="no")
        assert visitor.run.asked == [True, False]

    def test_stops_at_each_new_pair(self, visiting: Visiting) -> None:
        run = FakeRun(0, working=True, live_pairs=2)
        visitor = visiting(run)
        waiting = visitor.post("/watch", wanted="yes")
        assert visitor.place(waiting) == "/live"  # the two that are there are not new
        run.live_pairs = 4
        stopped = visitor.client.get("/live")
        assert visitor.place(stopped) == f"{pair_of(2)}?live=1"
        assert run.asked == [True]
        assert "A pair that was just found" in stopped.text
        second = visitor.post("/label", **ends(2), verdict="accept", live=1)
        assert visitor.place(second) == f"{pair_of(3)}?live=1"
        assert run.asked == [True]
        last = visitor.post("/label", **ends(3), verdict="skip", live=1)
        assert visitor.place(last) == "/live"
        assert run.asked == [True, False]
        assert verdicts(visitor) == {"2-2": "accept"}

    def test_the_page_that_waits_is_sent_to_the_pair(self, visiting: Visiting) -> None:
        visitor = visiting(FakeRun(0, working=True))
        visitor.post("/watch", wanted="yes")
        visitor.run.live_pairs = 1
        answer = visitor.client.get("/live", headers={"hx-request": "true"})
        assert answer.headers["hx-redirect"] == f"{pair_of(0)}?live=1"

    def test_the_mining_waits_as_long_as_the_page_says_that_somebody_looks(self, visiting: Visiting) -> None:
        visitor = visiting(FakeRun(0, working=True))
        assert visitor.client.get("/looking").status_code == 204
        visitor.post("/watch", wanted="yes")
        visitor.run.live_pairs = 1
        assert 'hx-get="/looking" hx-trigger="every 20s"' in visitor.client.get("/live").text
        visitor.run.held = False  # its time was over: the page was asleep
        assert visitor.client.get("/looking").status_code == 204
        assert visitor.run.held
        visitor.run.working = False
        visitor.client.get("/looking")
        assert not visitor.run.held

    def test_what_was_said_is_not_swallowed_by_a_page_that_follows(self, visiting: Visiting) -> None:
        visitor = visiting()
        form = {"token": visitor.token, "verdict": "accept"} | {side: str(page) for side, page in ends(7).items()}
        visitor.client.post("/label", data=form, headers=OURS, follow_redirects=False)
        assert "Accepted:" not in visitor.client.get("/live", headers={"hx-request": "true"}).text
        boosted = {"hx-request": "true", "hx-boosted": "true"}
        assert "Accepted:" in visitor.client.get("/queue", headers=boosted).text
        assert "Accepted:" not in visitor.get("/queue")

    def test_end_of_stopping_lets_the_mining_go_on(self, visiting: Visiting) -> None:
        visitor = visiting(FakeRun(0, working=True))
        visitor.post("/watch", wanted="yes")
        visitor.run.live_pairs = 1
        visitor.get("/live")
        visitor.post("/watch", wanted="no")
        assert not visitor.run.paused
        assert visitor.place(visitor.client.get("/live")) == "/live"

    def test_a_pause_that_a_person_asked_for_stays(self, visiting: Visiting) -> None:
        visitor = visiting(FakeRun(0, working=True))
        visitor.post("/watch", wanted="yes")
        visitor.post("/pause", wanted="yes")
        visitor.get("/live")
        assert visitor.run.asked == [True]

    def test_a_way_out_while_pairs_are_left(self, visiting: Visiting) -> None:
        visitor = visiting(FakeRun(0, working=True))
        visitor.post("/watch", wanted="yes")
        visitor.run.live_pairs = 9
        assert 'action="/watch"' in visitor.client.get("/live").text

    def test_mining_that_has_ended_is_not_paused(self, visiting: Visiting) -> None:
        visitor = visiting(FakeRun(0, working=True))
        visitor.post("/watch", wanted="yes")
        visitor.run.live_pairs, visitor.run.working = 1, False
        assert visitor.place(visitor.client.get("/live")) == f"{pair_of(0)}?live=1"
        assert not visitor.run.paused


class TestLinks:
    def test_page_and_partner_with_matching_neighbours(self, visiting: Visiting) -> None:
        page = visiting().get("/graph/1003")
        assert "<svg" in page
        assert "2 of the 2 pages around this page are paired" in page
        assert page.count("match 1") == 2

    def test_search(self, visiting: Visiting) -> None:
        visitor = visiting()
        assert 'href="/graph/1005"' in visitor.get("/graph?q=report+5")
        assert 'href="/graph/1000"' in visitor.get("/graph")  # this run has no table of links

    def test_no_report_before_there_are_pages(self, visiting: Visiting) -> None:
        assert "no pages have been read" in visiting(FakeRun(0)).get("/report", 404)

    def test_page_that_is_not_there(self, visiting: Visiting) -> None:
        visiting().get("/graph/5", 404)


class TestListing:
    @pytest.mark.parametrize("by", ORDERS)
    def test_rows_are_in_the_order_of_the_queue(self, by: Order, tmp_path: Path) -> None:
        """The short way, by the order without labels, gives what `ordered` gives with them."""
        run, labels = FakeRun(30), LabelBook(tmp_path)
        pairs = run.pairs
        now = datetime.now(UTC)
        for row in (3, 0, 29, 11):
            labels.add(Label(pairs["url_a"][row], pairs["url_b"][row], "accept", "ann", now))
        rows = Session(run, labels, "ann").listing().rows(Selection(by=by))
        assert rows.tolist() == ordered(pairs, labels.current(), by).tolist()

    def test_is_made_anew_only_when_something_changed(self, tmp_path: Path) -> None:
        run, labels = FakeRun(3), LabelBook(tmp_path)
        session = Session(run, labels, "ann")
        first = session.listing()
        assert session.listing() is first
        labels.add(Label("http://x.example/", "http://y.example/", "reject", "bob", datetime.now(UTC)))
        second = session.listing()
        assert second is not first
        assert second.table is first.table  # orders need not be made again
        run.grow(4)
        assert len(session.listing().rows(Selection())) == 4


class TestWish:
    def test_what_is_unknown_counts_as_not_said(self) -> None:
        assert selection_of({"by": "price", "show": "x", "view": "../", "live": "yes"}) == Selection()

    def test_fields_and_query_come_back(self) -> None:
        selection = Selection(
            by="random", site="a&b=c.example", langs="en zh-Hant", show="open", view="tags", live=True
        )
        assert selection_of(selection.fields()) == selection

    @pytest.mark.parametrize("text", ["", "-", "1.5", "0x10", "１", "+1", " 1", "--1", "9223372036854775808"])
    def test_no_number_of_a_page(self, text: str) -> None:
        assert page_number(text) is None

    @pytest.mark.parametrize("number", [0, -(2**63), 2**63 - 1])
    def test_number_of_a_page(self, number: int) -> None:
        assert page_number(str(number)) == number


def test_hundred_thousand_pairs_are_paged_on_the_server(visiting: Visiting) -> None:
    visitor = visiting(FakeRun(100_000))
    page = visitor.get("/queue?page=4000")
    assert "Page 4,000 of 4,000" in page
    assert len(page) < 60_000


@pytest.fixture(scope="module")
def toy_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy site, matched and aligned."""
    folder = tmp_path_factory.mktemp("toy")
    archive = write_toy_archive(folder / "toy.warc.gz")
    run = RunDirectory.create(folder / "run")
    run.config_file.write_text(CONFIG.to_toml())
    ingest(run, [archive], CONFIG.ingest)
    match(run, CONFIG)
    align_run(run, CONFIG.bitext, [])
    return run.path


NAMED = {"pair", "look", "graph", "labels", "export", "report"}


def test_a_run_from_the_first_page_to_the_last(toy_run: Path) -> None:
    """Every address that a page names is answered; a label is written, and stays."""
    app = make_app(RunView(toy_run), LabelBook(toy_run), "ann", PORT)
    client = TestClient(app, base_url=f"http://127.0.0.1:{PORT}")
    todo, seen = [app.state.review.entrance.address], set[str]()
    while todo and len(seen) < 150:
        address = todo.pop(0)
        seen.add(address)
        answer = client.get(address)
        assert answer.status_code == 200, address
        for found in re.findall(r'(?:href|src|hx-get)="([^"#]+)', answer.text):
            path = urljoin(str(answer.url), unescape(found))
            if path.startswith("http://127.0.0.1:") and path not in seen and path not in todo:
                todo.append(path)
    assert {urlsplit(address).path.split("/")[1] for address in seen} >= NAMED
    first = RunView(toy_run).pairs.iloc[-1]
    form = {"token": app.state.review.entrance.token, "a": first.page_a, "b": first.page_b, "verdict": "accept"}
    assert client.post("/label", data=form, headers=OURS).status_code == 200
    assert [*LabelBook(toy_run).current()] == [(first.url_a, first.url_b)]
