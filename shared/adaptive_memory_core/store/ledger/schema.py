"""Which tables has the ledger's file? As steps from each version of the schema to the next."""

from __future__ import annotations

import sqlite3

from adaptive_memory_core.errors import LedgerVersionError
from adaptive_memory_core.store.ledger.graph_schema import GRAPH, GRAPH_LINKS, GRAPH_MADE_BEFORE, GRAPH_TITLES
from adaptive_memory_core.store.ledger.hierarchy_schema import HIERARCHY
from adaptive_memory_core.store.ledger.judged_schema import JUDGED_AHEAD, JUDGED_OWNERS, JUDGED_QUESTIONS

_FIRST = """
CREATE TABLE collections (
    collection_key INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    embedder TEXT,
    dimension INTEGER
);
CREATE TABLE users (
    user_key INTEGER PRIMARY KEY,
    collection_key INTEGER NOT NULL REFERENCES collections,
    name TEXT NOT NULL,                       -- '' for the records that belong to nobody
    steps INTEGER NOT NULL DEFAULT 0,         -- recalls so far
    UNIQUE (collection_key, name)
);
CREATE TABLE records (
    record_key INTEGER PRIMARY KEY AUTOINCREMENT,
    collection_key INTEGER NOT NULL,
    user_key INTEGER NOT NULL REFERENCES users,
    stored_id TEXT NOT NULL,
    last_read REAL,
    refreshed_at REAL,
    streak INTEGER NOT NULL DEFAULT 0,
    retrieval_count INTEGER NOT NULL DEFAULT 0,
    credit INTEGER NOT NULL DEFAULT 0,
    warmth REAL NOT NULL DEFAULT 0,
    remembered INTEGER NOT NULL DEFAULT 0,
    strength REAL NOT NULL DEFAULT 1,
    settled_step INTEGER NOT NULL DEFAULT 0,
    boost REAL NOT NULL DEFAULT 0,
    pinned INTEGER NOT NULL DEFAULT 0,
    version INTEGER NOT NULL DEFAULT 0        -- changes so far; the outbox compares it
);
CREATE UNIQUE INDEX records_by_stored_id ON records (collection_key, stored_id);
CREATE INDEX records_of_user ON records (user_key);
CREATE TABLE outbox (record_key INTEGER PRIMARY KEY);
CREATE TABLE policies (policy_hash TEXT PRIMARY KEY, policy TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE recalls (
    recall_key INTEGER PRIMARY KEY,
    recall_id TEXT NOT NULL UNIQUE,
    user_key INTEGER NOT NULL REFERENCES users,
    step INTEGER NOT NULL,
    at REAL NOT NULL,
    cue TEXT NOT NULL,
    k INTEGER NOT NULL,
    policy_hash TEXT NOT NULL,
    candidates TEXT NOT NULL
);
CREATE INDEX recalls_of_user ON recalls (user_key, step);
CREATE INDEX recalls_by_time ON recalls (at);
CREATE TABLE verdicts (
    record_key INTEGER NOT NULL REFERENCES records,
    recall_id TEXT NOT NULL,
    verdict TEXT NOT NULL,
    at REAL NOT NULL,
    boost_before REAL NOT NULL,               -- so that a changed mind takes back exactly what it did
    boost_after REAL NOT NULL,
    PRIMARY KEY (record_key, recall_id)
) WITHOUT ROWID;
CREATE TABLE erased (
    user_key INTEGER NOT NULL,
    digest BLOB NOT NULL,                     -- of a forgotten id: a recall under way must not write it back
    at REAL NOT NULL,
    PRIMARY KEY (user_key, digest)
) WITHOUT ROWID;
"""

