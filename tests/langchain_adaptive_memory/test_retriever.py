"""Does it behave as a retriever should: per-call arguments, async, batches, events, errors, one shared memory?"""

from __future__ import annotations

import asyncio
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chromadb
import pytest
from chromadb import Collection
from langchain_chroma import Chroma
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.runnables.utils import ConfigurableField
from langchain_core.vectorstores import InMemoryVectorStore
from pydantic import ValidationError

from adaptive_memory_core import InvalidInputError, Policy, UserMemory
from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.policy import Advanced
from langchain_adaptive_memory import AdaptiveMemoryRetriever
from langchain_adaptive_memory.source import embedder_of
from tests.conftest import Clock
from tests.langchain_adaptive_memory.conftest import NewRetriever, NewStore, WordEmbeddings


def ids(documents: list[Document]) -> list[str]:
    return [str(one.id) for one in documents]


class OwnAsync(Embeddings):
    """Embeddings of which an async call must not ask the blocking method."""

    def __init__(self, vector: Callable[[str], list[float]]) -> None:
        self.vector, self.awaited_on = vector, set[int]()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        raise NotImplementedError("async only")

    async def aembed_query(self, text: str) -> list[float]:
        self.awaited_on.add(threading.get_ident())
        await asyncio.sleep(0)
        return self.vector(text)


@pytest.mark.parametrize(
    "policy", [Policy(), Policy(advanced=Advanced(timeout_seconds=60.0)), Policy(channels=("dense", "lexical"))]
)
async def test_ainvoke_awaits_the_embeddings_own_async_call_on_the_loop(
    new_store: NewStore, embeddings: WordEmbeddings, policy: Policy
) -> None:
    own = OwnAsync(embeddings.embed_query)
    with AdaptiveMemoryRetriever.from_collection(new_store()._collection, own, k=1, policy=policy) as retriever:
        assert ids(await retriever.ainvoke("green tea")) == ["tea"]
        assert own.awaited_on == {threading.get_ident()}


def test_the_async_call_that_langchain_gives_to_all_embeddings_is_not_asked(embeddings: WordEmbeddings) -> None:
    assert embedder_of(embeddings).aquery is None


async def test_a_name_that_there_is_not_is_refused(new_retriever: NewRetriever) -> None:
    retriever = new_retriever(user_id="alice")
    for error in (TypeError, InvalidInputError):
        with pytest.raises(error, match=r"'filters'. Did you mean 'filter'\?"):
            retriever.invoke("tea", filters={"n": 1})
        with pytest.raises(error, match="'search_kwargs'"):
            await retriever.ainvoke("tea", search_kwargs={"k": 1})
    with pytest.raises(InvalidInputError, match="no argument 'decay_rat'"):
        new_retriever(decay_rat=0.5)


@pytest.mark.parametrize("memory_given", [None, "./memory", 7, object()])
def test_what_is_no_memory_is_refused(memory_given: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"AdaptiveMemory.open"):
        AdaptiveMemoryRetriever(memory=memory_given)
    with pytest.raises(ValidationError):
        AdaptiveMemoryRetriever()  # type: ignore[call-arg] # that is the point


def test_a_filter_cannot_reach_another_user(new_retriever: NewRetriever) -> None:
    retriever = new_retriever(user_id="alice")
    either: Any = {"$or": [{"user_id": "bob"}, {"user_id": "alice"}]}
    assert "bobs" not in ids(retriever.invoke("tea", filter=either, k=9))


def test_recency_reorders_what_is_equally_near(clock: Clock, alice: UserMemory, new_retriever: NewRetriever) -> None:
    alice.remember("a note on tax", id="older")
    clock.pass_days(60)
    alice.remember("a note on tax", id="newer")
    retriever = new_retriever(alice, k=2, policy=Policy.preset("equal"))
    assert ids(retriever.invoke("a note on tax", reinforce=False)) == ["newer", "older"]


