"""Do reads, verdicts and pins belong to what was said? Other words under a known id begin anew, whoever writes them."""

from __future__ import annotations

import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import chromadb
import pytest
from chromadb import Collection
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from llama_index.core.schema import TextNode
from llama_index.vector_stores.chroma import ChromaVectorStore

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, NotFoundError, Policy, ReadState, UserMemory
from adaptive_memory_core.policy import Decay
from adaptive_memory_core.store.ledger.text_changes import aside_name
from tests import forked
from tests.behaviour.conftest import eventually, shown
from tests.conftest import Open, ledger_rows, word_vectors

EVERY_READ = Policy(refresh_floor_seconds=0)
ID = "file.md:0"


@pytest.fixture
def ana(memory: AdaptiveMemory) -> UserMemory:
    memory.policy = EVERY_READ
    return memory.for_user("ana")


def write(collection: Collection, texts: dict[str, str], how: str = "upsert", **more: Any) -> None:
    """As another program does."""
    metadatas: Any = [{"user_id": "ana", "source": "file.md", **more} for _ in texts]
    arguments: Any = {"documents": list(texts.values()), "embeddings": word_vectors(list(texts.values()))}
    getattr(collection, how)(ids=list(texts), metadatas=metadatas, **arguments)


def learned(ana: UserMemory, record: str, cue: str) -> None:
    """All that a memory can learn of a record."""
    ana.recall(cue, k=1)
    ana.feedback(ana.recall(cue, k=1), helpful=[record])
    ana.pin(record)


def is_untouched(state: ReadState) -> bool:
    values = (state.last_read, state.retrieval_count, state.boost, state.pinned, state.remembered, state.helpful)
    return values == (None, 0, 0.0, False, False, 0) and state.useful_at is None and state.strength == 1.0


def rewrite_by_upsert(collection: Collection, text: str) -> None:
    write(collection, {ID: text})


def rewrite_by_update(collection: Collection, text: str) -> None:
    collection.update(ids=[ID], documents=[text], embeddings=word_vectors([text]))


def rewrite_by_delete_and_add(collection: Collection, text: str) -> None:
    collection.delete(ids=[ID])
    write(collection, {ID: text}, "add")


class WordEmbeddings(Embeddings):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [list(map(float, one)) for one in word_vectors(texts)]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def rewrite_by_langchain(collection: Collection, text: str) -> None:
    client = chromadb.EphemeralClient()
    store = Chroma(collection.name, WordEmbeddings(), client=client, create_collection_if_not_exists=False)
    store.update_document(ID, Document(text, metadata={"user_id": "ana", "source": "file.md"}))


def rewrite_by_llama_index(collection: Collection, text: str) -> None:
    store: Any = ChromaVectorStore(chroma_collection=collection)
    node = TextNode(id_=ID, text=text, metadata={"user_id": "ana", "source": "file.md"})
    node.embedding = word_vectors([text])[0].tolist()
    store.delete_nodes([ID])
    store.add([node])


REWRITES = [
    rewrite_by_upsert,
    rewrite_by_update,
    rewrite_by_delete_and_add,
    rewrite_by_langchain,
    rewrite_by_llama_index,
]


@pytest.mark.parametrize("rewrite", REWRITES)
def test_other_words_of_another_program_begin_anew(
    collection: Collection, memory: AdaptiveMemory, ana: UserMemory, rewrite: Callable[[Collection, str], None]
) -> None:
    write(collection, {ID: "green tea"})
    learned(ana, ID, "green tea")
    memory.flush()
    rewrite(collection, "blue cars")
    assert is_untouched(ana.get(ID).read)
    assert is_untouched(ana.recall("blue cars", k=1, reinforce=False)[0].record.read)
    assert ana.recall("blue cars", k=1)[0].record.importance is None
    assert ana.get(ID).read.retrieval_count == 1
    memory.flush()
    state = shown(memory, ID)
    assert (state["retrieval_count"], state.get("pinned", 0), state.get("importance_boost", 0)) == (1, 0, 0)
    assert ana.stats().pinned == 0


GRAPH = EVERY_READ.replace(channels=("dense", "lexical", "graph"))
UNTAUGHT: dict[str, Any] = {"learning": {"similar_questions": 0.0, "usefulness": 0.0}}
LEARNING = {  # with the same policy without what verdicts on questions taught
    "questions": (EVERY_READ, EVERY_READ.replace(**UNTAUGHT)),
    "graph": (GRAPH, GRAPH.replace(**UNTAUGHT)),
    "paper": (
        GRAPH.replace(advanced={"graph": {"form": "paper"}}),
        GRAPH.replace(
            advanced={"graph": {"form": "paper", "process_noise": 1.0}}, **UNTAUGHT
        ),  # no verdict makes it surer
    ),
}


