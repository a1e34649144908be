"""Is what was let go of gone everywhere? After every way of letting go, each index and each table is walked."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Policy, UserMemory
from adaptive_memory_core.errors import StoreError
from tests.conftest import DAY, Clock, word_vectors

SECRET = "the zebra crossed at dawn"
BOTH = Policy(channels=("dense", "lexical", "graph"))
WAYS: dict[str, Callable[[UserMemory], object]] = {}
Way = Callable[[UserMemory], object]


def way(name: str) -> Callable[[Way], Way]:
    return lambda act: WAYS.setdefault(name, act)


@way("forget")
def _(alice: UserMemory) -> None:
    alice.forget("secret")


@way("forget what superseded")
def _(alice: UserMemory) -> None:
    alice.remember("the zebra crossed at dusk", id="later", supersedes="secret")
    alice.forget("secret")
    alice.forget("later")


@way("prune")
def _(alice: UserMemory) -> None:
    alice.restore_state(faded(alice))
    assert "secret" in alice.prune(below=0.5).ids


@way("delete in the collection")
def _(alice: UserMemory) -> None:
    inside(alice).records.collection.delete(ids=["secret"])


@way("delete in the collection, without a recall")
def _(alice: UserMemory) -> None:
    inside(alice).records.collection.delete(ids=["secret"])
    front_door: Any = alice.memory
    front_door.sync()
    assert inside(alice).words.stored_ids() == inside(alice).graph.stored_ids() == {"tea"}


@way("delete in the collection, then forget")
def _(alice: UserMemory) -> None:
    inside(alice).records.collection.delete(ids=["secret"])
    alice.forget("secret")


@way("write something else")
def _(alice: UserMemory) -> None:
    alice.remember("nothing of note", id="secret")
    alice.forget("secret")


def inside(alice: UserMemory) -> Any:
    return alice.memory.ports()


def faded(alice: UserMemory) -> dict[str, Any]:
    state: dict[str, Any] = alice.export_state()
    lines = [one for one in state["records"] if one["id"] == "secret"]
    lines[0]["state"] |= {"strength": 0.1, "remembered": False}
    return {**state, "records": lines}


def in_tables(alice: UserMemory) -> dict[str, list[Any]]:
    """The tables of the ledger in which some cell still names the record or says its text."""
    with inside(alice).ledger.file.reading() as sql:
        names = [row[0] for row in sql.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = {name: sql.execute(f'SELECT * FROM "{name}"').fetchall() for name in names}
    left = {
        name: [row for row in found if "secret" in repr(row) or "zebra" in repr(row)] for name, found in rows.items()
    }
    return {name: found for name, found in left.items() if found}


@pytest.fixture(params=["in RAM", "on disk"])
def alice(request: pytest.FixtureRequest, collection: Collection, clock: Clock) -> Any:
    with ExitStack() as stack:
        if request.param == "on disk":
            memory = request.getfixturevalue("open_memory")(policy=BOTH)
        else:
            memory = stack.enter_context(AdaptiveMemory(collection, embedder=word_vectors, policy=BOTH, clock=clock))
        user = memory.for_user("alice")
        said = [{"text": SECRET, "id": "secret", "speaker": "Ana"}, {"text": "green tea", "id": "tea"}]
        user.observe([{**one, "session": "monday", "at": clock() - DAY} for one in said])
        assert "zebra" in str(user.themes())  # grown, so that there is something to let go of
        answer = user.recall("what was it that came by", k=2)
        user.feedback(answer, helpful=["secret"], unhelpful=["tea"])
        yield user


@pytest.mark.parametrize("act", WAYS.values(), ids=WAYS.keys())
def test_no_index_and_no_table_keeps_anything_of_it(alice: UserMemory, act: Way) -> None:
    act(alice)
    alice.recall("green tea")  # by which what others did is noticed
    front_door: Any = alice.memory
    front_door.sync()
    front_door.flush()
    by_others = {"records", "changes", "logged_ids", "verdicts"}
    kept_on_purpose = {
        "prune": {"changes", "logged_ids"},
        "delete in the collection": by_others,
        "delete in the collection, without a recall": by_others,
    }
    by_this = next(name for name, one in WAYS.items() if one is act)
    with_state = {"secret"} if "records" in kept_on_purpose.get(by_this, ()) else set()
    for index in inside(alice).indexes:
        assert index.stored_ids() == {"tea"}, index
    assert inside(alice).ledger.judged_questions.stored_ids() == {"tea"} | with_state
    left = in_tables(alice)
    assert set(left) <= kept_on_purpose.get(by_this, set())
    assert "zebra" not in repr(left)  # its id at the most
    assert "secret" not in alice.recall("the zebra crossed at dawn", k=5, reinforce=False).ids


def test_an_index_hears_of_a_removal_within_the_ledgers_transaction(
    alice: UserMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, *_ = inside(alice).indexes

    def broken(*_: Any) -> None:
        raise StoreError("as the test asked")

    with monkeypatch.context() as patched:
        patched.setattr(index, "removed", broken)
        with pytest.raises(StoreError):
            alice.forget("secret")
    assert "records" in in_tables(alice)  # undone together
    alice.forget("secret")
    inside(alice).write_back.flush()
    assert in_tables(alice) == {}
    assert index.stored_ids() == {"tea"}
