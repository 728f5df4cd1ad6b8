"""What counts as a user name and a password in a text, and what only looks like it."""

from __future__ import annotations

import pytest

from twinlink.redaction import redacted, without_credentials


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://me:secret@a.org/", "http://…@a.org/"),
        ("http://me@a.org/", "http://…@a.org/"),
        ("http:///me:secret@a.org/", "http:///…@a.org/"),
        ("http:/me:secret@a.org", "http:/…@a.org"),
        ("http://me:se/cr?e#t@a.org/", "http://…@a.org/"),
        ("http://me:secret@more@a.org/", "http://…@a.org/"),
        ("--base-url=http://me:secret@a.org/", "--base-url=http://…@a.org/"),
        ("s3://key:secret@bucket/run", "s3://…@bucket/run"),
        ("me:secret@a.org", "…@a.org"),
        ("http://a:b@c.org/ http://d:e@f.org/", "http://…@c.org/ http://…@f.org/"),
    ],
)
def test_passwords_are_left_out(text: str, shown: str) -> None:
    assert redacted(text) == shown
    assert without_credentials(text) == shown.replace("…@", "")


@pytest.mark.parametrize(
    "text",
    [
        "http://a.org/@me",
        "http://a.org:80/x:y@z",
        "http://[::1]:80/a@b",
        "http://a.org:80?x@y",
        "http://a.org (x:y@z)",
        "me@a.org",
        "mailto:me@a.org",
        "folder/a:b@c",
        "crawl.contact=me@a.org",
    ],
)
def test_other_signs_stay(text: str) -> None:
    assert redacted(text) == without_credentials(text) == text
