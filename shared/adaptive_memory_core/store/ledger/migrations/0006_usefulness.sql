ALTER TABLE records ADD COLUMN useful_at REAL;                        -- the last read that a verdict called helpful
ALTER TABLE records ADD COLUMN useful_step INTEGER NOT NULL DEFAULT 0;
ALTER TABLE records ADD COLUMN helpful INTEGER NOT NULL DEFAULT 0;
ALTER TABLE records ADD COLUMN unhelpful INTEGER NOT NULL DEFAULT 0;
ALTER TABLE verdicts ADD COLUMN read_at REAL;                         -- when what was judged had been read
ALTER TABLE verdicts ADD COLUMN read_step INTEGER NOT NULL DEFAULT 0;
ALTER TABLE verdicts ADD COLUMN useful_before REAL;                   -- what there was before, to be taken back to
ALTER TABLE verdicts ADD COLUMN step_before INTEGER NOT NULL DEFAULT 0;
ALTER TABLE verdicts ADD COLUMN sway REAL NOT NULL DEFAULT 0;         -- what it did to the user's balance
ALTER TABLE users ADD COLUMN balance REAL NOT NULL DEFAULT 0;         -- octaves: has usefulness led or misled?
CREATE INDEX records_useful ON records (user_key, useful_step) WHERE useful_at IS NOT NULL;
UPDATE verdicts SET read_at = coalesce((SELECT at FROM recalls WHERE recalls.recall_id = verdicts.recall_id), at),
    read_step = coalesce((SELECT step FROM recalls WHERE recalls.recall_id = verdicts.recall_id), 0);
UPDATE records SET
    helpful = (SELECT count(*) FROM verdicts WHERE verdicts.record_key = records.record_key AND verdict = 'helpful'),
    unhelpful = (SELECT count(*) FROM verdicts WHERE verdicts.record_key = records.record_key AND verdict = 'unhelpful')
WHERE record_key IN (SELECT record_key FROM verdicts);
UPDATE records SET (useful_at, useful_step) = (
    SELECT read_at, read_step FROM verdicts WHERE verdicts.record_key = records.record_key AND verdict = 'helpful'
    ORDER BY read_at DESC LIMIT 1
) WHERE helpful > 0;
