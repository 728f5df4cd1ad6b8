"""Figures of how alike two pages are inside: their words, their tags, their sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array
from svg import ACCENT, INK, MUTED, SIDE_A, SIDE_B, Drawing

from twinlink.align.learning import align_texts
from twinlink.similarity.content import content_similarity
from twinlink.similarity.lexicon import identity_matrix, translation_matrix
from twinlink.similarity.lexicon_files import Lexicon, LexiconEntry
from twinlink.similarity.structure import structural_similarity
from twinlink.text.word_counts import count_words


def content() -> Drawing:
    """Words of two short pages, and the value of each form of S_cb."""
    english, french = (
        ["server", "homepage", "port", "8080", "starts"],
        ["serveur", "accueil", "port", "8080", "arrêter"],
    )
    n_links, values = _measured(english, french)
    drawing = Drawing(
        640,
        250,
        "Words of two pages that translate to each other",
        f"Five English and five French words. {n_links} of each are joined: server and serveur, homepage and accueil by"
        f" a lexicon, port and 8080 because both languages write them alike. tsim is {values['tsim']:.3f},"
        f" bits {values['bits']:.3f}, cosine {values['cosine']:.3f}.",
    )
    for side, words in ((0, english), (1, french)):
        for k, word in enumerate(words):
            x, y = (20, 350)[side], 30 + 42 * k
            drawing.rect(x, y, 120, 30, fill="#f3f6f7", stroke=(SIDE_A, SIDE_B)[side])
            drawing.text(x + 60, y + 20, word, anchor="middle")
    for k in range(n_links):
        y = 45 + 42 * k
        drawing.line(140, y, 350, y, colour=ACCENT, width=2, dash="" if k < 2 else "6 4")
        drawing.text(
            245,
            y - 6,
            ("lexicon", "lexicon, weight 0.5", "written alike", "written alike")[k],
            size=11,
            colour=MUTED,
            anchor="middle",
        )
    for k, (form, value) in enumerate(values.items()):
        drawing.text(506, 95 + 26 * k, form, size=12, colour=MUTED)
        drawing.text(616, 95 + 26 * k, f"{value:.3f}", bold=True, anchor="end")
    drawing.text(506, 60, f"L = {n_links}, n = m = 5", size=12, colour=MUTED)
    return drawing


def _measured(english: Sequence[str], french: Sequence[str]) -> tuple[int, dict[str, float]]:
    """Return how many words are joined, and each form of S_cb."""
    a, b = count_words([[" ".join(english)]], "en"), count_words([[" ".join(french)]], "fr")
    lexicon = Lexicon((LexiconEntry("server", "serveur"), LexiconEntry("homepage", "accueil", 0.5)))
    known = translation_matrix(lexicon, a.vocabulary, "en", b.vocabulary, "fr")
    shared = identity_matrix(a.vocabulary, "en", b.vocabulary, "fr", "all")
    links = csr_array(known.maximum(shared))
    pair = csr_array(np.ones((1, 1), np.float32))
    forms = ("tsim", "bits", "cosine")
    return links.nnz, {form: float(content_similarity(a.counts, b.counts, links, pair, form).data[0]) for form in forms}


def structure() -> Drawing:
    """Tags of two pages and their longest common subsequence."""
    a, b = "h1 p p ul li li li p".split(), "h1 p ul li li p p".split()
    code = {tag: bytes([k]) for k, tag in enumerate(sorted({*a, *b}))}
    pair = csr_array(np.ones((1, 1), bool))
    values = {
        form: float(
            structural_similarity(
                [b"".join(code[tag] for tag in a)], [b"".join(code[tag] for tag in b)], pair, form
            ).data[0]
        )
        for form in ("indel", "lcs_max")
    }
    steps = _common(a, b)
    drawing = Drawing(
        640,
        200,
        "Longest common subsequence of the tags of two pages",
        f"The tags {' '.join(a)} above the tags {' '.join(b)}. {len(steps)} tags are joined in order. indel is"
        f" {values['indel']:.3f}, lcs_max is {values['lcs_max']:.3f}.",
    )
    for side, tags in ((0, a), (1, b)):
        for k, tag in enumerate(tags):
            joined = k in {step[side] for step in steps}
            drawing.rect(
                24 + 58 * k,
                (34, 124)[side],
                46,
                30,
                fill="#e6f2f0" if joined else "#ffffff",
                stroke=(SIDE_A, SIDE_B)[side],
            )
            drawing.text(47 + 58 * k, (54, 144)[side], tag, anchor="middle")
    for i, j in steps:
        drawing.line(47 + 58 * i, 64, 47 + 58 * j, 124, colour=ACCENT, width=2)
    drawing.text(616, 60, f"LCS = {len(steps)}", anchor="end", colour=MUTED)
    drawing.text(616, 92, f"indel {values['indel']:.3f}", anchor="end", bold=True)
    drawing.text(616, 118, f"lcs_max {values['lcs_max']:.3f}", anchor="end", bold=True)
    return drawing


def _common(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of a longest common subsequence."""
    length = np.zeros((len(a) + 1, len(b) + 1), int)
    for i in reversed(range(len(a))):
        for j in reversed(range(len(b))):
            length[i, j] = length[i + 1, j + 1] + 1 if a[i] == b[j] else max(length[i + 1, j], length[i, j + 1])
    steps, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        if a[i] == b[j] and length[i, j] == length[i + 1, j + 1] + 1:
            steps.append((i, j))
            i, j = i + 1, j + 1
        elif length[i + 1, j] >= length[i, j + 1]:
            i += 1
        else:
            j += 1
    return steps