_REMEMBRANCE = """
ALTER TABLE collections ADD COLUMN rows INTEGER NOT NULL DEFAULT 0;  -- of `records`: what the ledger has met
UPDATE collections SET rows = (SELECT count(*) FROM records WHERE records.collection_key = collections.collection_key);
CREATE TRIGGER records_in AFTER INSERT ON records BEGIN
    UPDATE collections SET rows = rows + 1 WHERE collection_key = new.collection_key;
END;
CREATE TRIGGER records_out AFTER DELETE ON records BEGIN
    UPDATE collections SET rows = rows - 1 WHERE collection_key = old.collection_key;
END;
ALTER TABLE collections ADD COLUMN met INTEGER NOT NULL DEFAULT 0;  -- records of others that were given a row
ALTER TABLE users ADD COLUMN arrived INTEGER NOT NULL DEFAULT 0;  -- records of others, when all of theirs were met
ALTER TABLE users ADD COLUMN last_id TEXT;                         -- the collection's last record at that time
ALTER TABLE records ADD COLUMN kind TEXT;
ALTER TABLE records ADD COLUMN settled_at REAL;
ALTER TABLE records ADD COLUMN fresh_step INTEGER NOT NULL DEFAULT 0;
ALTER TABLE records ADD COLUMN fresh_at REAL;
UPDATE records SET fresh_step = settled_step, fresh_at = last_read, settled_at = last_read;
DROP INDEX records_of_user;
CREATE INDEX records_by_settling ON records (user_key, settled_step);
CREATE INDEX records_kept ON records (user_key) WHERE remembered = 1 OR pinned = 1;
CREATE TABLE spans (
    span_key INTEGER PRIMARY KEY,             -- in the order of time
    user_key INTEGER NOT NULL REFERENCES users,
    from_step INTEGER NOT NULL,
    from_at REAL,                             -- NULL: since ever
    pace TEXT NOT NULL                        -- as JSON
);
CREATE INDEX spans_of_user ON spans (user_key);
INSERT INTO spans (user_key, from_step, from_at, pace) SELECT user_key, 0, NULL, '["recalls",[[null,5.0,1.0,0.0]]]'
FROM users WHERE steps > 0;
CREATE TABLE turns (
    user_key INTEGER NOT NULL REFERENCES users,
    turn TEXT NOT NULL,
    step INTEGER NOT NULL,
    at REAL NOT NULL,
    counted TEXT NOT NULL,                    -- record_keys that were counted as read in this turn, as JSON
    PRIMARY KEY (user_key, turn)
) WITHOUT ROWID;
CREATE TABLE changes (
    change_key INTEGER PRIMARY KEY,
    user_key INTEGER NOT NULL REFERENCES users,
    stored_id TEXT NOT NULL,
    at REAL NOT NULL,
    step INTEGER NOT NULL,
    what TEXT NOT NULL,
    by TEXT NOT NULL
);
CREATE INDEX changes_of_record ON changes (user_key, stored_id);
CREATE TABLE samples (
    user_key INTEGER NOT NULL REFERENCES users,
    step INTEGER NOT NULL,
    at REAL NOT NULL,
    sample TEXT NOT NULL,                     -- as JSON
    PRIMARY KEY (user_key, step)
) WITHOUT ROWID;
"""

_ORIGIN = """
ALTER TABLE records ADD COLUMN origin BLOB;   -- digest of document and text; NULL: not of a document
CREATE INDEX records_by_origin ON records (user_key, origin) WHERE origin IS NOT NULL;
"""

_WORDS = """
CREATE TABLE words (                          -- a copy: may be emptied at any time, and is built anew
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    collection_key INTEGER NOT NULL,
    user_key INTEGER NOT NULL,                -- 0: of no scope of ours
    stored_id TEXT NOT NULL,
    digest BLOB NOT NULL,                     -- of the text and its place in a conversation
    length INTEGER NOT NULL,                  -- in words
    terms BLOB NOT NULL,                      -- a 64-bit digest of each different word
    counts BLOB NOT NULL,                     -- how often each comes, 16 bits
    speaker TEXT,
    session TEXT,
    place REAL,                               -- the order within the session
    told INTEGER NOT NULL                     -- 1: the text itself begins with the speaker; 2: and nothing else says so
);
CREATE UNIQUE INDEX words_by_stored_id ON words (collection_key, stored_id);
CREATE INDEX words_of_user ON words (user_key, row);
CREATE TABLE words_gone (                     -- rows that were removed, for those who hold a copy in RAM
    gone INTEGER PRIMARY KEY AUTOINCREMENT,
    user_key INTEGER NOT NULL,
    row INTEGER NOT NULL
);
CREATE INDEX words_gone_of_user ON words_gone (user_key, gone);
CREATE TABLE words_size (collection_key INTEGER PRIMARY KEY, records INTEGER NOT NULL);
CREATE TRIGGER words_in AFTER INSERT ON words BEGIN
    INSERT INTO words_size VALUES (new.collection_key, 1)
    ON CONFLICT (collection_key) DO UPDATE SET records = records + 1;
END;
CREATE TRIGGER words_out AFTER DELETE ON words BEGIN
    UPDATE words_size SET records = records - 1 WHERE collection_key = old.collection_key;
    INSERT INTO words_gone (user_key, row) VALUES (old.user_key, old.row);
END;
CREATE TRIGGER words_with_records AFTER DELETE ON records BEGIN
    DELETE FROM words WHERE collection_key = old.collection_key AND stored_id = old.stored_id;
END;
"""

