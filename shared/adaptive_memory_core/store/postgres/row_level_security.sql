-- Which rows may a role see? Run once by the owner of the tables, twice does no harm.
--
--   adaptive-memory row-level-security | psql "postgresql://owner@db/memories"
--   GRANT adaptive_memory_application TO app;                         -- the application's role: every row
--   CREATE ROLE ana_app LOGIN;
--   SELECT adaptive_memory.give_scope('ana_app', 'memories', 'ana');  -- this role: the rows of ana in 'memories'
--   SELECT adaptive_memory.give_scope('eve_app', 'memories', 'eve', new_user => true);  -- of a user who is yet to come
--   SELECT adaptive_memory.give_scope('shop_app', 'shop', NULL);      -- this role: all rows of the collection 'shop'
--   SELECT adaptive_memory.take_scope('ana_app');
--
-- What a role sees hangs on `current_user` alone, so it holds behind a pooler and cannot be set by whoever sends SQL.
-- '' as the user is what belongs to everyone. A role without a scope sees nothing.
BEGIN;
SET LOCAL client_min_messages = warning;

-- All tables first, since applications go on meanwhile: who writes has a row of `collections` before any other, and who
-- reads may have one table and want another that is ours by then. The server breaks us off, and we begin again.
DO $$
DECLARE
    one name;
BEGIN
    FOR attempt IN 1 .. 50 LOOP
        BEGIN
            LOCK TABLE adaptive_memory.collections IN EXCLUSIVE MODE;
            FOR one IN
                SELECT relname FROM pg_class
                WHERE relnamespace = 'adaptive_memory'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
            LOOP
                EXECUTE format('LOCK TABLE adaptive_memory.%I IN ACCESS EXCLUSIVE MODE', one);
            END LOOP;
            RETURN;
        EXCEPTION WHEN deadlock_detected OR lock_not_available THEN
            PERFORM pg_sleep(random() / 5);
        END;
    END LOOP;
    RAISE EXCEPTION 'Others use the tables of the ledger all the time. Run this again when less is asked of them.';
END $$;

DO $$
DECLARE
    made text;
BEGIN
    FOREACH made IN ARRAY ARRAY[
        'adaptive_memory_application', 'adaptive_memory_one_collection', 'adaptive_memory_one_user'
    ] LOOP
        IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = made) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', made);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN  -- another database of the server makes it just now
            END;
        END IF;
    END LOOP;
END $$;

CREATE TABLE IF NOT EXISTS adaptive_memory.scopes_of_roles (
    role oid PRIMARY KEY,
    collection_key bigint NOT NULL,
    user_key bigint  -- NULL: all users of the collection
);

CREATE OR REPLACE FUNCTION adaptive_memory.own_collection() RETURNS bigint
    LANGUAGE sql STABLE SET search_path = pg_catalog AS
    'SELECT collection_key FROM adaptive_memory.scopes_of_roles WHERE role = quote_ident(current_user)::regrole';
CREATE OR REPLACE FUNCTION adaptive_memory.own_user() RETURNS bigint
    LANGUAGE sql STABLE SET search_path = pg_catalog AS
    'SELECT user_key FROM adaptive_memory.scopes_of_roles WHERE role = quote_ident(current_user)::regrole';

DROP FUNCTION IF EXISTS adaptive_memory.give_scope(name, text, text);
CREATE OR REPLACE FUNCTION adaptive_memory.give_scope(
    role_name name, collection_name text, user_name text, new_user boolean DEFAULT false
) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    named bigint[] := ARRAY(SELECT c.collection_key FROM adaptive_memory.collections c WHERE c.name = collection_name);
    scope bigint;
