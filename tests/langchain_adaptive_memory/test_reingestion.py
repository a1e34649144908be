"""Does what was learned follow the text through what users of LangChain do to keep an index up to date?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import pytest
from chromadb import Collection
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_core.indexing import InMemoryRecordManager, index
from langchain_core.vectorstores import VectorStore

from adaptive_memory_core import AdaptiveMemory, NotFoundError, UserMemory
from langchain_adaptive_memory import EVERYONE, AdaptiveMemoryRetriever, AdaptiveMemoryVectorStore
from tests.conftest import Clock
from tests.langchain_adaptive_memory.conftest import EVERY_READ, NewStore, WordEmbeddings

Place = tuple[VectorStore, UserMemory]
Cleanup = Literal["incremental", "full", "scoped_full"] | None
TEA, COFFEE = "green tea is nice", "black coffee is strong"


@pytest.fixture(params=["langchain_chroma", "ours"])
def place(
    request: pytest.FixtureRequest,
    collection: Collection,
    new_store: NewStore,
    embeddings: WordEmbeddings,
    clock: Clock,
) -> Iterator[Place]:
    """A vector store, and the memory of what it holds."""
    theirs = new_store(())
    place = collection if request.param == "ours" else theirs._collection
    with AdaptiveMemory(place, embedder=embeddings, clock=clock, policy=EVERY_READ) as memory:
        if request.param == "ours":
            yield AdaptiveMemoryVectorStore(memory, user_id="ana", reinforce=False), memory.for_user("ana")
        else:
            yield theirs, memory.for_everyone()


def note(text: str, **metadata: Any) -> Document:
    return Document(text, metadata={"source": "notes.md", **metadata})


def indexer(store: VectorStore, cleanup: Cleanup) -> Callable[..., object]:
    manager = InMemoryRecordManager("notes")
    manager.create_schema()
    return lambda *notes, **more: index(
        list(notes), manager, store, cleanup=cleanup, source_id_key="source", key_encoder="sha256", **more
    )


def read(memory: UserMemory, cue: str) -> str:
    (found,) = memory.recall(cue, k=1).ids
    return found


def by_words(memory: UserMemory, cue: str) -> list[str]:
    """What is found by words of the cue."""
    return sorted(hit.text for hit in memory.recall(cue, k=10) if hit.parts["words"] > 0)


def count(memory: UserMemory, cue: str) -> int:
    """How often what stands first was read."""
    return memory.recall(cue, k=1, reinforce=False)[0].record.read.retrieval_count


@pytest.mark.parametrize("cleanup", ["incremental", "full", "scoped_full"])
def test_index_carries_over_what_says_the_same(place: Place, cleanup: Cleanup) -> None:
    store, memory = place
    put = indexer(store, cleanup)
    put(note(TEA, page=1), note(COFFEE, page=2))
    old = read(memory, TEA)
    memory.feedback(memory.recall(TEA, k=1), helpful=[old])
    memory.pin(old)
    put(note(TEA, page=3), note("black coffee is weak", page=2))  # LangChain's ids are of text and metadata
    new = memory.recall(TEA, k=1, reinforce=False)[0].record
    assert new.id != old
    assert (new.read.retrieval_count, new.read.pinned, new.read.helpful) == (2, True, 1)
    assert count(memory, "black coffee is weak") == 0
    assert read(memory, TEA) == new.id
    assert count(memory, TEA) == 3
    with pytest.raises(NotFoundError):
        memory.get(old)


def test_index_without_a_cleanup_leaves_both(place: Place) -> None:
    store, memory = place
    put = indexer(store, None)
    put(note(TEA, page=1))
    old = read(memory, TEA)
    put(note(TEA, page=2))
    reads = [hit.record.read.retrieval_count for hit in memory.recall(TEA, k=2, reinforce=False)]
    assert sorted(reads) == [0, 1]
    assert memory.get(old).read.retrieval_count == 1


def test_index_by_force_writes_the_same_texts_again(place: Place) -> None:
    store, memory = place
    put = indexer(store, "full")
    put(note(TEA), note(COFFEE))
    old = read(memory, TEA)
    put(note(TEA), note(COFFEE), force_update=True)
    assert memory.get(old).read.retrieval_count == 1


def test_add_texts_under_known_ids_begins_anew_where_the_words_are_others(place: Place) -> None:
    store, memory = place
    store.add_texts([TEA, COFFEE], [{"source": "notes.md"}] * 2, ids=["notes.md:0", "notes.md:1"])
    read(memory, TEA)
    read(memory, COFFEE)
    store.add_texts(
        [TEA, "cold milk is white"], [{"source": "notes.md", "page": 2}] * 2, ids=["notes.md:0", "notes.md:1"]
    )
    assert [memory.get(f"notes.md:{n}").read.retrieval_count for n in (0, 1)] == [1, 0]
    assert count(memory, "cold milk is white") == 0


def test_documents_that_move_by_one_take_their_reads_along(place: Place) -> None:
    store, memory = place
    ids = [f"notes.md:{n}" for n in range(3)]
    store.add_documents([note(TEA), note(COFFEE)], ids=ids[:2])
    for cue in (TEA, COFFEE, COFFEE):
        read(memory, cue)
    store.add_documents([note("a headline of two"), note(TEA), note(COFFEE)], ids=ids)
    assert [memory.get(one).read.retrieval_count for one in ids] == [0, 1, 2]
    memory.recall(TEA, k=3)
    assert [memory.get(one).read.retrieval_count for one in ids] == [1, 2, 3]


def test_delete_and_add_keep_what_was_learned_unless_it_was_to_be_forgotten(place: Place) -> None:
    store, memory = place
    store.add_documents([note(TEA)], ids=["a"])
    read(memory, TEA)
    store.delete(["a"])
    store.add_documents([note(TEA)], ids=["b"])
    forgets = isinstance(store, AdaptiveMemoryVectorStore)  # its delete is a promise: nothing is left
    assert count(memory, TEA) == (0 if forgets else 1)


def test_the_retriever_sees_it_too(new_store: NewStore, embeddings: WordEmbeddings, clock: Clock) -> None:
    store = new_store((TEA, COFFEE))
    with AdaptiveMemoryRetriever.from_vectorstore(store, k=1, user_id=EVERYONE) as retriever:
        (found,) = retriever.invoke(TEA)
        store.add_texts([TEA], [{"source": "notes"}], ids=[str(found.id)])
        (same,) = retriever.invoke(TEA)
        store.add_texts(["green tea is bad"], [{"source": "notes"}], ids=[str(found.id)])
        (other,) = retriever.invoke("green tea is bad")
    counts = [one.metadata["adaptive_memory"]["retrieval_count"] for one in (found, same, other)]
    assert counts == [0, 1, 0]


@pytest.mark.parametrize("cleanup", ["incremental", "full", "scoped_full"])
def test_what_index_replaced_is_found_by_its_words_at_once(place: Place, cleanup: Cleanup) -> None:
    store, memory = place
    put = indexer(store, cleanup)
    put(*(note(f"{TEA} on day {day}") for day in range(10)))
    read(memory, TEA)
    for replaced in (1, 2, 3):
        kept = [note(f"{TEA} on day {day}") for day in range(replaced, 10)]
        put(*kept, *(note(f"zebra{replaced} number {n} crossed") for n in range(replaced)))
        assert by_words(memory, f"zebra{replaced}") == [f"zebra{replaced} number {n} crossed" for n in range(replaced)]


def test_documents_that_were_updated_are_found_by_their_new_words_at_once(place: Place) -> None:
    store, memory = place
    store.add_documents([note(f"{TEA} on day {day}") for day in range(10)], ids=[f"d{day}" for day in range(10)])
    read(memory, TEA)
    store.add_documents([note("a zebra crossed")], ids=["d3"])
    assert by_words(memory, "zebra") == ["a zebra crossed"]
    if isinstance(store, Chroma):
        store.update_documents(["d4", "d5"], [note("a giraffe slept"), note("the giraffe woke")])
        assert by_words(memory, "giraffe") == ["a giraffe slept", "the giraffe woke"]
        assert by_words(memory, "zebra") == ["a zebra crossed"]
