"""Does looking change nothing at all - and does it find what other programs wrote a moment ago all the same?"""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import chromadb
import pytest
from chromadb import Collection
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from adaptive_memory_core import AdaptiveMemory, Keeping, Policy, UserMemory, Weights
from adaptive_memory_core.policy import Advanced, Fusion
from adaptive_memory_core.store.words import word_index as lexical_channel
from tests.conftest import Clock, Open, background_done, contents, delete, word_vectors
from tests.suites import at_most

WORDS = Policy(channels=("dense", "lexical"))
ONLY_WORDS = Policy(
    channels=("dense", "lexical"), weights=Weights(0, 0, 1), advanced=Advanced(fusion=Fusion(vectors=0)), min_score=0.01
)
FILLER = [f"nothing of note happened on day {n}" for n in range(30)]
COPIES = ("words", "words_gone", "followed", "graph_links", "user_files", "sqlite_sequence", "file_version", "to_purge")


def everything(memory: AdaptiveMemory) -> list[str]:
    """The whole ledger, as SQL that would make it anew; but not what follows the records, nor what the background still
    has to overwrite of what was deleted before."""
    ledger: Any = memory.ports().ledger
    left_out = tuple(f'INSERT INTO "{one}"' for one in COPIES)
    with ledger.file.reading() as sql:
        return [line for line in sql.iterdump() if not line.startswith(left_out)]


def write(collection: Collection, name: str, text: str, user: str | None = "alice") -> None:
    """As another program would."""
    owned: Any = [{"other": 1} if user is None else {"user_id": user}]
    collection.upsert(ids=[name], documents=[text], embeddings=word_vectors([text]), metadatas=owned)


@pytest.fixture
def memory(over: Open) -> AdaptiveMemory:
    return over(policy=WORDS)


@pytest.mark.parametrize(
    "policy", [Policy(), WORDS, Policy.preset("aggressive"), WORDS.replace(advanced={"fusion": "rrf"})]
)
def test_looking_leaves_every_row_of_the_ledger_and_of_the_collection_as_it_was(
    memory: AdaptiveMemory, collection: Collection, clock: Clock, policy: Policy
) -> None:
    for n, text in enumerate(FILLER):
        write(collection, f"theirs-{n}", text, ["alice", "bob", None][n % 3])
    memory.for_user("alice").remember_many(["tea", "coffee"])
    memory.for_user("alice").recall("tea", k=2)
    memory.flush()
    clock.pass_days(1)
    before = everything(memory), contents(collection), collection.metadata
    for scope in (memory.for_user("alice"), memory.for_user("carol"), memory.for_everyone()):
        for cue in ("nothing of note", "tea", "what happened last week?"):
            looked = scope.recall(cue, reinforce=False, policy=policy)
            assert looked.step is None
            looked.explain(), looked.render()
            scope.rerank(cue, {"theirs-0": 0.5}, reinforce=False, policy=policy)
        scope.stats(), scope.recalls()
    memory.for_user("alice").get("theirs-0")
    memory.flush()
    assert (everything(memory), contents(collection), collection.metadata) == before


def ledger_files(directory: Path) -> tuple[Path, Path]:
    """The ledger's file and its log."""
    (log,) = directory.glob("*.sqlite3-wal")
    return Path(str(log).removesuffix("-wal")), log


def test_looking_leaves_the_ledgers_file_as_it_was_to_the_byte(open_memory: Open, tmp_path: Path) -> None:
    with closing(open_memory(policy=WORDS)) as memory:
        memory.for_user("alice").remember_many(FILLER)
        memory.for_user("alice").recall("day 7")
        memory.flush()
        memory.sync()
        before = [file.read_bytes() for file in ledger_files(tmp_path / "memory")]
        assert memory.for_user("alice").recall("day 7", reinforce=False)
        memory.for_user("nobody yet").recall("zebra", reinforce=False)
        assert [file.read_bytes() for file in ledger_files(tmp_path / "memory")] == before


