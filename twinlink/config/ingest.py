"""Settings of the stages that read pages, and that find their languages."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta
from msgspec.structs import force_setattr

from twinlink.config.settings import Natural, Positive, Settings, Unit
from twinlink.redaction import without_credentials


class IngestSettings(Settings, frozen=True):
    """Reading of archives and folders."""

    base_url: str = ""
    """Address that a mirror folder's top stands for; empty: recovered from the files where possible."""
    url_prefixes: tuple[str, ...] = ()
    """Read only pages whose address begins with one of these (`https://www.example.org/en/`; without a scheme: http and
    https). Of an archive's index (CDX, CDXJ), only their records are read. Empty: all."""
    max_page_bytes: Positive = 10 * 2**20
    """A larger page is rejected (`too-large`)."""
    parse_seconds: Annotated[float, Meta(gt=0)] = 20.0
    """As ``crawl.parse_seconds``, for pages of more than 8 MB (`parse-timeout`)."""

    def __post_init__(self) -> None:
        """Drop user names and passwords of addresses, which a run would store."""
        super().__post_init__()
        force_setattr(self, "base_url", without_credentials(self.base_url))
        force_setattr(self, "url_prefixes", tuple(map(without_credentials, self.url_prefixes)))


class LanguageSettings(Settings, frozen=True):
    """Identification of the language of a page."""

    min_letters: Natural = 10
    """A page with fewer letters has no language (`und`)."""
    boilerplate_share: Unit = 0.1
    """A block on more than this share of a site's pages is ignored in the language of a single page."""
    min_score: Unit = 0.2
    """A page with a lower language score has no language (`und`): a probability, or CLD2's share of the words."""
