"""Are records found by their words - ours at once, those of others too, and never somebody else's?"""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Keeping, Policy, UserMemory, Weights
from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.policy import Advanced, Fusion
from adaptive_memory_core.store.chroma.chroma_records import ChromaRecords
from adaptive_memory_core.store.words import word_index as lexical_channel
from tests.behaviour.conftest import noting
from tests.conftest import Clock, Open, background_done, word_vectors

BOTH: Any = ("dense", "lexical")
HYBRID = Policy(channels=BOTH)
WORDS = Policy(weights=Weights(0, 0, 1), advanced=Advanced(fusion=Fusion(vectors=0)), channels=BOTH)
FILLER = [f"nothing of note happened on day {n}" for n in range(60)]


@pytest.fixture
def memory(over: Open) -> AdaptiveMemory:
    """A memory that finds by words as well, asked once so that it keeps up with what is written."""
    opened = over(policy=HYBRID)
    opened.for_user("alice").recall("anything", reinforce=False)
    return opened


def worded(memory: AdaptiveMemory) -> int:
    ledger: Any = memory.ports().ledger
    with ledger.file.reading() as sql:
        return int(sql.execute("SELECT count(*) FROM words").fetchone()[0])


def test_what_vectors_miss_is_found_by_its_words(alice: UserMemory) -> None:
    alice.remember_many([*FILLER, {"text": "the gateway said ERR_CONN_RESET; restarting it helped", "id": "error"}])
    cue = "nothing of note happened on day err_conn_reset"
    dense = alice.recall(cue, k=5, reinforce=False, policy=Policy(channels=("dense",)))
    assert "error" not in [*dense.ids, *(one.id for one in dense.dropped)]
    assert alice.recall("err_conn_reset", k=1).ids == ("error",)


@pytest.mark.parametrize("over_everyone", [False, True])
def test_the_record_with_the_number_that_was_asked_for_comes_first(tmp_path: Path, *, over_everyone: bool) -> None:
    """To vectors one number is much like another."""
    orders = [
        {"text": f"Order number {one} belongs to customer C{7 * one}.", "id": str(one)} for one in range(1000, 1200)
    ]
    with AdaptiveMemory.open(tmp_path / "memory") as memory:
        alice = memory.for_user("alice", over="everyone") if over_everyone else memory.for_user("alice")
        memory.for_user("alice").remember_many(orders[::2])
        (memory.for_everyone() if over_everyone else alice).remember_many(orders[1::2])
        for one in range(1001, 1200, 18):
            for cue in (f"{one}", f"whose is order number {one}?"):
                assert alice.recall(cue, k=1, reinforce=False).ids == (str(one),), cue


def test_a_number_that_was_asked_for_comes_first_beside_conversations(tmp_path: Path) -> None:
    orders = [
        {"text": f"Order number {one} belongs to customer C{7 * one}.", "id": str(one)} for one in range(1000, 1200)
    ]
    with AdaptiveMemory.open(tmp_path / "memory") as memory:
        alice = memory.for_user("alice")
        talk = [("Ana", "I had tea with Rex"), ("Ben", "and I with Tom")]
        turns = [
            {"text": text, "metadata": {"speaker": who, "session": "one", "seq": n}}
            for n, (who, text) in enumerate(talk)
        ]
        alice.remember_many(turns)
        alice.remember_many(orders)
        assert all(alice.recall(f"{one}", k=1, reinforce=False).ids == (str(one),) for one in range(1001, 1200, 18))


def test_parts_add_up_and_every_candidate_has_the_same(alice: UserMemory) -> None:
    alice.remember_many([*FILLER, "tea at noon"])
    for policy in (
        HYBRID,
        Policy.preset("equal"),
        Policy(weights=Weights(0, 0, 1), channels=BOTH),
        HYBRID.replace(advanced={"blend": "product"}),
    ):
        answer = alice.recall("what happened at noon?", k=5, reinforce=False, policy=policy)
        for one in answer:
            assert sum(one.parts.values()) == pytest.approx(one.score, abs=1e-9)
            assert 0.0 <= one.score <= 1.0
            assert one.parts.keys() == answer[0].parts.keys()


def test_a_users_words_are_nobody_elses(memory: AdaptiveMemory) -> None:
    memory.for_user("alice").remember("the password is swordfish", id="secret")
    bob = memory.for_user("bob")
    bob.remember("a fish")
    for scope in (bob, memory.for_everyone(), memory.for_user("carol")):
        answer = scope.recall("swordfish password", k=10)
        assert "secret" not in [*answer.ids, *(one.id for one in answer.dropped)]


def test_a_filter_narrows_the_words_too(alice: UserMemory) -> None:
    alice.remember_many([{"text": "swordfish", "metadata": {"topic": "food"}} for _ in range(40)])
    alice.remember("swordfish swim in the deep sea", id="sea", metadata={"topic": "sea"})
    assert alice.recall("swordfish", k=3, filter={"topic": "sea"}).ids == ("sea",)


