"""Does a role with a scope see and write its own rows alone, in every table, and serve nobody else?"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import chromadb
import psycopg
import pytest
from chromadb import Collection
from psycopg import Connection

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.errors import LedgerError, ScopeError
from adaptive_memory_core.policy import Advanced, Graphs
from adaptive_memory_core.store.postgres.postgres_tables import row_level_security, tables
from tests.behaviour.conftest import eventually
from tests.chroma_server import ChromaServer
from tests.conftest import Clock
from tests.postgres_server import as_role, new_database, secured_database

pytestmark = pytest.mark.hard("PostgreSQL")

POLICY = Policy(channels=("dense", "lexical", "graph"), advanced=Advanced(graph=Graphs(names_alike=0.7)))
NOBODYS = {"policies", "to_purge", "schema_version"}  # numbers, a mark, a number: every role reads them
NOT_SEEN = {"clock_readings"}
OF_COLLECTIONS = ("collections", "mirror_size", "exported", "guests", "reembedding", "graph_seen", "writers")
_BY_ROW = "(SELECT abs(its.user_key) FROM adaptive_memory.{} its WHERE its.{} = rows.{})"
BY_ROW = {  # the column by which a row is a user's, where it has no `user_key`
    **dict.fromkeys(("outbox", "verdicts", "judged_for"), ("records", "record_key")),
    **dict.fromkeys(("mirror_vectors", "new_vectors"), ("mirror", "row")),
    "graph_mentions": ("graph_names", "name_key"),
    "hierarchy_sources": ("hierarchy_semantics", "semantic"),
}
ROLES_OF = {"scopes_of_roles": "role", "leases": "name"}
TABLES = (
    "SELECT relname FROM pg_class WHERE relnamespace = 'adaptive_memory'::regnamespace AND relkind IN ('r', 'p') "
    r"AND relname !~ '^recalls_of_\d'"
)
DAYS_OF_LOG = TABLES.replace("!~", "~")
POLICIES = "SELECT policyname FROM pg_policies WHERE schemaname = 'adaptive_memory' AND tablename = %s"
COLUMNS = (
    "SELECT column_name FROM information_schema.columns WHERE table_schema = 'adaptive_memory' AND table_name = %s"
)


class World:
    """A ledger that ana and bob have used, with a role for ana and one for the whole collection."""

    def __init__(self, collection: Collection, embed: Callable[..., Any], clock: Clock) -> None:
        self.collection, self.embed, self.clock = collection, embed, clock
        self.address = secured_database()
        self.owner = psycopg.connect(as_role(self.address, "postgres"), autocommit=True)
        with self.memory("memory_app") as memory:
            for user in ("ana", "bob"):
                use(memory, user)
        scopes: dict[str, str | None] = {"ana_app": "ana", "shop_app": None}
        for role, whom in scopes.items():
            self.owner.execute(f"DROP ROLE IF EXISTS {role}")
            self.owner.execute(f"CREATE ROLE {role} LOGIN")
            self.owner.execute("SELECT adaptive_memory.give_scope(%s, %s, %s)", (role, collection.name, whom))
        keys: dict[str, int] = dict(self.owner.execute("SELECT name, user_key FROM adaptive_memory.users").fetchall())
        self.ana, self.bob = keys["ana"], keys["bob"]

    def memory(self, role: str, collection: Collection | None = None) -> AdaptiveMemory:
        return AdaptiveMemory(
            self.collection if collection is None else collection,
            embedder=self.embed,
            clock=self.clock,
            ledger=as_role(self.address, role),
            policy=POLICY,
        )

    def connect(self, role: str) -> Connection[Any]:
        return psycopg.connect(as_role(self.address, role), autocommit=True)

    def tables(self) -> list[str]:
        return [row[0] for row in self.owner.execute(TABLES)]

    def has(self, table: str, column: str) -> bool:
        return column in {row[0] for row in self.owner.execute(COLUMNS, (table,))}

    def rows_of(self, user: int, table: str) -> set[str]:
        """The rows of a user, as the owner of the tables sees them."""
        key = _BY_ROW.format(*BY_ROW[table], BY_ROW[table][1]) if table in BY_ROW else "abs(user_key)"
        query = f"SELECT ctid::text FROM adaptive_memory.{table} AS rows WHERE {key} = %s"
        return {row[0] for row in self.owner.execute(query, (user,))}


def use(memory: AdaptiveMemory, user: str) -> None:
    """So that there are rows in most tables."""
    one = memory.for_user(user)
    one.observe([{"role": "user", "text": f"I met Ana {n} in the Blue Cafe.", "id": f"{user}{n}"} for n in range(4)])
    one.remember_many([f"{user} likes tea {n}" for n in range(4)])
    found = one.recall("tea")
    one.feedback(found, helpful=found.ids[:1], unhelpful=found.ids[1:2])
    one.pin(found.ids[0])


def seen(connection: Connection[Any], table: str) -> set[str]:
    return {row[0] for row in connection.execute(f"SELECT ctid::text FROM adaptive_memory.{table}")}


@pytest.fixture
def world(collection: Collection, embed: Callable[..., Any], clock: Clock) -> Iterator[World]:
    made = World(collection, embed, clock)
    yield made
    made.owner.close()


def test_every_table_says_whose_a_row_is_and_has_policies_for_all_roles(world: World) -> None:
    found = world.tables()
    assert set(tables()) <= set(found)
    for table in found:
        assert {row[0] for row in world.owner.execute(POLICIES, (table,))} == {"whole", "sees", "writes"}, table
        by = BY_ROW.get(table, ("", ROLES_OF.get(table, "user_key")))[1]
        named = any(world.has(table, column) for column in (by, "collection_key"))
        assert named or table in NOBODYS | NOT_SEEN, f"{table}: add a rule to row_level_security.sql, and here"


def test_a_role_of_one_user_sees_that_users_rows_alone(world: World) -> None:
    with world.connect("ana_app") as ana:
        for table in set(world.tables()) - NOBODYS - {*OF_COLLECTIONS, *ROLES_OF}:
            expected = set() if table in NOT_SEEN else world.rows_of(world.ana, table)
            assert seen(ana, table) == expected, table
        assert len(seen(ana, "scopes_of_roles")) == 1
        for (day,) in world.owner.execute(DAYS_OF_LOG).fetchall():  # reached through the whole log only
            world.owner.execute(f"GRANT SELECT ON adaptive_memory.{day} TO ana_app")
            assert seen(ana, day) == set()
            world.owner.execute(f"REVOKE SELECT ON adaptive_memory.{day} FROM ana_app")
    full = ("records", "recalls", "words", "verdicts", "judged_questions", "graph_mentions", "hierarchy_messages")
    assert all(world.rows_of(user, table) for user in (world.ana, world.bob) for table in full)


def test_whatever_a_role_of_one_user_deletes_or_changes_nobody_else_loses_a_row(world: World) -> None:
    of_users = [one for one in world.tables() if world.has(one, "user_key") or one in BY_ROW]
    before = {table: world.rows_of(world.bob, table) for table in of_users}
    counts = [world.owner.execute(f"SELECT count(*) FROM adaptive_memory.{one}").fetchone() for one in NOBODYS]
    with world.connect("ana_app") as ana:
        for table in world.tables():
            for statement in (
                f"UPDATE adaptive_memory.{table} SET user_key = {world.bob}",
                f"DELETE FROM adaptive_memory.{table}",
            ):
                try:
                    ana.execute(statement)
                except (psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedColumn):
                    continue
    assert {table: world.rows_of(world.bob, table) for table in of_users} == before
    assert not world.rows_of(world.ana, "records")  # it did delete
    assert counts == [world.owner.execute(f"SELECT count(*) FROM adaptive_memory.{one}").fetchone() for one in NOBODYS]


def test_a_role_of_one_user_cannot_write_into_the_scope_of_another(world: World) -> None:
    with world.connect("ana_app") as ana:
        for statement in (
            f"INSERT INTO adaptive_memory.erased VALUES ({world.bob}, '', 0)",
            f"UPDATE adaptive_memory.records SET user_key = {world.bob}",
            "INSERT INTO adaptive_memory.users (collection_key, name) VALUES (1, 'carl')",
            "INSERT INTO adaptive_memory.scopes_of_roles VALUES ('ana_app'::regrole, 1, NULL)",
            "UPDATE adaptive_memory.scopes_of_roles SET user_key = NULL",
            "SELECT adaptive_memory.give_scope('ana_app', 'memories', NULL)",
            "UPDATE adaptive_memory.collections SET embedder = 'mine'",
            "UPDATE adaptive_memory.mirror_size SET complete_at = 'now'",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                ana.execute(statement)


def test_a_memory_with_the_role_of_one_user_serves_that_user_and_no_other(
    world: World, new_collection: Callable[..., Collection]
) -> None:
    bobs = {table: world.rows_of(world.bob, table) for table in ("records", "recalls", "words", "mirror")}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with world.memory("ana_app") as memory:
            use(memory, "ana")
            ana = memory.for_user("ana")
            pot = ana.remember("a tea pot")
            assert pot in ana.recall("a tea pot").ids
            assert ana.forget(pot).ledger
            assert ana.stats().recalls == 3
            memory.flush()
            refused = pytest.raises(ScopeError, match="sees the rows of user 'ana' alone")
            with refused:
                memory.for_user("bob")
            with refused:
                memory.for_user("ana", over="everyone")
            with refused:
                memory.for_everyone()
    assert {table: world.rows_of(world.bob, table) for table in bobs} == bobs
    with pytest.raises(LedgerError, match="Grant the role what it lacks"):
        world.memory("ana_app", new_collection())


@pytest.mark.parametrize("server", [False, True])
def test_a_memory_with_the_role_of_one_user_keeps_up_with_that_users_records(
    server: bool,
    tmp_path: Path,
    embed: Callable[..., Any],
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with ExitStack() as servers:
        client = client_of(servers, tmp_path, server=server)
        collection = client.create_collection("memories", embedding_function=None)
        theirs = client.get_collection("memories", embedding_function=None)
        world = World(collection, embed, clock)
        texts = [f"{user} wrote tea {n} elsewhere" for user in ("ana", "bob") for n in range(3)]
        theirs.add(
            ids=[f"late {n}" for n in range(6)],
            documents=texts,
            embeddings=embed(texts),
            metadatas=[{"user_id": text.split()[0]} for text in texts],
        )
        with world.memory("ana_app") as memory:
            memory.sync()
            ana = memory.for_user("ana")
            found = ana.recall("ana wrote tea 1 elsewhere", k=20)
            assert found.ids[0] == "late 1"
            assert {"late 0", "late 1", "late 2"} <= set(found.ids)
            theirs.delete(ids=["late 1"])
            memory.sync()
            assert "late 1" not in ana.recall("ana wrote tea 1 elsewhere", k=20).ids
            eventually(lambda: not ana.recall("tea", reinforce=False).trace)  # names are compared beside the calls
            assert not ana.recall("tea").trace
            memory.flush()
        mirrored = "SELECT count(*) FROM adaptive_memory.mirror WHERE user_key = %s"
        assert world.owner.execute(mirrored, (world.ana,)).fetchone() == (10,)
        assert world.owner.execute(mirrored, (world.bob,)).fetchone() == (8,)
        world.owner.close()
    assert [one.getMessage() for one in caplog.records if one.name.startswith("adaptive_memory_core")] == []


def client_of(servers: ExitStack, place: Path, *, server: bool) -> Any:
    """Of a Chroma server, or of an embedded Chroma."""
    if not server:
        return chromadb.PersistentClient(str(place))
    started = servers.enter_context(closing(ChromaServer(place)))
    started.start()
    return chromadb.HttpClient("127.0.0.1", started.port)


def test_a_memory_with_the_role_of_a_collection_serves_all_its_users_and_no_other_collection(
    world: World, new_collection: Callable[..., Collection]
) -> None:
    with world.memory("memory_app", another := new_collection()) as memory:
        use(memory, "eve")
    with world.memory("shop_app") as memory:
        for user in ("ana", "carl"):
            use(memory, user)
        memory.flush()
        assert memory.check().ok
    with world.connect("shop_app") as shop:
        assert len(seen(shop, "users")) == 3
        assert len(seen(shop, "recalls")) == 4
    with pytest.raises(LedgerError, match="Grant the role what it lacks"):
        world.memory("shop_app", another)


def test_a_scope_holds_for_a_transaction_behind_a_pooler_and_can_be_taken_back(world: World) -> None:
    count = "SELECT count(DISTINCT user_key) FROM adaptive_memory.records"
    with world.connect("postgres") as pooled:
        with pooled.transaction():
            pooled.execute("SET LOCAL ROLE ana_app")
            assert pooled.execute(count).fetchone() == (1,)
        assert pooled.execute(count).fetchone() == (2,)
    world.owner.execute("SELECT adaptive_memory.take_scope('ana_app')")
    with world.connect("ana_app") as ana, pytest.raises(psycopg.errors.InsufficientPrivilege):
        ana.execute(count)


def test_a_scope_of_somebody_whom_nobody_has_met_is_given_only_where_that_is_meant(world: World) -> None:
    world.owner.execute("DROP ROLE IF EXISTS eve_app")
    world.owner.execute("CREATE ROLE eve_app LOGIN")
    give = "SELECT adaptive_memory.give_scope('eve_app', %s, 'anna'{})"
    with pytest.raises(psycopg.errors.RaiseException, match="Nobody is called 'anna'") as refused:
        world.owner.execute(give.format(""), (world.collection.name,))
    assert "new_user => true" in str(refused.value)
    world.owner.execute(give.format(", new_user => true"), (world.collection.name,))
    with world.memory("eve_app") as memory:
        memory.for_user("anna").remember("anna likes tea", id="pot")
        assert memory.for_user("anna").recall("tea").ids == ("pot",)


def test_the_script_may_be_run_twice_and_names_what_it_cannot_find() -> None:
    with psycopg.connect(new_database(), autocommit=True) as owner:
        for _ in range(2):
            owner.execute(row_level_security())
        with pytest.raises(psycopg.errors.RaiseException, match="0 collections of the name 'none'"):
            owner.execute("SELECT adaptive_memory.give_scope('memory_app', 'none', NULL)")
