"""Groups of near-duplicates: who belongs together, whom a group faces, and where that is shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import lxml.html
import numpy as np
import pytest
import scipy.sparse as sp

from tests.made_sites import BASE, page, write_pages
from tests.review.app.test_security import ask
from tests.review.conftest import Served, serving
from tests.similarity.test_contrast import symmetric
from twinlink import mine
from twinlink.graph.matching import Matching
from twinlink.labels.book import LabelBook
from twinlink.match.evidence import FoundPairs, Side
from twinlink.match.look_alikes import facing_groups, look_alike_table
from twinlink.match.selection import SideMatch
from twinlink.review.reading.run_view import RunView
from twinlink.run import Run
from twinlink.tables import LOOK_ALIKES

# ---- groups


def test_group_faces_the_group_with_most_evidence() -> None:
    own, other = np.array([1, 1, 1, 2, 3, 3]), np.array([1, 2, 2, 0, 2, 1])
    assert facing_groups(own, other, np.ones(6, np.int64), 4).tolist() == [0, 2, 0, 1, 0]
    assert facing_groups(own, other, np.array([9, 1, 1, 1, 1, 1]), 4).tolist() == [0, 1, 0, 1, 0]
    assert facing_groups(own[:0], other[:0], own[:0], 2).tolist() == [0, 0, 0]
    # pages without near-duplicates are no group, however many there are
    assert facing_groups(np.array([1, 1, 1, 0]), np.array([0, 0, 2, 1]), np.ones(4, np.int64), 1).tolist() == [0, 2]


# ---- the table


def side(lang: str, n: int) -> Side:
    urls = [f"{BASE}/{lang}/{k}" for k in range(n)]
    ids = np.arange(n) + (100 if lang == "fr" else 0)
    return Side(lang, ids, urls, [[]] * n, [b""] * n, sp.csr_array((n, n), dtype=np.bool_))


def match_of(scores: list[list[float]], alike: tuple[sp.csr_array, sp.csr_array] | None) -> SideMatch:
    """Pages 0, 1, 2 are matched with their like; the last of these pairs is not handed out."""
    matrix = sp.csr_array(np.array(scores, np.float32))
    rows = np.arange(3)
    matching = Matching(rows, rows, np.ones(3, np.float32))
    found = FoundPairs(matrix, {}, matching, np.zeros(3), np.ones(3), {}, alike=alike)
    return SideMatch(side("en", matrix.shape[0]), side("fr", matrix.shape[1]), found, np.array([True, True, False]))


def test_the_rows_of_a_match() -> None:
    scores = [[0.9, 0.8, 0.0, 0.1], [0.8, 0.9, 0.0, 0.0], [0.0, 0.0, 0.5, 0.0], [0.3, 0.0, 0.0, 0.0]]
    alike = symmetric(4, (0, 1), (1, 2), (1, 3)), symmetric(4, (0, 1), (2, 3))
    table = look_alike_table(match_of(scores, alike), "a.example").to_pylist()
    assert [(row["lang"], row["page_id"], row["group"], row["state"]) for row in table] == [
        ("en", 0, 1, "paired"), ("en", 1, 1, "paired"), ("en", 2, 1, "doubtful"), ("en", 3, 1, "unpaired"),
        ("fr", 100, 1, "paired"), ("fr", 101, 1, "paired"), ("fr", 102, 2, "doubtful"), ("fr", 103, 2, "unpaired"),
    ]  # fmt: skip
    assert [(row["n_pages"], row["n_paired"], row["facing"], row["n_facing"]) for row in table] == [
        *[(4, 2, 1, 2)] * 4, *[(2, 2, 1, 4)] * 2, *[(2, 0, 1, 4)] * 2,
    ]  # fmt: skip
    assert {(row["facing_lang"], row["url"].split("/")[3]) for row in table} == {("fr", "en"), ("en", "fr")}


def test_pairs_say_more_of_what_a_group_faces_than_candidates() -> None:
    scores = [[0.9, 0.0, 0.0, 0.3, 0.3], [0.0, 0.9, 0.0, 0.3, 0.3], [0.0, 0.0, 0.9, 0.0, 0.0]]
    alike = symmetric(3, (0, 1)), symmetric(5, (0, 1), (3, 4))
    rows = look_alike_table(match_of(scores, alike), "a.example").to_pylist()
    of_pairs = next(row["group"] for row in rows if row["page_id"] == 100)
    assert {row["facing"] for row in rows if row["lang"] == "en"} == {of_pairs}
    assert {row["facing"] for row in rows if row["page_id"] in (103, 104)} == {1}


def test_a_group_may_face_none() -> None:
    alike = symmetric(3, (0, 1)), symmetric(3)
    rows = look_alike_table(match_of(np.eye(3).tolist(), alike), "a.example").to_pylist()
    assert [(row["facing"], row["n_facing"]) for row in rows] == [(None, None)] * 2


def test_a_method_that_knows_none_has_no_rows() -> None:
    assert look_alike_table(match_of(np.eye(3).tolist(), None), "a.example").equals(LOOK_ALIKES.empty_table())


# ---- a run

COUNTRIES = {"Norway": "Norvège", "Japan": "Japon", "Kenya": "Kenya", "Peru": "Pérou", "Egypt": "Égypte"}
ENGLISH = (
    "To ask for a permit you need a passport, two photographs, a proof of means and a letter of your school. The office"
    " answers within twenty days. Bring the originals and a copy of each paper, signed and dated. Nothing is paid back"
    " when you withdraw. Children below eighteen come with their parents or a guardian. Whoever works beside studies"
    " must say how many hours every week, for which employer, and since when. Keep this sheet until the decision has"
    " been sent by registered mail. Questions are answered at the desk on weekday mornings. People from {0} pay {1}"
    " crowns for it."
)
FRENCH = (
    "Pour demander un permis il faut un passeport, deux photographies, une preuve de moyens et une lettre de l'école."
    " Le bureau répond en vingt jours. Apportez les originaux et une copie de chaque pièce, signée et datée. Rien n'est"
    " remboursé si vous renoncez. Les enfants de moins de dix-huit ans viennent avec leurs parents ou un tuteur. Qui"
    " travaille pendant ses études doit dire combien d'heures par semaine, pour quel employeur, et depuis quand. Gardez"
    " cette feuille jusqu'à la décision envoyée par courrier recommandé. Le guichet répond aux questions le matin. Les"
    " personnes venant de {0} paient {1} couronnes."
)
OTHERS = {
    "library": ("The library opens at nine and lends six books for two weeks.", "La bibliothèque ouvre à neuf heures."),
    "pool": ("A ticket for the swimming pool costs little in winter.", "Un billet pour la piscine coûte peu en hiver."),
    "bus": ("The bus to the harbour leaves from the station all day.", "Le bus pour le port part de la gare."),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Five results of one form in two languages, three other pages, and a result in English alone."""
    folder, pages = tmp_path_factory.mktemp("forms"), {}
    for number, (english, french) in enumerate(COUNTRIES.items()):
        for lang, text, name in (("en", ENGLISH, english), ("fr", FRENCH, french)):
            pages[f"{lang}/{english.lower()}.html"] = page(text.format(name, 310 + 17 * number), title="Permit")
    pages["en/chile.html"] = page(ENGLISH.format("Chile", 977), title="Permit")
    for name, (english, french) in OTHERS.items():
        pages[f"en/{name}.html"], pages[f"fr/{name}.html"] = page(english, title=name), page(french, title=name)
    site = write_pages(folder / "site", pages)
    return mine(str(site), out=folder / "run", langs=("en", "fr"), ingest__base_url=BASE)


