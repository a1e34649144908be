"""Is a verb that failed half-way whole once it is called again? Each call of store, ledger and words fails once."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, AdaptiveMemoryError, NotFoundError, Policy, UserMemory
from adaptive_memory_core.errors import LedgerError, PartialWriteError, StoreError
from tests.conftest import START, Clock, word_vectors

NO_STEPS = ("hits", "batch_size", "collection", "fields", "file", "release", "afterwards")  # of no I/O
PORTS: dict[str, type[AdaptiveMemoryError]] = {
    "records": StoreError,
    "search": StoreError,
    "ledger": LedgerError,
    "words": LedgerError,
    "index": LedgerError,
}
Act = Callable[[UserMemory], Any]


@dataclass
class Steps:
    """Counts the calls of ports, and lets one of them fail: before it does anything, or after it was done."""

    fails_at: int = 0
    done_first: bool = False
    taken: list[str] = field(default_factory=list)
    _guard: Any = field(default_factory=threading.Lock)

    def take(self, name: str, error: type[AdaptiveMemoryError], call: Callable[[], Any]) -> Any:
        with self._guard:
            self.taken.append(name)
            fails = len(self.taken) == self.fails_at
        if not fails:
            return call()
        if self.done_first:
            call()
        raise error(f"{name} failed, as the test asked")


class Port:
    """A port whose methods are steps."""

    def __init__(self, port: Any, name: str, steps: Steps) -> None:
        self._port, self._name, self._steps = port, name, steps

    def __getattr__(self, method: str) -> Any:
        found, name = getattr(self._port, method), f"{self._name}.{method}"
        if method in NO_STEPS:
            return found
        if not callable(found):
            return Port(found, name, self._steps) if self._name == "ledger" else found
        error = PORTS[self._name.partition(".")[0]]
        return lambda *args, **named: self._steps.take(name, error, lambda: found(*args, **named))


@dataclass(frozen=True)
class Case:
    """A verb, what there is before it, and whether the caller hears of every failure."""

    name: str
    act: Act
    before: Act = lambda alice: None
    degrades: bool = False  # it answers in spite of a failure, and says what is missing


def tea(alice: UserMemory) -> None:
    alice.remember_many([{"text": "green tea", "id": "tea"}, {"text": "black coffee", "id": "coffee"}])


def read_tea(alice: UserMemory) -> None:
    tea(alice)
    alice.recall("green tea", k=1)


def judged_tea(alice: UserMemory) -> None:
    tea(alice)
    alice.feedback(alice.recall("green tea", k=2), helpful=["tea"])


def pinned_tea(alice: UserMemory) -> None:
    judged_tea(alice)
    alice.pin("tea")


def superseded_tea(alice: UserMemory) -> None:
    judged_tea(alice)
    alice.remember("white tea", id="white", supersedes="tea")
    alice.recall("tea", k=2)


def of_another_program(alice: UserMemory) -> None:
    """Faded, and not met by the ledger."""
    tea(alice)
    store: Any = alice.memory.ports().records
    rows = [{"user_id": "alice", "strength": 0.01} for _ in range(2)]
    texts = ["oolong", "mate"]
    store.collection.add(ids=texts, documents=texts, metadatas=rows, embeddings=word_vectors(texts))


def from_elsewhere(alice: UserMemory) -> dict[str, Any]:
    judged_tea(alice)
    state: dict[str, Any] = json.loads(json.dumps(alice.export_state()))
    alice.demote("tea")
    alice.reset_balance()
    return state


def restore(alice: UserMemory) -> Any:
    return alice.restore_state(STATES[id(alice.memory)])


def keep_state(alice: UserMemory) -> None:
    STATES[id(alice.memory)] = from_elsewhere(alice)


def last_recall(alice: UserMemory) -> str:
    return alice.recalls(limit=1)[0].id


def remember_the_rest(alice: UserMemory) -> list[str]:
    """As the message of a PartialWriteError says. The second call is made later, so the times are given."""
    given = [{"text": f"cup {number}", "metadata": {"n": number}, "created_at": START} for number in range(5)]
    try:
        return alice.remember_many(given)
    except PartialWriteError as error:
        return [*error.written_ids, *alice.remember_many(given[len(error.written_ids) :])]


STATES: dict[int, dict[str, Any]] = {}
MIXED = [
    {"text": "red tea", "id": "tea"},
    {"text": "white tea", "id": "white", "supersedes": "coffee"},
    {"text": "blue tea", "id": "blue"},
]
CASES = [
    Case("remember", lambda alice: alice.remember("green tea", id="tea")),
    Case("remember without an id", lambda alice: alice.remember("green tea")),
    Case("remember what bob has", lambda alice: alice.remember("green tea", id="bobs")),
    Case("remember anew", lambda alice: alice.remember("red tea", id="tea", kind="fact"), judged_tea),
    Case("supersede", lambda alice: alice.remember("white tea", id="white", supersedes="tea"), judged_tea),
    Case("supersede without an id", lambda alice: alice.remember("white tea", supersedes="tea"), judged_tea),
    Case("remember many", lambda alice: alice.remember_many(MIXED), judged_tea),
    Case("remember batches", remember_the_rest),
    Case("forget", lambda alice: alice.forget("tea"), judged_tea),
    Case("forget what supersedes", lambda alice: alice.forget("white"), superseded_tea),
    Case("forget what is superseded", lambda alice: alice.forget("tea"), superseded_tea),
    Case("forget what the ledger has not met", lambda alice: alice.forget("mate"), of_another_program),
    Case("prune", lambda alice: alice.prune(below=0.5), of_another_program),
    Case("feedback", lambda alice: alice.feedback(last_recall(alice), helpful=["tea"]), read_tea),
    Case("changed mind", lambda alice: alice.feedback(last_recall(alice), unhelpful=["tea"]), judged_tea),
    Case("pin", lambda alice: alice.pin("tea"), judged_tea),
    Case("unpin", lambda alice: alice.unpin("tea"), pinned_tea),
    Case("reset_balance", lambda alice: alice.reset_balance(), judged_tea),
    Case("demote", lambda alice: alice.demote("tea"), judged_tea),
    Case("restore_state", restore, keep_state),
    Case("recall", lambda alice: alice.recall("green tea", k=2), judged_tea, degrades=True),
    Case("rerank", lambda alice: alice.rerank("green tea", {"tea": 0.5, "no": None}), judged_tea, degrades=True),
]


@pytest.fixture
def run(new_collection: Callable[..., Collection]) -> Callable[..., tuple[Any, Any, Steps]]:
    """Runs a case in a memory of its own, one step of it failing; gives the memory's contents and what happened."""

    def runner(case: Case, fails_at: int = 0, *, done_first: bool = False) -> tuple[Any, Any, Steps]:
        policy = Policy(channels=("dense", "lexical"))
        with AdaptiveMemory(new_collection(), embedder=word_vectors, clock=Clock(), policy=policy) as memory:
            memory.for_user("bob").remember("beer", id="bobs")
            alice = memory.for_user("alice")
            case.before(alice)
            steps = Steps(fails_at, done_first)
            said = broken(memory, steps, lambda: case.act(alice))
            if isinstance(said, AdaptiveMemoryError):
                try:
                    said = case.act(alice)
                except NotFoundError as gone:
                    said = gone
            return contents(memory), said, steps

    return runner


