"""Upgrade of ledgers of earlier versions."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from twinlink.spiders.frontier.schema import BODIES, COUNT_INSERTED, COUNT_UPDATED

__all__ = ["upgrade"]

# What brings a ledger of a version up to the next one.
_STEPS: Mapping[int, tuple[str, ...]] = {
    3: (
        BODIES,
        """
INSERT INTO bodies
SELECT id, archive, stop, url, '', '', '', '', 'new', 1 FROM frontier
WHERE state = 'done' AND kind = 'page' AND archive IS NOT NULL
""",
    ),
    4: (
        "ALTER TABLE sites ADD COLUMN address_bytes INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE sites ADD COLUMN listed INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE sites ADD COLUMN listed_bytes INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE hosts ADD COLUMN maps_queued INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE hosts ADD COLUMN maps_flight INTEGER NOT NULL DEFAULT 0",
        "DROP TRIGGER frontier_insert",
        "DROP TRIGGER frontier_update",
        COUNT_INSERTED,
        COUNT_UPDATED,
        """
UPDATE sites SET address_bytes = found.n
FROM (SELECT site, sum(length(key) + length(url)) AS n FROM frontier GROUP BY site) AS found
WHERE sites.site = found.site
""",
        """
UPDATE hosts SET maps_queued = found.n, maps_flight = found.m
FROM (
    SELECT site, host, sum(state = 'queued') AS n, sum(state = 'flight') AS m
    FROM frontier WHERE kind = 'sitemap' GROUP BY site, host
) AS found
WHERE hosts.site = found.site AND hosts.host = found.host
""",
        "UPDATE frontier SET side = -2 WHERE kind = 'sitemap'",
    ),
}


def upgrade(db: sqlite3.Connection) -> int:
    """Bring a ledger of an earlier version up to date; return the version that it then has, 0 for an empty file."""
    version = _version(db)
    while version in _STEPS:
        db.execute("BEGIN IMMEDIATE")
        if _version(db) == version:  # nobody was faster
            for statement in _STEPS[version]:
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {version + 1}")
        db.execute("COMMIT")
        version = _version(db)
    return version


def _version(db: sqlite3.Connection) -> int:
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    return version
