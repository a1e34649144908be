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
