"""What `words` knows about single languages, by language code."""

from __future__ import annotations

SNOWBALL = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil",
    "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""Snowball's stemmers; a release without one of them leaves the words of that language whole."""

PREFIX_LANGUAGES = frozenset("az ba be bg bs hr ka kk ky lv mk mn sk sl tk tt uk uz".split())
"""Languages without stemmer that put endings to their words."""

SPACE_GROUPING = frozenset("be bg cs et fi fr hu kk ky lt lv no pl ru sk sv uk".split())
"""Languages that write 1 234. White space is collapsed before, so that no-break spaces have become plain ones."""

CLITIC_LANGUAGES = frozenset({"ca", "fr", "it", "oc"})
"""Languages that join articles and pronouns to a word by an apostrophe."""

KOREAN_PARTICLES = tuple(
    "에서는 으로는 에게서 이라는 에서 으로 부터 까지 에게 처럼 보다 이나 라는 하는 하고 이며"
    " 을 를 이 가 은 는 의 에 로 와 과 도 만 나".split()
)
"""Particles at the end of Korean words, long ones first."""

STOP_WORDS = {
    "en": frozenset(
        "a an the of to in on at by for with from as and or not be is are been i it its that this which who"
        " one's oneself sb sth somebody someone something etc esp eg ie used".split()
    ),
    "fr": frozenset(
        "le la les l un une des du de d à au aux en dans par pour sur avec et ou ne pas se s être que qui".split()
    ),
    "de": frozenset(
        "der die das den dem des ein eine einen einem einer zu zum zur von vom in im mit auf für und oder sich".split()
    ),
    "es": frozenset("el la los las un una unos unas de del a al en por para con y o no se ser que lo".split()),
    "pt": frozenset("o a os as um uma uns umas de do da dos das em no na nos nas por para com e ou não se que".split()),
    "it": frozenset("il lo la i gli le l un uno una di del della dei a al alla in nel nella da per con e o si".split()),
    "ru": frozenset("в на и с по для от из к у о об не или за что это".split()),
}
"""Words that do not count in dictionary entries of several words."""
