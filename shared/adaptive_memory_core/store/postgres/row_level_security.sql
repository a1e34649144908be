-- Which rows may a role see? Run once by the owner of the tables, and again after each migration; twice does no harm.
--
--   adaptive-memory row-level-security | psql "postgresql://owner@db/memories"
--   GRANT adaptive_memory_application TO app;                         -- the application's role: every row
--   CREATE ROLE ana_app LOGIN;
--   SELECT adaptive_memory.give_scope('ana_app', 'memories', 'ana');  -- this role: the rows of ana in 'memories'
--   SELECT adaptive_memory.give_scope('shop_app', 'shop', NULL);      -- this role: all rows of the collection 'shop'
--   SELECT adaptive_memory.take_scope('ana_app');
--
-- What a role sees hangs on `current_user` alone, so it holds behind a pooler and cannot be set by whoever sends SQL.
-- '' as the user is what belongs to everyone. A role without a scope sees nothing.
BEGIN;
SET LOCAL client_min_messages = warning;

DO $$
DECLARE
    made text;
BEGIN
    FOREACH made IN ARRAY ARRAY['adaptive_memory_application', 'adaptive_memory_scope'] LOOP
        IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = made) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', made);
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

CREATE OR REPLACE FUNCTION adaptive_memory.give_scope(role_name name, collection_name text, user_name text)
    RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    named bigint[] := ARRAY(SELECT c.collection_key FROM adaptive_memory.collections c WHERE c.name = collection_name);
    scope bigint;
BEGIN
    IF cardinality(named) <> 1 THEN
        RAISE EXCEPTION 'There are % collections of the name % in this ledger. Name one that a memory was opened over.',
            cardinality(named), collection_name;
    END IF;
    IF user_name IS NOT NULL THEN
        INSERT INTO adaptive_memory.users (collection_key, name) VALUES (named[1], user_name)
            ON CONFLICT (collection_key, name) DO NOTHING;
        SELECT u.user_key INTO scope FROM adaptive_memory.users u
            WHERE u.collection_key = named[1] AND u.name = user_name;
    END IF;
    INSERT INTO adaptive_memory.scopes_of_roles VALUES (quote_ident(role_name)::regrole, named[1], scope)
        ON CONFLICT (role) DO UPDATE SET collection_key = excluded.collection_key, user_key = excluded.user_key;
    EXECUTE format('GRANT adaptive_memory_scope TO %I', role_name);
END $$;

CREATE OR REPLACE FUNCTION adaptive_memory.take_scope(role_name name) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    DELETE FROM adaptive_memory.scopes_of_roles WHERE role = quote_ident(role_name)::regrole;
    EXECUTE format('REVOKE adaptive_memory_scope FROM %I', role_name);
END $$;
REVOKE ALL ON FUNCTION adaptive_memory.give_scope(name, text, text), adaptive_memory.take_scope(name) FROM PUBLIC;

GRANT USAGE ON SCHEMA adaptive_memory TO adaptive_memory_application, adaptive_memory_scope;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA adaptive_memory
    TO adaptive_memory_application, adaptive_memory_scope;
GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA adaptive_memory TO adaptive_memory_application;
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA adaptive_memory TO adaptive_memory_scope;

-- Of these a scope has to read, or to count in, more than it may change.
REVOKE INSERT, UPDATE, DELETE ON adaptive_memory.schema_version, adaptive_memory.scopes_of_roles
    FROM adaptive_memory_application, adaptive_memory_scope;
REVOKE INSERT, UPDATE, DELETE ON adaptive_memory.collections FROM adaptive_memory_scope;
GRANT UPDATE (version, rows, met) ON adaptive_memory.collections TO adaptive_memory_scope;

-- What follows from a row that is the scope's own is done with the owner's rights: by then the row may be gone.
ALTER FUNCTION adaptive_memory.on_words_in() SECURITY DEFINER SET search_path = pg_catalog;
ALTER FUNCTION adaptive_memory.on_words_out() SECURITY DEFINER SET search_path = pg_catalog;
ALTER FUNCTION adaptive_memory.on_mirror_in() SECURITY DEFINER SET search_path = pg_catalog;
ALTER FUNCTION adaptive_memory.on_mirror_out() SECURITY DEFINER SET search_path = pg_catalog;
ALTER FUNCTION adaptive_memory.on_judged_for_changed() SECURITY DEFINER SET search_path = pg_catalog;
ALTER FUNCTION adaptive_memory.on_judged_for_out() SECURITY DEFINER SET search_path = pg_catalog;

