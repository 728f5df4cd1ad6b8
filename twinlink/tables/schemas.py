"""The schemas of all tables; every column is described where it is declared."""

from __future__ import annotations

import pyarrow as pa


def _column(name: str, kind: pa.DataType, text: str, *, null: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable=null, metadata={"description": text})


PAGES = pa.schema(
    [
        _column("page_id", pa.int64(), "hash of the page key: a page has the same id in every run"),
        _column("site", pa.string(), "registered host, or host where pages are split by host"),
        _column("url", pa.string(), "normalised address that it was read under; its query keeps its order"),
        _column("canonical_url", pa.string(), "its rel=canonical; null: none, or its own address", null=True),
        _column("title", pa.string(), "text of the title element, empty when there is none"),
        _column(
            "blocks",
            pa.list_(pa.string()),
            "text blocks in document order, NFC, white space collapsed, without invisible characters",
        ),
        _column("tags", pa.binary(), "start tags in document order, one code per tag"),
        _column("images", pa.list_(pa.string()), "file names of the images in document order"),
        _column("declared_lang", pa.string(), "language that the page or its response claims, empty when none"),
        _column("charset", pa.string(), "encoding that the bytes were decoded with"),
        _column("bytes", pa.int64(), "size of the decompressed body"),
        _column("digest", pa.string(), "sha1 of the decompressed body, base32"),
        _column("source", pa.string(), "archive or file that the page was read from"),
        _column("offset", pa.int64(), "where its record starts in the archive, -1 for a plain file"),
        _column("fetched", pa.timestamp("s", tz="UTC"), "when the page was fetched", null=True),
        _column("round", pa.int16(), "round of site discovery that brought the page, 0 for the start"),
    ],
    metadata={"table": "pages"},
)

LINKS = pa.schema(
    [
        _column("source", pa.int64(), "page_id of the page that holds the link"),
        _column("target", pa.int64(), "page_id of the page it leads to, redirects followed; null: not kept", null=True),
        _column("target_url", pa.string(), "normalised address as linked"),
        _column("target_site", pa.string(), "site of that address"),
        _column("anchor", pa.string(), "link text, or alternative text of a linked image"),
        _column("rel", pa.string(), "rel attribute, lower case"),
        _column("hreflang", pa.string(), "hreflang attribute, empty when there is none"),
    ],
    metadata={"table": "links"},
)

REJECTS = pa.schema(
    [
        _column("url", pa.string(), "address or file of what was dropped"),
        _column("stage", pa.string(), "stage that dropped it: crawl, ingest, match, recover"),
        _column("reason", pa.string(), "short name, the unit of counting"),
        _column("detail", pa.string(), "details, empty when the reason needs none"),
    ],
    metadata={"table": "rejects"},
)

LANGUAGES = pa.schema(
    [
        _column("page_id", pa.int64(), "the page"),
        _column(
            "lang",
            pa.string(),
            "BCP 47, script where it matters (zh-Hant); qaa …: one without a name; und: none found",
        ),
        _column("lang_score", pa.float32(), "share of the evidence for it, 0 to 1"),
    ],
    metadata={"table": "languages"},
)

EVIDENCE_FIELDS = [
    _column("content", pa.float32(), "content similarity S_cb: lexicons and shared tokens", null=True),
    _column("learned", pa.float32(), "content similarity with the lexicon learned on the site", null=True),
    _column("contrast", pa.float32(), "content similarity of what tells a page from its near-duplicates", null=True),
    _column("structure", pa.float32(), "structural similarity S_struct", null=True),
    _column("internal", pa.float32(), "internal similarity S_in", null=True),
    _column("external", pa.float32(), "external similarity S_ext of the last round", null=True),
    _column("ets", pa.float32(), "enhanced translation similarity", null=True),
    _column("order", pa.float32(), "how far the links of paired pages put the two at the same place", null=True),
    _column("length", pa.float32(), "how near the ratio of the lengths is to the usual one", null=True),
    _column(
        "direct",
        pa.float32(),
        "link between the two pages: its share in a page's links to the other language",
        null=True,
    ),
    _column("hreflang", pa.float32(), "1: one page names the other as its version in that language", null=True),
    _column("pattern", pa.float32(), "credibility of the URL pattern that pairs the two addresses", null=True),
    _column("cost_share", pa.float32(), "P_d: share of the tokens of both pages that have no partner", null=True),
    _column("length_difference", pa.float32(), "L_d: (L1 - L2)/(L1 + L2) of the texts' lengths", null=True),
]
"""Columns of the kinds of evidence, the same in `PAIRS` and `CANDIDATES`; null: not measured by the method in use."""

