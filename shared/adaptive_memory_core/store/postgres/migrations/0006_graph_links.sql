CREATE TABLE adaptive_memory.graph_links (
    user_key bigint NOT NULL PRIMARY KEY,
    records bigint NOT NULL,
    links double precision NOT NULL,
    wanted bigint NOT NULL,
    made bigint NOT NULL
);
