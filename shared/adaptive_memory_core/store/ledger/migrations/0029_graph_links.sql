CREATE TABLE graph_links (                    -- how a user's records name each other's titles, as a sample told
    user_key INTEGER PRIMARY KEY,
    records INTEGER NOT NULL,                 -- that there were then
    links REAL NOT NULL,                      -- titles of others that each names, on average
    wanted INTEGER NOT NULL,                  -- 1: the graph is made of them, since questions name titles
    made INTEGER NOT NULL                     -- 1: and it was complete once
);
