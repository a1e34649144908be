"""What is said to those who ask a reader of a memory for what it cannot do?"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import chromadb
import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.embeddings import MockEmbedding

from llama_adaptive_memory import AdaptiveMemoryBlock, AdaptiveMemoryPostprocessor, AdaptiveMemoryRetriever


@pytest.mark.parametrize("reader", [AdaptiveMemoryRetriever, AdaptiveMemoryPostprocessor])
def test_an_unknown_argument_is_refused_with_the_names_that_are_allowed(index: VectorStoreIndex, reader: Any) -> None:
    with pytest.raises(TypeError, match=r"no argument 'ledgr'\. Did you mean 'ledger'\? Allowed: .*, ledger, fields"):
        reader.from_index(index, ledgr="x")


@pytest.mark.parametrize("reader", [AdaptiveMemoryRetriever, AdaptiveMemoryPostprocessor, AdaptiveMemoryBlock])
def test_what_reads_a_memory_is_not_pickled_and_says_where_to_make_it(index: VectorStoreIndex, reader: Any) -> None:
    with reader.from_index(index, user_id="alice") as ours, pytest.raises(TypeError, match="in the process that uses"):
        pickle.dumps(ours)


def test_the_name_of_a_preset_is_no_policy(index: VectorStoreIndex) -> None:
    with pytest.raises(ValueError, match="policy is 'support'"):
        AdaptiveMemoryPostprocessor.from_index(index, policy="support")


@pytest.mark.parametrize("reader", [AdaptiveMemoryRetriever, AdaptiveMemoryPostprocessor, AdaptiveMemoryBlock])
@pytest.mark.parametrize(
    "wrong",
    [{"user_id": ""}, {"user_id": 5.5}, {"over": "bob"}, {"shared": 3}, {"keeping": 3}, {"ledger": ""}, {"bogus": 1}],
)
def test_a_wrong_argument_leaves_nothing_beside_a_collection(
    tmp_path: Path, reader: Any, wrong: dict[str, Any]
) -> None:
    collection = chromadb.PersistentClient(tmp_path).create_collection("notes", embedding_function=None)
    before = sorted(tmp_path.iterdir())
    given: dict[str, Any] = {
        "embed_model": MockEmbedding(embed_dim=2),
        "ledger": tmp_path / "new" / "reads.sqlite3",
        **wrong,
    }
    with pytest.raises((TypeError, ValueError)):
        reader(collection=collection, **given)
    assert sorted(tmp_path.iterdir()) == before


def test_a_fallback_that_is_not_shared_leaves_nothing_beside_a_collection(tmp_path: Path) -> None:
    collection = chromadb.PersistentClient(tmp_path).create_collection("notes", embedding_function=None)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ValueError, match="was not declared to be shared"):
        AdaptiveMemoryRetriever(
            collection=collection, embed_model=MockEmbedding(embed_dim=2), user_id="ana", fallback="bob"
        )
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("kind", [AdaptiveMemoryRetriever, AdaptiveMemoryPostprocessor])
def test_an_argument_that_there_is_not_is_named_also_beside_a_memory(memory: Any, kind: Any) -> None:
    meant = r"no argument 'k'\. Did you mean 'similarity_top_k' or 'top_n'\? .*, ledger, fields"
    with pytest.raises(TypeError, match=meant):
        kind(memory=memory.for_user("ana"), k=3)
