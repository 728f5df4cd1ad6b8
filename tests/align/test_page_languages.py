"""Pages in a third language among those of two languages."""

from __future__ import annotations

import pytest

from twinlink.align.page_languages import is_in_third_language

# Article 1 of the Universal Declaration of Human Rights, as its publisher gives it.
ENGLISH = (
    "All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience and"
    " should act towards one another in a spirit of brotherhood."
)
PORTUGUESE = (
    "Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Dotados de razão e de consciência, devem"
    " agir uns para com os outros em espírito de fraternidade."
)
JAPANESE = "すべての人間は、生れながらにして自由であり、かつ、尊厳と権利とについて平等である。"


@pytest.mark.parametrize(
    ("blocks", "langs", "expected"),
    [
        ([PORTUGUESE, PORTUGUESE], ("en", "fr"), True),
        ([PORTUGUESE, PORTUGUESE], ("en", "pt-BR"), False),
        ([PORTUGUESE, PORTUGUESE], ("en", "gl"), False),  # a relative
        ([PORTUGUESE, ENGLISH, ENGLISH], ("en", "fr"), False),  # translated in part
        ([ENGLISH, ENGLISH], ("fr", "zh-Hant"), True),
        ([JAPANESE, JAPANESE], ("en", "zh-Hans"), True),
        (["OK", "404"], ("fr", "de"), False),
        ([], ("fr", "de"), False),
    ],
)
def test_only_a_page_without_doubt_is_in_a_third_language(
    blocks: list[str], langs: tuple[str, str], expected: bool
) -> None:
    assert is_in_third_language(blocks, langs) is expected