@pytest.mark.parametrize("rewrite", REWRITES)
@pytest.mark.parametrize("policy", LEARNING)
def test_a_question_it_was_helpful_for_speaks_for_no_other_text(
    collection: Collection, ana: UserMemory, rewrite: Callable[[Collection, str], None], policy: str
) -> None:
    """Not even in the first recall afterwards that asks what was learned, whether it counts or not."""
    cue, (taught, untaught) = "who sells green tea on Monday?", LEARNING[policy]

    def parts(policy: Policy, *, reinforce: bool = False) -> list[tuple[str, float | None, float]]:
        found = ana.recall(cue, policy=policy, reinforce=reinforce)
        assert ("was helpful for" in found.explain()) is (policy is taught and not rewritten)
        return [(hit.id, hit.parts.get("graph"), hit.parts.get("asked_before", 0.0)) for hit in found]

    rewritten = False
    write(collection, {ID: "Zoe sells green tea on Monday", "b": "Zoe has blue cars", "c": "nothing of note"})
    ana.feedback(ana.recall(cue, policy=taught), helpful=[ID])
    assert parts(taught) != parts(untaught)
    rewrite(collection, "Zoe has white milk on Tuesday")
    rewritten = True
    parts(untaught)  # which comes upon the new text, and has its words looked at
    before = parts(untaught)
    assert parts(taught) == before
    assert parts(taught, reinforce=True) == before


@pytest.mark.hard("processes")
def test_what_another_process_wrote_over_is_not_what_was_judged(open_memory: Open, tmp_path: Path) -> None:
    memory = open_memory(policy=EVERY_READ)
    ana = memory.for_user("ana")
    ana.remember("green tea", id=ID)
    ana.feedback(ana.recall("green tea"), helpful=[ID])
    memory.flush()
    script = (
        "import sys, chromadb; from tests.conftest import word_vectors; "
        "c = chromadb.PersistentClient(sys.argv[1]).get_collection('memories'); "
        "c.update(ids=[sys.argv[2]], documents=['white milk'], embeddings=word_vectors(['white milk']))"
    )
    forked.said_by(script, tmp_path / "memory", ID)

    def looked() -> Any:
        return ana.recall("green tea", reinforce=False)

    assert eventually(lambda: looked()[0].text == "white milk")
    found = looked()
    assert "was helpful for" not in found.explain()
    assert "asked_before" not in found[0].parts
    assert is_untouched(found[0].record.read)


@pytest.mark.parametrize("rewrite", REWRITES)
def test_the_same_words_keep_everything(
    collection: Collection, ana: UserMemory, rewrite: Callable[[Collection, str], None]
) -> None:
    write(collection, {ID: "green tea"})
    learned(ana, ID, "green tea")
    before = ana.get(ID).read
    rewrite(collection, "green  tea\n")
    assert ana.get(ID).read == before
    ana.recall("green tea", k=1)
    assert ana.get(ID).read.retrieval_count == before.retrieval_count + 1


def test_metadata_alone_change_nothing(collection: Collection, ana: UserMemory) -> None:
    write(collection, {ID: "green tea"})
    learned(ana, ID, "green tea")
    before = ana.get(ID).read
    collection.update(ids=[ID], metadatas=[{"topic": "drinks", "source": "moved.md"}])
    ana.recall("green tea", k=1, reinforce=False)
    assert ana.get(ID).read == before


def test_remembering_other_words_under_a_known_id_begins_anew(memory: AdaptiveMemory, ana: UserMemory) -> None:
    ana.remember("green tea", id="a")
    learned(ana, "a", "green tea")
    memory.flush()
    ana.remember("green  tea", id="a")
    assert ana.get("a").read.pinned
    ana.remember("black coffee", id="a")
    assert is_untouched(ana.get("a").read)
    memory.flush()
    assert "last_read" not in shown(memory, "a")
    assert shown(memory, "a")["retrieval_count"] == 0
    assert [one.what for one in ana.changes("a")][:3] == ["rewritten", "pinned", "helpful"]