BEGIN
    IF cardinality(named) <> 1 THEN
        RAISE EXCEPTION 'There are % collections of the name ''%'' in this ledger. Name one that a memory was opened over.',
            cardinality(named), collection_name;
    END IF;
    IF user_name IS NOT NULL THEN
        PERFORM 1 FROM adaptive_memory.collections c WHERE c.collection_key = named[1] FOR NO KEY UPDATE;  -- as who writes
        IF NOT new_user AND user_name <> '' AND NOT EXISTS (
            SELECT 1 FROM adaptive_memory.users u WHERE u.collection_key = named[1] AND u.name = user_name
        ) THEN
            RAISE EXCEPTION 'Nobody is called ''%'' in the collection ''%''.', user_name, collection_name
                USING HINT = 'Check the name. For a user who is yet to come: give_scope(..., new_user => true).';
        END IF;
        INSERT INTO adaptive_memory.users (collection_key, name) VALUES (named[1], user_name)
            ON CONFLICT (collection_key, name) DO NOTHING;
        SELECT u.user_key INTO scope FROM adaptive_memory.users u
            WHERE u.collection_key = named[1] AND u.name = user_name;
    END IF;
    INSERT INTO adaptive_memory.scopes_of_roles VALUES (quote_ident(role_name)::regrole, named[1], scope)
        ON CONFLICT (role) DO UPDATE SET collection_key = excluded.collection_key, user_key = excluded.user_key;
    EXECUTE format('REVOKE adaptive_memory_one_collection, adaptive_memory_one_user FROM %I', role_name);
    EXECUTE format('GRANT %I TO %I', CASE WHEN scope IS NULL THEN 'adaptive_memory_one_collection'
        ELSE 'adaptive_memory_one_user' END, role_name);
END $$;

CREATE OR REPLACE FUNCTION adaptive_memory.take_scope(role_name name) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    DELETE FROM adaptive_memory.scopes_of_roles WHERE role = quote_ident(role_name)::regrole;
    EXECUTE format('REVOKE adaptive_memory_one_collection, adaptive_memory_one_user FROM %I', role_name);
END $$;
REVOKE ALL ON FUNCTION adaptive_memory.give_scope(name, text, text, boolean), adaptive_memory.take_scope(name) FROM PUBLIC;

GRANT USAGE ON SCHEMA adaptive_memory
    TO adaptive_memory_application, adaptive_memory_one_collection, adaptive_memory_one_user;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA adaptive_memory
    TO adaptive_memory_application, adaptive_memory_one_collection, adaptive_memory_one_user;
GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA adaptive_memory
    TO adaptive_memory_application, adaptive_memory_one_collection, adaptive_memory_one_user;
GRANT EXECUTE ON FUNCTION adaptive_memory.make_log_days(bigint, bigint),
    adaptive_memory.drop_log_days(double precision) TO adaptive_memory_application;
REVOKE INSERT, UPDATE, DELETE ON adaptive_memory.schema_version, adaptive_memory.scopes_of_roles
    FROM adaptive_memory_application, adaptive_memory_one_collection, adaptive_memory_one_user;

-- Of what is a whole collection's, a role of one user may count, and nothing else.
REVOKE INSERT, UPDATE, DELETE ON adaptive_memory.collections FROM adaptive_memory_one_user;
GRANT UPDATE (version, rows, met) ON adaptive_memory.collections TO adaptive_memory_one_user;
REVOKE UPDATE, DELETE ON adaptive_memory.mirror_size FROM adaptive_memory_one_user;
GRANT UPDATE (records, changes, drops) ON adaptive_memory.mirror_size TO adaptive_memory_one_user;

-- What follows from a row that is the scope's own is done with the owner's rights: by then the row may be gone.
ALTER FUNCTION adaptive_memory.on_words_out() SECURITY DEFINER SET search_path = pg_catalog;
ALTER FUNCTION adaptive_memory.on_mirror_in() SECURITY DEFINER SET search_path = pg_catalog;
ALTER FUNCTION adaptive_memory.on_mirror_out() SECURITY DEFINER SET search_path = pg_catalog;
ALTER FUNCTION adaptive_memory.on_judged_for_changed() SECURITY DEFINER SET search_path = pg_catalog;
ALTER FUNCTION adaptive_memory.on_judged_for_out() SECURITY DEFINER SET search_path = pg_catalog;

