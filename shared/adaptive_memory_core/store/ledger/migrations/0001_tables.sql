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