def test_a_look_finds_at_once_what_others_write_change_move_and_delete(
    memory: AdaptiveMemory, alice: UserMemory, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice.remember_many(FILLER)
    alice.recall("nothing")

    def found(cue: str, scope: UserMemory = alice) -> tuple[str, ...]:
        return scope.recall(cue, k=3, reinforce=False, policy=ONLY_WORDS).ids

    write(collection, "animal", "a zebra crossed")
    assert found("zebra") == ("animal",)
    write(collection, "animal", "a giraffe slept")
    assert "animal" in alice.recall("giraffe slept", reinforce=False).ids  # met by its vector, and known again
    assert found("giraffe") == ("animal",)
    assert found("zebra") == ()
    collection.update(ids=["animal"], metadatas=[{"user_id": "bob"}])
    assert found("giraffe") == ()
    assert found("giraffe", memory.for_user("bob")) == ("animal",)
    collection.delete(ids=["animal"])
    assert found("giraffe", memory.for_user("bob")) == ()
    write(collection, "everyones", "an okapi", None)
    assert found("okapi", memory.for_everyone()) == ("everyones",)
    assert found("okapi") == ()


def test_what_others_wrote_and_is_forgotten_leaves_no_words(
    memory: AdaptiveMemory, alice: UserMemory, collection: Collection
) -> None:
    write(collection, "zebra", "a zebra crossed")
    alice.recall("zebra", reinforce=False)
    assert worded(memory) == ["zebra"]
    alice.forget("zebra")
    assert alice.recall("zebra", policy=ONLY_WORDS).ids == ()
    assert worded(memory) == []


def test_what_was_only_looked_at_can_be_written_over(alice: UserMemory, collection: Collection) -> None:
    write(collection, "animal", "a zebra crossed")
    alice.recall("zebra", reinforce=False)
    alice.remember("a giraffe slept", id="animal")
    for reinforce in (False, True, False):
        assert alice.recall("zebra", reinforce=reinforce, policy=ONLY_WORDS).ids == ()
        assert alice.recall("giraffe", reinforce=reinforce, policy=ONLY_WORDS).ids == ("animal",)


def test_a_large_collection_is_looked_through_beside_the_looks_and_nothing_is_written(
    memory: AdaptiveMemory, alice: UserMemory, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical_channel, "AT_ONCE", 10)
    monkeypatch.setattr(lexical_channel, "PAGE", 7)
    for n, text in enumerate([*FILLER, "a zebra crossed"]):
        write(collection, str(n), text)
    before = everything(memory)
    alice.recall("zebra", reinforce=False)
    background_done(memory)
    answer = alice.recall("zebra", k=1, reinforce=False, policy=ONLY_WORDS)
    assert answer.ids == ("30",)
    assert not answer.trace
    assert everything(memory) == before
    alice.recall("zebra")
    background_done(memory)
    assert len(worded(memory)) == 31


def test_two_memories_over_one_ledger_agree(collection: Collection, clock: Clock, tmp_path: Path) -> None:
    file = tmp_path / "shared.sqlite3"
    shared: dict[str, Any] = {"embedder": word_vectors, "clock": clock, "policy": WORDS, "ledger": file}
    with AdaptiveMemory(collection, **shared) as one, AdaptiveMemory(collection, **shared) as other:
        looker, reader = one.for_user("alice"), other.for_user("alice")
        for n, text in enumerate([*FILLER, "a zebra crossed"]):
            write(collection, str(n), text)
        for _ in range(2):
            assert looker.recall("zebra", reinforce=False, policy=ONLY_WORDS).ids == ("30",)
            assert reader.recall("zebra", policy=ONLY_WORDS).ids == ("30",)
        collection.delete(ids=["30"])
        write(collection, "31", "a giraffe slept")
        write(collection, "32", "an okapi slept")
        assert sorted(looker.recall("slept", reinforce=False, policy=ONLY_WORDS).ids) == ["31", "32"]
        assert sorted(reader.recall("slept", policy=ONLY_WORDS).ids) == ["31", "32"]
        for scope in (looker, reader):
            assert scope.recall("zebra", policy=ONLY_WORDS).ids == ()
        assert worded(one) == sorted([*map(str, range(30)), "31", "32"])


def test_looks_of_many_threads_at_once_agree(alice: UserMemory, collection: Collection) -> None:
    for n, text in enumerate(FILLER):
        write(collection, str(n), text)

    def look(n: int) -> tuple[str, ...]:
        return alice.recall("day 7", k=1, reinforce=n % 2 == 0, policy=ONLY_WORDS).ids

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(look, range(8))) == [("7",)] * 8


