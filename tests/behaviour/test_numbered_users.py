"""May users be numbers, as in a collection that exists? They may, and the text "7" is another user than 7."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import chromadb
import pytest
from chromadb import Collection
from langchain_core.documents import Document

from adaptive_memory_core import AdaptiveMemory, ScopeError
from adaptive_memory_core.records import Scope
from langchain_adaptive_memory import AdaptiveMemoryRetriever as LangChainRetriever
from langchain_adaptive_memory import AdaptiveMemoryVectorStore
from llama_adaptive_memory import AdaptiveMemoryBlock, AdaptiveMemoryPostprocessor
from llama_adaptive_memory import AdaptiveMemoryRetriever as LlamaRetriever
from tests.conftest import Clock, Open, word_vectors

TEXTS = {"number": "green tea", "text": "black tea", "nobody": "white tea", "other": "red tea"}
OWNERS = {"number": 7, "text": "7", "other": 8}


@pytest.fixture
def filled(collection: Collection) -> Collection:
    metadatas: Any = [{"user_id": OWNERS[one]} if one in OWNERS else {"n": 1} for one in TEXTS]
    texts = list(TEXTS.values())
    collection.add(ids=list(TEXTS), documents=texts, metadatas=metadatas, embeddings=word_vectors(texts))
    return collection


@pytest.fixture
def memory(filled: Collection, clock: Clock) -> Any:
    with AdaptiveMemory(filled, embedder=word_vectors, clock=clock) as opened:
        yield opened


def test_a_number_and_a_text_are_two_users(memory: AdaptiveMemory) -> None:
    assert memory.for_user(7).recall("tea", k=9).ids == ("number",)
    assert memory.for_user("7").recall("tea", k=9).ids == ("text",)
    assert memory.for_everyone().recall("tea", k=9).ids == ("nobody",)
    assert set(memory.for_user(7, over="everyone").recall("tea", k=9).ids) == {"number", "nobody"}
    assert (memory.for_user(7).user, str(memory.for_user(7).scope)) == (7, "user 7")
    assert [memory.for_user(one).stats().reads for one in (7, "7", 8)] == [1, 1, 0]


def test_what_a_numbered_user_remembers_says_so(memory: AdaptiveMemory, filled: Collection) -> None:
    memory.for_user(7).remember("blue tea", id="note")
    memory.for_user("7").remember("pink tea", id="note")
    assert [memory.for_user(one).get("note").text for one in (7, "7")] == ["blue tea", "pink tea"]
    rows: Any = filled.get(include=["metadatas"])
    owners = {one: metadata.get("user_id") for one, metadata in zip(rows["ids"], rows["metadatas"], strict=True)}
    assert owners["note"] == 7
    assert sorted(map(repr, owners.values())) == ["'7'", "'7'", "7", "7", "8", "None"]
    memory.for_user(7).recall("blue tea", k=1)
    memory.flush()
    shown: Any = filled.get(ids=["note"])["metadatas"]
    assert shown[0]["retrieval_count"] == 1


def test_what_one_of_them_learned_is_not_the_others(memory: AdaptiveMemory) -> None:
    number, text = memory.for_user(7), memory.for_user("7")
    number.pin("number")
    recall = number.recall("tea")
    with pytest.raises(ScopeError):
        text.feedback(recall, helpful=["number"])
    exported = json.loads(json.dumps(number.export_state()))
    assert exported["user"] == 7
    with pytest.raises(ScopeError, match="user 7, not of user '7'"):
        text.restore_state(exported)
    assert number.restore_state(exported).records == 1
    assert [one.id for one in number.pinned()] == ["number"]
    assert text.pinned() == []


def test_nobody_gets_a_numbered_users_records_by_a_name_that_looks_like_it(
    memory: AdaptiveMemory, filled: Collection
) -> None:
    with pytest.raises(ScopeError):
        memory.for_user("number#n-7")
    metadatas: Any = [{"user_id": "number#n-7"}]
    filled.add(ids=["odd"], documents=["odd tea"], metadatas=metadatas, embeddings=word_vectors(["odd tea"]))
    assert memory.for_user(7).recall("odd tea", k=9).ids == ("number",)


def test_the_copies_in_the_ledger_belong_to_whom_the_records_do(tmp_path: Path, clock: Clock) -> None:
    """As other programs wrote them, and as the search in the ledger's copies finds them."""
    client = chromadb.PersistentClient(tmp_path)
    theirs = client.create_collection("theirs", embedding_function=None)
    owners = {"number": 7, "text": "7", "odd": "number#n-7", "yes": True, "fraction": 7.5}
    metadatas: Any = [{"user_id": one} for one in owners.values()]
    texts = [f"{one} tea" for one in owners]
    theirs.add(ids=list(owners), documents=texts, metadatas=metadatas, embeddings=word_vectors(texts))
    with AdaptiveMemory(theirs, embedder=word_vectors, clock=clock) as memory:
        memory.sync()
        in_the_ledger = memory.ports().search._mirror
        tea = word_vectors(["tea"])[0]
        for user, found in ((Scope.of(7), ["number"]), (Scope("7"), ["text"]), (Scope(None), []), (Scope.of(1), [])):
            assert [one.stored_id for one in in_the_ledger.nearest(user, tea, 9, None)] == found
        assert memory.for_user(7).recall("tea", k=9).ids == ("number",)


