"""Settings of the sentence alignment."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from msgspec import Meta

from twinlink.config.settings import Positive, Settings, Unit
from twinlink.errors import ConfigError

__all__ = ["AlignerName", "BitextSettings", "Compression", "SegmentFilterSettings", "TagAlignerSettings", "TagWeights"]

AlignerName = Literal["words", "tagaligner"]
Compression = Literal["", "gzip", "zstd"]
Weight = Annotated[float, Meta(gt=0)]
_SWAP = re.compile(r"([a-z]+)-([a-z]+)=([0-9]*\.?[0-9]+)")


class SegmentFilterSettings(Settings, frozen=True):
    """Filters for segments; each has a reason that is counted."""

    min_probability: Unit = 0.5
    """Least chance of a bead among all alignments of its two texts."""
    min_words: float = 0.0
    """Minimum mean log ratio per word, see `Aligned.per_word`: below 0 the words are evidence against each other.
    Trials on two sites, beads of .5 and more: .16 % of those of right pages lie below, 85 % of those of wrong ones
    (each page beside the one nearest in length to its partner)."""
    min_chance: Unit = 0.0
    """Least chance to be a translation (column ``chance``), told site by site from wrong pairs of sentences. 0: all are
    kept, with their chance for others to cut at. Segments without an estimate are kept. Of repeated segments, the first
    one of this chance is kept."""
    min_support: Unit = 0.5
    """Least share of a page pair's sentences in beads supported by their words, as in WebMining's test of a
    page pair: below it none of its beads is kept. Same trials: .996 to 1.000 of the right pages have more, 0 to
    .048 of the wrong ones."""
    max_length_deviation: Weight = 4.0
    """Standard deviations that the lengths may be away from what the site's own pairs have."""
    max_copy: Unit = 0.9
    """Share of letters that both sides may have in common: above it nothing was translated."""
    max_code_copy: Unit = 0.6
    """The same for program text: above it a listing was not translated but for comments and strings. 1: listings are
    kept."""
    min_shared_numbers: Unit = 0.5
    """Least share of the numbers that both sides have, where there are any."""
    max_other_addresses: Unit = 0.15
    """Share of the text that addresses and host names of other sites may make up, on the side that has less, where both
    sides name sites and none is the same: above it the two are entries of a list that each language sorts for itself.
    1: all are kept."""
    boilerplate_share: Unit = 0.1
    """A pair of sentences on more of the page pairs of a site than this, and on five at least, is boilerplate: it is
    kept once."""
    ignore_digits: bool = True
    """Segments that differ only in digits are repeats: of ``Deadline: May 3`` and ``Deadline: May 9``, the first is
    kept, the other has the reason ``digits``. false: both are kept."""
    near_likeness: Unit = 0.9
    """Share of its pairs of neighbouring words, numbers aside, that a segment has in common with one kept before
    in the run: from this on it is a near-duplicate. 1: only those of equal words are. By MinHash; segments of a few
    words are not compared. On a site of 7,850 segments 15 are left out, of eight looked at six say the same."""
    near_kept: Positive = 200_000
    """Number of segments compared for near-duplicates: the last ones (256 bytes each)."""


class TagWeights(Settings, frozen=True):
    """W_i or W_d of the tag aligner: cost of a tag without partner, by its category.

    Fitted with all other weights of `TagAlignerSettings` by ``experiments.tag_aligner`` on two sites (en-zh, en-fr;
    2,912 blocks that ids show to belong together): F1 .946 with all tags alike, .951 with these. On a third site
    (en-fr, 1,087 blocks): .957 and .960.
    """

    section: Weight = 4.0
    heading: Weight = 0.5
    paragraph: Weight = 1.0
    list: Weight = 1.0
    table: Weight = 1.0
    line: Weight = 4.0