def test_the_reset_is_shown_where_nothing_is_read_again(
    collection: Collection, memory: AdaptiveMemory, ana: UserMemory
) -> None:
    write(collection, {ID: "green tea", "other": "blue cars"})
    learned(ana, ID, "green tea")
    memory.flush()
    rewrite_by_upsert(collection, "white milk")
    ana.recall("blue cars", k=1)  # comes upon it, and returns another
    memory.flush()
    state = shown(memory, ID)
    assert (state["retrieval_count"], state["pinned"], state["useful_at"], state.get("last_read")) == (0, 0, 0.0, None)


def test_a_verdict_on_an_old_recall_is_not_about_the_new_words(collection: Collection, ana: UserMemory) -> None:
    write(collection, {ID: "green tea"})
    old = ana.recall("green tea", k=1)
    looked = ana.recall("green tea", k=1, reinforce=False)
    rewrite_by_upsert(collection, "green cars")
    for recall in (old, old.id, looked):
        with pytest.raises(NotFoundError, match="other words"):
            ana.feedback(recall, helpful=[ID])
    assert is_untouched(ana.get(ID).read)
    new = ana.recall("green cars", k=1)
    assert ana.feedback(new.id, helpful=[ID]) == 1
    assert ana.get(ID).read.helpful == 1


def test_the_log_keeps_what_was(collection: Collection, ana: UserMemory) -> None:
    write(collection, {ID: "green tea"})
    old = ana.recall("green tea", k=1)
    rewrite_by_upsert(collection, "blue cars")
    ana.recall("blue cars", k=1)
    new, before = ana.recalls()
    assert (new.cue, before.cue) == ("blue cars", "green tea")
    assert [one.id for one in before.kept] == [ID] == list(old.ids)


def test_chunks_that_move_to_other_ids_take_their_reads_along(
    collection: Collection, memory: AdaptiveMemory, ana: UserMemory
) -> None:
    """A line put in front of a file moves every chunk by one. (The words of a moved chunk are noticed as late as after
    the next recall, so this one goes by vectors.)"""
    memory.policy = EVERY_READ.replace(channels=("dense",))
    write(collection, {"f:0": "green tea", "f:1": "black coffee", "f:2": "white milk"})
    for cue, times in (("green tea", 3), ("black coffee", 2)):
        for _ in range(times):
            ana.recall(cue, k=1)
    write(collection, {"f:0": "a headline", "f:1": "green tea", "f:2": "black coffee", "f:3": "white milk"})
    assert [ana.get(f"f:{n}").read.retrieval_count for n in range(4)] == [0, 3, 2, 0]
    ana.recall("black coffee", k=1)  # looks at one of them alone
    ana.recall("green tea", k=4)
    assert [ana.get(f"f:{n}").read.retrieval_count for n in range(4)] == [1, 4, 4, 1]
    assert ana.stats().reads == 10


def test_a_chunk_that_moved_is_known_though_the_old_id_was_not_seen_again(
    collection: Collection, ana: UserMemory
) -> None:
    write(collection, {"f:0": "green tea", "f:1": "black coffee"})
    ana.recall("green tea", k=1)
    ana.recall("black coffee", k=1)
    ana.recall("black coffee", k=1)
    write(collection, {"f:0": "black coffee", "f:1": "green tea"})
    assert ana.get("f:1").read.retrieval_count == 1
    ana.pin("f:1")
    assert (ana.get("f:0").read.retrieval_count, ana.get("f:0").read.pinned) == (2, False)


def test_the_same_words_of_another_source_begin_anew(collection: Collection, ana: UserMemory) -> None:
    write(collection, {"a": "green tea"}, source="a.md")
    write(collection, {"n": "black coffee"}, source="None")
    for cue in ("green tea", "black coffee"):
        ana.recall(cue, k=1)
    collection.delete(ids=["a", "n"])
    write(collection, {"b": "green tea"}, source="b.md")
    write(collection, {"m": "black coffee"}, source="")
    assert (ana.get("b").read.retrieval_count, ana.get("m").read.retrieval_count) == (0, 1)


def test_another_user_takes_over_nothing(collection: Collection, memory: AdaptiveMemory, ana: UserMemory) -> None:
    write(collection, {"a": "green tea"})
    ana.recall("green tea", k=1)
    collection.delete(ids=["a"])
    write(collection, {"b": "green tea"}, user_id="ben")
    assert memory.for_user("ben").get("b").read.retrieval_count == 0


