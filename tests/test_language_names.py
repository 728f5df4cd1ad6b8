"""Names of languages as users write them: what is none, and what means one language twice."""

from __future__ import annotations

import pytest

from twinlink.config import Config
from twinlink.errors import ConfigError


@pytest.mark.parametrize(
    ("langs", "message"),
    [
        ("en,xx", "'xx': no language has this code or name; expected a code such as en, zh-TW or zho"),
        ("en,englsih", "'englsih': no language has this code or name; did you mean en (English)?"),
        ("en,Chineese", "did you mean zh (Chinese)?"),
        ("en,rusian", "did you mean ru (Russian)?"),
        ("en,cn", "cn is a country: did you mean zh-Hans?"),
        ("en,jp", "jp is a country: did you mean ja?"),
        ("us,zh", "us is a country: did you mean en?"),
        ("en,zh-hantt", "did you mean zh?"),
        ("en;zh", "did you mean en,zh?"),
        ("en zh", "did you mean en,zh?"),
        ("en,", "'': no language has this code or name; expected a code"),
        ("en,x-default", "'x-default': no language has this code or name; expected a code"),
        ("en,und", "'und': no language has this code or name; expected a code"),
        ("en," + "x" * 300, "no language has this code or name; expected a code"),
        ("zh-TW,zh-HK", "zh-TW and zh-HK are the same language here (zh-Hant); name one of them"),
        ("en-US,en-GB", "en-US and en-GB are the same language here (en); name one of them"),
        ("iw,he", "iw and he are the same language here (he); name one of them"),
        ("en,English", "en and en are the same language here (en); name one of them"),
        ("en,zh,zh-TW", "zh includes zh-TW; name one of them"),
    ],
)
def test_what_is_no_two_languages_is_refused(langs: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        Config().override({"langs": langs.split(",")})
    assert message in str(raised.value)
