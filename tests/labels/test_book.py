"""Labels: one line a step, whole or not there; who said what, and what was taken back."""

from __future__ import annotations

import multiprocessing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest
from msgspec.structs import replace

from twinlink.errors import InputError, RunError
from twinlink.evaluation.gold import read_gold
from twinlink.labels.book import ACCEPTED, REJECTED, UNLABELLED, Label, LabelBook, Verdict, export_labels, label_codes

EN, TC, FR = "https://a.example/en", "https://a.example/tc", "https://a.example/fr"
WHEN = datetime(2025, 3, 1, 12, tzinfo=UTC)


def label(url_a: str = EN, url_b: str = TC, verdict: Verdict = "accept", who: str = "ann", minute: int = 0) -> Label:
    return Label(url_a, url_b, verdict, who, WHEN + timedelta(minutes=minute))


def verdicts(folder: Path) -> dict[tuple[str, str], str]:
    return {pair: each.verdict for pair, each in LabelBook(folder).current().items()}


def test_no_labels(tmp_path: Path) -> None:
    book = LabelBook(tmp_path)
    assert book.current() == {}
    assert book.history() == ()
    assert book.undo("ann") == ()


def test_a_label_comes_back_as_it_was(tmp_path: Path) -> None:
    said = Label(EN, TC, "reject", "ann", WHEN, note="not the same\nyear")
    LabelBook(tmp_path).add(said)
    assert LabelBook(tmp_path).current() == {(EN, TC): said}


def test_the_later_label_counts(tmp_path: Path) -> None:
    book = LabelBook(tmp_path)
    book.add(label())
    book.add(label(verdict="reject", who="ben"))
    assert verdicts(tmp_path) == {(EN, TC): "reject"}


def test_a_pair_turned_round_is_the_same_pair(tmp_path: Path) -> None:
    book = LabelBook(tmp_path)
    book.add(label())
    book.add(label(TC, EN, "reject"))
    assert verdicts(tmp_path) == {(TC, EN): "reject"}


def test_undo_goes_back_step_by_step_also_after_a_restart(tmp_path: Path) -> None:
    book = LabelBook(tmp_path)
    book.add(label())
    book.add(label(verdict="reject"))
    book.add(label(url_b=FR))
    assert book.undo("ann") == (label(url_b=FR),)
    assert LabelBook(tmp_path).undo("ann") == (label(verdict="reject"),)
    assert verdicts(tmp_path) == {(EN, TC): "accept"}
    assert len(LabelBook(tmp_path).undo("ann")) == 1
    assert LabelBook(tmp_path).undo("ann") == ()
    assert verdicts(tmp_path) == {}


def test_undo_takes_back_ones_own_step_only(tmp_path: Path) -> None:
    book = LabelBook(tmp_path)
    book.add(label(who="ann"))
    book.add(label(verdict="reject", who="ben"))
    assert [each.who for each in book.undo("ann")] == ["ann"]
    assert verdicts(tmp_path) == {(EN, TC): "reject"}
    assert book.undo("cho") == ()


def test_after_an_undo_one_goes_on(tmp_path: Path) -> None:
    book = LabelBook(tmp_path)
    book.add(label())
    book.undo("ann")
    book.add(label(url_b=FR))
    assert verdicts(tmp_path) == {(EN, FR): "accept"}
    book.undo("ann")
    assert verdicts(tmp_path) == {}


def test_a_re_pair_is_one_step(tmp_path: Path) -> None:
    book = LabelBook(tmp_path)
    book.add(label(verdict="reject"), label(url_b=FR))
    assert verdicts(tmp_path) == {(EN, TC): "reject", (EN, FR): "accept"}
    assert len(book.history()) == 1
    assert len(book.undo("ann")) == 2
    assert book.current() == {}


def test_history_tells_what_was_taken_back(tmp_path: Path) -> None:
    book = LabelBook(tmp_path)
    book.add(label())
    book.add(label(url_b=FR))
    book.undo("ann")
    assert [(step.labels[0].url_b, step.undone) for step in book.history()] == [(TC, False), (FR, True)]
    assert book.current().keys() == {(EN, TC)}, "what history has read must not be lost for current"


