CREATE TABLE floors (                         -- what unrelated questions find in a scope: means and spreads, no text
    user_key INTEGER NOT NULL REFERENCES users,
    manner TEXT NOT NULL,                     -- of looking: embedder, channels and their weights
    at REAL NOT NULL,
    floor TEXT NOT NULL,                      -- as JSON
    PRIMARY KEY (user_key, manner)
) WITHOUT ROWID;
