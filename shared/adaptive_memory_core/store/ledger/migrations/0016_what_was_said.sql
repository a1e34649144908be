ALTER TABLE records ADD COLUMN said BLOB;     -- digest of the words that the reads are of; NULL: not kept yet