def test_one_memory_serves_all_that_is_made_of_a_retriever(new_store: NewStore) -> None:
    with AdaptiveMemoryRetriever.from_vectorstore(new_store(), k=1) as retriever:
        fields = retriever.configurable_fields(k=ConfigurableField(id="k"), user_id=ConfigurableField(id="who"))
        assert len(fields.invoke("tea", {"configurable": {"k": 3}})) == 3
        made = fields.with_config(configurable={"k": 2}).prepare()[0]  # type: ignore[attr-defined]
        assert (made.k, made.memory) == (2, retriever.memory)
        for other in (retriever.model_copy(update={"k": 2}), retriever.model_copy(), made):
            other.invoke("tea")
            assert other.memory is retriever.memory
        everyone = retriever.memory.for_everyone()
        assert everyone.stats().recalls == 4
        assert len([one for one in threading.enumerate() if "adaptive" in one.name and "background" in one.name]) <= 1


def test_a_store_a_collection_and_a_memory_may_each_be_given_as_the_memory(
    new_store: NewStore, new_retriever: NewRetriever, embeddings: WordEmbeddings
) -> None:
    store = new_store()
    found = ids(new_retriever(store).invoke("tea"))
    assert len(found) == 4
    with AdaptiveMemoryRetriever.from_collection(store._collection, embeddings) as retriever:
        assert ids(retriever.invoke("tea")) == found
    with AdaptiveMemoryRetriever.from_collection(store._collection, embeddings.embed) as retriever:
        assert ids(retriever.invoke("tea")) == found


def test_a_refused_field_leaves_no_memory_open(new_store: NewStore) -> None:
    before = threading.active_count()
    for fields in ({"k": 0}, {"nope": 1}):
        with pytest.raises(ValueError):
            AdaptiveMemoryRetriever.from_vectorstore(new_store(), **fields)
    assert threading.active_count() == before


def test_only_a_chroma_is_taken_as_a_vector_store(embeddings: WordEmbeddings, collection: Collection) -> None:
    with pytest.raises(InvalidInputError, match="InMemoryVectorStore"):
        AdaptiveMemoryRetriever.from_vectorstore(InMemoryVectorStore(embeddings))
    with pytest.raises(InvalidInputError, match="from_collection"):
        AdaptiveMemoryRetriever.from_vectorstore(collection)  # type: ignore[arg-type]


def test_a_subclass_of_langchains_chroma_is_one(new_store: NewStore, embeddings: WordEmbeddings) -> None:
    class Ours(Chroma): ...

    store = new_store()
    ours = Ours(store._collection.name, embeddings, client=store._client, create_collection_if_not_exists=False)
    with AdaptiveMemoryRetriever.from_vectorstore(ours) as retriever:
        assert len(retriever.invoke("tea")) == 4


class Notes(BaseCallbackHandler):
    def __init__(self, *, failing: bool = False) -> None:
        self.events: list[tuple[str, Any]] = []
        self.failing = failing

    def on_retriever_start(self, serialized: Any, query: str, **more: Any) -> None:
        self.events.append(("start", (query, more["name"], more["tags"], more["metadata"])))

    def on_retriever_end(self, documents: Any, **_: Any) -> None:
        self.events.append(("end", len(documents)))
        if self.failing:
            raise OSError("the handler failed")

    def on_retriever_error(self, error: BaseException, **_: Any) -> None:
        self.events.append(("error", type(error)))


async def test_callbacks_hear_what_they_hear_of_any_retriever(new_retriever: NewRetriever) -> None:
    retriever = new_retriever(user_id="alice", tags=["memory"], metadata={"team": "it"})
    for call in (retriever.invoke, retriever.ainvoke):
        notes = Notes()
        found = call("tea", {"callbacks": [notes], "run_name": "looking", "tags": ["one"]})
        assert await found if asyncio.iscoroutine(found) else found
        (started, (query, name, tags, metadata)), ended = notes.events
        assert (started, query, name, set(tags), ended) == ("start", "tea", "looking", {"memory", "one"}, ("end", 4))
        assert metadata["team"] == "it"
        assert metadata["ls_retriever_name"] == "adaptivememory"
        assert metadata["ls_vector_store_provider"] == "Chroma"
        assert metadata["ls_embedding_provider"] == "word_vectors"


async def test_an_error_reaches_the_callbacks_and_the_caller(new_retriever: NewRetriever) -> None:
    notes, retriever = Notes(), new_retriever()
    with pytest.raises(ValueError, match="No user"):
        retriever.invoke("tea", {"callbacks": [notes]})
    with pytest.raises(ValueError, match="No user"):
        await retriever.ainvoke("tea", {"callbacks": [notes]})
    with pytest.raises(TypeError):
        retriever.invoke("tea", {"callbacks": [notes]}, kk=1)
    assert [what for what, _ in notes.events] == ["start", "error"] * 3


