ALTER TABLE judged_questions ADD COLUMN user_key INTEGER NOT NULL DEFAULT 0;  -- who asked
UPDATE judged_questions SET user_key = coalesce((
    SELECT abs(records.user_key) FROM judged_for JOIN records USING (record_key)
    WHERE judged_for.question_key = judged_questions.question_key LIMIT 1
), 0);
