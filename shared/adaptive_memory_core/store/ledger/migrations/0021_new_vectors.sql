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