def test_nobody_can_take_the_place_of_what_is_set_aside(
    collection: Collection, memory: AdaptiveMemory, ana: UserMemory
) -> None:
    """An id that another user chose would keep Ana's reads of the new words from being counted."""
    for name in (aside_name(ID), aside_name(ID) + "#"):
        for user in (memory.for_user("ben"), memory.for_everyone(), ana):
            with pytest.raises(InvalidInputError, match="Choose another id"):
                user.remember("black tea", id=name)
    write(collection, {ID: "green tea"})
    learned(ana, ID, "green tea")
    write(collection, {ID: "oolong"})
    ana.recall("oolong", k=1)
    assert ana.get(ID).read.retrieval_count == 1
    assert memory.check().ok


@pytest.mark.parametrize("met_first", [True, False])
@pytest.mark.parametrize("owner", ["ana", "ben"])
def test_a_record_that_another_program_gave_such_a_name_stays_apart(
    collection: Collection, memory: AdaptiveMemory, ana: UserMemory, owner: str, met_first: bool
) -> None:
    """Its reads are its own, and what is learned of either text is never the other's."""
    theirs, other = aside_name(ID), memory.for_user(owner)
    write(collection, {ID: "green tea"})
    write(collection, {theirs: "black coffee"}, user_id=owner)
    if met_first:
        other.recall("black coffee", k=1)
    learned(ana, ID, "green tea")
    write(collection, {ID: "oolong"})
    assert ana.recall("oolong", k=1).ids == (ID,)
    assert ana.get(ID).read.retrieval_count == 1
    assert ana.get(ID).read.helpful == 0
    assert other.recall("black coffee", k=1).ids == (theirs,)
    assert other.get(theirs).read.helpful == 0
    assert not other.get(theirs).read.pinned
    if met_first:
        assert other.get(theirs).read.retrieval_count == 2
    assert memory.check().ok, str(memory.check())


def test_what_was_written_while_the_memory_was_closed_is_noticed(open_memory: Open) -> None:
    with open_memory(policy=EVERY_READ) as memory:
        ana = memory.for_user("ana")
        ana.remember_many([{"text": "green tea", "id": "a"}, {"text": "black coffee", "id": "b"}])
        learned(ana, "a", "green tea")
        learned(ana, "b", "black coffee")
    with open_memory() as memory:
        collection: Any = memory.ports().records.collection
        collection.upsert(ids=["a"], documents=["blue cars"], embeddings=word_vectors(["blue cars"]))
    with open_memory(policy=EVERY_READ) as memory:
        ana = memory.for_user("ana")
        assert is_untouched(ana.get("a").read)
        assert ana.get("b").read.pinned
        assert [one.id for one in ana.pinned()] == ["b"]


def test_a_check_names_what_was_written_over(collection: Collection, memory: AdaptiveMemory, ana: UserMemory) -> None:
    write(collection, {ID: "green tea", "other": "white milk"})
    learned(ana, ID, "green tea")
    assert memory.check().findings == ()
    rewrite_by_upsert(collection, "blue cars")
    (found,) = memory.check().findings
    assert "1 record" in found.what
    assert ID in found.what
    assert memory.check(repair=True).findings[0].mended
    assert memory.check().findings == ()
    memory.flush()
    assert shown(memory, ID)["retrieval_count"] == 0


def test_looking_shows_it_and_writes_nothing(collection: Collection, memory: AdaptiveMemory, ana: UserMemory) -> None:
    write(collection, {ID: "green tea"})
    learned(ana, ID, "green tea")
    rewrite_by_upsert(collection, "blue cars")
    ana.recall("blue cars", k=1, reinforce=False)  # its words are followed
    before = ledger_rows(memory)
    assert is_untouched(ana.recall("blue cars", k=1, reinforce=False)[0].record.read)
    assert is_untouched(ana.get(ID).read)
    assert ana.export_state()["records"] == []
    assert ledger_rows(memory) == before


def test_nothing_is_left_of_the_old_words_when_the_record_is_forgotten(
    collection: Collection, memory: AdaptiveMemory, ana: UserMemory
) -> None:
    write(collection, {ID: "green tea"})
    learned(ana, ID, "green tea")
    rewrite_by_upsert(collection, "blue cars")
    ana.recall("blue cars", k=1)
    ana.forget(ID)
    rows = ledger_rows(memory)
    assert [rows[table] for table in ("records", "verdicts", "outbox", "changes")] == [[]] * 4


