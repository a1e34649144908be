-- Every row has its scope: a judged question says who asked it.
ALTER TABLE adaptive_memory.judged_questions ADD COLUMN user_key bigint NOT NULL DEFAULT 0;
UPDATE adaptive_memory.judged_questions SET user_key = coalesce((
    SELECT abs(records.user_key) FROM adaptive_memory.judged_for JOIN adaptive_memory.records USING (record_key)
    WHERE judged_for.question_key = judged_questions.question_key LIMIT 1
), 0);