def test_what_was_written_anew_or_forgotten_is_found_accordingly(memory: AdaptiveMemory, alice: UserMemory) -> None:
    alice.remember_many([*FILLER, {"text": "a zebra", "id": "animal"}])
    alice.remember("a giraffe", id="animal")
    assert "animal" not in alice.recall("zebra", k=3, policy=WORDS.replace(min_score=0.01)).ids
    assert alice.recall("giraffe", k=1).ids == ("animal",)
    alice.forget("animal")
    assert len(alice.recall("giraffe", k=3, policy=WORDS.replace(min_score=0.01))) == 0
    assert worded(memory) == len(FILLER)


def test_what_was_pruned_has_no_words_left(memory: AdaptiveMemory, clock: Clock) -> None:
    alice = memory.for_user("alice")
    alice.remember_many(FILLER[:5])
    memory.policy = Policy.preset("aggressive")
    for _ in range(60):
        alice.recall("nothing", k=1)
    gone = alice.prune(below=0.5).ids
    assert gone
    assert worded(memory) == 5 - len(gone)


def test_what_others_write_delete_or_swap_is_noticed(memory: AdaptiveMemory, collection: Collection) -> None:
    alice = memory.for_user("alice")
    alice.remember_many(FILLER)

    def add(name: str, text: str) -> None:
        collection.add(ids=[name], documents=[text], embeddings=word_vectors([text]), metadatas=[{"user_id": "alice"}])

    add("one", "a zebra crossed")
    assert alice.recall("zebra", k=1).ids == ("one",)
    collection.delete(ids=["one"])
    add("two", "a giraffe slept")
    assert alice.recall("giraffe", k=1).ids == ("two",)
    assert "one" not in alice.recall("zebra", k=40).ids
    collection.update(ids=["two"], documents=["an okapi slept"], embeddings=word_vectors(["an okapi slept"]))
    alice.recall("okapi slept", k=1)  # it is met, and known again
    assert alice.recall("okapi", k=1, policy=WORDS).ids == ("two",)