@pytest.mark.parametrize("user", [True, 7.0, 2**63, None, "", b"7"])
def test_what_is_no_user_is_refused(memory: AdaptiveMemory, user: Any) -> None:
    with pytest.raises(ScopeError):
        memory.for_user(user)


def test_it_holds_over_a_restart(open_memory: Open) -> None:
    with open_memory() as memory:
        memory.for_user(7).remember("green tea", id="a")
        memory.for_user(7).recall("tea")
    with open_memory() as memory:
        assert memory.for_user(7).get("a").read.retrieval_count == 1
        assert memory.for_user("7").recall("tea").ids == ()
        assert memory.check().ok


def test_asking_for_the_text_where_there_are_numbers_is_told(filled: Collection, clock: Clock) -> None:
    filled.delete(ids=["text"])
    with AdaptiveMemory(filled, embedder=word_vectors, clock=clock) as memory:
        retriever = LangChainRetriever(memory=memory, user_id="7")
        with pytest.warns(UserWarning, match="as int, such as 7"):
            assert retriever.invoke("tea") == []


def test_langchain_names_them_as_the_core_does(memory: AdaptiveMemory) -> None:
    retriever = LangChainRetriever(memory=memory)
    assert [one.id for one in retriever.invoke("tea", user_id=7)] == ["number"]
    assert [one.id for one in retriever.invoke("tea", user_id="7")] == ["text"]
    configured = LangChainRetriever(memory=memory, user_id=7)
    assert [one.id for one in configured.invoke("tea")] == ["number"]
    for name, found in ((7, ["number"]), ("7", ["text"])):
        chain = retriever.with_config(configurable={"user_id": name})
        assert [one.id for one in chain.invoke("tea")] == found
    store = AdaptiveMemoryVectorStore(memory, user_id=7)
    (new,) = store.add_documents([Document("blue tea", metadata={"user_id": 7})])
    assert memory.for_user(7).get(new).text == "blue tea"
    with pytest.raises(ScopeError):
        store.add_documents([Document("pink tea", metadata={"user_id": "7"})])


def test_llama_index_names_them_as_the_core_does(memory: AdaptiveMemory) -> None:
    for name, found in ((7, ["number"]), ("7", ["text"]), (None, ["nobody"])):
        retriever = LlamaRetriever.from_memory(memory, user_id=name)
        assert [one.node.node_id for one in retriever.retrieve("tea")] == found


@pytest.mark.parametrize("whose", [7, lambda _session: 7])
def test_a_block_of_llama_index_takes_them(memory: AdaptiveMemory, whose: Any) -> None:
    block = AdaptiveMemoryBlock(memory=memory, user_id=whose)
    assert block.for_session("monday").scope == Scope.of(7)
    assert block.for_session("monday").recall("tea", k=9).ids == ("number",)


@pytest.mark.parametrize("reader", [AdaptiveMemoryBlock, AdaptiveMemoryPostprocessor])
def test_true_is_not_user_1(memory: AdaptiveMemory, reader: Any) -> None:
    with pytest.raises(ValueError, match="user_id"):
        reader(memory=memory, user_id=True)


def test_an_empty_answer_says_that_the_other_kind_of_user_has_records(filled: Collection, clock: Clock) -> None:
    metadatas: Any = [{"user_id": 9}, {"user_id": "10"}]
    filled.add(ids=["9", "10"], documents=["tea"] * 2, metadatas=metadatas, embeddings=word_vectors(["tea"] * 2))
    with AdaptiveMemory(filled, embedder=word_vectors, clock=clock) as memory:
        (said,) = memory.for_user("9").recall("tea").trace
        assert "for_user(9)" in said
        (said,) = memory.for_user(10).recall("tea").trace
        assert "no record of user 10 is there, but some of user '10'" in said
        for user in (9, "10", 11, "11", "ana"):
            assert memory.for_user(user).recall("tea").trace == ()
        assert memory.for_user("9").recall("tea", filter={"topic": "tea"}).trace == ()
        retriever = LangChainRetriever(memory=memory, user_id="9")
        with pytest.warns(UserWarning, match="name their user as int"):
            assert retriever.invoke("tea") == []
