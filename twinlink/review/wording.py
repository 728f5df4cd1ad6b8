"""Descriptions of kinds of evidence, reasons of rejects and doubts, for the report and the review."""

from __future__ import annotations

from twinlink.labels.book import ACCEPTED, REJECTED

__all__ = ["DOUBTS", "ENDS", "EVIDENCE_WORDS", "LABELS", "REASONS", "STAGES", "reason_words"]

EVIDENCE_WORDS = {
    "content": "words of one page that lexicons, or the page itself, find on the other",
    "learned": "the same with words learned on this site",
    "contrast": "only words that tell a page from others almost like it",
    "structure": "how alike the tags of the two pages are, in order",
    "internal": "content and structure together (S_in)",
    "external": "how alike the pages around them are, by links (S_ext)",
    "order": "how far menus and lists of paired pages have the two at the same place",
    "ets": "content and links together (enhanced translation similarity)",
    "length": "how near the lengths of the texts are to the usual ratio",
    "direct": "the two pages link to each other",
    "hreflang": "one page names the other as its version in that language",
    "pattern": "the addresses differ only in what names the language",
    "cost_share": "share of the pages' parts without a counterpart: the less, the better",
    "length_difference": "difference of the texts' lengths: the nearer to 0, the better",
}

DOUBTS = {
    "tie": "another page would do as well",
    "rival": "another page comes near",
    "alike": "a page has near-duplicates",
    "content": "fewer words in common than in most pairs",
    "structure": "structure differs more than in most pairs",
    "links": "pages around differ more than in most pairs",
    "length": "lengths less usual than in most pairs",
    "none": "",
}

STAGES = {"crawl": "while fetching", "ingest": "while reading", "match": "while matching"}

LABELS = {ACCEPTED: "accepted", REJECTED: "rejected"}

ENDS = {
    "complete": "The crawl came to its end: nothing was left to fetch.",
    "page-limit": "The crawl ended because it had fetched as many pages as crawl.max_pages allows.",
    "budget": "The crawl ended because every site had spent its budget.",
    "interrupted": "The crawl was interrupted; the same command goes on where it stopped.",
}

REASONS = {
    "robots": "robots.txt asks not to fetch it",
    "robots-unreachable": "robots.txt could not be had, so the host was left alone",
    "noindex": "the page asks not to be indexed",
    "not-html": "something else than a web page",
    "too-large": "larger than the setting max_page_bytes",
    "trap": "looks like an endless chain of addresses, a calendar for instance",
    "excluded": "left out by the settings include or exclude",
    "private-address": "its host has a private address",
    "blocked-port": "its port belongs to another protocol than the web's",
    "needs-browser": "empty without its scripts, and there was no browser",
    "depth": "too many links away from the start",
    "nofollow": "the page that links to it asks not to follow",
    "moved": "leads to an address elsewhere",
    "browser-failed": "the browser could not build it",
    "not-a-sitemap": "no sitemap at this address",
    "too-many-links": "more links than one page, or one site, may bring",
    "sitemap-budget": "a sitemap beyond the limits of what is read of one site",
    "sitemap-cut": "a sitemap that was read up to a limit, or to where it is damaged",
    "not-needed": "a sitemap that was not needed any more",
    "redirect-loop": "redirects that never end",
    "timeout": "no answer in time",
    "dns": "the host's name is not known",
    "tls": "the encrypted connection failed",
    "connection": "the connection failed",
    "error": "an error that has no name here",
    "bad-url": "not a usable address",
    "bad-encoding": "its text could not be decoded",
    "empty-page": "no text on it",
    "parse-timeout": "reading it would take too long",
    "parse-failed": "reading it would take too much memory, or the parser failed",
    "page-cut": "kept up to where its markup would take too long to read",
    "redirect": "leads to another address, which counts instead",
    "duplicate-url": "the same page under another address",
    "duplicate-page": "the same bytes under another address of the same page",
    "older-capture": "a later visit of the same address counts instead",
    "revisit": "the archive says it has not changed; this visit brought no copy",
    "damaged-record": "the archive is damaged here",
    "truncated": "the archive holds only a part of it",
    "unreadable": "the file could not be read",
    "bad-line": "a line of a list that could not be read",
    "missing-page": "named in the list, but in no archive",
    "no-address": "neither the file nor the page tells its address",
    "beside-archives": "saved pages beside archives; the archives were read",
    "post": "the answer to a form, not a page at an address",
    "no-language": "its language could not be told: too little text, or none that is clear",
    "two-languages": "block by block in two of the wanted languages",
    "other-language": "in none of the languages that are matched",
    "only-language": "no page of its site is in another language that is matched",
    "doubtful": "its best partner is too unsure to be handed out",
    "tie": "it, or its best partner, would do as well with another page",
    "no-partner-left": "each of its candidates goes with another page, which is as good for it or better",
    "no-candidate": "no page was a candidate for it",
    "over-limit": "left out by max_pairs or min_score",
    "label": "labels rejected its pair, or took it apart",
}


def reason_words(reason: str) -> str:
    """Return the description of a reject's reason; empty if it has none.

    >>> reason_words("http-404"), reason_words("filter-length")
    ('the server answered 404', 'no candidate of it got further than the filter length')
    """
    if reason.startswith("http-"):
        return f"the server answered {reason.removeprefix('http-')}"
    if reason.startswith("filter-"):
        return f"no candidate of it got further than the filter {reason.removeprefix('filter-')}"
    if reason.startswith("budget-"):
        return "the site's budget was spent"
    return REASONS.get(reason, "")
