CREATE TABLE adaptive_memory.graph_name_vectors (
    user_key bigint NOT NULL,
    name_key bigint NOT NULL,
    compared bigint NOT NULL,
    vector bytea NOT NULL,
    PRIMARY KEY (user_key, name_key)
);
CREATE INDEX graph_name_vectors_to_compare ON adaptive_memory.graph_name_vectors (user_key) WHERE compared = 0;
CREATE TABLE adaptive_memory.graph_alike (
    user_key bigint NOT NULL,
    name_key bigint NOT NULL,
    other bigint NOT NULL,
    likeness double precision NOT NULL,
    PRIMARY KEY (user_key, name_key, other)
);
