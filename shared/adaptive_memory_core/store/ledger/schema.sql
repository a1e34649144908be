-- The tables of a ledger in a SQLite file. PRAGMA user_version is the version of this schema; PostgreSQL has the same
-- tables in store/postgres/schema.sql.

CREATE TABLE collections (
    collection_key INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    embedder TEXT,
    dimension INTEGER,
    space TEXT,                               -- the distance of its vectors
    database TEXT,                            -- the tenant and the database that it is in
    opened INTEGER NOT NULL DEFAULT 0,        -- of two of one name, the larger is there
    rows INTEGER NOT NULL DEFAULT 0,          -- of `records`: what the ledger has met
    met INTEGER NOT NULL DEFAULT 0,           -- records of others that were given a row
    replaces TEXT,                            -- the collection whose name this one has yet to take over
    replaces_written INTEGER                  -- the last write of that one that is known here
);

CREATE TABLE users (
    user_key INTEGER PRIMARY KEY,
    collection_key INTEGER NOT NULL REFERENCES collections,
    name TEXT NOT NULL,                       -- '' for the records that belong to nobody
    steps INTEGER NOT NULL DEFAULT 0,         -- recalls so far
    arrived INTEGER NOT NULL DEFAULT 0,       -- records of others, when all of theirs were met
    last_id TEXT,                             -- the collection's last record at that time
    balance REAL NOT NULL DEFAULT 0,          -- octaves: has usefulness led or misled?
    policy TEXT,                              -- the user's own, as JSON; NULL: the memory's
    questions_changed INTEGER NOT NULL DEFAULT 0,  -- changes of rows of `judged_for`, so far
    questions_last INTEGER NOT NULL DEFAULT 0,     -- the last such row; 0: there was none
    counted INTEGER NOT NULL DEFAULT 0,       -- recalls of theirs, which change nobody else's rows
    UNIQUE (collection_key, name)
);

CREATE TABLE records (
    record_key INTEGER PRIMARY KEY AUTOINCREMENT,
    collection_key INTEGER NOT NULL,
    user_key INTEGER NOT NULL REFERENCES users,
    stored_id TEXT NOT NULL,
    reader INTEGER NOT NULL DEFAULT 0,        -- 1: a user's own state of a record of everyone's
    kind TEXT,
    origin BLOB,                              -- digest of document and text; NULL: not of a document
    text_digest BLOB,                         -- digest of the words that the reads are of; NULL: not kept yet
    last_read REAL,
    refreshed_at REAL,
    streak INTEGER NOT NULL DEFAULT 0,
    retrieval_count INTEGER NOT NULL DEFAULT 0,
    credit INTEGER NOT NULL DEFAULT 0,
    warmth REAL NOT NULL DEFAULT 0,
    remembered INTEGER NOT NULL DEFAULT 0,
    strength REAL NOT NULL DEFAULT 1,
    settled_step INTEGER NOT NULL DEFAULT 0,
    settled_at REAL,
    fresh_step INTEGER NOT NULL DEFAULT 0,
    fresh_at REAL,
    boost REAL NOT NULL DEFAULT 0,
    pinned INTEGER NOT NULL DEFAULT 0,
    useful_at REAL,                           -- the last read that a verdict called helpful
    useful_step INTEGER NOT NULL DEFAULT 0,
    helpful INTEGER NOT NULL DEFAULT 0,
    unhelpful INTEGER NOT NULL DEFAULT 0,
    version INTEGER NOT NULL DEFAULT 0        -- changes so far; the outbox compares it
);
CREATE INDEX records_by_settling ON records (user_key, settled_step);
CREATE INDEX records_kept ON records (user_key) WHERE remembered = 1 OR pinned = 1;
CREATE INDEX records_by_origin ON records (user_key, origin) WHERE origin IS NOT NULL;
CREATE INDEX records_useful ON records (user_key, useful_step) WHERE useful_at IS NOT NULL;
CREATE UNIQUE INDEX records_by_stored_id ON records (collection_key, stored_id) WHERE reader = 0;
CREATE UNIQUE INDEX records_of_readers ON records (collection_key, stored_id, user_key) WHERE reader = 1;

CREATE TABLE outbox (record_key INTEGER PRIMARY KEY);

