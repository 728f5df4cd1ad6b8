"""What the routes share: messages at the top of the next page."""

from __future__ import annotations

from collections import deque

from tests.review.conftest import Visiting
from twinlink.review.app.answers import Notice


class _TakenMeanwhile(deque[Notice]):
    """Messages of which another thread takes one as soon as they have been counted."""

    def __len__(self) -> int:
        return super().__len__() + 1


def test_a_message_that_another_page_has_taken_meanwhile_is_not_missed(visiting: Visiting) -> None:
    visitor = visiting()
    visitor.client.app.state.review.notices = _TakenMeanwhile([Notice("Accepted one."), Notice("And the second.")])
    page = visitor.get("/queue")
    assert "Accepted one." in page
    assert "And the second." in page
    assert "Accepted" not in visitor.get("/queue")