DO $$
DECLARE
    own_collection constant text := 'collection_key = (SELECT adaptive_memory.own_collection())';
    of_user constant text := '(abs(%1$I.user_key) = (SELECT adaptive_memory.own_user()) '
        'OR (SELECT adaptive_memory.own_user()) IS NULL';
    by_row constant text := 'EXISTS (SELECT 1 FROM adaptive_memory.%2$I its WHERE its.%3$I = %1$I.%3$I)';
    -- tables without the key of a user: how their rows belong to a scope, and what it may do with them
    rules constant jsonb := jsonb_build_object(
        'collections', jsonb_build_array(own_collection, 'writes'),
        'words_size', jsonb_build_array(own_collection, 'sees'),
        'mirror_size', jsonb_build_array(own_collection, 'writes'),
        'guests', jsonb_build_array(own_collection, 'sees'),
        'reembedding', jsonb_build_array(own_collection, 'sees'),
        'graph_seen', jsonb_build_array(own_collection, 'sees'),
        'due_records', jsonb_build_array(own_collection || ' AND (SELECT adaptive_memory.own_user()) IS NULL', 'writes'),
        'new_places', jsonb_build_array(own_collection || ' AND (SELECT adaptive_memory.own_user()) IS NULL', 'writes'),
        'outbox', jsonb_build_array(format(by_row, 'outbox', 'records', 'record_key'), 'writes'),
        'verdicts', jsonb_build_array(format(by_row, 'verdicts', 'records', 'record_key'), 'writes'),
        'judged_for', jsonb_build_array(format(by_row, 'judged_for', 'records', 'record_key'), 'writes'),
        'mirror_vectors', jsonb_build_array(format(by_row, 'mirror_vectors', 'mirror', 'row'), 'writes'),
        'new_vectors', jsonb_build_array(format(by_row, 'new_vectors', 'mirror', 'row'), 'writes'),
        'graph_mentions', jsonb_build_array(format(by_row, 'graph_mentions', 'graph_names', 'name_key'), 'writes'),
        'hierarchy_sources', jsonb_build_array(
            format(by_row, 'hierarchy_sources', 'hierarchy_semantics', 'semantic'), 'writes'
        ),
        'leases', jsonb_build_array('name LIKE (SELECT adaptive_memory.own_collection()) || '':%''', 'writes'),
        'scopes_of_roles', jsonb_build_array('role = quote_ident(current_user)::regrole', 'sees'),
        'policies', jsonb_build_array('true', 'adds'),  -- numbers that many share
        'to_purge', jsonb_build_array('true', 'adds'),
        'schema_version', jsonb_build_array('true', 'sees'),
        'clock_readings', jsonb_build_array('false', 'sees')
    );
    one record;
    sees text;
    may text;
BEGIN
    FOR one IN
        SELECT relname::text AS name,
            EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = c.oid AND attname = 'user_key') AS of_user,
            EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = c.oid AND attname = 'collection_key') AS of_collection
        FROM pg_class c WHERE relnamespace = 'adaptive_memory'::regnamespace AND relkind IN ('r', 'p')
    LOOP
        EXECUTE format('ALTER TABLE adaptive_memory.%I ENABLE ROW LEVEL SECURITY', one.name);
        EXECUTE format('DROP POLICY IF EXISTS whole ON adaptive_memory.%I', one.name);
        EXECUTE format('DROP POLICY IF EXISTS sees ON adaptive_memory.%I', one.name);
        EXECUTE format('DROP POLICY IF EXISTS writes ON adaptive_memory.%I', one.name);
        EXECUTE format('CREATE POLICY whole ON adaptive_memory.%I TO adaptive_memory_application USING (true)', one.name);
        IF rules ? one.name OR NOT one.of_user THEN
            sees := rules -> one.name ->> 0;
            may := rules -> one.name ->> 1;
        ELSIF one.of_collection THEN
            sees := format(own_collection || ' AND ' || of_user || ')', one.name);
            may := 'writes';
        ELSE
            sees := format(of_user || ' AND EXISTS (SELECT 1 FROM adaptive_memory.users u '
                'WHERE u.user_key = abs(%1$I.user_key)))', one.name);
            may := 'writes';
        END IF;
        CONTINUE WHEN sees IS NULL;  -- a table that this script does not know: a scope sees nothing of it
        EXECUTE format('CREATE POLICY sees ON adaptive_memory.%I FOR SELECT TO adaptive_memory_scope USING (%s)',
            one.name, sees);
        IF may = 'writes' THEN
            EXECUTE format('CREATE POLICY writes ON adaptive_memory.%I TO adaptive_memory_scope USING (%s)',
                one.name, sees);
        ELSIF may = 'adds' THEN
            EXECUTE format('CREATE POLICY writes ON adaptive_memory.%I FOR INSERT TO adaptive_memory_scope '
                'WITH CHECK (%s)', one.name, sees);
        END IF;
    END LOOP;
END $$;
COMMIT;