_FLOORS = """
CREATE TABLE floors (                         -- what unrelated questions find in a scope: means and spreads, no text
    user_key INTEGER NOT NULL REFERENCES users,
    manner TEXT NOT NULL,                     -- of looking: embedder, channels and their weights
    at REAL NOT NULL,
    floor TEXT NOT NULL,                      -- as JSON
    PRIMARY KEY (user_key, manner)
) WITHOUT ROWID;
"""

_USEFUL = """
ALTER TABLE records ADD COLUMN useful_at REAL;                        -- the last read that a verdict called helpful
ALTER TABLE records ADD COLUMN useful_step INTEGER NOT NULL DEFAULT 0;
ALTER TABLE records ADD COLUMN helpful INTEGER NOT NULL DEFAULT 0;
ALTER TABLE records ADD COLUMN unhelpful INTEGER NOT NULL DEFAULT 0;
ALTER TABLE verdicts ADD COLUMN read_at REAL;                         -- when what was judged had been read
ALTER TABLE verdicts ADD COLUMN read_step INTEGER NOT NULL DEFAULT 0;
ALTER TABLE verdicts ADD COLUMN useful_before REAL;                   -- what there was before, to be taken back to
ALTER TABLE verdicts ADD COLUMN step_before INTEGER NOT NULL DEFAULT 0;
ALTER TABLE verdicts ADD COLUMN sway REAL NOT NULL DEFAULT 0;         -- what it did to the user's balance
ALTER TABLE users ADD COLUMN balance REAL NOT NULL DEFAULT 0;         -- octaves: has usefulness led or misled?
CREATE INDEX records_useful ON records (user_key, useful_step) WHERE useful_at IS NOT NULL;
UPDATE verdicts SET read_at = coalesce((SELECT at FROM recalls WHERE recalls.recall_id = verdicts.recall_id), at),
    read_step = coalesce((SELECT step FROM recalls WHERE recalls.recall_id = verdicts.recall_id), 0);
UPDATE records SET
    helpful = (SELECT count(*) FROM verdicts WHERE verdicts.record_key = records.record_key AND verdict = 'helpful'),
    unhelpful = (SELECT count(*) FROM verdicts WHERE verdicts.record_key = records.record_key AND verdict = 'unhelpful')
WHERE record_key IN (SELECT record_key FROM verdicts);
UPDATE records SET (useful_at, useful_step) = (
    SELECT read_at, read_step FROM verdicts WHERE verdicts.record_key = records.record_key AND verdict = 'helpful'
    ORDER BY read_at DESC LIMIT 1
) WHERE helpful > 0;
"""

_LOGGED_TURNS = """
ALTER TABLE recalls ADD COLUMN turn TEXT;     -- the question that the recall was made for, where it has a name
CREATE INDEX recalls_of_turn ON recalls (user_key, turn) WHERE turn IS NOT NULL;
"""

