"""Pages with the structure of the mfa.kz pairs of Jangeldin & Assylbekov, without their text.

``mfa_kz.tsv.xz`` has a line for each of the 360 pages: number of the pair, language (kz, en), and its linearised page
(section 3.1): start and end tags, and the number of characters of each text. Names of tags are replaced by ten others
that may stand within each other, one for one. `write_pages` makes HTML pages of these lines, with sentences of the two
languages cut to length; `twinlink.pages.linearise` gives the same tokens for them.
"""

from __future__ import annotations

import lzma
from pathlib import Path

PAIRS = range(1, 181)
_FILE = Path(__file__).with_name("mfa_kz.tsv.xz")
_SENTENCES = {
    "kz": "Қазақстан Республикасының Сыртқы істер министрі көрші елдердің елшілерімен кездесіп, бейбітшілік, сауда "
    "және мәдениет саласындағы ынтымақтастық туралы әңгімелесті. ",
    "en": "The minister of foreign affairs met the ambassadors of the neighbouring countries and talked with them "
    "about peace, trade and culture. ",
}


def write_pages(folder: Path) -> None:
    """Write ``1.kz``, ``1.en`` and so on."""
    for line in lzma.decompress(_FILE.read_bytes()).decode().splitlines():
        number, lang, tokens = line.split("\t")
        (folder / f"{number}.{lang}").write_text(
            "".join(_html(token, lang) for token in tokens.split()), encoding="utf-8"
        )


def _html(token: str, lang: str) -> str:
    return _text(int(token), _SENTENCES[lang]) if token.isdigit() else f"<{token}>"


def _text(length: int, sentence: str) -> str:
    """Return so many characters of a sentence that is repeated; the last one is no space."""
    text = (sentence * (length // len(sentence) + 1))[:length]
    return text[:-1] + "." if text.endswith(" ") else text
