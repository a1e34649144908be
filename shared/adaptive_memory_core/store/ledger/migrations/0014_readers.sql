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