_RANGES = """
UPDATE records SET                            -- what a state from elsewhere may have brought in, and no recall can bear
    strength = CASE WHEN strength BETWEEN 0 AND 1 THEN strength ELSE 1 END,
    boost = CASE WHEN boost BETWEEN -1 AND 1 THEN boost ELSE 0 END,
    warmth = CASE WHEN warmth BETWEEN 0 AND 1e12 THEN warmth ELSE 0 END,
    streak = CASE WHEN streak BETWEEN 0 AND 1000000000000 THEN streak ELSE 0 END,
    credit = CASE WHEN credit BETWEEN 0 AND 1000000000000 THEN credit ELSE 0 END,
    retrieval_count = CASE WHEN retrieval_count BETWEEN 0 AND 1000000000000 THEN retrieval_count ELSE 0 END,
    helpful = CASE WHEN helpful BETWEEN 0 AND 1000000000000 THEN helpful ELSE 0 END,
    unhelpful = CASE WHEN unhelpful BETWEEN 0 AND 1000000000000 THEN unhelpful ELSE 0 END,
    last_read = CASE WHEN last_read BETWEEN -1e15 AND 1e15 THEN last_read END,
    refreshed_at = CASE WHEN refreshed_at BETWEEN -1e15 AND 1e15 THEN refreshed_at END,
    settled_at = CASE WHEN settled_at BETWEEN -1e15 AND 1e15 THEN settled_at END,
    fresh_at = CASE WHEN fresh_at BETWEEN -1e15 AND 1e15 THEN fresh_at END,
    useful_at = CASE WHEN useful_at BETWEEN -1e15 AND 1e15 THEN useful_at END
WHERE NOT (
    strength BETWEEN 0 AND 1 AND boost BETWEEN -1 AND 1 AND warmth BETWEEN 0 AND 1e12
    AND streak BETWEEN 0 AND 1000000000000 AND credit BETWEEN 0 AND 1000000000000
    AND retrieval_count BETWEEN 0 AND 1000000000000
    AND helpful BETWEEN 0 AND 1000000000000 AND unhelpful BETWEEN 0 AND 1000000000000
    AND coalesce(last_read, 0) BETWEEN -1e15 AND 1e15 AND coalesce(refreshed_at, 0) BETWEEN -1e15 AND 1e15
    AND coalesce(settled_at, 0) BETWEEN -1e15 AND 1e15 AND coalesce(fresh_at, 0) BETWEEN -1e15 AND 1e15
    AND coalesce(useful_at, 0) BETWEEN -1e15 AND 1e15
);
"""

_CLOCK_READINGS = """
CREATE TABLE clock_readings (at REAL PRIMARY KEY) WITHOUT ROWID;  -- of the passes that let go of what is old
"""

_LOGGED_IDS = """
CREATE TABLE logged_ids (                     -- the records that lines of the log speak of
    id_key INTEGER PRIMARY KEY AUTOINCREMENT, -- what stands for it in `candidates`, which is a packed blob from here on
    user_key INTEGER NOT NULL REFERENCES users,
    id TEXT NOT NULL
);
CREATE UNIQUE INDEX logged_ids_by_id ON logged_ids (user_key, id);
"""

_TO_PURGE = """
CREATE TABLE to_purge (why TEXT PRIMARY KEY) WITHOUT ROWID;  -- what was deleted and may still stand in free space
"""

_MIRROR = """
CREATE TABLE mirror (                         -- a copy of the collection's records: may be emptied, and is filled anew
    row INTEGER PRIMARY KEY AUTOINCREMENT,    -- in the order of writing; another text or vector is another row
    collection_key INTEGER NOT NULL,
    user_key INTEGER NOT NULL,                -- 0: of no scope of ours
    stored_id TEXT NOT NULL,
    changed INTEGER NOT NULL,                 -- in the order of changes of text, vector or metadata
    text TEXT,
    metadata TEXT                             -- all of it as the collection has it, as JSON
);
CREATE UNIQUE INDEX mirror_by_stored_id ON mirror (collection_key, stored_id);
CREATE INDEX mirror_of_user ON mirror (user_key, row);
CREATE INDEX mirror_changes ON mirror (user_key, changed);
CREATE TABLE mirror_vectors (row INTEGER PRIMARY KEY, vector BLOB NOT NULL);  -- numbers of 32 bits
CREATE TABLE mirror_gone (                    -- rows that were removed, for those who hold a copy in RAM
    gone INTEGER PRIMARY KEY AUTOINCREMENT,
    user_key INTEGER NOT NULL,
    row INTEGER NOT NULL
);
CREATE INDEX mirror_gone_of_user ON mirror_gone (user_key, gone);
CREATE TABLE mirror_size (
    collection_key INTEGER PRIMARY KEY,
    records INTEGER NOT NULL DEFAULT 0,
    changes INTEGER NOT NULL DEFAULT 0,       -- so far
    complete_at TEXT                          -- the state of the collection that all of it was compared with, as JSON
);
CREATE TRIGGER mirror_in AFTER INSERT ON mirror BEGIN
    INSERT INTO mirror_size (collection_key, records) VALUES (new.collection_key, 1)
    ON CONFLICT (collection_key) DO UPDATE SET records = records + 1;
END;
CREATE TRIGGER mirror_out AFTER DELETE ON mirror BEGIN
    UPDATE mirror_size SET records = records - 1 WHERE collection_key = old.collection_key;
    DELETE FROM mirror_vectors WHERE row = old.row;
    INSERT INTO mirror_gone (user_key, row) VALUES (old.user_key, old.row);
END;
"""