PAIRS = pa.schema(
    [
        _column("url_a", pa.string(), "page of the first language"),
        _column("url_b", pa.string(), "page of the second language"),
        _column("lang_a", pa.string(), "language of url_a"),
        _column("lang_b", pa.string(), "language of url_b"),
        _column(
            "probability",
            pa.float32(),
            "estimated probability that the two are translations; null: the method gives none, or a label decides",
            null=True,
        ),
        _column("score", pa.float32(), "what the matching ranked by"),
        _column(
            "rival",
            pa.float32(),
            "best score of another candidate of either page (liu2014: near-duplicates left out); 0: none",
        ),
        *EVIDENCE_FIELDS,
        _column(
            "alike_a", pa.int32(), "near-duplicates of url_a among the pages nearest to it; null: unknown", null=True
        ),
        _column(
            "alike_b", pa.int32(), "near-duplicates of url_b among the pages nearest to it; null: unknown", null=True
        ),
        _column(
            "risk",
            pa.float32(),
            "share of the site's near-duplicates that would take a wrong page for a missing partner; 0: a pair without"
            " near-duplicates; null: unknown",
            null=True,
        ),
        _column("canonical_a", pa.string(), "address that url_a names as its canonical one; null: none", null=True),
        _column("canonical_b", pa.string(), "address that url_b names as its canonical one; null: none", null=True),
        _column("site", pa.string(), "site of both pages"),
        _column("page_a", pa.int64(), "page_id of url_a"),
        _column("page_b", pa.int64(), "page_id of url_b"),
        _column("verdict", pa.string(), "pair; tie: another page is equally good"),
        _column("signature", pa.string(), "settings, version and input that made the numbers"),
    ],
    metadata={"table": "pairs"},
)

PAGE_PAIRS = pa.schema(
    [
        *(PAIRS.field(name) for name in ("url_a", "url_b", "lang_a", "lang_b", "probability", "score")),
        _column("title_a", pa.string(), "title of url_a, empty when there is none"),
        _column("title_b", pa.string(), "title of url_b"),
        _column("text_a", pa.string(), "text of url_a, a line for each text block"),
        _column("text_b", pa.string(), "text of url_b"),
        *(PAIRS.field(name) for name in ("site", "verdict")),
    ],
    metadata={"table": "page_pairs"},
)
"""Page pairs with their texts, as `twinlink export` writes them."""

CANDIDATES = pa.schema(
    [
        _column("page_a", pa.int64(), "page of the first language"),
        _column("page_b", pa.int64(), "page of the second language"),
        _column("score", pa.float32(), "what the matching ranked by"),
        *EVIDENCE_FIELDS,
        _column("filter", pa.string(), "filter of the method that rejected it; null: none did", null=True),
    ],
    metadata={"table": "candidates"},
)

WEIGHTS = pa.schema(
    [
        _column("site", pa.string(), "the site"),
        _column("lang_a", pa.string(), "first language"),
        _column("lang_b", pa.string(), "second language"),
        _column("evidence", pa.string(), "kind of evidence, a column of pairs"),
        _column("weight", pa.float32(), "its weight on this site, 0 to 1; the weights of all kinds sum to 1"),
    ],
    metadata={"table": "weights"},
)


FILTERS = pa.schema(
    [
        _column("site", pa.string(), "the site"),
        _column("lang_a", pa.string(), "first language"),
        _column("lang_b", pa.string(), "second language"),
        _column("filter", pa.string(), "filter that rejected the candidates, in the order of the filters; kept: none"),
        _column("n_pairs", pa.int64(), "how many candidates"),
    ],
    metadata={"table": "filters"},
)

CHECKS = pa.schema(
    [
        _column("page_a", pa.int64(), "page of the first language"),
        _column("page_b", pa.int64(), "page of the second language"),
        _column("check", pa.string(), "what was compared: a filter of the method, or a number such as p_value"),
        _column("value", pa.float64(), "its value; null: not measured, or more than twice the bound", null=True),
        _column("relation", pa.string(), "relation of a passing value to its bound; null: no bound", null=True),
        _column("bound", pa.float64(), "what it was compared with; null: nothing", null=True),
        _column("passed", pa.bool_(), "false: the pair failed"),
    ],
    metadata={"table": "checks"},
)

