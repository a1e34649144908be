"""Does a verb succeed, with its effect once, wherever its connection to PostgreSQL is lost?"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Policy, UserMemory
from tests.conftest import Clock, word_vectors
from tests.postgres_server import new_database

EVERY = 11  # statements between two tries; 1 tries them all, in minutes
pytestmark = pytest.mark.hard("network")
POLICY = Policy(channels=("dense", "lexical", "graph"))
TABLES = (
    *("recalls", "erased", "spans", "changes", "words", "logged_ids", "graph_names", "graph_passages"),
    *("judged_questions", "hierarchy_messages"),
)
STATES = (
    "SELECT stored_id, retrieval_count, helpful, unhelpful, boost, pinned, strength, user_key < 0, text_digest "
    "FROM adaptive_memory.records WHERE abs(user_key) = %s"
)
VERDICTS = (
    "SELECT verdict FROM adaptive_memory.verdicts JOIN adaptive_memory.records USING (record_key) WHERE user_key = %s"
)
REFUSED_ONCE = """
CREATE SEQUENCE public.refusals;
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('public.refusals') = 1 THEN RAISE EXCEPTION 'refused' USING ERRCODE = '{code}'; END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER refuse AFTER DELETE ON adaptive_memory.records FOR EACH ROW EXECUTE FUNCTION refuse();
"""


class Breaks:
    """Ends the connection of this thread right before its n-th statement; or the answer to its n-th commit."""

    def __init__(self, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self._address, self._thread = address, threading.get_ident()
        self.left, self.statements, self._answers = 0, 0, False
        for kind, name in ((psycopg.Connection, "execute"), (psycopg.Cursor, "executemany")):
            monkeypatch.setattr(kind, name, self._breaking(getattr(kind, name)))

    def at(self, number: int, *, answers: bool = False) -> None:
        self.left, self.statements, self._answers = number, 0, answers

    def _breaking(self, made: Callable[..., Any]) -> Callable[..., Any]:
        def execute(given: Any, query: Any, *more: Any, **named: Any) -> Any:
            if threading.get_ident() == self._thread and (not self._answers or query == "COMMIT"):
                self.statements, self.left = self.statements + 1, self.left - 1
                if self.left == 0:
                    self._break(given if isinstance(given, psycopg.Connection) else given.connection)
            return made(given, query, *more, **named)

        return execute

    def _break(self, connection: Any) -> None:
        if self._answers:
            with socket.socket(fileno=os.dup(connection.fileno())) as end:
                end.shutdown(socket.SHUT_RD)
            return
        with psycopg.connect(self._address, autocommit=True) as another:
            another.execute("SELECT pg_terminate_backend(%s, 5000)", (connection.info.backend_pid,))


class World:
    """A memory, and users who all begin alike."""

    def __init__(self, memory: AdaptiveMemory, address: str) -> None:
        self.memory = memory
        self.owner = psycopg.connect(address, autocommit=True)

    def user(self, name: str) -> UserMemory:
        one = self.memory.for_user(name)
        one.remember_many([{"text": f"Ana likes {what} in Oslo", "id": f"{name}-{what}"} for what in ("tea", "rain")])
        return one

    def left_by(self, name: str) -> Any:
        """What a verb has left of a user: alike for all, whatever they are called."""
        key, *counted = self.owner.execute(
            "SELECT user_key, steps, questions_changed > 0 FROM adaptive_memory.users WHERE name = %s", (name,)
        ).fetchone()  # type: ignore[misc]
        rows = [[str(value).replace(name, "") for value in row] for row in self.owner.execute(STATES, (key,))]
        count = "SELECT count(*) FROM adaptive_memory.{} WHERE abs(user_key) = %s"
        counts = {one: self.owner.execute(count.format(one), (key,)).fetchone() for one in TABLES}
        log = [(one.step, len(one.kept)) for one in self.memory.for_user(name).recalls()]
        return counted, sorted(rows), counts, log, sorted(self.owner.execute(VERDICTS, (key,)))


@pytest.fixture
def breaks(monkeypatch: pytest.MonkeyPatch) -> Breaks:
    return Breaks(new_database(), monkeypatch)


@pytest.fixture
def world(collection: Collection, clock: Clock, breaks: Breaks) -> Iterator[World]:
    address = breaks._address
    with AdaptiveMemory(collection, embedder=word_vectors, clock=clock, ledger=address, policy=POLICY) as memory:
        made = World(memory, address)
        yield made
        made.owner.close()


def judge(user: UserMemory) -> object:
    found = user.recall("tea")
    return user.feedback(found, helpful=found.ids[:1], unhelpful=found.ids[1:])


VERBS: dict[str, Callable[[UserMemory], object]] = {
    "remember": lambda user: user.remember("Ana met Eva", id=f"{user.user}-new"),
    "remember anew": lambda user: user.remember("Ana likes snow", id=f"{user.user}-tea"),
    "supersede": lambda user: user.remember("Ana likes milk", id=f"{user.user}-milk", supersedes=f"{user.user}-tea"),
    "recall": lambda user: user.recall("tea"),
    "recall and judge": judge,
    "forget": lambda user: user.forget(f"{user.user}-tea"),
    "pin": lambda user: user.pin(f"{user.user}-tea"),
    "prune": lambda user: user.prune(max_records=1),
    "observe": lambda user: user.observe([{"role": "user", "text": "I met Eva", "id": f"{user.user}-met"}]),
    "export and restore": lambda user: user.restore_state(user.export_state()),
}


@pytest.mark.parametrize("answers", [False, True], ids=["connection", "answer"])
@pytest.mark.parametrize("verb", list(VERBS))
def test_a_verb_succeeds_once_wherever_its_connection_is_lost(
    verb: str, answers: bool, world: World, breaks: Breaks
) -> None:
    call, every = VERBS[verb], 1 if answers else EVERY
    user = world.user("whole")
    call(user)
    expected = world.left_by("whole")
    for number in range(1 + list(VERBS).index(verb) % every, 1_000, every):
        user = world.user(f"user{number}")
        breaks.at(number, answers=answers)
        call(user)
        over = breaks.left > 0
        breaks.at(0)
        assert world.left_by(f"user{number}") == expected, number
        if over:
            break
    assert number > (0 if answers else 11)


@pytest.mark.parametrize("code", ["40001", "40P01", "55P03"], ids=["serialization", "deadlock", "lock timeout"])
def test_what_the_server_refuses_for_others_sake_is_done_again(code: str, world: World) -> None:
    user = world.user("ana")
    world.owner.execute(REFUSED_ONCE.format(code=code))
    assert user.forget("ana-tea").ledger
    assert world.owner.execute("SELECT last_value FROM refusals").fetchone() == (2,)
