"""Does a memory open, write back, close and refuse as it says?"""

from __future__ import annotations

import gc
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, Keeping, ScopeError, UserMemory
from adaptive_memory_core.errors import ClosedError, EmbedderMismatchError
from tests.behaviour.conftest import eventually, shown
from tests.conftest import Clock, Open, word_vectors


def test_after_a_flush_the_collection_shows_what_was_read(memory: AdaptiveMemory, clock: Clock) -> None:
    alice = memory.for_user("alice")
    alice.remember("tea", id="a", importance=0.75, metadata={"source": "chat"})
    for _ in range(3):
        clock.pass_seconds(0.123456)
        clock.pass_days(1)
        alice.recall("tea")
    memory.flush()
    metadata = shown(memory, "a")
    assert metadata["last_read"] == pytest.approx(clock(), abs=1e-6)
    assert (metadata["retrieval_count"], metadata["remembered"], metadata["strength"]) == (3, 1, 1.0)
    assert type(metadata["retrieval_count"]) is type(metadata["remembered"]) is int
    assert type(metadata["last_read"]) is type(metadata["strength"]) is float
    assert (metadata["user_id"], metadata["kind"], metadata["importance"]) == ("alice", "event", 0.75)
    assert (metadata["source"], type(metadata["created_at"])) == ("chat", float)


def test_a_new_record_already_carries_the_public_keys(memory: AdaptiveMemory) -> None:
    memory.for_user("alice").remember("tea", id="a")
    memory.for_everyone().remember("tea", id="b")
    own = {"user_id", "kind", "importance", "created_at", "retrieval_count", "remembered", "strength"}
    assert set(shown(memory, "a")) == own
    assert set(shown(memory, "b")) == own - {"user_id"}


def test_write_through_shows_a_read_before_the_recall_returns(over: Open, clock: Clock) -> None:
    memory = over(write="through")
    alice = memory.for_user("alice")
    alice.remember("tea", id="a")
    alice.recall("tea")
    assert shown(memory, "a")["retrieval_count"] == 1
    assert shown(memory, "a")["last_read"] == clock()


def test_the_write_back_happens_by_itself(over: Open) -> None:
    memory = over(keeping=Keeping(lag_seconds=0.01))
    alice = memory.for_user("alice")
    alice.remember("tea", id="a")
    alice.recall("tea")
    assert eventually(lambda: shown(memory, "a")["retrieval_count"] == 1)


def test_filters_see_what_was_read(memory: AdaptiveMemory, clock: Clock) -> None:
    alice = memory.for_user("alice")
    alice.remember_many([{"text": "green tea", "id": "a"}, {"text": "red car", "id": "b"}])
    for _ in range(3):
        alice.recall("green tea", k=1)
        clock.pass_days(1)
    memory.flush()
    assert alice.recall("tea", filter={"remembered": 1}).ids == ("a",)
    assert alice.recall("tea", filter={"retrieval_count": {"$gte": 3}}).ids == ("a",)


# --- opening, closing, restarting


def test_everything_is_there_after_a_restart(open_memory: Open, clock: Clock) -> None:
    with open_memory() as first:
        alice = first.for_user("alice")
        alice.remember_many([{"text": "green tea", "id": "a", "importance": 0.8}, {"text": "red car", "id": "b"}])
        answer = alice.recall("green tea", k=1)
        alice.feedback(answer, helpful=["a"])
        alice.pin("b")
        before = [alice.get("a"), alice.get("b"), alice.recalls(), alice.recall("tea", reinforce=False).ids]
        stats = alice.stats()
    with open_memory() as second:
        alice = second.for_user("alice")
        assert [alice.get("a"), alice.get("b"), alice.recalls(), alice.recall("tea", reinforce=False).ids] == before
        again = alice.stats()
        assert (again.records, again.reads, again.verdicts) == (stats.records, stats.reads, stats.verdicts)
        assert again.projection.pending == 0
        clock.pass_days(1)
        alice.recall("green tea", k=1)
        assert alice.get("a").read.retrieval_count == 2


def test_the_ledger_lies_beside_the_collection_unless_told_otherwise(open_memory: Open, tmp_path: Path) -> None:
    open_memory().for_user("alice").remember("tea")
    assert (tmp_path / "memory" / "adaptive_memory.sqlite3").exists()
    elsewhere = tmp_path / "other place" / "reads.sqlite3"
    with open_memory(collection="second", ledger=elsewhere) as memory:
        memory.for_user("alice").remember("tea")
    assert elsewhere.exists()


def test_two_collections_of_one_directory_do_not_meet(open_memory: Open) -> None:
    one, two = open_memory(collection="one"), open_memory(collection="two")
    one.for_user("alice").remember("tea", id="a")
    one.for_user("alice").recall("tea")
    alice = two.for_user("alice")
    assert len(alice.recall("tea")) == 0
    assert alice.stats().recalls == 1
    assert alice.stats().records == 0
    assert [len(line.candidates) for line in alice.recalls()] == [0]
    alice.remember("coffee", id="a")
    assert alice.get("a").read.retrieval_count == 0
    assert one.for_user("alice").get("a").text == "tea"


def test_closing_twice_is_closing_once(memory: AdaptiveMemory) -> None:
    memory.close()
    memory.close()


def test_a_memory_closes_at_the_end_of_its_block(open_memory: Open) -> None:
    with open_memory() as memory:
        alice = memory.for_user("alice")
        alice.remember("tea", id="a")
    with pytest.raises(ClosedError, match="Open it again"):
        alice.get("a")


