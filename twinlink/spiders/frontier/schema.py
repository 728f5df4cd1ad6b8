"""SQL of the ledger: its tables, the triggers that keep its counts, and its statements."""

from __future__ import annotations

from twinlink.spiders.frontier.records import FAILURES, SAME_PAGE, SITEMAP_KEY, SPARE_PAGES, FrontierEntry, Outcome

VERSION = 5

# States of an address: queued; flight: passed to the downloader; done: a page, in the archive; moved: a redirect, in
# the archive; rejected: dropped for `reason` (its response is in the archive); aside: a sitemap, read or skipped for
# `reason`. Triggers keep counts of the rows of `frontier` in `total`, `sites`, `hosts`, `tally` and `langs`, so that
# progress and the choice of the next host do not scan the table: the scheduler reads the counts before each request,
# GROUP BY takes 60 ms at 300,000 addresses, and adding an address with its triggers takes 12 µs. A host that belongs to
# two sites (defined by folder) has a row for each. `listed` and `listed_bytes` count the addresses and bytes read from
# the sitemaps of a site; `maps_queued` and `maps_flight` count the sitemaps of a host.
#
# `bodies` has the position of the fetched page of each address in the archive; kept while the address is queued to be
# requested again. `found` is the result of the latest visit (the number of visits is in `notes`). new, unchanged,
# changed: the page was fetched; kept: the visit failed, and the earlier page is kept; gone: the page does not exist.
SCHEMA = """
CREATE TABLE frontier (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    url TEXT NOT NULL,
    host TEXT NOT NULL,
    site TEXT NOT NULL,
    kind TEXT NOT NULL,
    depth INTEGER NOT NULL,
    chain INTEGER NOT NULL,
    hops INTEGER NOT NULL,
    suspect TEXT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL,
    detail TEXT NOT NULL,
    status INTEGER,
    archive TEXT,
    start INTEGER,
    stop INTEGER,
    bytes INTEGER NOT NULL DEFAULT 0,
    lang TEXT NOT NULL DEFAULT '',
    side INTEGER NOT NULL,
    urgency INTEGER NOT NULL,
    place INTEGER NOT NULL
);
CREATE INDEX frontier_queue ON frontier (site, host, side, (suspect <> ''), urgency DESC, depth, id)
WHERE state = 'queued';
CREATE INDEX frontier_place ON frontier (place) WHERE place <> 0;
CREATE TABLE sides (
    site TEXT NOT NULL,
    side INTEGER NOT NULL,
    fetched INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (site, side)
) WITHOUT ROWID;
CREATE TABLE rules (
    site TEXT NOT NULL,
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    side INTEGER NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (site, before, after)
) WITHOUT ROWID;
CREATE INDEX rules_best ON rules (site, n);
CREATE TABLE archives (name TEXT PRIMARY KEY, stop INTEGER NOT NULL);
CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE total (
    queued INTEGER NOT NULL,
    flight INTEGER NOT NULL,
    done INTEGER NOT NULL,
    moved INTEGER NOT NULL,
    rejected INTEGER NOT NULL,
    bytes INTEGER NOT NULL
);
INSERT INTO total VALUES (0, 0, 0, 0, 0, 0);
CREATE TABLE sites (
    site TEXT PRIMARY KEY,
    queued INTEGER NOT NULL DEFAULT 0,
    flight INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    moved INTEGER NOT NULL DEFAULT 0,
    rejected INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    seconds REAL NOT NULL DEFAULT 0,
    turn INTEGER NOT NULL DEFAULT 0,
    ended TEXT NOT NULL DEFAULT '',
    address_bytes INTEGER NOT NULL DEFAULT 0,
    listed INTEGER NOT NULL DEFAULT 0,
    listed_bytes INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX sites_open ON sites (flight, turn) WHERE queued > 0 AND ended = '';
CREATE TABLE hosts (
    site TEXT NOT NULL,
    host TEXT NOT NULL,
    queued INTEGER NOT NULL DEFAULT 0,
    flight INTEGER NOT NULL DEFAULT 0,
    turn INTEGER NOT NULL DEFAULT 0,
    room INTEGER NOT NULL DEFAULT 1000000,
    wanted INTEGER NOT NULL DEFAULT 0,
    maps_queued INTEGER NOT NULL DEFAULT 0,
    maps_flight INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (site, host)
) WITHOUT ROWID;
CREATE INDEX hosts_open ON hosts (site, (wanted = 0), flight, turn) WHERE queued > 0;
CREATE TABLE tally (
    site TEXT NOT NULL,
    reason TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (site, reason)
) WITHOUT ROWID;
CREATE TABLE langs (
    site TEXT NOT NULL,
    lang TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (site, lang)
) WITHOUT ROWID;
CREATE TRIGGER frontier_sides AFTER UPDATE OF state, side ON frontier
WHEN new.side <> old.side OR (new.state IN ('done', 'flight')) <> (old.state IN ('done', 'flight')) BEGIN
    INSERT INTO sides VALUES (new.site, new.side, new.state IN ('done', 'flight'))
    ON CONFLICT DO UPDATE SET fetched = fetched + excluded.fetched;
    UPDATE sides SET fetched = fetched - (old.state IN ('done', 'flight')) WHERE site = old.site AND side = old.side;
END;
CREATE TRIGGER frontier_urgency AFTER UPDATE OF state, urgency ON frontier
WHEN (new.state = 'queued' AND new.urgency >= 0) <> (old.state = 'queued' AND old.urgency >= 0) BEGIN
    UPDATE hosts SET wanted = wanted + iif(new.state = 'queued' AND new.urgency >= 0, 1, -1)
    WHERE site = new.site AND host = new.host;
END;
CREATE TRIGGER frontier_done AFTER UPDATE OF state ON frontier WHEN new.state = 'done' BEGIN
    INSERT INTO langs VALUES (new.site, new.lang, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER frontier_undone AFTER UPDATE OF state ON frontier WHEN old.state = 'done' BEGIN
    UPDATE langs SET n = n - 1 WHERE site = old.site AND lang = old.lang;
END;
CREATE TRIGGER frontier_rejected AFTER INSERT ON frontier WHEN new.state = 'rejected' BEGIN
    INSERT INTO tally VALUES (new.site, new.reason, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER frontier_rejects AFTER UPDATE OF state, reason ON frontier WHEN new.state = 'rejected' BEGIN
    INSERT INTO tally VALUES (new.site, new.reason, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER frontier_readmits AFTER UPDATE OF state, reason ON frontier WHEN old.state = 'rejected' BEGIN
    UPDATE tally SET n = n - 1 WHERE site = old.site AND reason = old.reason;
END;
CREATE TABLE bodies (
    id INTEGER PRIMARY KEY,
    archive TEXT NOT NULL,
    stop INTEGER NOT NULL,
    url TEXT NOT NULL,
    date TEXT NOT NULL,
    digest TEXT NOT NULL,
    etag TEXT NOT NULL,
    modified TEXT NOT NULL,
    found TEXT NOT NULL,
    visit INTEGER NOT NULL
);
CREATE TRIGGER frontier_insert AFTER INSERT ON frontier BEGIN
    INSERT INTO sites (site) VALUES (new.site) ON CONFLICT DO NOTHING;
    INSERT INTO hosts (site, host) VALUES (new.site, new.host) ON CONFLICT DO NOTHING;
    UPDATE total SET queued = queued + (new.state = 'queued'), rejected = rejected + (new.state = 'rejected');
    UPDATE sites SET
        queued = queued + (new.state = 'queued'), rejected = rejected + (new.state = 'rejected'),
        address_bytes = address_bytes + length(new.key) + length(new.url)
    WHERE site = new.site;
    UPDATE hosts SET
        queued = queued + (new.state = 'queued'), wanted = wanted + (new.state = 'queued' AND new.urgency >= 0),
        maps_queued = maps_queued + (new.state = 'queued' AND new.kind = 'sitemap')
    WHERE site = new.site AND host = new.host;
    INSERT INTO sides (site, side) VALUES (new.site, new.side) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER frontier_update AFTER UPDATE OF state, bytes ON frontier
WHEN new.state <> old.state OR new.bytes <> old.bytes BEGIN
    UPDATE total SET
        queued = queued + (new.state = 'queued') - (old.state = 'queued'),
        flight = flight + (new.state = 'flight') - (old.state = 'flight'),
        done = done + (new.state = 'done') - (old.state = 'done'),
        moved = moved + (new.state = 'moved') - (old.state = 'moved'),
        rejected = rejected + (new.state = 'rejected') - (old.state = 'rejected'),
        bytes = bytes + new.bytes - old.bytes;
    UPDATE sites SET
        queued = queued + (new.state = 'queued') - (old.state = 'queued'),
        flight = flight + (new.state = 'flight') - (old.state = 'flight'),
        done = done + (new.state = 'done') - (old.state = 'done'),
        moved = moved + (new.state = 'moved') - (old.state = 'moved'),
        rejected = rejected + (new.state = 'rejected') - (old.state = 'rejected'),
        bytes = bytes + new.bytes - old.bytes
    WHERE site = new.site;
    UPDATE hosts SET
        queued = queued + (new.state = 'queued') - (old.state = 'queued'),
        flight = flight + (new.state = 'flight') - (old.state = 'flight'),
        maps_queued = maps_queued + (new.kind = 'sitemap') * ((new.state = 'queued') - (old.state = 'queued')),
        maps_flight = maps_flight + (new.kind = 'sitemap') * ((new.state = 'flight') - (old.state = 'flight'))
    WHERE site = new.site AND host = new.host;
END;
"""

