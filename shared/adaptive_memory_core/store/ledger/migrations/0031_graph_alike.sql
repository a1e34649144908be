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