def test_pruning_does_not_take_new_words_for_old_ones(collection: Collection, memory: AdaptiveMemory) -> None:
    memory.policy = Policy(decay=Decay(rate=0.5, grace=0.0), refresh_floor_seconds=0)
    ana = memory.for_user("ana")
    write(collection, {ID: "green tea", "other": "blue cars"})
    ana.recall("green tea", k=2)
    for _ in range(9):
        ana.recall("blue cars", k=1)
    rewrite_by_upsert(collection, "a new headline")
    assert ana.prune(below=0.1, dry_run=True).ids == ()
    assert ana.prune(below=0.1).ids == ()
    assert ana.get(ID).read.strength == 1.0


def test_a_recall_that_saw_the_old_words_counts_nothing_for_the_new_ones(
    memory: AdaptiveMemory, ana: UserMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana.remember("green tea", id="a")
    count = memory.ports().ledger.recalls.count

    def written_meanwhile(*arguments: Any) -> Any:
        monkeypatch.undo()
        ana.remember("green cars", id="a")
        return count(*arguments)

    monkeypatch.setattr(memory.ports().ledger.recalls, "count", written_meanwhile)
    seen = ana.recall("green", k=1)
    assert (seen[0].text, ana.get("a").text, ana.get("a").read.retrieval_count) == ("green tea", "green cars", 0)
    for recall in (seen, seen.id):
        with pytest.raises((NotFoundError, InvalidInputError)):
            ana.feedback(recall, helpful=["a"])


def test_threads_that_write_over_and_read_agree_on_whose_reads_are_whose(
    collection: Collection, memory: AdaptiveMemory, ana: UserMemory
) -> None:
    write(collection, {ID: "word 0 tea"})

    def rewrites() -> None:
        for number in range(1, 9):
            rewrite_by_upsert(collection, f"word {number} tea")
            ana.remember(f"word {number} milk", id=ID)

    def reads() -> None:
        for _ in range(16):
            ana.recall("word tea milk", k=1)

    with ThreadPoolExecutor() as threads:
        for done in [threads.submit(work) for work in (rewrites, reads, reads)]:
            done.result()
    before = ana.get(ID).read.retrieval_count
    ana.recall("word tea milk", k=1)
    assert ana.get(ID).read.retrieval_count == before + 1
    ana.remember("the end", id=ID)
    assert is_untouched(ana.get(ID).read)
    memory.flush()
    assert shown(memory, ID)["retrieval_count"] == 0


KILLED = """
import os, signal, sys
from adaptive_memory_core import AdaptiveMemory, Policy
from tests.conftest import word_vectors
memory = AdaptiveMemory.open(sys.argv[1], embedder=word_vectors, policy=Policy(refresh_floor_seconds=0))
ana = memory.for_user("ana")
ana.remember("green tea", id="a")
ana.feedback(ana.recall("green tea", k=1), helpful=["a"])
ana.pin("a")
memory.flush()
ports = memory.ports()
part, name = {"before": (ports.records, "revise"), "between": (ports.ledger.inheritance, "settle")}[sys.argv[2]]
setattr(type(part), name, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
ana.remember("blue cars", id="a")
"""


@pytest.mark.hard("kill")
@pytest.mark.parametrize(("when", "text"), [("before", "green tea"), ("between", "green tea")])
def test_a_kill_between_the_steps_leaves_each_text_with_its_own_reads(tmp_path: Path, when: str, text: str) -> None:
    assert forked.source(KILLED, tmp_path / "memory", when).wait(60) == -signal.SIGKILL
    with AdaptiveMemory.open(tmp_path / "memory", embedder=word_vectors) as memory:
        kept = memory.for_user("ana").get("a")
        assert kept.text == text
        assert kept.read.pinned is (text == "green tea")
        assert is_untouched(kept.read) is (text == "blue cars")


def test_a_ledger_that_did_not_keep_the_words_learns_them_at_the_next_recall(
    collection: Collection, memory: AdaptiveMemory, ana: UserMemory
) -> None:
    write(collection, {ID: "green tea"})
    ana.recall("green tea", k=1)
    ledger: Any = memory.ports().ledger
    with ledger.file.writing() as sql:
        sql.execute("UPDATE records SET text_digest = NULL, origin = NULL")
    ledger._shared.cache.clear()
    ana.recall("green tea", k=1)
    assert ana.get(ID).read.retrieval_count == 2
    rewrite_by_upsert(collection, "blue cars")
    assert is_untouched(ana.get(ID).read)