_ENTRY = ", ".join(FrontierEntry._fields)
_VALUES, _REASON = ", ".join("?" * len(FrontierEntry._fields)), FrontierEntry._fields.index("reason") + 1

# Adds a `FrontierEntry`: the columns have the names and the order of its fields. The statement is completed by the
# columns to update if the address is known.
ADD = f"""
INSERT INTO frontier ({_ENTRY}, state)
VALUES ({_VALUES}, iif(?{_REASON} = '', 'queued', 'rejected'))
ON CONFLICT (key) DO UPDATE
"""  # noqa: S608  (our own names)

# An address that was dropped because of the path to it (too deep, at the end of a long chain, nofollow) is queued again
# when a better path leads to it. Other known addresses are not changed.
INSERT = f"""
{ADD}
    SET depth = excluded.depth, chain = excluded.chain, state = 'queued', reason = '', detail = ''
    WHERE frontier.reason IN ('depth', 'trap', 'nofollow', 'too-many-links') AND frontier.state = 'rejected'
        AND excluded.state = 'queued'
"""

# Sites take turns, those with the fewest requests in flight first, and so do the hosts within a site. The subquery runs
# until it finds a host with room; this takes few steps, because a site without requests in flight has room. Only one
# sitemap per host is in flight, because each may have 50 MB; pages of the host are fetched meanwhile.
NEXT_HOST = """
SELECT site, (
    SELECT host FROM hosts
    WHERE hosts.site = sites.site AND hosts.queued > 0 AND hosts.flight < min(hosts.room, :per_host)
        AND (hosts.queued > hosts.maps_queued OR hosts.maps_flight = 0)
    ORDER BY (hosts.wanted = 0), hosts.flight, hosts.turn LIMIT 1
)
FROM sites
WHERE queued > 0 AND ended = '' AND done + flight < :max_pages
ORDER BY flight, turn
"""

