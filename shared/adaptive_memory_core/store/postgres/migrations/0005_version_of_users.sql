-- How often a user's recalls were counted: whoever keeps rows of that user in RAM reads them again, and nobody else.
ALTER TABLE adaptive_memory.users ADD COLUMN counted bigint NOT NULL DEFAULT 0;
