CREATE TABLE logged_ids (                     -- the records that lines of the log speak of
    id_key INTEGER PRIMARY KEY AUTOINCREMENT, -- what stands for it in `candidates`, which is a packed blob from here on
    user_key INTEGER NOT NULL REFERENCES users,
    id TEXT NOT NULL
);
CREATE UNIQUE INDEX logged_ids_by_id ON logged_ids (user_key, id);