def test_a_run_has_its_groups(run: Run) -> None:
    groups = run.look_alikes.groupby("lang")["url"].agg(lambda urls: {url.rsplit("/", 1)[1][:-5] for url in urls})
    countries = {name.lower() for name in COUNTRIES}
    assert groups.to_dict() == {"en": {*countries, "chile"}, "fr": countries}
    assert run.look_alikes.groupby("lang")["n_pages"].unique().map(list).to_dict() == {"en": [6], "fr": [5]}
    paired = set(run.pairs["page_a"]) | set(run.pairs["page_b"])
    of_table = run.look_alikes[run.look_alikes["state"] == "paired"]
    assert set(of_table["page_id"]) == paired & set(run.look_alikes["page_id"])
    assert run.look_alikes.groupby("lang")["n_paired"].first().to_dict() == of_table.groupby("lang").size().to_dict()


def test_the_report_has_the_groups(run: Run) -> None:
    root = lxml.html.document_fromstring(run.report().read_bytes())
    (section,) = root.xpath("//section[@id='look-alikes']")
    rows = [[cell.text_content() for cell in row.xpath("td")] for row in section.xpath(".//tbody/tr")]
    n_paired = len(run.look_alikes[run.look_alikes["state"] == "paired"]) // 2
    assert [(row[0], row[1], row[2]) for row in rows] == [("en", "6", str(n_paired)), ("fr", "5", str(n_paired))]
    assert [int(row[2]) + int(row[3]) + int(row[4]) for row in rows] == [6, 5]
    assert [row[5].replace("\xa0", " ") for row in rows] == ["fr: 5 pages", "en: 6 pages"]
    assert rows[0][6].startswith(f"Permit{BASE}/en/")  # title and address


