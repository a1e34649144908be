ALTER TABLE collections ADD COLUMN words_version INTEGER NOT NULL DEFAULT 1;  -- of how words were made of all its texts