class TagAlignerSettings(Settings, frozen=True):
    """Alignment of two pages by tags and texts (`twinlink.align.tag_aligner`)."""

    deletion: TagWeights = TagWeights()
    """W_d: cost of a tag of the first page without partner."""
    insertion: TagWeights = TagWeights()
    """W_i: cost of a tag of the second page without partner."""
    swap_within: Weight = 2.0
    """W_s of two different tags of one category."""
    swap_across: Weight = 2.0
    """W_s of two tags of different categories."""
    swaps: tuple[str, ...] = ()
    """W_s of two categories, instead of these two: ``heading-paragraph=0.5``, ``list-list=1``."""
    text_deletion: Weight = 0.05
    """W_d of a text block, per unit of its length."""
    text_insertion: Weight = 0.05
    """W_i of a text block, per unit of its length."""
    text_difference: Weight = 0.05
    """W_s of two text blocks, per unit of the difference of their lengths."""
    unit: Literal["characters", "words"] = "characters"
    """Unit of the lengths of text blocks; the paper leaves it to the user."""
    scaled: bool = True
    """Scale the lengths of both pages to the same total first: Chinese needs a third of the characters of
    English. false: lengths as they are, as in the paper."""

    def __post_init__(self) -> None:
        """Check `swaps`, too.

        Raises
        ------
        ConfigError
            If a weight of two categories cannot be read, or see `Settings`.
        """
        super().__post_init__()
        self.swap_weights()

    def swap_weights(self) -> list[tuple[str, str, float]]:
        """Return `swaps` as two categories and their weight.

        >>> TagAlignerSettings(swaps=("heading-paragraph=0.5",)).swap_weights()
        [('heading', 'paragraph', 0.5)]
        """
        names = TagWeights.__struct_fields__
        weights = []
        for text in self.swaps:
            found = _SWAP.fullmatch(text)
            if not found or not {found[1], found[2]} <= {*names} or float(found[3]) <= 0:
                expected = f"two of {', '.join(names)}, and a number above 0, such as heading-list=0.5"
                raise ConfigError(f"bitext.tags.swaps: expected {expected}; got {text!r}")
            weights.append((found[1], found[2], float(found[3])))
        return weights


class BitextSettings(Settings, frozen=True):
    """Alignment of sentences."""

    method: AlignerName = "words"
    """Aligner of page pairs: ``words`` by lengths and words, ``tagaligner`` by tags and lengths of text blocks alone
    (Esplà-Gomis & Forcada 2010, section 5)."""
    rounds: Positive = 4
    """Rounds of learning over two texts; one more aligns with what they learned. Trials: four are within .005 of
    six."""
    run_rounds: Positive = 2
    """Rounds of learning over all page pairs of a run, one more aligns: later pages learn from earlier ones in the
    first round already. Trials on 230 page pairs: with four, the counts of the bead shapes differ by 15 in 45,500."""
    word_weight: Weight = 0.5
    """Weight of the words beside the lengths: the words of a sentence are not independent. Trials, strict F1: .3
    .871, .4 to 1 from .884 to .891."""
    block_weight: Annotated[float, Meta(ge=0)] = 1.0
    """Added to a bead's score where both sides end a block of the page, taken off where one does."""
    anchor_weight: Annotated[float, Meta(ge=0)] = 0.0
    """Added to a bead's score where the tag aligner puts its two blocks together, taken off where it puts either beside
    another one. 0: pages are not compared by their tags. With it the run's sources are read once more. On two sites of
    8,848 blocks that ids show to belong together, the first sentences of .9836 and .9956 stand in one bead without it,
    with .5 .9837 and .9970, with 1 .9835 and .9970 (``experiments.tag_aligner``): words and lengths tell as much."""
    tags: TagAlignerSettings = TagAlignerSettings()
    max_word_pairs: Positive = 4_000_000
    """Maximum number of word pairs in the model: bounds memory (some 200 MB)."""
    batch: Positive = 16
    """Page pairs that are aligned before the model learns for the first time; each further batch of the first round is
    as large as all before it."""
    filters: SegmentFilterSettings = SegmentFilterSettings()
    formats: tuple[Literal["tmx", "tsv", "moses", "jsonl"], ...] = ("tmx", "tsv")
    """Files for other programs, beside the tables."""
    min_score: Unit = 0.0
    """Least score of a sentence pair in these files; the tables keep all. The score is the chance to be a translation,
    or where that is not known, the probability of the bead. 0: the files have all."""
    compress: Compression = ""
    """Compression: none, gzip, or zstd."""
    lexicons: tuple[str, ...] = ()
    """Lexicon files: start values of the word model. Empty: those of ``match.lexicons``."""
    warm: tuple[str, ...] = ()
    """Files of sentence pairs that the word model learns from first: ``FILE`` or ``LANG-LANG=FILE``."""