LOOK_ALIKES = pa.schema(
    [
        _column("site", pa.string(), "the site"),
        _column("lang", pa.string(), "language of the page, as it was matched"),
        _column("facing_lang", pa.string(), "language that it was matched with"),
        _column("group", pa.int32(), "its group of near-duplicates, among those of these languages: the largest is 1"),
        _column("page_id", pa.int64(), "the page"),
        _column("url", pa.string(), "its address"),
        _column("state", pa.string(), "paired; doubtful: its pair is not reported; unpaired: no page is left for it"),
        _column("n_pages", pa.int32(), "pages of the group"),
        _column("n_paired", pa.int32(), "those in a pair of these languages"),
        _column(
            "facing",
            pa.int32(),
            "group of facing_lang that most pairs, then most candidates, lead to; null: none",
            null=True,
        ),
        _column("n_facing", pa.int32(), "pages of that group; null: none", null=True),
    ],
    metadata={"table": "look_alikes"},
)


SHAPES = pa.schema(
    [
        _column("page_id", pa.int64(), "the page"),
        _column("tokens", pa.list_(pa.int32()), "linearised page: characters of a text > 0, start or end of a tag < 0"),
        _column("words", pa.list_(pa.int32()), "number of words of each text"),
    ],
    metadata={"table": "shapes"},
)


VERDICTS = pa.schema(
    [
        _column("a", pa.string(), "first page, as given"),
        _column("b", pa.string(), "second page, as given"),
        _column("method", pa.string(), "method that judged; null: none, because a page is missing", null=True),
        _column("verdict", pa.string(), "parallel, or the reason why not"),
        _column("score", pa.float64(), "the method's own measure: the higher, the more certain", null=True),
        _column(
            "checks",
            pa.string(),
            "what the method compared with its bounds, up to the filter that failed; overall: the methods that accept",
            null=True,
        ),
        _column(
            "cluster", pa.int64(), "hc1, hc2: cluster of the pair, numbered by size; 1: the parallel one", null=True
        ),
        _column("cost", pa.int64(), "W: tokens without partner", null=True),
        _column("tokens_a", pa.int64(), "M1: tokens of a", null=True),
        _column("tokens_b", pa.int64(), "M2: tokens of b", null=True),
        _column("length_a", pa.int64(), "L1: characters of all texts of a", null=True),
        _column("length_b", pa.int64(), "L2: characters of all texts of b", null=True),
        _column("cost_share", pa.float64(), "P_d = W/(M1 + M2)", null=True),
        _column("length_difference", pa.float64(), "L_d = (L1 - L2)/(L1 + L2)", null=True),
        _column("correlation", pa.float64(), "r: of the lengths of aligned texts", null=True),
        _column("p_value", pa.float64(), "p: probability of such an r between unrelated texts", null=True),
        _column("unequal", pa.int64(), "n: aligned texts that differ in length", null=True),
    ],
    metadata={"table": "verdicts"},
)


SEGMENT = "segment"
"""Verdict of the sentence pairs that are kept, in `SEGMENTS`."""

SEGMENTS = pa.schema(
    [
        _column("site", pa.string(), "site of both pages"),
        _column("url_a", pa.string(), "page of the first language"),
        _column("url_b", pa.string(), "page of the second language"),
        _column("lang_a", pa.string(), "language of url_a, with script where it matters (zh-Hant)"),
        _column("lang_b", pa.string(), "language of url_b"),
        _column("source", pa.string(), "text of the first language, empty in a bead 0-1"),
        _column("target", pa.string(), "text of the second language, empty in a bead 1-0"),
        _column("kind", pa.string(), "sentences on each side of the bead: 1-1, 2-1 …"),
        _column(
            "probability",
            pa.float32(),
            "probability of the bead among all alignments of the two pages; 1 by tagaligner, which knows one alignment",
        ),
        _column("per_word", pa.float32(), "how well the words explain each other: mean log p(word | other)/p(word)"),
        _column("held_out", pa.float32(), "the same, with the word model of all other segments"),
        _column("chance", pa.float32(), "probability of a translation; null: not reported, or not known", null=True),
        _column("block_a", pa.int32(), "number of the block of url_a, -1: none"),
        _column("start_a", pa.int32(), "first character in that block"),
        _column("end_a", pa.int32(), "character after the last"),
        _column("block_b", pa.int32(), "number of the block of url_b, -1: none"),
        _column("start_b", pa.int32(), "first character in that block"),
        _column("end_b", pa.int32(), "character after the last"),
        _column("verdict", pa.string(), "segment, or the reason why it is not reported"),
    ],
    metadata={"table": "segments"},
)

