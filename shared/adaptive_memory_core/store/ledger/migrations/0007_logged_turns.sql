ALTER TABLE recalls ADD COLUMN turn TEXT;     -- the question that the recall was made for, where it has a name
CREATE INDEX recalls_of_turn ON recalls (user_key, turn) WHERE turn IS NOT NULL;