_DUE_RECORDS = """
CREATE TABLE due_records (                    -- what the process that holds Chroma has yet to put into it or take out
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- another at each change: a later one is not taken for done
    collection_key INTEGER NOT NULL,
    stored_id TEXT NOT NULL,
    gone INTEGER NOT NULL                     -- 0: as `mirror` has it
);
CREATE UNIQUE INDEX due_records_by_stored_id ON due_records (collection_key, stored_id);
CREATE TRIGGER due_records_written AFTER INSERT ON mirror
WHEN EXISTS (SELECT 1 FROM due_records WHERE collection_key = new.collection_key AND stored_id = new.stored_id) BEGIN
    INSERT OR REPLACE INTO due_records (collection_key, stored_id, gone) VALUES (new.collection_key, new.stored_id, 0);
END;
CREATE TRIGGER due_records_changed AFTER UPDATE ON mirror
WHEN EXISTS (SELECT 1 FROM due_records WHERE collection_key = new.collection_key AND stored_id = new.stored_id) BEGIN
    INSERT OR REPLACE INTO due_records (collection_key, stored_id, gone) VALUES (new.collection_key, new.stored_id, 0);
END;
"""

_READERS = """
ALTER TABLE records ADD COLUMN reader INTEGER NOT NULL DEFAULT 0;  -- 1: a user's own state of a record of everyone's
DROP INDEX records_by_stored_id;
CREATE UNIQUE INDEX records_by_stored_id ON records (collection_key, stored_id) WHERE reader = 0;
CREATE UNIQUE INDEX records_of_readers ON records (collection_key, stored_id, user_key) WHERE reader = 1;
DROP TRIGGER records_in;
CREATE TRIGGER records_in AFTER INSERT ON records WHEN new.reader = 0 BEGIN
    UPDATE collections SET rows = rows + 1 WHERE collection_key = new.collection_key;
END;
DROP TRIGGER records_out;
CREATE TRIGGER records_out AFTER DELETE ON records WHEN old.reader = 0 BEGIN
    UPDATE collections SET rows = rows - 1 WHERE collection_key = old.collection_key;
END;
DROP TRIGGER words_with_records;
CREATE TRIGGER words_with_records AFTER DELETE ON records WHEN old.reader = 0 BEGIN
    DELETE FROM words WHERE collection_key = old.collection_key AND stored_id = old.stored_id;
END;
ALTER TABLE recalls ADD COLUMN over TEXT;     -- whose records were read beside the user's own; NULL: nobody's
"""

_WORDS_VERSION = """
ALTER TABLE collections ADD COLUMN words_version INTEGER NOT NULL DEFAULT 1;  -- of how words were made of all its texts
"""

_SAID = """
ALTER TABLE records ADD COLUMN said BLOB;     -- digest of the words that the reads are of; NULL: not kept yet
"""

_OWN_POLICIES = """
ALTER TABLE users ADD COLUMN policy TEXT;        -- the user's own, as JSON; NULL: the memory's
ALTER TABLE users ADD COLUMN lead_weights TEXT;  -- how far verdicts have moved what each lead counts, as JSON
"""

_MIRROR_DROPS = """
ALTER TABLE mirror_size ADD COLUMN drops INTEGER NOT NULL DEFAULT 0;  -- removals so far, of what has a row or has none
"""

