BEGIN TRANSACTION;
CREATE TABLE archives (name TEXT PRIMARY KEY, stop INTEGER NOT NULL);
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
INSERT INTO "frontier" VALUES(1,'http://a.org/','http://a.org/','a.org','a.org','page',0,0,0,'','done','','',200,NULL,NULL,NULL,0,'en',0,0,0);
INSERT INTO "frontier" VALUES(2,'http://a.org/a','http://a.org/a','a.org','a.org','page',1,0,0,'','queued','','',NULL,NULL,NULL,NULL,0,'',0,0,0);
INSERT INTO "frontier" VALUES(3,'http://a.org/b','http://a.org/b','a.org','a.org','page',1,0,0,'','rejected','trap','',NULL,NULL,NULL,NULL,0,'',0,0,0);
INSERT INTO "frontier" VALUES(4,'http://b.org/','http://b.org/','b.org','b.org','page',1,0,0,'','flight','','',NULL,NULL,NULL,NULL,0,'',0,0,0);
INSERT INTO "frontier" VALUES(5,'http://a.org/1.xml','http://a.org/1.xml','a.org','a.org','sitemap',0,0,0,'','aside','','',200,NULL,NULL,NULL,0,'',0,0,0);
INSERT INTO "frontier" VALUES(6,'http://a.org/2.xml','http://a.org/2.xml','a.org','a.org','sitemap',0,0,0,'','queued','','',NULL,NULL,NULL,NULL,0,'',0,0,0);
INSERT INTO "frontier" VALUES(7,'http://a.org/3.xml','http://a.org/3.xml','a.org','a.org','sitemap',0,0,0,'','queued','','',NULL,NULL,NULL,NULL,0,'',0,0,0);
INSERT INTO "frontier" VALUES(8,'http://a.org/c','http://a.org/c','a.org','a.org','page',1,0,0,'','queued','','',NULL,NULL,NULL,NULL,0,'',0,0,0);
CREATE TABLE hosts (
    site TEXT NOT NULL,
    host TEXT NOT NULL,
    queued INTEGER NOT NULL DEFAULT 0,
    flight INTEGER NOT NULL DEFAULT 0,
    turn INTEGER NOT NULL DEFAULT 0,
    room INTEGER NOT NULL DEFAULT 1000000,
    wanted INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (site, host)
) WITHOUT ROWID;
INSERT INTO "hosts" VALUES('a.org','a.org',4,0,3,1000000,4);
INSERT INTO "hosts" VALUES('b.org','b.org',0,1,2,1000000,0);
CREATE TABLE langs (
    site TEXT NOT NULL,
    lang TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (site, lang)
) WITHOUT ROWID;
INSERT INTO "langs" VALUES('a.org','en',1);
CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO "notes" VALUES('starts','["http://a.org/"]');
INSERT INTO "notes" VALUES('order','pairs,en,zh');
INSERT INTO "notes" VALUES('reading-1','');
CREATE TABLE rules (
    site TEXT NOT NULL,
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    side INTEGER NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (site, before, after)
) WITHOUT ROWID;
CREATE TABLE sides (
    site TEXT NOT NULL,
    side INTEGER NOT NULL,
    fetched INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (site, side)
) WITHOUT ROWID;
INSERT INTO "sides" VALUES('a.org',0,1);
INSERT INTO "sides" VALUES('b.org',0,1);
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
    ended TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
INSERT INTO "sites" VALUES('a.org',4,0,1,0,1,0,7.55385999582358635962e-04,3,'');
INSERT INTO "sites" VALUES('b.org',0,1,0,0,0,0,0.0,2,'');
CREATE TABLE tally (
    site TEXT NOT NULL,
    reason TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (site, reason)
) WITHOUT ROWID;
INSERT INTO "tally" VALUES('a.org','trap',1);
CREATE TABLE total (
    queued INTEGER NOT NULL,
    flight INTEGER NOT NULL,
    done INTEGER NOT NULL,
    moved INTEGER NOT NULL,
    rejected INTEGER NOT NULL,
    bytes INTEGER NOT NULL
);
INSERT INTO "total" VALUES(4,1,1,0,1,0);
CREATE INDEX frontier_queue ON frontier (site, host, side, (suspect <> ''), urgency DESC, depth, id)
WHERE state = 'queued';
CREATE INDEX frontier_place ON frontier (place) WHERE place <> 0;
CREATE INDEX rules_best ON rules (site, n);
CREATE INDEX sites_open ON sites (flight, turn) WHERE queued > 0 AND ended = '';
CREATE INDEX hosts_open ON hosts (site, (wanted = 0), flight, turn) WHERE queued > 0;
CREATE TRIGGER frontier_insert AFTER INSERT ON frontier BEGIN
    INSERT INTO sites (site) VALUES (new.site) ON CONFLICT DO NOTHING;
    INSERT INTO hosts (site, host) VALUES (new.site, new.host) ON CONFLICT DO NOTHING;
    UPDATE total SET queued = queued + (new.state = 'queued'), rejected = rejected + (new.state = 'rejected');
    UPDATE sites SET queued = queued + (new.state = 'queued'), rejected = rejected + (new.state = 'rejected')
    WHERE site = new.site;
    UPDATE hosts SET
        queued = queued + (new.state = 'queued'), wanted = wanted + (new.state = 'queued' AND new.urgency >= 0)
    WHERE site = new.site AND host = new.host;
    INSERT INTO sides (site, side) VALUES (new.site, new.side) ON CONFLICT DO NOTHING;
END;
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
        flight = flight + (new.state = 'flight') - (old.state = 'flight')
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
COMMIT;
PRAGMA user_version = 4;
