"""What is said to those who ask a reader of a memory for what it cannot do?"""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from llama_index.core import VectorStoreIndex

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


@pytest.mark.parametrize("kind", [AdaptiveMemoryRetriever, AdaptiveMemoryPostprocessor])
def test_an_argument_that_there_is_not_is_named_also_beside_a_memory(memory: Any, kind: Any) -> None:
    meant = r"no argument 'k'\. Did you mean 'similarity_top_k' or 'top_n'\? .*, ledger, fields"
    with pytest.raises(TypeError, match=meant):
        kind(memory=memory.for_user("ana"), k=3)