_SHARING = """
ALTER TABLE collections ADD COLUMN space TEXT;               -- the distance of its vectors
ALTER TABLE collections ADD COLUMN database TEXT;            -- the tenant and the database that it is in
ALTER TABLE collections ADD COLUMN opened INTEGER NOT NULL DEFAULT 0;  -- of two of one name, the larger is there
CREATE TABLE guests (                         -- what processes without the collection ask of the one that holds it
    collection_key INTEGER PRIMARY KEY,
    seen_at REAL NOT NULL DEFAULT 0,          -- when one of them was there
    asked INTEGER NOT NULL DEFAULT 0,         -- times that one wanted everything in the collection at once
    done INTEGER NOT NULL DEFAULT 0           -- the last of these that was done
);
"""

_NEW_VECTORS = """
ALTER TABLE collections ADD COLUMN replaces TEXT;        -- the collection whose name this one has yet to take over
ALTER TABLE collections ADD COLUMN replaces_written INTEGER;  -- the last write of that one that is known here
CREATE TABLE reembedding (                    -- another embedder is at work
    collection_key INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL,                       -- the collection that is being filled
    embedder TEXT NOT NULL,
    dimension INTEGER
);
CREATE TABLE new_vectors (                    -- what it has made of the texts in `mirror` so far
    row INTEGER PRIMARY KEY,
    collection_key INTEGER NOT NULL,
    vector BLOB NOT NULL
);
CREATE TRIGGER new_vectors_out AFTER DELETE ON mirror BEGIN
    DELETE FROM new_vectors WHERE row = old.row;
END;
CREATE TABLE new_places (                     -- what the collection that is being filled holds
    collection_key INTEGER NOT NULL,
    stored_id TEXT NOT NULL,
    row INTEGER NOT NULL,                     -- of `mirror`, as
    changed INTEGER NOT NULL,                 -- it was then
    PRIMARY KEY (collection_key, stored_id)
) WITHOUT ROWID;
"""

_USER_FILES = """
CREATE TABLE user_files (                     -- copies of a user's rows in files beside this one
    user_key INTEGER NOT NULL,
    kind TEXT NOT NULL,                       -- 'vectors' or 'words'
    name TEXT NOT NULL,
    written INTEGER NOT NULL,                 -- the last row that it has
    removed INTEGER NOT NULL,                 -- the last removal before it was made
    PRIMARY KEY (user_key, kind)
) WITHOUT ROWID;
CREATE TRIGGER user_files_of_vectors AFTER INSERT ON mirror_gone BEGIN
    DELETE FROM user_files WHERE user_key = new.user_key AND kind = 'vectors';
END;
CREATE TRIGGER user_files_of_words AFTER INSERT ON words_gone BEGIN
    DELETE FROM user_files WHERE user_key = new.user_key AND kind = 'words';
END;
"""

MIGRATIONS: tuple[str, ...] = (
    _FIRST,
    _REMEMBRANCE,
    _ORIGIN,
    _WORDS,
    _FLOORS,
    _USEFUL,
    _LOGGED_TURNS,
    _RANGES,
    _CLOCK_READINGS,
    _LOGGED_IDS,
    _TO_PURGE,
    _MIRROR,
    _DUE_RECORDS,
    _READERS,
    _WORDS_VERSION,
    _SAID,
    _OWN_POLICIES,
    _MIRROR_DROPS,
    _SHARING,
    GRAPH,
    _NEW_VECTORS,
    JUDGED_QUESTIONS,
    GRAPH_TITLES,
    HIERARCHY,
    JUDGED_AHEAD,
    _USER_FILES,
    GRAPH_MADE_BEFORE,
    JUDGED_OWNERS,
    GRAPH_LINKS,
)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the file to the newest version, each step whole or not at all; a newer file is refused."""
    version = _version(connection)
    if version > len(MIGRATIONS):
        raise LedgerVersionError(
            f"The ledger has schema version {version}; this package knows up to {len(MIGRATIONS)}. "
            "Install a newer version of adaptive-memory-retrieval, or give another ledger=."
        )
    if version == len(MIGRATIONS):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for script in MIGRATIONS[_version(connection) :]:
            _execute_all(connection, script)
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _execute_all(connection: sqlite3.Connection, script: str) -> None:
    """Statement by statement: `executescript` would commit the transaction that is open."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""
