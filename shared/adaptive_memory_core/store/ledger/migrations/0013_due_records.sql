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