PAGE_ALIGNMENTS = pa.schema(
    [
        _column("site", pa.string(), "site of both pages"),
        _column("url_a", pa.string(), "page of the first language"),
        _column("url_b", pa.string(), "page of the second language"),
        _column("sentences_a", pa.int32(), "sentences of url_a"),
        _column("sentences_b", pa.int32(), "sentences of url_b"),
        _column("beads", pa.int32(), "beads with sentences on both sides"),
        _column("support", pa.float32(), "share of all sentences in beads supported by their words"),
    ],
    metadata={"table": "page_alignments"},
)


PATTERNS = pa.schema(
    [
        _column("site", pa.string(), "the site"),
        _column("rule", pa.string(), "the two keys with their most frequent context: /en/ ↔ /tc/"),
        _column("source", pa.string(), "source key; empty: what the other address has more"),
        _column("target", pa.string(), "target key"),
        _column("n_pages", pa.int64(), "N(p,w): pages of the site in pairs of this pattern"),
        _column("n_pairs", pa.int64(), "those pairs"),
        _column("local", pa.float64(), "local credibility C(p,w) = N(p,w)/|w|"),
        _column("global", pa.float64(), "global credibility C(p) = Σ C(p,w)·N(p,w) over all known sites"),
        _column("mean", pa.float64(), "C(p)/ΣN(p,w): local credibility averaged over the pages on all known sites"),
        _column("n_sites", pa.int64(), "known sites that have the pattern"),
        _column("verdict", pa.string(), "credible; rescued: weak here, credible elsewhere; weak"),
        _column("rescued", pa.bool_(), "whether the verdict is rescued"),
        _column("source_lang", pa.string(), "most frequent language of the source pages, empty: not known"),
        _column("target_lang", pa.string(), "most frequent language of the target pages, empty: not known"),
        _column("example_a", pa.string(), "address of a source page"),
        _column("example_b", pa.string(), "address of its partner"),
        _column("site_pages", pa.int64(), "|w|: pages of the site"),
        _column("site_credibility", pa.float64(), "bilingual credibility of the site C(w) = max_p C(p,w)"),
    ],
    metadata={"table": "patterns"},
)


_OF_SITES = {
    "credit": "PageRank from credible sites that comes over links: log10 of how many times a site's even share",
    "vouched": "mean credibility of the crawled sites that link to it; a site of credibility 0 is added",
    "in_links": "log2(1 + crawled sites that link to it)",
    "named": "share of linking sites that use an address which names a language; one that does not is added",
    "languages": "whether these addresses name two languages (1), one (1/2) or none (0)",
    "hreflang": "whether a site links to it with an hreflang",
    "site_wide": "share of linking sites that link from headers or footers alone; one that does not is added",
    "web_hosts": "log10(1 + hosts of other sites in the host graph that link to it); 0 without host graph",
    "cocited": "mean credibility of the other crawled sites that these hosts link to",
    "web_credit": "PageRank from credible sites over the host graph: log10 of how many times an even share, or 0",
    "suffix": "how much more often crawled sites under its suffix (gov.hk, hk) are bilingual, log-odds",
}