# Selects the best address of each side, and of these the most urgent one; ties are broken by the side with the fewest
# fetched pages. If pairs are not preferred, all addresses have side 0 and urgency 0, and the order is breadth first.
TAKE = f"""
UPDATE frontier SET state = 'flight'
WHERE id = (
    SELECT best.id
    FROM sides CROSS JOIN frontier AS best ON best.id = (
        SELECT id FROM frontier
        WHERE state = 'queued' AND site = ?1 AND host = ?2 AND side = sides.side
        ORDER BY (suspect <> ''), urgency DESC, depth, id LIMIT 1
    )
    WHERE sides.site = ?1
        AND (sides.side <> -2 OR (SELECT maps_flight = 0 FROM hosts WHERE hosts.site = ?1 AND hosts.host = ?2))
    ORDER BY (best.suspect <> ''), best.urgency DESC, sides.side <= 0, sides.fetched, best.depth, best.id LIMIT 1
)
RETURNING {_ENTRY}
"""  # noqa: S608  (our own names)

# Pages that are fetched or queued. Sitemaps have no state `done`.
KNOWN = """
SELECT done + flight + queued - (
    SELECT coalesce(sum(maps_queued + maps_flight), 0) FROM hosts WHERE hosts.site = sites.site
)
FROM sites WHERE site = ?
"""

