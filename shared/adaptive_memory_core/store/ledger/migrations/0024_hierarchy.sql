CREATE TABLE hierarchy_users (                -- who observes
    user_key INTEGER PRIMARY KEY,
    collection_key INTEGER NOT NULL,
    version INTEGER NOT NULL DEFAULT 0,       -- another at each change
    removals INTEGER NOT NULL DEFAULT 0,      -- of semantics, so far
    attached INTEGER NOT NULL DEFAULT 0,      -- semantics that have come into themes so far
    uuid TEXT                                 -- of the collection whose embedder made the vectors
);
CREATE TABLE hierarchy_messages (
    message INTEGER PRIMARY KEY AUTOINCREMENT,
    collection_key INTEGER NOT NULL,
    user_key INTEGER NOT NULL,
    stored_id TEXT NOT NULL,
    session TEXT NOT NULL,
    place REAL NOT NULL,                      -- the order within the session
    at REAL NOT NULL,
    speaker TEXT,
    said BLOB,                                -- a digest of its words
    episode INTEGER                           -- NULL: of none yet
);
CREATE UNIQUE INDEX hierarchy_messages_by_stored_id ON hierarchy_messages (collection_key, stored_id);
CREATE INDEX hierarchy_messages_of_session ON hierarchy_messages (user_key, session, place);
CREATE INDEX hierarchy_messages_of_episode ON hierarchy_messages (episode);
CREATE INDEX hierarchy_messages_waiting ON hierarchy_messages (user_key, session) WHERE episode IS NULL;
CREATE TABLE hierarchy_episodes (
    episode INTEGER PRIMARY KEY AUTOINCREMENT,
    user_key INTEGER NOT NULL,
    session TEXT NOT NULL,
    title TEXT NOT NULL DEFAULT '',
    begins REAL NOT NULL,
    ends REAL NOT NULL,
    open INTEGER NOT NULL,                    -- 1: what follows may belong to it
    due INTEGER NOT NULL DEFAULT 1,           -- 1: it is to be distilled
    revision INTEGER NOT NULL DEFAULT 0,      -- another whenever its messages change
    note TEXT                                 -- why it was made offline where a model was to make it
);
CREATE INDEX hierarchy_episodes_of_user ON hierarchy_episodes (user_key, session, open);
CREATE INDEX hierarchy_episodes_due ON hierarchy_episodes (user_key) WHERE due = 1;
CREATE TABLE hierarchy_semantics (
    semantic INTEGER PRIMARY KEY AUTOINCREMENT,
    user_key INTEGER NOT NULL,
    episode INTEGER NOT NULL,
    theme INTEGER,                            -- NULL: of none yet
    moved INTEGER NOT NULL DEFAULT 0,         -- 1: it has been in another one
    text TEXT NOT NULL,
    shown TEXT NOT NULL,
    at REAL NOT NULL,
    replaces INTEGER,                         -- the semantic that it is a newer version of
    near BLOB NOT NULL DEFAULT x'',           -- the nearest others: pairs of a key and a similarity
    vector BLOB NOT NULL                      -- float16
);
CREATE INDEX hierarchy_semantics_of_user ON hierarchy_semantics (user_key, theme);
CREATE INDEX hierarchy_semantics_of_episode ON hierarchy_semantics (episode);
CREATE INDEX hierarchy_semantics_of_theme ON hierarchy_semantics (theme);
CREATE INDEX hierarchy_semantics_replaced ON hierarchy_semantics (replaces) WHERE replaces IS NOT NULL;
CREATE TABLE hierarchy_sources (              -- the messages that a semantic was distilled from
    semantic INTEGER NOT NULL,
    message INTEGER NOT NULL,
    PRIMARY KEY (semantic, message)
) WITHOUT ROWID;
CREATE INDEX hierarchy_sources_by_message ON hierarchy_sources (message);
CREATE TABLE hierarchy_themes (
    theme INTEGER PRIMARY KEY AUTOINCREMENT,
    user_key INTEGER NOT NULL,
    name TEXT NOT NULL DEFAULT '',
    named INTEGER NOT NULL DEFAULT 0,         -- 0: it is to be named anew
    revision INTEGER NOT NULL DEFAULT 0,      -- another whenever its members change
    grown INTEGER NOT NULL,                   -- how many semantics had come in when it last grew
    note TEXT,                                -- why it was named by rule where a model was to name it
    near BLOB NOT NULL DEFAULT x''
);
CREATE INDEX hierarchy_themes_of_user ON hierarchy_themes (user_key, named);
