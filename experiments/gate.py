"""The accuracy gate: F1 on the demo site, and on real sites and hard ones made of them, if available, against floors.

::

    python -m experiments.gate [SITES...]

The floors are in ``floors.toml`` beside this file. A floor is slightly below the score when it was set; it is raised
with the score and lowered only together with an explanation in ``CHANGELOG.md``. A site without a floor is shown but
not checked. ``--propose`` prints the file with floors for the current scores.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from experiments.cases import Case, f1_of, find_cases, open_case
from experiments.lies import with_lying_hreflang
from experiments.look_alikes import make_forms
from experiments.short_pages import with_short_pages
from experiments.untranslated import with_share_of_pairs
from twinlink.config import MatchSettings
from twinlink.evaluation.gold import evaluate, read_gold
from twinlink.match.selection import match_sides
from twinlink.run import open_run

FLOORS = Path(__file__).with_name("floors.toml")
LOOK_ALIKES = ("apache-en-fr-plain", "debwww-en-ru-plain", "lo-en-zhtw-plain", "vote17-en-ar-plain")
"""Real sites of which sites of look-alikes are made, with lists by title (`experiments.look_alikes`)."""
SHORT_PAGES = ("apache-en-fr-opaque", "lo500-en-zhtw-opaque", "servicecomb-en-zh-opaque")
"""Real sites whose pages are made short, and a third of whose pairs lose a page (`experiments.short_pages`)."""
LYING = ("debwww-en-ru-plain", "vote-en-ar-opaque")
"""Real sites that get hreflang, a tenth of which is exchanged (`experiments.lies`)."""
MARGIN = 0.005  # floors are this far below the score: another version of a library may pass, a worse matcher may not


def main() -> None:
    """Measure, print the table, and fail if a score is below its floor."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sites", nargs="*", type=Path, help="site folders; default: those in $TWINLINK_SITES")
    parser.add_argument("--propose", action="store_true", help="print floors made from today's figures")
    given = parser.parse_args()
    places = given.sites or [Path(place) for place in os.environ.get("TWINLINK_SITES", "").split(os.pathsep) if place]
    with ProcessPoolExecutor() as pool:
        folders = sorted(find_cases(places), key=n_files, reverse=True)
        demo, sites = pool.submit(demo_score), pool.map(site_score, folders)
        look_alikes = pool.map(look_alikes_score, [each for each in folders if each.name in LOOK_ALIKES])
        short_pages = pool.map(short_pages_score, [each for each in folders if each.name in SHORT_PAGES])
        lying = pool.map(lying_score, [each for each in folders if each.name in LYING])
        scores = {"demo": demo.result(), **dict(sorted([*sites, *look_alikes, *short_pages, *lying]))}
    if not places:
        print("real sites not found: only the demo site is gated")
    if given.propose:
        for name, (_, _, f1) in scores.items():
            print(f'"{name}" = {max(f1 - MARGIN, 0):.3f}')
        return
    sys.exit(judge(scores, tomllib.loads(FLOORS.read_text(encoding="utf-8"))))


def n_files(folder: Path) -> int:
    """Return the number of files of a site: a large one that is begun last would leave the other cores idle."""
    return sum(1 for path in (folder / "site").rglob("*") if path.is_file())


def demo_score() -> tuple[float, float, float]:
    """Run `twinlink demo` as a user would, and return precision, recall and F1."""
    with tempfile.TemporaryDirectory() as temporary:
        out = Path(temporary) / "run"
        subprocess.run([sys.executable, "-m", "twinlink", "demo", "-q", "-o", str(out)], check=True)
        pairs = open_run(out).pairs
        gold = read_gold(out / "site" / "crawled" / "gold.tsv")
        result = evaluate(zip(pairs["url_a"], pairs["url_b"], strict=True), gold)
    return result.precision, result.recall, result.f1


def site_score(folder: Path) -> tuple[str, tuple[float, float, float]]:
    """Match a site; return its name, and precision, recall and F1."""
    with open_case(folder) as case:
        return case.name, case_score(case)


def look_alikes_score(folder: Path) -> tuple[str, tuple[float, float, float]]:
    """Match the opaque site of look-alikes that is made of a site."""
    with tempfile.TemporaryDirectory() as temporary:
        return site_score(make_forms(folder, Path(temporary), listed="titles")[1])


def short_pages_score(folder: Path) -> tuple[str, tuple[float, float, float]]:
    """Match a site with short pages, of which a third of the known pairs have lost a page."""
    with open_case(folder) as case:
        return f"short-{case.name}", case_score(with_share_of_pairs(with_short_pages(case), 2 / 3, seed=0))


def lying_score(folder: Path) -> tuple[str, tuple[float, float, float]]:
    """Match a site with hreflang that is wrong in part."""
    with open_case(folder) as case:
        return f"lying-{case.name}", case_score(with_lying_hreflang(case))


def case_score(case: Case) -> tuple[float, float, float]:
    """Return precision, recall and F1 of a matched case."""
    found = match_sides(case.side_a, case.side_b, case.between, [], MatchSettings())
    return f1_of(found.pairs(), case)


def judge(scores: dict[str, tuple[float, float, float]], floors: dict[str, float]) -> int:
    """Print each score with its floor; return the number of scores below their floors."""
    print(f"{'site':<32} {'P':>6} {'R':>6} {'F1':>6} {'floor':>6}")
    failed = 0
    for name, (precision, recall, f1) in scores.items():
        floor = floors.get(name)
        below = floor is not None and f1 < floor
        failed += below
        note = "  UNDER ITS FLOOR" if below else "" if floor is not None else "  no floor"
        print(f"{name:<32} {precision:6.4f} {recall:6.4f} {f1:6.4f} {floor or 0:6.3f}{note}")
    return failed


if __name__ == "__main__":
    main()