DROP_SITEMAPS = """
UPDATE frontier SET state = ?, reason = ?, detail = ? WHERE id IN (
    SELECT id FROM frontier WHERE state = 'queued' AND site = ? AND host = ? AND side = ? LIMIT ?
)
"""
MAX_DROPPED = 1_000
"""Sitemaps that are dropped in one transaction."""

# In ledgers of earlier versions, sitemaps have the keys of pages.
RENAME_SITEMAPS = f"""
UPDATE OR IGNORE frontier SET key = '{SITEMAP_KEY}' || key WHERE kind = 'sitemap' AND key NOT LIKE '{SITEMAP_KEY}%'
"""  # noqa: S608  (our own names)

# The SQL function `again` returns whether a reason to drop an address no longer applies. No limit decides about
# addresses of one and the same page.
REQUEUE = f"""
UPDATE frontier SET state = 'queued', reason = '', detail = '', hops = 0
WHERE state = 'rejected' AND (
    reason = 'depth' AND depth <= :max_depth
    OR reason = 'trap' AND chain BETWEEN 0 AND :max_chain AND depth <= :max_depth AND detail <> '{SAME_PAGE}'
    OR again(reason, url)
    OR reason NOT IN ('depth', 'trap') AND depth = 0 AND (SELECT done FROM total) = 0
    OR reason IN ('dns', 'connection', 'timeout') AND depth = 0
        AND (SELECT done FROM sites WHERE sites.site = frontier.site) = 0
    OR reason = 'sitemap-budget'
        AND (SELECT listed < :listed AND listed_bytes < :listed_bytes FROM sites WHERE sites.site = frontier.site)
) OR state = 'aside' AND reason = 'not-needed'
"""  # noqa: S608  (our own names)

# Queues what was dropped because it seemed to bring a page again. The SQL function `is_lifted` returns whether it is
# known now that this was wrong.
READMIT = f"""
UPDATE frontier SET state = 'queued', reason = '', detail = ''
WHERE state = 'rejected' AND reason = 'trap' AND detail = '{SAME_PAGE}' AND depth <= ? AND is_lifted(url)
    AND NOT is_excluded(url)
"""  # noqa: S608  (our own names)

# Drops queued addresses that the current settings exclude; pages of an earlier visit are kept.
DROP = """
UPDATE frontier SET
    state = iif(holds, 'done', 'rejected'),
    reason = iif(holds, '', why),
    detail = iif(holds, '', iif(why = 'depth', depth || ' links from a start page', 'by include or exclude'))
FROM (
    SELECT id AS queued_id, iif(depth > :max_depth, 'depth', 'excluded') AS why,
        EXISTS (SELECT 1 FROM bodies WHERE bodies.id = frontier.id AND bodies.archive <> '') AS holds
    FROM frontier
    WHERE state = 'queued' AND kind = 'page' AND depth > 0
        AND (depth > :max_depth OR :has_patterns AND is_excluded(url))
)
WHERE id = queued_id
"""

_COLUMNS = (*(name for name in Outcome._fields if name != "body"), "url", "hops", "side", "urgency")
_SETTLED = ", ".join(f"{name} = :{name}" for name in _COLUMNS)
SETTLE = f"UPDATE frontier SET {_SETTLED} WHERE key = :key"  # noqa: S608  (our own names)

# Failed requests: see `twinlink.spiders.frontier.records.is_failure`.
SPEND = f"""
UPDATE sites SET seconds = seconds + :gap, ended = CASE
    WHEN done >= :pages THEN 'budget-pages'
    WHEN bytes >= :bytes THEN 'budget-bytes'
    WHEN seconds + :gap >= :seconds THEN 'budget-minutes'
    WHEN :failures * (done + {SPARE_PAGES}) <= (
        SELECT coalesce(sum(n), 0) FROM tally
        WHERE tally.site = :site AND (reason LIKE 'http-%' OR reason IN {FAILURES})
    ) THEN 'budget-failures'
    ELSE '' END
WHERE site = :site
"""  # noqa: S608  (our own names)


def settled(entry: FrontierEntry, outcome: Outcome) -> dict[str, object]:
    """Return the parameters of `SETTLE`."""
    return {**entry._asdict(), **outcome._asdict()}
