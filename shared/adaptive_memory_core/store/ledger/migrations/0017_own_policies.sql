ALTER TABLE users ADD COLUMN policy TEXT;        -- the user's own, as JSON; NULL: the memory's
ALTER TABLE users ADD COLUMN lead_weights TEXT;  -- how far verdicts have moved what each lead counts, as JSON