CREATE TABLE policies (policy_hash TEXT PRIMARY KEY, policy TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE recalls (
    recall_key INTEGER PRIMARY KEY,
    recall_id TEXT NOT NULL UNIQUE,
    user_key INTEGER NOT NULL REFERENCES users,
    step INTEGER NOT NULL,
    at REAL NOT NULL,
    cue TEXT NOT NULL,
    k INTEGER NOT NULL,
    policy_hash TEXT NOT NULL,
    candidates BLOB NOT NULL,                 -- packed columns
    turn TEXT,                                -- the question that the recall was made for, where it has a name
    over TEXT                                 -- whose records were read beside the user's own; NULL: nobody's
);
CREATE INDEX recalls_of_user ON recalls (user_key, step);
CREATE INDEX recalls_by_time ON recalls (at);
CREATE INDEX recalls_of_turn ON recalls (user_key, turn) WHERE turn IS NOT NULL;

CREATE TABLE verdicts (
    record_key INTEGER NOT NULL REFERENCES records,
    recall_id TEXT NOT NULL,
    verdict TEXT NOT NULL,
    at REAL NOT NULL,
    boost_before REAL NOT NULL,               -- so that a changed mind takes back exactly what it did
    boost_after REAL NOT NULL,
    read_at REAL,                             -- when what was judged had been read
    read_step INTEGER NOT NULL DEFAULT 0,
    useful_before REAL,                       -- what there was before, to be taken back to
    step_before INTEGER NOT NULL DEFAULT 0,
    sway REAL NOT NULL DEFAULT 0,             -- what it did to the user's balance
    PRIMARY KEY (record_key, recall_id)
) WITHOUT ROWID;

CREATE TABLE erased (
    user_key INTEGER NOT NULL,
    digest BLOB NOT NULL,                     -- of a forgotten id: a recall under way must not write it back
    at REAL NOT NULL,
    PRIMARY KEY (user_key, digest)
) WITHOUT ROWID;

CREATE TABLE spans (
    span_key INTEGER PRIMARY KEY,             -- in the order of time
    user_key INTEGER NOT NULL REFERENCES users,
    from_step INTEGER NOT NULL,
    from_at REAL,                             -- NULL: since ever
    pace TEXT NOT NULL                        -- as JSON
);
CREATE INDEX spans_of_user ON spans (user_key);

CREATE TABLE turns (
    user_key INTEGER NOT NULL REFERENCES users,
    turn TEXT NOT NULL,
    step INTEGER NOT NULL,
    at REAL NOT NULL,
    counted TEXT NOT NULL,                    -- record_keys that were counted as read in this turn, as JSON
    PRIMARY KEY (user_key, turn)
) WITHOUT ROWID;

CREATE TABLE changes (
    change_key INTEGER PRIMARY KEY,
    user_key INTEGER NOT NULL REFERENCES users,
    stored_id TEXT NOT NULL,
    at REAL NOT NULL,
    step INTEGER NOT NULL,
    what TEXT NOT NULL,
    by TEXT NOT NULL
);
CREATE INDEX changes_of_record ON changes (user_key, stored_id);

CREATE TABLE samples (
    user_key INTEGER NOT NULL REFERENCES users,
    step INTEGER NOT NULL,
    at REAL NOT NULL,
    sample TEXT NOT NULL,                     -- as JSON
    PRIMARY KEY (user_key, step)
) WITHOUT ROWID;

CREATE TABLE words (                          -- a copy: may be emptied at any time, and is built anew
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    collection_key INTEGER NOT NULL,
    user_key INTEGER NOT NULL,                -- 0: of no scope of ours
    stored_id TEXT NOT NULL,
    digest BLOB NOT NULL,                     -- of the text and its place in a conversation
    length INTEGER NOT NULL,                  -- in words
    terms BLOB NOT NULL,                      -- a 64-bit digest of each different word
    speaker TEXT,
    session TEXT,
    place REAL,                               -- the order within the session
    speaker_from INTEGER NOT NULL                   -- 1: the text itself begins with the speaker; 2: and nothing else says so
);
CREATE UNIQUE INDEX words_by_stored_id ON words (collection_key, stored_id);
CREATE INDEX words_of_user ON words (user_key, row);

CREATE TABLE words_gone (                     -- rows that were removed, for those who hold a copy in RAM
    gone INTEGER PRIMARY KEY AUTOINCREMENT,
    user_key INTEGER NOT NULL,
    row INTEGER NOT NULL
);
CREATE INDEX words_gone_of_user ON words_gone (user_key, gone);

CREATE TABLE followed (                       -- how far the copies of each user's records are
    user_key INTEGER PRIMARY KEY,
    words INTEGER NOT NULL                    -- the last change of `mirror` that `words` has
);

CREATE TABLE floors (                         -- what unrelated questions find in a scope: means and spreads, no text
    user_key INTEGER NOT NULL REFERENCES users,
    manner TEXT NOT NULL,                     -- of looking: embedder, channels and their weights
    at REAL NOT NULL,
    floor TEXT NOT NULL,                      -- as JSON
    PRIMARY KEY (user_key, manner)
) WITHOUT ROWID;

CREATE TABLE clock_readings (at REAL PRIMARY KEY) WITHOUT ROWID;

CREATE TABLE logged_ids (                     -- the records that lines of the log speak of
    id_key INTEGER PRIMARY KEY AUTOINCREMENT, -- what stands for it in `recalls.candidates`
    user_key INTEGER NOT NULL REFERENCES users,
    id TEXT NOT NULL
);
CREATE UNIQUE INDEX logged_ids_by_id ON logged_ids (user_key, id);

CREATE TABLE to_purge (why TEXT PRIMARY KEY) WITHOUT ROWID;

CREATE TABLE mirror (                         -- a copy of the collection's records: may be emptied, and is filled anew
    row INTEGER PRIMARY KEY AUTOINCREMENT,    -- in the order of writing; another text or vector is another row
    collection_key INTEGER NOT NULL,
    user_key INTEGER NOT NULL,                -- 0: of no scope of ours
    stored_id TEXT NOT NULL,
    changed INTEGER NOT NULL,                 -- in the order of changes of text, vector or metadata
    text TEXT,
    metadata TEXT                             -- all of it as the collection has it, as JSON
);
CREATE UNIQUE INDEX mirror_by_stored_id ON mirror (collection_key, stored_id);
CREATE INDEX mirror_of_user ON mirror (user_key, row);
CREATE INDEX mirror_changes ON mirror (user_key, changed);

CREATE TABLE mirror_vectors (row INTEGER PRIMARY KEY, vector BLOB NOT NULL);

CREATE TABLE mirror_gone (                    -- rows that were removed, for those who hold a copy in RAM
    gone INTEGER PRIMARY KEY AUTOINCREMENT,
    user_key INTEGER NOT NULL,
    row INTEGER NOT NULL
);
CREATE INDEX mirror_gone_of_user ON mirror_gone (user_key, gone);

CREATE TABLE mirror_size (
    collection_key INTEGER PRIMARY KEY,
    records INTEGER NOT NULL DEFAULT 0,
    changes INTEGER NOT NULL DEFAULT 0,       -- so far
    drops INTEGER NOT NULL DEFAULT 0,         -- removals so far, of what has a row or has none
    complete_at TEXT                          -- the state of the collection that all of it was compared with, as JSON
);

CREATE TABLE due_records (                    -- what the process that holds Chroma has yet to put into it or take out
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- another at each change: a later one is not taken for done
    collection_key INTEGER NOT NULL,
    user_key INTEGER NOT NULL,
    stored_id TEXT NOT NULL,
    gone INTEGER NOT NULL                     -- 0: as `mirror` has it
);
CREATE UNIQUE INDEX due_records_by_stored_id ON due_records (collection_key, stored_id);

CREATE TABLE exported (                       -- what was put into Chroma lately: where it is found again later, it is no
    collection_key INTEGER NOT NULL,          -- other program's, but a late write of an exporter that stood still
    digest BLOB NOT NULL,                     -- of id, text and metadata without read state
    at REAL NOT NULL,
    PRIMARY KEY (collection_key, digest)
) WITHOUT ROWID;

CREATE TABLE guests (                         -- what processes that may not open the collection ask of the one that may
    collection_key INTEGER PRIMARY KEY,
    asked INTEGER NOT NULL DEFAULT 0,         -- times that one wanted everything in the collection at once
    done INTEGER NOT NULL DEFAULT 0           -- the last of these that was done
);

CREATE TABLE graph_passages (                 -- a copy: may be emptied at any time, and is built anew
    passage INTEGER PRIMARY KEY AUTOINCREMENT,
    collection_key INTEGER NOT NULL,
    user_key INTEGER NOT NULL,
    stored_id TEXT NOT NULL,
    word_row INTEGER NOT NULL,                -- of `words`, which it is in step with; 0: of none
    title INTEGER,                            -- the name that its title gives
    known INTEGER NOT NULL,                   -- titles of the user's that its names were looked for among
    sizes BLOB NOT NULL,                      -- words of each sentence, 16 bits
    words BLOB NOT NULL,                      -- a 32-bit digest of each word, sentence after sentence
    vector BLOB NOT NULL,                     -- float16
    sentence_vectors BLOB,                    -- float32, a row per sentence; NULL: not made, as only GAM-RAG needs them
    time_vectors BLOB                         -- the same of the times that they say, compressed; zeros for none
);
CREATE INDEX graph_passages_unembedded ON graph_passages (user_key) WHERE sentence_vectors IS NULL;
CREATE UNIQUE INDEX graph_passages_by_stored_id ON graph_passages (collection_key, stored_id);
CREATE INDEX graph_passages_of_user ON graph_passages (user_key, known);
CREATE INDEX graph_passages_by_title ON graph_passages (title) WHERE title IS NOT NULL;
CREATE INDEX graph_passages_by_word_row ON graph_passages (word_row);

CREATE TABLE graph_names (
    name_key INTEGER PRIMARY KEY,
    user_key INTEGER NOT NULL,
    name TEXT NOT NULL,
    passages INTEGER NOT NULL,                -- that mention it or are titled by it
    titles INTEGER NOT NULL                   -- that are titled by it
);
CREATE UNIQUE INDEX graph_names_by_name ON graph_names (user_key, name);

CREATE TABLE graph_mentions (
    name_key INTEGER NOT NULL,
    sentence INTEGER NOT NULL,                -- passage * 4096 + its place in it
    PRIMARY KEY (name_key, sentence)
) WITHOUT ROWID;
CREATE INDEX graph_mentions_in ON graph_mentions (sentence);

CREATE TABLE graph_words (                    -- in how many of the user's sentences each word is
    user_key INTEGER NOT NULL,
    word INTEGER NOT NULL,
    sentences INTEGER NOT NULL,
    PRIMARY KEY (user_key, word)
) WITHOUT ROWID;

CREATE TABLE graph_size (user_key INTEGER PRIMARY KEY, passages INTEGER NOT NULL, sentences INTEGER NOT NULL,
    titles INTEGER NOT NULL);

CREATE TABLE graph_seen (                     -- how far `words` and its removals were followed
    collection_key INTEGER PRIMARY KEY,
    written INTEGER NOT NULL DEFAULT 0,
    removed INTEGER NOT NULL DEFAULT 0,
    title_key TEXT,                           -- the setting it is made with: the metadata key of the titles, ...
    made_before TEXT NOT NULL DEFAULT '[]'    -- settings that gave way to another one
);

CREATE TABLE reembedding (                    -- another embedder is at work
    collection_key INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL,                       -- the collection that is being filled
    embedder TEXT NOT NULL,
    dimension INTEGER
);

CREATE TABLE new_vectors (                    -- what it has made of the texts in `mirror` so far
    row INTEGER PRIMARY KEY,
    collection_key INTEGER NOT NULL,
    vector BLOB NOT NULL
);

CREATE TABLE judged_questions (               -- what was asked when something was found that was judged later
    question_key INTEGER PRIMARY KEY AUTOINCREMENT,
    user_key INTEGER NOT NULL DEFAULT 0,      -- who asked
    recall_id TEXT NOT NULL,                  -- '': from elsewhere
    embedder TEXT,                            -- of the collection at the time; vectors of another say nothing
    vector BLOB NOT NULL,                     -- of length 1, numbers of 16 bits
    time_vector BLOB                          -- the same of the time that it asks about; NULL: of none
);
CREATE INDEX judged_questions_of_recall ON judged_questions (recall_id);

CREATE TABLE judged_for (                     -- which record was helpful for it, and which was not: a row a verdict
    judged_key INTEGER PRIMARY KEY AUTOINCREMENT,
    record_key INTEGER NOT NULL REFERENCES records,
    question_key INTEGER NOT NULL REFERENCES judged_questions,  -- or one like it, where there were too many
    recall_id TEXT NOT NULL,
    helpful INTEGER NOT NULL,
    unhelpful INTEGER NOT NULL,
    ahead REAL,                               -- in similarity, of all other candidates then; NULL: not known
    activated INTEGER NOT NULL DEFAULT 0,     -- the record's sentences that the graph activated then, as bits
    supports INTEGER NOT NULL DEFAULT 0       -- those of them that support the answer
);
CREATE UNIQUE INDEX judged_for_once ON judged_for (record_key, recall_id);
CREATE INDEX judged_for_question ON judged_for (question_key);

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
    text_digest BLOB,                         -- a digest of its words
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
    narrative TEXT NOT NULL DEFAULT '',       -- what happened in it, in the third person
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

CREATE TABLE user_files (                     -- copies of a user's rows in files beside this one
    user_key INTEGER NOT NULL,
    kind TEXT NOT NULL,                       -- 'vectors' or 'words'
    name TEXT NOT NULL,
    written INTEGER NOT NULL,                 -- the last row that it has
    removed INTEGER NOT NULL,                 -- the last removal before it was made
    PRIMARY KEY (user_key, kind)
) WITHOUT ROWID;

CREATE TABLE graph_links (                    -- how a user's records name each other's titles, as a sample told
    user_key INTEGER PRIMARY KEY,
    records INTEGER NOT NULL,                 -- that there were then
    links REAL NOT NULL,                      -- titles of others that each names, on average
    wanted INTEGER NOT NULL,                  -- 1: the graph is made of them, since questions name titles
    made INTEGER NOT NULL                     -- 1: and it was complete once
);

CREATE TABLE file_version (version INTEGER NOT NULL);     -- one row, counted up by every write that is not a recall's
INSERT INTO file_version VALUES (0);

CREATE TABLE graph_name_vectors (             -- only where names are compared (Graphs.names_alike)
    user_key INTEGER NOT NULL,
    name_key INTEGER NOT NULL,
    compared INTEGER NOT NULL,                -- 1: with all names that had a vector then
    vector BLOB NOT NULL,                     -- float16, of length 1
    PRIMARY KEY (user_key, name_key)
) WITHOUT ROWID;
CREATE INDEX graph_name_vectors_to_compare ON graph_name_vectors (user_key) WHERE compared = 0;

CREATE TABLE graph_alike (                    -- both ways
    user_key INTEGER NOT NULL,
    name_key INTEGER NOT NULL,
    other INTEGER NOT NULL,
    likeness REAL NOT NULL,
    PRIMARY KEY (user_key, name_key, other)
) WITHOUT ROWID;

CREATE TRIGGER words_out AFTER DELETE ON words BEGIN
    INSERT INTO words_gone (user_key, row) VALUES (old.user_key, old.row);
END;

CREATE TRIGGER mirror_in AFTER INSERT ON mirror BEGIN
    INSERT INTO mirror_size (collection_key, records) VALUES (new.collection_key, 1)
    ON CONFLICT (collection_key) DO UPDATE SET records = records + 1;
END;

CREATE TRIGGER mirror_out AFTER DELETE ON mirror BEGIN
    UPDATE mirror_size SET records = records - 1 WHERE collection_key = old.collection_key;
    DELETE FROM mirror_vectors WHERE row = old.row;
    DELETE FROM words WHERE collection_key = old.collection_key AND stored_id = old.stored_id;
    INSERT INTO mirror_gone (user_key, row) VALUES (old.user_key, old.row);
END;

CREATE TRIGGER records_in AFTER INSERT ON records WHEN new.reader = 0 BEGIN
    UPDATE collections SET rows = rows + 1 WHERE collection_key = new.collection_key;
END;

CREATE TRIGGER records_out AFTER DELETE ON records WHEN old.reader = 0 BEGIN
    UPDATE collections SET rows = rows - 1 WHERE collection_key = old.collection_key;
END;

CREATE TRIGGER new_vectors_out AFTER DELETE ON mirror BEGIN
    DELETE FROM new_vectors WHERE row = old.row;
END;

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

CREATE TRIGGER user_files_of_vectors AFTER INSERT ON mirror_gone BEGIN
    DELETE FROM user_files WHERE user_key = new.user_key AND kind = 'vectors';
END;

CREATE TRIGGER user_files_of_words AFTER INSERT ON words_gone BEGIN
    DELETE FROM user_files WHERE user_key = new.user_key AND kind = 'words';
END;
