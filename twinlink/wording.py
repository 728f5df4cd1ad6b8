"""Descriptions of kinds of evidence, reasons of rejects and doubts, for explanations, the report and the review."""

from __future__ import annotations

from twinlink.labels.book import ACCEPTED, REJECTED

EVIDENCE_WORDS = {
    "content": "words of one page that occur on the other, directly or by a lexicon",
    "learned": "words of one page that occur on the other, by a lexicon learned on this site",
    "contrast": "only words that distinguish a page from its near-duplicates",
    "structure": "similarity of the sequences of tags (S_struct)",
    "internal": "content and structure together (S_in)",
    "external": "similarity of the pages linked to and from them (S_ext)",
    "order": "whether menus and lists of paired pages link to the two at the same position",
    "ets": "content and links together (enhanced translation similarity)",
    "length": "how close the ratio of the texts' lengths is to the usual one",
    "direct": "the two pages link to each other",
    "hreflang": "one page names the other as its version in that language",
    "pattern": "the addresses differ only in the part that names the language",
    "cost_share": "share of the pages' parts without a counterpart: lower is better",
    "length_difference": "difference of the texts' lengths: closer to 0 is better",
}

DOUBTS = {
    "tie": "another page is equally likely",
    "rival": "another page is nearly as likely",
    "alike": "a page has near-duplicates",
    "content": "fewer words in common than in most pairs",
    "structure": "tags differ more than in most pairs",
    "links": "neighbours differ more than in most pairs",
    "length": "ratio of lengths less usual than in most pairs",
    "none": "",
}

STAGES = {
    "crawl": "while fetching",
    "ingest": "while reading",
    "match": "while matching",
    "recover": "while recovering pages",
}

LABELS = {ACCEPTED: "accepted", REJECTED: "rejected"}

ROUND_OUTCOMES = {
    "added": "added",
    "one_language": "not bilingual",
    "copies": "copies of other sites",
    "refused": "refused by robots.txt",
    "dead": "dead",
    "unreadable": "errors, moved, empty",
}
"""Counts of a round of discovery: sites tried by their outcome."""

ENDS = {
    "complete": "The crawl is complete: no address was left to fetch.",
    "later": "The crawl ended with addresses whose servers were busy; the same command asks for them again.",
    "page-limit": "The crawl ended because it had fetched as many pages as crawl.max_pages allows.",
    "budget": "The crawl ended because every site had spent its budget.",
    "interrupted": "The crawl was interrupted; the same command goes on where it stopped.",
}

