CREATE TABLE user_files (                     -- copies of a user's rows in files beside this one
    user_key INTEGER NOT NULL,
    kind TEXT NOT NULL,                       -- 'vectors' or 'words'
    name TEXT NOT NULL,
    written INTEGER NOT NULL,                 -- the last row that it has
    removed INTEGER NOT NULL,                 -- the last removal before it was made
    PRIMARY KEY (user_key, kind)
) WITHOUT ROWID;
CREATE TRIGGER user_files_of_vectors AFTER INSERT ON mirror_gone BEGIN
    DELETE FROM user_files WHERE user_key = new.user_key AND kind = 'vectors';
END;
CREATE TRIGGER user_files_of_words AFTER INSERT ON words_gone BEGIN
    DELETE FROM user_files WHERE user_key = new.user_key AND kind = 'words';
END;
