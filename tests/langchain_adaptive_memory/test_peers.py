"""Is what the README says of LangChain's own retrievers true of the installed version?"""

from __future__ import annotations

import time
from datetime import datetime, timezone
from typing import Any

import pytest
from langchain_chroma import Chroma
from langchain_classic.retrievers import TimeWeightedVectorStoreRetriever
from langchain_core.documents import Document

from langchain_adaptive_memory import AdaptiveMemoryRetriever
from tests.langchain_adaptive_memory.conftest import NewStore

pytestmark = pytest.mark.filterwarnings("ignore")


def time_weighted(store: Chroma, **keys: Any) -> TimeWeightedVectorStoreRetriever:
    return TimeWeightedVectorStoreRetriever(vectorstore=store, **keys)


def timed(text: str, **metadata: Any) -> Document:
    return Document(text, metadata={"last_accessed_at": time.time(), "created_at": time.time(), **metadata})


def test_the_time_weighted_retriever_knows_nothing_of_its_store_in_a_new_process(new_store: NewStore) -> None:
    store = new_store(())
    time_weighted(store).add_documents([timed("green tea")])
    with pytest.raises(IndexError):
        time_weighted(store).invoke("green tea")
    with AdaptiveMemoryRetriever.from_vectorstore(store) as ours:
        assert ours.invoke("green tea")[0].page_content == "green tea"


def test_the_time_weighted_retriever_cannot_write_its_own_timestamps_into_chroma(new_store: NewStore) -> None:
    with pytest.raises(ValueError, match="datetime"):
        time_weighted(new_store(())).add_documents([Document("green tea")])
    aware = {"last_accessed_at": datetime.now(timezone.utc)}
    with pytest.raises(ValueError):
        time_weighted(new_store(())).add_documents([Document("green tea", metadata=aware)])


def test_the_time_weighted_retriever_returns_other_users_records(new_store: NewStore) -> None:
    search = {"k": 100, "filter": {"user_id": "alice"}}
    retriever = time_weighted(new_store(()), search_kwargs=search, k=2)
    retriever.add_documents([timed("green tea", user_id="alice"), timed("green tea of bob", user_id="bob")])
    assert {one.metadata["user_id"] for one in retriever.invoke("green tea")} == {"alice", "bob"}


def test_the_time_weighted_retriever_ignores_k_and_hands_out_its_own_buffer(new_store: NewStore) -> None:
    retriever = time_weighted(new_store(()))
    retriever.add_documents([timed(f"green tea {number}") for number in range(4)])
    found = retriever.invoke("green tea", k=1)
    assert len(found) == 4
    assert "score" not in found[0].metadata
    assert any(found[0] is one for one in retriever.memory_stream)


def test_plain_retrieval_returns_no_score_and_learns_nothing(new_store: NewStore) -> None:
    store = new_store()
    plain = store.as_retriever(search_kwargs={"k": 1})
    before = plain.invoke("green tea")
    assert "score" not in before[0].metadata
    assert plain.invoke("green tea") == before
    assert len(plain.invoke("tea", k=3)) == 3
