"""Which sites a match computes, and which it reuses."""

from __future__ import annotations

import pytest

from twinlink.match import stage


def matched_from_now(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which each site is added that is matched from now on, in this process."""
    matched: list[str] = []
    real = stage.match_site

    def spy(pages, *args, **kwargs):  # type: ignore[no-untyped-def]
        matched.append(pages["site"][0].as_py())
        return real(pages, *args, **kwargs)

    monkeypatch.setattr(stage, "match_site", spy)
    return matched
