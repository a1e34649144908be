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