@pytest.fixture(scope="module")
def served(run: Run) -> Iterator[Served]:
    with serving(RunView(run.path), LabelBook(run.path)) as made:
        yield made


def text_of(served: Served, path: str) -> str:
    return ask(served, path).text  # type: ignore[attr-defined]


def test_the_review_names_the_others_of_a_group(run: Run, served: Served) -> None:
    alike = run.look_alikes.set_index("page_id")
    pairs = run.pairs[run.pairs["page_a"].isin(alike.index)]
    row = pairs.iloc[0]
    shown = text_of(served, f"/pair/{row['page_a']}/{row['page_b']}")
    n_paired = len(pairs)
    for n in (6, 5):
        assert f"One of {n} near-duplicates; with a partner: {n_paired}" in shown
    listed = [part.partition("</details>")[0] for part in shown.split("near-duplicates;")[1:]]
    partners = dict(zip(run.pairs["page_a"], run.pairs["page_b"], strict=True))
    others = {page_id for page_id in alike.index[alike["lang"] == "en"] if page_id != row["page_a"]}
    ways = {f"/pair/{each}/{partners[each]}" if each in partners else f"/graph/{each}" for each in others}
    assert {way.partition("?")[0] for way in re.findall(r'href="([^"]+)"', listed[0])} == ways
    for way in ways:
        assert ask(served, way).status == 200


def test_pages_without_near_duplicates_are_not_said_to_have_some(run: Run, served: Served) -> None:
    row = run.pairs[~run.pairs["page_a"].isin(run.look_alikes["page_id"])].iloc[0]
    assert "near-duplicates; with a partner" not in text_of(served, f"/pair/{row['page_a']}/{row['page_b']}")


def test_the_queue_says_how_many_look_alikes_there_are(run: Run, served: Served) -> None:
    shown = text_of(served, "/queue")
    assert shown.count("one of 6 near-duplicates") == run.pairs["page_a"].isin(run.look_alikes["page_id"]).sum()


def test_explain_says_how_many_look_alikes_there_are(run: Run) -> None:
    n = run.look_alikes.groupby("lang")["n_paired"].first()["en"]
    have = f"{n} have" if n != 1 else "1 has"
    url = f"{BASE}/en/norway.html"
    (said,) = (note for note in run.explain(url).notes if note.startswith(url))
    assert said.startswith(
        f"{url} is one of 6 near-duplicates in en, of which {have} a partner in fr; they face a group of 5"
    )
    rival = re.search(r"best rival of its partner: (\S+), score ([\d.]+)$", said)
    assert rival is not None
    assert rival[1] in set(run.look_alikes["url"])
    assert said in str(run.explain(url))
    assert not run.explain(f"{BASE}/en/pool.html").notes


def test_groups_are_carried_over_when_a_site_is_not_matched_again(run: Run, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "run"
    shutil.copytree(run.path, copy)
    (copy / "match" / "signature.json").unlink()  # the stage is not done, and the site's result is known
    from twinlink.match import stage as module
    from twinlink.rundir.directory import RunDirectory
    from twinlink.rundir.remembered import remembered

    directory = RunDirectory(copy)
    module.match(directory, remembered(directory))
    assert Run(copy).look_alikes.equals(run.look_alikes)
