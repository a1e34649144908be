ALTER TABLE collections ADD COLUMN space TEXT;               -- the distance of its vectors
ALTER TABLE collections ADD COLUMN database TEXT;            -- the tenant and the database that it is in
ALTER TABLE collections ADD COLUMN opened INTEGER NOT NULL DEFAULT 0;  -- of two of one name, the larger is there
CREATE TABLE guests (                         -- what processes without the collection ask of the one that holds it
    collection_key INTEGER PRIMARY KEY,
    seen_at REAL NOT NULL DEFAULT 0,          -- when one of them was there
    asked INTEGER NOT NULL DEFAULT 0,         -- times that one wanted everything in the collection at once
    done INTEGER NOT NULL DEFAULT 0           -- the last of these that was done
);
