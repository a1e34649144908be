CREATE TABLE clock_readings (at REAL PRIMARY KEY) WITHOUT ROWID;  -- of the passes that let go of what is old
