ALTER TABLE judged_for ADD COLUMN ahead REAL;  -- in similarity, of all other candidates then; NULL: not known
