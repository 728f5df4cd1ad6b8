"""Digests of bodies are written as the standard library writes them."""

from __future__ import annotations

import base64
import hashlib

from hypothesis import given
from hypothesis import strategies as st

from twinlink.ingest.page_spool import body_digest


@given(st.binary(max_size=50))
def test_digest_is_sha1_in_base32(body: bytes) -> None:
    assert body_digest(body) == base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()