def test_a_ledger_that_may_only_be_read_is_enough_to_look(
    over: Open, collection: Collection, tmp_path: Path, clock: Clock
) -> None:
    file = tmp_path / "reads.sqlite3"
    with AdaptiveMemory(collection, embedder=word_vectors, clock=clock, ledger=file, policy=WORDS) as writer:
        writer.for_user("alice").remember_many(FILLER)
        writer.for_user("alice").recall("nothing")
    with closing(sqlite3.connect(file)) as sql:
        sql.execute("PRAGMA journal_mode = DELETE")
    write(collection, "zebra", "a zebra crossed")
    address = f"file:{file}?mode=ro"
    reader = over(ledger=address, policy=WORDS)
    answer = reader.for_user("alice").recall("a zebra crossed", k=1, reinforce=False)
    assert answer.ids == ("zebra",)
    assert any("words say nothing" in note for note in answer.trace)


def worded(memory: AdaptiveMemory) -> list[str]:
    """The records of which the ledger has words."""
    ledger: Any = memory.ports().ledger
    with ledger.file.reading() as sql:
        return sorted(row[0] for row in sql.execute("SELECT stored_id FROM words"))


IDS, OWNERS = ["a", "b", "c", "d"], ["alice", "bob", None]
ANIMALS = ["zebra", "giraffe", "okapi"]


class History(RuleBasedStateMachine):
    """Whatever is written by whom, and looked at or read in between: words find what is there, and nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.client = chromadb.EphemeralClient()
        self.collection = self.client.create_collection("looking-history", embedding_function=None)
        self.memory = AdaptiveMemory(
            self.collection,
            embedder=word_vectors,
            clock=Clock(),
            policy=ONLY_WORDS,
            keeping=Keeping(lag_seconds=3_600),  # no write-back of what was done before comes in between
        )
        self.there: dict[str, tuple[str | None, str]] = {}

    @initialize()
    def begin(self) -> None:
        write(self.collection, "anchor", "nothing at all", None)

    @rule(name=st.sampled_from(IDS), animal=st.sampled_from(ANIMALS), owner=st.sampled_from(OWNERS))
    def theirs(self, name: str, animal: str, owner: str | None) -> None:
        if name not in self.there:
            write(self.collection, name, animal, owner)
            self.there[name] = (owner, animal)

    @rule(name=st.sampled_from(IDS), animal=st.sampled_from(ANIMALS))
    def ours(self, name: str, animal: str) -> None:
        owner = self.there.get(name, ("alice", ""))[0]
        self.scope(owner).remember(animal, id=name)
        self.there[name] = (owner, animal)

    @rule(name=st.sampled_from(IDS))
    def delete(self, name: str) -> None:
        self.collection.delete(ids=[name])
        self.there.pop(name, None)

    @rule(name=st.sampled_from(IDS))
    def forget(self, name: str) -> None:
        if name in self.there:
            self.scope(self.there[name][0]).forget(name)
            del self.there[name]

    @rule(owner=st.sampled_from(OWNERS), animal=st.sampled_from(ANIMALS))
    def read(self, owner: str | None, animal: str) -> None:
        self.scope(owner).recall(animal)

    @invariant()
    def looks_find_what_is_there(self) -> None:
        for owner in OWNERS:
            before = everything(self.memory)
            for animal in ANIMALS:
                found = self.scope(owner).recall(animal, k=10, reinforce=False).ids
                assert sorted(found) == sorted(one for one, what in self.there.items() if what == (owner, animal))
            assert everything(self.memory) == before

    def scope(self, owner: str | None) -> UserMemory:
        return self.memory.for_everyone() if owner is None else self.memory.for_user(owner)

    def teardown(self) -> None:
        self.memory.close()
        delete(self.client, self.collection)


@pytest.mark.sample
@pytest.mark.hard("random run")
def test_any_history_of_writes_looks_and_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    run_state_machine_as_test(History, settings=settings(at_most(15), stateful_step_count=12, deadline=None))