def test_what_others_add_is_found_without_a_look_at_all_ids(
    memory: AdaptiveMemory, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a large collection that takes long, and a recall waits for it."""
    asked, alice = list[str](), memory.for_user("alice")
    alice.remember_many(FILLER)
    assert len(alice.recall("zebra")) > 0
    background_done(memory)
    monkeypatch.setattr(ChromaRecords, "ids", noting(asked, "ids", ChromaRecords.ids))
    for number, animal in enumerate(("zebra", "giraffe", "okapi")):
        texts = [f"a {animal} slept", f"the {animal} woke"]
        names = [f"{number}-0", f"{number}-1"]
        owned: Any = [{"user_id": "alice"}] * 2
        collection.add(ids=names, documents=texts, embeddings=word_vectors(texts), metadatas=owned)
        assert set(alice.recall(animal, k=2, policy=WORDS).ids) == set(names)
    assert asked == []


def test_a_record_that_changed_hands_is_found_by_its_owner_only(memory: AdaptiveMemory, collection: Collection) -> None:
    alice, bob = memory.for_user("alice"), memory.for_user("bob")
    alice.remember("the zebra file", id="file")
    collection.update(ids=["file"], metadatas=[{"user_id": "bob"}])
    assert len(alice.recall("zebra")) == 0
    assert bob.recall("zebra").ids == ("file",)


def test_a_channel_that_fails_is_left_out_and_the_recall_says_so(
    memory: AdaptiveMemory, alice: UserMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice.remember("tea")

    def broken(*_: object, **__: object) -> None:
        raise LedgerError("no words today")

    monkeypatch.setattr(memory.ports().words, "look", broken)
    answer = alice.recall("tea")
    assert len(answer) == 1
    assert "the channel 'lexical' was left out: no words today" in answer.trace


def test_a_large_collection_is_taken_in_beside_the_recalls(
    over: Open, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical_channel, "AT_ONCE", 10)
    texts = [*FILLER, "a zebra crossed"]
    owned: Any = [{"user_id": "alice"}] * len(texts)
    collection.add(
        ids=[str(n) for n in range(len(texts))], documents=texts, embeddings=word_vectors(texts), metadatas=owned
    )
    memory = over(policy=HYBRID)
    alice = memory.for_user("alice")
    alice.recall("zebra")
    background_done(memory)
    answer = alice.recall("zebra", k=1)
    assert not answer.trace
    assert answer[0].text == "a zebra crossed"
    assert worded(memory) == len(texts)


def test_until_all_words_of_a_user_are_indexed_vectors_rank_alone(
    memory: AdaptiveMemory, alice: UserMemory, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another user's words, which are all there, are of use as before; and the graph follows the words."""
    ben = memory.for_user("ben")
    ben.remember_many([*FILLER, "a zebra crossed"])
    ben.recall("zebra")
    monkeypatch.setattr(lexical_channel, "AT_ONCE", 10)
    texts = [*FILLER, "a zebra crossed"]
    owned: Any = [{"user_id": "alice"}] * len(texts)
    monkeypatch.setattr(lexical_channel.WordIndex, "wait", lambda _: None)
    collection.add(
        ids=[f"a{n}" for n in range(len(texts))], documents=texts, embeddings=word_vectors(texts), metadatas=owned
    )
    words: Any = memory.ports().words
    words.follow(alice.scope, 5)  # a page of the background's work
    graph: Any = ("dense", "lexical", "graph")
    for policy in (HYBRID, HYBRID.replace(channels=graph), HYBRID.replace(channels=("dense", "graph"))):
        found = alice.recall("zebra", k=3, reinforce=False, policy=policy)
        assert any("words say nothing" in note for note in found.trace)
        assert "words say nothing" in found.explain()
        assert not any({"words", "graph"} & hit.parts.keys() for hit in found)
    told = ben.recall("zebra", k=1, reinforce=False)
    assert not told.trace
    assert told[0].parts["words"] > 0.0
    monkeypatch.undo()
    memory.sync()
    found = alice.recall("zebra", k=1, reinforce=False)
    assert not found.trace
    assert found[0].parts["words"] > 0.0


def test_words_outlive_the_process_and_are_shared_between_memories(open_memory: Open) -> None:
    with closing(open_memory(policy=HYBRID)) as memory:
        memory.for_user("alice").remember_many([*FILLER, {"text": "a zebra", "id": "zebra"}])
    memory = open_memory(policy=HYBRID)
    assert memory.for_user("alice").recall("zebra", k=1).ids == ("zebra",)


def test_the_speaker_whom_a_question_names_comes_first(alice: UserMemory) -> None:
    for seq, (speaker, text) in enumerate([("Ana", "I went hiking"), ("Ben", "I went hiking"), ("Ana", "Lovely")]):
        alice.remember(text, id=f"{speaker}-{seq}", metadata={"speaker": speaker, "session": "s1", "seq": seq})
    assert alice.recall("Where did Ben go hiking?", k=1).ids == ("Ben-1",)
    assert alice.recall("Where did Ana go hiking?", k=1).ids == ("Ana-0",)
    assert alice.get("Ana-0").metadata["session"] == "s1"


def test_an_answer_is_found_by_the_question_before_it(alice: UserMemory) -> None:
    turns = ["How was your trip to Lisbon?", "Wonderful, we ate sardines every day", *FILLER]
    alice.remember_many(
        [{"text": t, "id": f"t{n}", "metadata": {"session": f"s{n // 10}", "seq": n}} for n, t in enumerate(turns)]
    )
    answer = alice.recall("Lisbon", k=2, policy=WORDS)
    assert answer.ids == ("t0", "t1")


def test_a_cue_without_a_word_falls_back_on_vectors(alice: UserMemory) -> None:
    alice.remember_many(["tea", "coffee"])
    answer = alice.recall("???", k=2)
    assert len(answer) == 2


def test_after_a_write_no_recall_has_chroma_count_its_records(
    open_memory: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted, size = list[float](), ChromaRecords.size
    alice = open_memory().for_user("alice")
    alice.remember_many(["the zebra crossed", "green tea"])
    alice.recall("zebra", policy=HYBRID)

    def noted(records: ChromaRecords) -> int:
        counted.append(time.monotonic())
        return size(records)

    monkeypatch.setattr(ChromaRecords, "size", noted)
    alice.remember("black coffee")
    for _ in range(20):
        assert len(alice.recall("coffee", policy=HYBRID, reinforce=False)) == 3
    assert counted == []


def test_what_we_write_back_ourselves_has_no_recall_ask_chroma(
    open_memory: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[str]()
    memory = open_memory()
    alice = memory.for_user("alice")
    alice.remember_many(["the zebra crossed", "green tea"])
    memory.sync()
    alice.recall("zebra", policy=HYBRID)  # compares once what was written before
    for name in ("size", "extent", "ids"):
        monkeypatch.setattr(ChromaRecords, name, noting(asked, name, getattr(ChromaRecords, name)))
    for turn in range(3):
        alice.recall("green tea", policy=HYBRID)
        memory.flush()
        asked.clear()
        assert len(alice.recall("zebra", policy=HYBRID, reinforce=bool(turn % 2))) == 2
        assert asked == []


def test_no_recall_asks_chroma_right_after_we_wrote(open_memory: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the files' times are so new that another write might not change them."""
    asked = list[str]()
    memory = open_memory(keeping=Keeping(others_seen_seconds=3600))  # what others wrote is looked for, but not here
    alice = memory.for_user("alice")
    alice.remember_many(["the zebra crossed", "green tea"])
    memory.sync()
    alice.recall("zebra", policy=HYBRID)
    memory.sync()
    alice.recall("zebra", policy=HYBRID)
    background_done(memory)  # a comparison under way takes our next write for that of others
    for name in ("size", "extent", "ids"):
        monkeypatch.setattr(ChromaRecords, name, noting(asked, name, getattr(ChromaRecords, name)))
    for turn in range(3):
        text = f"the giraffe number {turn} slept"
        alice.remember(text)
        asked.clear()
        assert alice.recall(text, k=1, policy=HYBRID)[0].text == text
        assert asked == []
        memory.flush()
        asked.clear()
        alice.recall("zebra", policy=HYBRID, reinforce=False)
        assert asked == []