def test_a_callback_that_fails_or_meddles_costs_nothing(
    alice: UserMemory, new_retriever: NewRetriever, caplog: Any
) -> None:
    class Meddling(BaseCallbackHandler):
        def on_retriever_end(self, documents: Any, **_: Any) -> None:
            documents[0].metadata.clear()
            documents[0].page_content = ""

    retriever = new_retriever(alice, k=1)
    assert len(retriever.invoke("green tea", {"callbacks": [Notes(failing=True)]})) == 1
    retriever.invoke("green tea", {"callbacks": [Meddling()]})
    again = retriever.invoke("green tea")[0]
    assert (again.page_content, again.metadata["kind"]) == ("green tea is nice", "event")


async def test_events_are_those_of_any_retriever(new_retriever: NewRetriever) -> None:
    retriever = new_retriever(user_id="alice", k=2)
    events = [event async for event in retriever.astream_events("tea", version="v2")]
    assert [event["event"] for event in events] == ["on_retriever_start", "on_retriever_end"]
    assert len(events[1]["data"]["output"]) == 2
    assert [len(chunk) for chunk in retriever.stream("tea")] == [2]


def test_a_database_that_fails_is_an_error_of_the_core(new_retriever: NewRetriever, new_store: NewStore) -> None:
    store = new_store()
    retriever = new_retriever(store)
    store._client.delete_collection(store._collection.name)
    with pytest.raises(StoreError):
        retriever.invoke("tea")
    store._client.create_collection(store._collection.name)


@pytest.mark.parametrize("query", [None, 7])
def test_a_query_that_is_no_text_is_refused(query: Any, new_retriever: NewRetriever) -> None:
    with pytest.raises(InvalidInputError, match="cue"):
        new_retriever(user_id="alice").invoke(query)


def test_what_the_retriever_is_given_to_remember_it_recalls(new_retriever: NewRetriever) -> None:
    retriever = new_retriever(user_id="alice")
    notes = [Document("purple juice", id="juice", metadata={"source": "chat"}), Document("orange soup")]
    assert retriever.add_documents(notes)[0] == "juice"
    assert ids(retriever.invoke("soup", filter={"kind": "event", "source": "chat"}, verbose=True)) == ["juice"]
    assert retriever.invoke("purple juice", k=1)[0].metadata["source"] == "chat"
    assert retriever.invoke("purple juice", user_id="bob", filter={"source": "chat"}) == []


def test_the_class_says_how_it_is_used() -> None:
    documentation = AdaptiveMemoryRetriever.__doc__ or ""
    for part in ("Setup:", "Key init args:", "Instantiate:", "Usage:", "Use within a chain:"):
        assert part in documentation
    told = set(AdaptiveMemoryRetriever.model_fields) - {"name", "tags", "metadata"}
    assert all(f"        {name}: " in documentation for name in told)


def answered(store: Chroma) -> AdaptiveMemoryRetriever:
    retriever = AdaptiveMemoryRetriever.from_vectorstore(store, k=1)
    assert retriever.invoke("tea")[0].id == "tea"
    return retriever


@pytest.mark.parametrize("place", ["directory", "ram"])
async def test_a_collection_that_is_reset_meanwhile_is_named_as_the_cause(
    tmp_path: Path, embeddings: Any, place: str
) -> None:
    client: Any = chromadb.PersistentClient(tmp_path) if place == "directory" else chromadb.EphemeralClient()
    store = Chroma("reset-notes", embeddings, client=client)
    store.add_texts(["green tea", "black coffee"], ids=["tea", "coffee"])
    retriever = answered(store)
    store.reset_collection()
    store.add_texts(["green tea"], ids=["tea"])
    for _ in range(2):
        with pytest.raises(
            StoreError, match=r"The collection was deleted.*reset_collection\(\).*open it again"
        ) as told:
            retriever.invoke("tea")
        assert "reachable" not in str(told.value)
    with pytest.raises(StoreError, match="The collection was deleted"):
        await retriever.ainvoke("tea")
    with pytest.raises(StoreError, match="The collection was deleted"):
        retriever.add_documents([Document("milk")])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # what was learned of the old collection stays in the ledger
        retriever.close()
    with AdaptiveMemoryRetriever.from_vectorstore(store, k=1) as again:
        assert again.invoke("tea")[0].id == "tea"
