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
    vector BLOB NOT NULL                      -- float16
);
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
    removed INTEGER NOT NULL DEFAULT 0
);