def sentences() -> Drawing:
    """Two short texts with their beads."""
    a = [
        "The library opens at 9:30 and closes at 20:00.",
        "Readers may borrow 6 books.",
        "The loan is for 14 days.",
        "Call 2345 6789.",
    ]
    b = [
        "La bibliothèque ouvre à 9:30 et ferme à 20:00.",
        "Les lecteurs peuvent emprunter 6 livres pour 14 jours.",
        "Appelez le 2345 6789.",
    ]
    found = align_texts(a, b, langs=("en", "fr"))
    kinds = [f"{len(i)}-{len(j)}" for i, j in found.beads]
    drawing = Drawing(
        640,
        250,
        "Sentences of two texts joined to beads",
        f"Four English sentences on the left, three French ones on the right, joined by {len(kinds)} beads: "
        f"{', '.join(kinds)}. The second and third English sentence together are the second French one.",
    )
    for side, texts in ((0, a), (1, b)):
        for k, text in enumerate(texts):
            x, y = (16, 372)[side], 24 + 54 * k
            drawing.rect(x, y, 252, 40, fill="#f3f6f7", stroke=(SIDE_A, SIDE_B)[side])
            first, second = _halves(text)
            drawing.text(x + 8, y + (17 if second else 25), first, size=11)
            drawing.text(x + 8, y + 32, second, size=11)
    for (i, j), chance in zip(found.beads, found.posteriors, strict=True):
        for s in i:
            for t in j:
                drawing.line(268, 44 + 54 * s, 372, 44 + 54 * t, colour=ACCENT, width=2)
        middle = 44 + 54 * (sum(i) / len(i) + sum(j) / len(j)) / 2
        drawing.rect(284, middle - 10, 72, 20, fill="#ffffff")
        drawing.text(
            320, middle + 4, f"{len(i)}-{len(j)}  {min(chance, 0.999):.2f}", size=11, colour=INK, anchor="middle"
        )
    return drawing


def _halves(text: str) -> tuple[str, str]:
    if len(text) <= 40:
        return text, ""
    cut = text.rindex(" ", 0, 40)
    return text[:cut], text[cut + 1 :]