DO $$
DECLARE
    ours constant text := 'adaptive_memory_one_collection, adaptive_memory_one_user';
    own_collection constant text := 'collection_key = (SELECT adaptive_memory.own_collection())';
    whole_collection constant text := own_collection || ' AND (SELECT adaptive_memory.own_user()) IS NULL';
    of_user constant text := '((SELECT adaptive_memory.own_user()) IS NULL '
        'OR abs(%1$I.user_key) = (SELECT adaptive_memory.own_user()))';
    of_known_user constant text := of_user
        || ' AND EXISTS (SELECT 1 FROM adaptive_memory.users its WHERE its.user_key = abs(%1$I.user_key))';
    by_row constant text := 'EXISTS (SELECT 1 FROM adaptive_memory.%2$I its WHERE its.%3$I = %1$I.%3$I)';
    -- tables without the key of a user: which of their rows a scope sees, and which it may write
    rules constant jsonb := jsonb_build_object(
        'collections', ARRAY[own_collection, own_collection],
        'mirror_size', ARRAY[own_collection, own_collection],
        'exported', ARRAY[own_collection, own_collection],
        'guests', ARRAY[own_collection, whole_collection],
        'reembedding', ARRAY[own_collection, whole_collection],
        'graph_seen', ARRAY[own_collection, whole_collection],
        'writers', ARRAY[own_collection, own_collection],
        'outbox', ARRAY[format(by_row, 'outbox', 'records', 'record_key')],
        'verdicts', ARRAY[format(by_row, 'verdicts', 'records', 'record_key')],
        'judged_for', ARRAY[format(by_row, 'judged_for', 'records', 'record_key')],
        'mirror_vectors', ARRAY[format(by_row, 'mirror_vectors', 'mirror', 'row')],
        'new_vectors', ARRAY[format(by_row, 'new_vectors', 'mirror', 'row')],
        'graph_mentions', ARRAY[format(by_row, 'graph_mentions', 'graph_names', 'name_key')],
        'hierarchy_sources', ARRAY[format(by_row, 'hierarchy_sources', 'hierarchy_semantics', 'semantic')],
        'leases', ARRAY['name LIKE (SELECT adaptive_memory.own_collection()) || '':%'''],
        'scopes_of_roles', ARRAY['role = quote_ident(current_user)::regrole', 'false'],
        'policies', ARRAY['true', 'adds'],  -- numbers that users share: nobody can tell whose
        'to_purge', ARRAY['true', 'adds'],  -- that something was deleted, somewhere
        'schema_version', ARRAY['true', 'false'],
        'clock_readings', ARRAY['false', 'false']  -- a clock that is wrong would end the log of others
    );
    one record;
    sees text;
    writes text;
BEGIN
    FOR one IN
        SELECT relname::text AS name,
            EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = c.oid AND attname = 'user_key') AS of_user,
            EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = c.oid AND attname = 'collection_key') AS of_collection
        FROM pg_class c WHERE relnamespace = 'adaptive_memory'::regnamespace AND relkind IN ('r', 'p')
            AND relname !~ '^recalls_of_\d'  -- a day of the log: closed to all, but through the log
    LOOP
        EXECUTE format('ALTER TABLE adaptive_memory.%I ENABLE ROW LEVEL SECURITY', one.name);
        EXECUTE format('DROP POLICY IF EXISTS whole ON adaptive_memory.%I', one.name);
        EXECUTE format('DROP POLICY IF EXISTS sees ON adaptive_memory.%I', one.name);
        EXECUTE format('DROP POLICY IF EXISTS writes ON adaptive_memory.%I', one.name);
        EXECUTE format('CREATE POLICY whole ON adaptive_memory.%I TO adaptive_memory_application USING (true)', one.name);
        sees := CASE WHEN rules ? one.name THEN rules -> one.name ->> 0
            WHEN one.of_user AND one.of_collection THEN format(own_collection || ' AND ' || of_user, one.name)
            WHEN one.of_user THEN format(of_known_user, one.name) END;
        writes := coalesce(rules -> one.name ->> 1, sees);
        CONTINUE WHEN sees IS NULL;  -- a table that this script does not know: a scope sees nothing of it
        EXECUTE format('CREATE POLICY sees ON adaptive_memory.%I FOR SELECT TO %s USING (%s)', one.name, ours, sees);
        IF writes = 'adds' THEN
            EXECUTE format('CREATE POLICY writes ON adaptive_memory.%I FOR INSERT TO %s WITH CHECK (%s)',
                one.name, ours, sees);
        ELSE
            EXECUTE format('CREATE POLICY writes ON adaptive_memory.%I TO %s USING (%s)', one.name, ours, writes);
        END IF;
    END LOOP;
END $$;
COMMIT;
