CREATE TABLE file_version (version INTEGER NOT NULL);     -- one row, counted up by every write that is not a recall's
INSERT INTO file_version VALUES (0);
ALTER TABLE users ADD COLUMN counted INTEGER NOT NULL DEFAULT 0;    -- recalls of theirs, which change nobody else's rows
