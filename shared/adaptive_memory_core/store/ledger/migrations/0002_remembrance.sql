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
