ALTER TABLE records ADD COLUMN origin BLOB;   -- digest of document and text; NULL: not of a document
CREATE INDEX records_by_origin ON records (user_key, origin) WHERE origin IS NOT NULL;