@pytest.mark.parametrize("n_bytes", range(1, 60, 7))
def test_a_torn_last_line_is_no_line(tmp_path: Path, n_bytes: int) -> None:
    book = LabelBook(tmp_path)
    book.add(label())
    whole = book.file.read_bytes()
    book.add(label(url_b=FR))
    torn = book.file.read_bytes()[: len(whole) + n_bytes]
    book.file.write_bytes(torn)
    assert verdicts(tmp_path) == {(EN, TC): "accept"}
    assert book.current().keys() == {(EN, TC)}
    LabelBook(tmp_path).add(label(url_b="https://a.example/de"))
    assert set(verdicts(tmp_path)) == {(EN, TC), (EN, "https://a.example/de")}
    assert set(book.current()) == set(verdicts(tmp_path))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (b"garbage", "line 2: expected labels"),
        (b'{"step":"x","who":"ann","when":"2025-03-01T12:00:00Z","labels":[{"verdict":"Reject"}]}', "line 2"),
        (b'{"step":1,"who":"ann","when":"2025-03-01T12:00:00Z"}', "line 2: .*str"),
    ],
)
def test_a_line_that_nobody_left_incomplete_is_an_error(tmp_path: Path, wrong: bytes, message: str) -> None:
    book = LabelBook(tmp_path)
    book.add(label())
    before = book.file.read_bytes()
    book.file.write_bytes(before + wrong + b"\n" + before)
    for each in (book, LabelBook(tmp_path)):
        with pytest.raises(RunError, match=message):
            each.current()
    book.file.write_bytes(before)
    assert len(book.current()) == 1


def test_a_last_line_that_lacks_its_end_alone_counts_now_and_later(tmp_path: Path) -> None:
    book = LabelBook(tmp_path)
    book.add(label())
    book.file.write_bytes(book.file.read_bytes()[:-1])
    assert verdicts(tmp_path) == {(EN, TC): "accept"}
    book.add(label(url_b=FR))
    assert list(verdicts(tmp_path)) == [(EN, TC), (EN, FR)]


def test_an_open_book_sees_what_another_writes_or_removes(tmp_path: Path) -> None:
    reader, writer = LabelBook(tmp_path), LabelBook(tmp_path)
    writer.add(label())
    assert reader.current() == writer.current() != {}
    writer.undo("ann")
    assert reader.current() == {}
    writer.add(label(url_b=FR))
    reader.file.unlink()
    assert reader.current() == {}
    assert writer.current() == {}


def test_current_cannot_be_changed_from_outside(tmp_path: Path) -> None:
    book = LabelBook(tmp_path)
    book.add(label())
    book.current().clear()
    assert len(book.current()) == 1


def _add_many(folder: Path, who: str, n: int) -> None:
    book = LabelBook(folder)
    for number in range(n):
        book.add(label(f"{EN}/{who}/{number}", TC, who=who))


def test_two_processes_lose_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_add_many, args=(tmp_path, who, 40)) for who in ("ann", "ben")]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert verdicts(tmp_path).keys() == {(f"{EN}/{who}/{number}", TC) for who in ("ann", "ben") for number in range(40)}


@pytest.mark.parametrize(
    "wrong",
    [
        (label(who="ann"), label(url_b=FR, who="ben")),
        (Label(EN, TC, "maybe", "ann", WHEN),),  # type: ignore[arg-type]
        (label(who="\udc80"),),
    ],
    ids=["two persons", "verdict", "not valid Unicode"],
)
def test_what_cannot_be_written_down(tmp_path: Path, wrong: tuple[Label, ...]) -> None:
    with pytest.raises(InputError):
        LabelBook(tmp_path).add(*wrong)
    assert LabelBook(tmp_path).current() == {}


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "review").write_text("")
    with pytest.raises(RunError, match="cannot be written"):
        LabelBook(tmp_path).add(label())