SITES = pa.schema(
    [
        _column("site", pa.string(), "the site"),
        _column(
            "state",
            pa.string(),
            "crawled; candidate: linked to; not-public: linked to, under no public name; or what became of it: dead …",
        ),
        _column(
            "rank",
            pa.int32(),
            "place among the candidates by ours, of equal ones by sum_weighted and n_sources, from 1; else null",
            null=True,
        ),
        _column("ours", pa.float64(), "probability that it is bilingual, from links alone"),
        _column("sum_linkout", pa.float64(), "sum of Linkout(w) over the crawled sites w that link to it"),
        _column("sum_pagerank", pa.float64(), "sum of PR(w) over them"),
        _column("sum_weighted", pa.float64(), "sum of PR(w)·C(w) over them"),
        _column("n_sources", pa.int64(), "sites that link to it"),
        _column("n_pages", pa.int64(), "pages of the site that were read"),
        _column("round", pa.int16(), "round that brought it, 0 for the start; null: not crawled", null=True),
        _column(
            "credibility",
            pa.float64(),
            "C(w) of stage patterns; where it was not done, share of the site's pages in pairs; at least the probe's"
            " share; 0: not crawled",
        ),
        _column("linkout", pa.float64(), "Linkout(w): crawled sites that a crawled site links to"),
        _column("pagerank", pa.float64(), "PR(w) among the crawled sites"),
        _column("weighted_pagerank", pa.float64(), "PR(w)·C(w)"),
        *(_column(name, pa.float32(), text) for name, text in _OF_SITES.items()),
        *(_column(f"by_{name}", pa.float32(), f"what {name} adds to the log-odds of ours") for name in _OF_SITES),
    ],
    metadata={"table": "sites"},
)


RECOVERED = pa.schema(
    [
        _column("site", pa.string(), "the site"),
        _column("url", pa.string(), "address that was guessed, or made up"),
        _column("page", pa.string(), "page whose partner it may be"),
        _column("rule", pa.string(), "pattern that made it: /tc/ → /en/; empty: made up"),
        _column("credibility", pa.float64(), "of the pattern: local, or mean on other sites"),
        _column("lang", pa.string(), "language that the partner should have, empty: not known"),
        _column(
            "outcome",
            pa.string(),
            "found; not-found, soft-404, redirected, known-page, wrong-language, robots, or what else kept it away; "
            "over-budget, given-up, not-needed, linked: not asked for; made-up: a wrong address on purpose",
        ),
        _column("detail", pa.string(), "details, empty when the outcome needs none"),
    ],
    metadata={"table": "recovered"},
)


PROBES = pa.schema(
    [
        _column("round", pa.int16(), "round that tried the site, 0 for the start"),
        _column("site", pa.string(), "the site"),
        _column(
            "verdict",
            pa.string(),
            "bilingual, two-languages, one-language, copy (of another site); refused, dead, errors, moved, empty",
        ),
        _column("added", pa.bool_(), "whether it was crawled; sites of the start are, without a probe"),
        _column("reason", pa.string(), "what the verdict rests on"),
        _column("place", pa.int32(), "place among the candidates of the round, from 1; 0 for the start"),
        _column("score", pa.float64(), "what the candidates were ranked by; 0 for the start"),
        _column("start", pa.string(), "address that it was begun at first"),
        _column("pages", pa.int64(), "pages fetched to judge it"),
        _column("langs", pa.string(), "languages of these pages, the most frequent first"),
        _column("credibility", pa.float64(), "C(w) on these pages; without a URL pattern, their share in pairs"),
        _column("rule", pa.string(), "URL pattern with that credibility, empty for none"),
        _column("pairs", pa.int64(), "pairs of these pages by a match; 0 also where a URL pattern made it needless"),
        _column("copy_of", pa.string(), "of a copy: the site that has its text; empty for others"),
    ],
    metadata={"table": "probes"},
)

ROUNDS = pa.schema(
    [
        _column("round", pa.int16(), "number of the round, 0 for the start"),
        _column("tried", pa.int64(), "sites that the round tried"),
        _column("added", pa.int64(), "of these, sites that were added"),
        _column("one_language", pa.int64(), "of these, sites that respond, and whose pages show no second language"),
        _column("copies", pa.int64(), "of these, sites whose text another site has: mirrors, link farms"),
        _column("refused", pa.int64(), "of these, sites that robots.txt closes"),
        _column("dead", pa.int64(), "of these, sites that do not respond"),
        _column("unreadable", pa.int64(), "of these, sites that responded with errors or without a page"),
        _column("with_pairs", pa.int64(), "of these, sites with page pairs"),
        _column("pages", pa.int64(), "pages of the round's sites"),
        _column("pairs", pa.int64(), "page pairs of the round's sites"),
        _column("sites", pa.int64(), "sites crawled so far"),
        _column("all_pages", pa.int64(), "pages of all sites so far"),
        _column("all_pairs", pa.int64(), "page pairs of all sites so far, with what this round's patterns add to them"),
        _column("patterns", pa.int64(), "different credible URL patterns so far"),
        _column("candidates", pa.int64(), "sites that are linked to and not tried yet"),
    ],
    metadata={"table": "rounds"},
)