REASONS = {
    "robots": "robots.txt asks not to fetch it",
    "robots-unreachable": "robots.txt could not be fetched, so nothing else was fetched from the host",
    "busy": "the server asked to wait for long, or had too much to do",
    "page-limit": "the crawl ended before it, with as many pages as crawl.max_pages allows",
    "interrupted": "the crawl was interrupted before it",
    "noindex": "the page asks not to be indexed",
    "not-html": "not a web page",
    "not-a-part": "neither a style sheet nor a picture",
    "too-large": "larger than the setting max_page_bytes",
    "trap": "looks like an endless chain of addresses, a calendar for instance",
    "excluded": "left out by the settings include or exclude",
    "private-address": "its host has a private address",
    "blocked-port": "its port belongs to another protocol",
    "needs-browser": "empty without its scripts, and there was no browser",
    "depth": "too many links away from the start",
    "nofollow": "the page that links to it asks not to follow links",
    "moved": "leads to an address elsewhere",
    "browser-failed": "the browser could not render it",
    "not-a-sitemap": "no sitemap at this address",
    "too-many-links": "more links than the limit per page or per site",
    "sitemap-budget": "a sitemap beyond the limits per site",
    "sitemap-cut": "a sitemap that was read up to a limit or up to a damaged place",
    "not-needed": "a sitemap that was no longer needed",
    "redirect-loop": "redirects that never end",
    "timeout": "no answer in time",
    "dns": "the host's name is not known",
    "tls": "the encrypted connection failed",
    "connection": "the connection failed",
    "error": "another error",
    "bad-url": "not a usable address",
    "bad-encoding": "its Content-Encoding (gzip, br) is unknown or damaged",
    "empty-page": "it has no text",
    "parse-timeout": "reading it would take too long",
    "parse-failed": "reading it would take too much memory, or the parser failed",
    "page-cut": "its markup takes too long to read; the beginning was kept",
    "redirect": "redirects to another address, which is used if the run has it",
    "duplicate-url": "the same page under another address",
    "duplicate-page": "the same bytes as another address of the same page, which is used instead",
    "older-capture": "a later capture of the same address is used instead",
    "revisit": "the archive records that it has not changed; this capture has no content",
    "damaged-record": "the archive is damaged here",
    "truncated": "the archive contains only a part of it",
    "unreadable": "the file could not be read",
    "bad-line": "a line of a list that could not be read",
    "missing-page": "named in the list, but in no archive",
    "no-archive": "its archive was not found",
    "no-address": "neither the file nor the page gives its address",
    "beside-archives": "saved pages beside archives; the archives were used",
    "post": "the answer to a form, not a page at an address",
    "no-language": "its language could not be determined: too little or ambiguous text",
    "two-languages": "in two of the wanted languages, block by block",
    "other-language": "in none of the wanted languages",
    "only-language": "no page of its site is in another wanted language",
    "placeholder": "little text but a sentence that only such pages of its language have: probably a note that there is"
    " no translation",
    "doubtful": "its best partner is too doubtful to be reported",
    "tie": "it, or its best partner, has another candidate that is equally good",
    "no-partner-left": "the matching gave each of its candidates to another page that is at least as good",
    "copy": "another page of its language has the same content, and is in a pair or was compared in its place",
    "no-candidate": "no page was a candidate for it",
    "crowded-address": "its address differs in one place from too many others, so the URL rule compared only tokens",
    "over-limit": "left out by max_pairs or min_score",
    "not-found": "a guessed address that has no page",
    "soft-404": "the answer to a guessed address is an error page, though the server says that it is none",
    "redirected": "a guessed address that redirects",
    "known-page": "the answer to a guessed address is a page that is known already",
    "wrong-language": "the answer to a guessed address is not in the expected language",
    "made-up": "an address made up to recognise the site's error pages",
    "not-judged": "the answer to a guessed address has not been judged yet",
    "label": "labels rejected its pair or re-paired one of its pages",
}


SENTENCE_REASONS = {
    "unaligned": "it has no counterpart on the other page",
    "encoding": "its characters show that a text was decoded wrongly",
    "no-words": "one side has no letters, only numbers or signs",
    "copy": "both sides are the same text, so nothing was translated (max_copy)",
    "code": "both sides are the same listing of program text (max_code_copy)",
    "length": "the lengths of both sides do not fit, by those of the site's other pairs (max_length_deviation)",
    "numbers": "the numbers of both sides differ (min_shared_numbers)",
    "addresses": "both sides are mostly addresses, of other sites (max_other_addresses)",
    "improbable": "other alignments of the two pages are as likely here (min_probability)",
    "words": "its words are evidence against a translation (min_words)",
    "same-language": "both sides are in the same language",
    "third-language": "one of the pages is in a third language",
    "page": "too few sentences of its page pair are supported by their words (min_support)",
    "unsure": "its chance to be a translation is too small (min_chance)",
    "boilerplate": "the same pair, already kept once, is on many pages: a menu or footer (boilerplate_share)",
    "duplicate": "the same pair was kept before; case and punctuation do not count",
    "digits": "the same pair with other digits was kept before (ignore_digits)",
    "near-duplicate": "nearly the same pair was kept before (near_likeness)",
}
"""Why a sentence pair is not reported, with the setting of `bitext.filters` that decides."""


def reason_words(reason: str) -> str:
    """Return the description of a reject's reason; empty if it has none.

    >>> reason_words("http-404"), reason_words("filter-length")
    ('the server answered 404', 'all its candidates were rejected, the last ones by the filter length')
    """
    if reason.startswith("http-"):
        return f"the server answered {reason.removeprefix('http-')}"
    if reason.startswith("filter-"):
        return f"all its candidates were rejected, the last ones by the filter {reason.removeprefix('filter-')}"
    if reason.startswith("budget-"):
        return "the site's budget was spent"
    return REASONS.get(reason, "")
