ALTER TABLE mirror_size ADD COLUMN drops INTEGER NOT NULL DEFAULT 0;  -- removals so far, of what has a row or has none