def test_an_error_inside_the_block_closes_as_well(open_memory: Open) -> None:
    def fail() -> None:
        with open_memory() as memory:
            memory.for_user("alice").remember("tea", id="a")
            memory.for_user("alice").recall("tea")
            raise KeyError("of the caller")

    with pytest.raises(KeyError):
        fail()
    with open_memory() as again:
        assert shown(again, "a")["retrieval_count"] == 1


def test_a_closed_memory_refuses_every_verb(memory: AdaptiveMemory) -> None:
    alice = memory.for_user("alice")
    alice.remember("tea", id="a")
    answer = alice.recall("tea")
    memory.close()
    calls: list[Callable[[], object]] = [
        lambda: alice.remember("tea"),
        lambda: alice.remember_many(["tea"]),
        lambda: alice.recall("tea"),
        lambda: alice.recall("tea", reinforce=False),
        lambda: alice.get("a"),
        lambda: alice.pin("a"),
        lambda: alice.unpin("a"),
        lambda: alice.demote("a"),
        lambda: alice.forget("a"),
        lambda: alice.feedback(answer, helpful=["a"]),
        alice.recalls,
        alice.stats,
        memory.flush,
        lambda: memory.for_user("bob").stats(),
    ]
    for call in calls:
        with pytest.raises(ClosedError, match="was closed"):
            call()


def test_no_verb_exists_without_a_scope(memory: AdaptiveMemory) -> None:
    verbs = {name for name in dir(UserMemory) if not name.startswith("_")} - {"scope", "user"}
    assert {"recall", "remember", "get", "forget", "stats"} <= verbs
    over_all = {"replay", "areplay", "tune", "atune", "report", "areport"}  # a maintainer's: they name nobody unasked
    assert verbs & set(dir(memory)) == over_all


def test_scopes_say_whose_they_are(memory: AdaptiveMemory) -> None:
    assert memory.for_user("alice").user == "alice"
    assert memory.for_everyone().user is None
    with pytest.raises(ScopeError):
        memory.for_user(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("write", ["later", None, True])
def test_an_unknown_way_to_write_is_refused(collection: Collection, write: Any) -> None:
    with pytest.raises(InvalidInputError, match="'behind' or 'through'"):
        AdaptiveMemory(collection, embedder=word_vectors, write=write)


def test_a_clock_that_is_no_function_is_refused(collection: Collection) -> None:
    with pytest.raises(InvalidInputError, match="POSIX seconds"):
        AdaptiveMemory(collection, embedder=word_vectors, clock=123.0)  # type: ignore[arg-type]


def test_the_bundled_embedder_opens_in_one_line(tmp_path: Path) -> None:
    with AdaptiveMemory.open(tmp_path / "memory") as memory:
        alice = memory.for_user("alice")
        alice.remember_many(["she moved to Lisbon last spring", "the invoice is overdue", "he is allergic to nuts"])
        answer = alice.recall("what food must he avoid?", k=1)
        assert answer[0].text == "he is allergic to nuts"
    with AdaptiveMemory.open(tmp_path / "memory") as memory:
        assert memory.for_user("alice").get(answer[0].id).read.retrieval_count == 1


def test_another_embedder_on_a_written_collection_is_refused(open_memory: Open) -> None:
    def shorter(texts: list[str]) -> list[list[float]]:
        return [[1.0, float(len(text))] for text in texts]

    def same_length(texts: list[str]) -> Any:
        return word_vectors(texts)

    open_memory().for_user("alice").remember("tea")
    for other in (shorter, same_length):
        with pytest.raises(EmbedderMismatchError, match="was written with 'word_vectors'"):
            open_memory(embedder=other)
    assert open_memory().for_user("alice").recall("tea")[0].text == "tea"


def test_a_memory_is_not_pickled_and_says_where_to_open_it(open_memory: Open) -> None:
    memory = open_memory()
    for one in (memory, memory.for_user("alice")):
        with pytest.raises(TypeError, match="Open it in the process that uses it"):
            pickle.dumps(one)


def test_what_was_learned_in_ram_outlasts_the_memory_that_learned_it(new_collection: Callable[..., Collection]) -> None:
    collection = new_collection()
    with AdaptiveMemory(collection, embedder=word_vectors) as memory:
        memory.for_user("alice").remember("green tea", id="tea")
        memory.for_user("alice").recall("tea", k=1)
    del memory
    gc.collect()
    with AdaptiveMemory(collection, embedder=word_vectors) as memory:
        assert len(memory.for_user("alice").recalls()) == 1


def test_the_everyday_calls_that_the_readme_names(memory: AdaptiveMemory) -> None:
    alice = memory.for_user("alice")
    alice.remember("Alice prefers PostgreSQL.", id="db")
    alice.remember("Alice has a cat.", id="cat")
    alice.remember("Alice moved to Lisbon.", id="move", created_at="2026-03-05T00:00:00+00:00")
    memory.for_everyone().remember("Deploys are done on Tuesdays.", id="deploys")
    alice.update("db", "Alice prefers SQLite.")
    alice.forget("cat")
    assert {one.id: one.text for one in alice.records()} == {
        "db": "Alice prefers SQLite.",
        "move": alice.get("move").text,
    }
    assert alice.recall("what happened in March 2026?", k=1).ids == ("move",)
    assert alice.recall("volcano", min_score=0.9).ids == ()
    fresh = memory.policy.replace(weights={"recency": 0.3}, advanced={"blend": "bounded"})
    parts = [alice.recall("Alice prefers SQLite", k=1, policy=one)[0].parts["recency"] for one in (None, fresh)]
    assert parts[0] < parts[1]
    assert "deploys" in memory.for_user("alice", over="everyone").recall("Deploys are done on Tuesdays", k=1).ids
    memory.forget_user("alice")
    assert alice.records() == []
