ALTER TABLE graph_seen ADD COLUMN made_before TEXT NOT NULL DEFAULT '[]';  -- settings that gave way to another one
