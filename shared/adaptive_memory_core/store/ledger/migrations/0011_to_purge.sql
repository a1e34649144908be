CREATE TABLE to_purge (why TEXT PRIMARY KEY) WITHOUT ROWID;  -- what was deleted and may still stand in free space