def test_codes_of_pairs(tmp_path: Path) -> None:
    book = LabelBook(tmp_path)
    book.add(label(), label(FR, TC, "reject"))
    first = pd.Series([EN, TC, EN, FR, TC], index=[3, 1, 4, 1, 5])
    second = pd.Series([TC, FR, FR, TC, EN], index=first.index)
    expected = [ACCEPTED, REJECTED, UNLABELLED, REJECTED, ACCEPTED]
    assert label_codes(first, second, book.current()).tolist() == expected
    assert label_codes([], [], book.current()).tolist() == []


def test_a_file_that_was_edited_in_its_place_is_read_anew(tmp_path: Path) -> None:
    book = LabelBook(tmp_path)
    book.add(replace(label(), note="short"))
    book.add(label(url_b=FR))
    assert len(book.current()) == 2
    lines = book.file.read_text(encoding="utf-8").splitlines()
    with book.file.open("r+", encoding="utf-8") as file:  # the same file, and longer than it was
        file.write("\n".join([lines[1], lines[0].replace("short", "edited by hand, " * 40)]) + "\n")
    assert [step.labels[0].url_b for step in book.history()] == [FR, TC]
    assert book.history()[1].labels[0].note.startswith("edited")
    book.add(label(TC, FR))
    assert book.current() == LabelBook(tmp_path).current()
    assert len(book.current()) == 3


def test_export(tmp_path: Path) -> None:
    LabelBook(tmp_path).add(label(who="ann\tb"), label(url_b=FR, verdict="reject", who="ann\tb"))
    target = tmp_path / "labels.tsv"
    assert export_labels(tmp_path, target) == 2
    lines = [line.split("\t") for line in target.read_text().splitlines()]
    assert lines[0] == ["url_a", "url_b", "verdict", "who", "when"]
    assert lines[1:] == [
        [EN, TC, "accept", "ann b", "2025-03-01T12:00:00+00:00"],
        [EN, FR, "reject", "ann b", "2025-03-01T12:00:00+00:00"],
    ]


def test_export_as_gold_is_read_as_gold(tmp_path: Path) -> None:
    LabelBook(tmp_path).add(label(), label(url_b=FR, verdict="reject"))
    target = tmp_path / "mine.gold.tsv"
    assert export_labels(tmp_path, target) == 1
    assert read_gold(target).pairs == (("a.example/en", "a.example/tc"),)


def test_export_never_takes_the_place_of_the_labels(tmp_path: Path) -> None:
    book = LabelBook(tmp_path)
    book.add(label())
    before = book.file.read_bytes()
    (tmp_path / "link.tsv").symlink_to(book.file)
    for target in (book.file, tmp_path / "review" / ".." / "review" / "labels.jsonl", tmp_path / "link.tsv"):
        with pytest.raises(InputError, match="choose another"):
            export_labels(tmp_path, target)
    assert book.file.read_bytes() == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_export_to_a_full_device_leaves_nothing_behind(tmp_path: Path) -> None:
    LabelBook(tmp_path).add(label())
    target = tmp_path / "out" / "labels.tsv"
    target.parent.mkdir()
    target.symlink_to("/dev/full")
    with pytest.raises(InputError, match="No space"):
        export_labels(tmp_path, target)
    assert [file.name for file in target.parent.iterdir()] == ["labels.tsv"]


def test_an_address_with_tabs_and_line_ends_keeps_its_cell(tmp_path: Path) -> None:
    LabelBook(tmp_path).add(label(url_b="https://a.example/x\ty\nz\u2028年"))
    for name in ("labels.tsv", "labels.gold.tsv"):
        export_labels(tmp_path, tmp_path / name)
        last = (tmp_path / name).read_text(encoding="utf-8").splitlines()[-1]
        assert last.split("\t")[1] == "https://a.example/x%09y%0Az%E2%80%A8年"


def test_export_to_where_nothing_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        export_labels(tmp_path, tmp_path / "none" / "labels.tsv")
