CREATE TABLE judged_questions (               -- what was asked when something was found that was judged later
    question_key INTEGER PRIMARY KEY AUTOINCREMENT,
    recall_id TEXT NOT NULL,                  -- '': from elsewhere
    embedder TEXT,                            -- of the collection at the time; vectors of another say nothing
    vector BLOB NOT NULL                      -- of length 1, numbers of 16 bits
);
CREATE INDEX judged_questions_of_recall ON judged_questions (recall_id);
CREATE TABLE judged_for (                     -- which record was helpful for it, and which was not: a row a verdict
    judged_key INTEGER PRIMARY KEY AUTOINCREMENT,
    record_key INTEGER NOT NULL REFERENCES records,
    question_key INTEGER NOT NULL REFERENCES judged_questions,  -- or one like it, where there were too many
    recall_id TEXT NOT NULL,
    helpful INTEGER NOT NULL,
    unhelpful INTEGER NOT NULL
);
CREATE UNIQUE INDEX judged_for_once ON judged_for (record_key, recall_id);
CREATE INDEX judged_for_question ON judged_for (question_key);
ALTER TABLE users ADD COLUMN questions_changed INTEGER NOT NULL DEFAULT 0;  -- changes of such rows, so far
ALTER TABLE users ADD COLUMN questions_last INTEGER NOT NULL DEFAULT 0;     -- the last such row; 0: there was none
CREATE TRIGGER judged_for_in AFTER INSERT ON judged_for BEGIN
    UPDATE users SET questions_last = new.judged_key
    WHERE user_key = (SELECT abs(user_key) FROM records WHERE record_key = new.record_key);
END;
CREATE TRIGGER judged_for_changed AFTER UPDATE ON judged_for BEGIN
    UPDATE users SET questions_changed = questions_changed + 1 WHERE user_key IN (
        SELECT abs(user_key) FROM records WHERE record_key IN (old.record_key, new.record_key)
    );
    DELETE FROM judged_questions WHERE question_key = old.question_key
    AND NOT EXISTS (SELECT 1 FROM judged_for WHERE question_key = old.question_key);
END;
CREATE TRIGGER judged_for_out AFTER DELETE ON judged_for BEGIN
    UPDATE users SET questions_changed = questions_changed + 1
    WHERE user_key = (SELECT abs(user_key) FROM records WHERE record_key = old.record_key);
    DELETE FROM judged_questions WHERE question_key = old.question_key
    AND NOT EXISTS (SELECT 1 FROM judged_for WHERE question_key = old.question_key);
END;
CREATE TRIGGER judged_for_with_records BEFORE DELETE ON records
WHEN EXISTS (SELECT 1 FROM judged_for WHERE record_key = old.record_key) BEGIN
    DELETE FROM judged_for WHERE record_key = old.record_key;
END;
CREATE TRIGGER judged_for_elsewhere AFTER UPDATE OF user_key, stored_id ON records
WHEN EXISTS (SELECT 1 FROM judged_for WHERE record_key = new.record_key) BEGIN
    UPDATE users SET questions_changed = questions_changed + 1, questions_last = max(questions_last, 1)
    WHERE user_key IN (abs(old.user_key), abs(new.user_key));
END;