def broken(memory: AdaptiveMemory, steps: Steps, act: Callable[[], Any]) -> Any:
    """What comes of it, or the error, while the ports take steps."""
    opened: Any = memory.opened
    usual, ports = opened.parts, opened.parts.ports
    ports.records.batch_size = 2
    failing: dict[str, Any] = {name: Port(getattr(ports, name), name, steps) for name in PORTS if name != "index"}
    failing["indexes"] = [Port(one, "index", steps) for one in ports.indexes]
    opened.parts = replace(usual, ports=replace(ports, **failing))
    try:
        return act()
    except AdaptiveMemoryError as error:
        return error
    finally:
        opened.parts = usual


def contents(memory: AdaptiveMemory) -> Any:
    """All that a memory holds, but for names and numbers that are new each time."""
    memory.flush()
    inside: Any = memory.ports()
    alice = memory.for_user("alice")
    alice.recall("tea", reinforce=False)  # the words are asked for
    inside.words.sync()
    found = inside.records.collection.get(include=["documents", "metadatas"])
    name_of = dict(zip(found["ids"], found["documents"], strict=True))
    records = {
        text: {key: name_of.get(value, value) for key, value in metadata.items()}
        for text, metadata in zip(found["documents"], found["metadatas"], strict=True)
    }
    assert len(records) == len(found["ids"]), "a text stands there twice"
    tables: dict[str, str] = {
        "records": "stored_id, user_key, kind, last_read, retrieval_count, credit, warmth, remembered, strength, boost,"
        "pinned, useful_at, useful_step, helpful, unhelpful FROM records",
        "verdicts": "stored_id, verdict, boost_before, boost_after, sway FROM verdicts JOIN records USING (record_key)",
        "outbox": "stored_id FROM outbox JOIN records USING (record_key)",
        "users": "name, steps, round(balance, 9) FROM users",
        "recalls": "user_key, step, cue, candidates FROM recalls",
        "changes": "stored_id, what, step FROM changes",
        "erased": "user_key, digest FROM erased",
        "words": "stored_id, user_key FROM words",
    }
    with inside.ledger.file.reading() as sql:
        rows = {
            table: sorted(
                [tuple(name_of.get(one, one) for one in row) for row in sql.execute(f"SELECT {query}")], key=repr
            )
            for table, query in tables.items()
        }
    return {"collection": records, **rows}


@pytest.mark.parametrize("done_first", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.hard("interrupt")
def test_a_verb_that_failed_at_any_step_is_whole_once_it_is_called_again(
    run: Callable[..., tuple[Any, Any, Steps]], case: Case, done_first: bool
) -> None:
    """Each step fails before it does anything; those of the collection also after: a server's answer can be lost."""
    untroubled, _, steps = run(case)
    assert steps.taken, "a verb without a step shows nothing"
    for number, step in enumerate(steps.taken, start=1):
        if done_first and not step.startswith("records."):
            continue
        found, said, _ = run(case, number, done_first=done_first)
        if case.degrades and found != untroubled:
            assert getattr(said, "trace", ()), f"{step} failed, and nobody was told"
        elif isinstance(said, NotFoundError):  # the text was gone, and the ledger knew nothing of it
            assert {**found, "erased": ()} == {**untroubled, "erased": ()}, f"after {step} (step {number}) failed"
        else:
            assert found == untroubled, f"after {step} (step {number}) failed"
