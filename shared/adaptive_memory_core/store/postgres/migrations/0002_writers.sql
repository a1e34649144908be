-- What each writer has kept last: a server that crashed gives the numbers of transactions again, so that one alone does
-- not tell whether what was lost in the middle had been kept.
CREATE TABLE adaptive_memory.writers (
    writer text COLLATE "C" PRIMARY KEY,
    collection_key bigint NOT NULL,
    kept bigint NOT NULL,
    kept_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX writers_of_collection ON adaptive_memory.writers (collection_key, kept_at);
