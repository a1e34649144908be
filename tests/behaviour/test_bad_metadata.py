"""Are metadata and filters refused that cannot be kept or asked for, and the others kept as they are?"""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

import numpy as np
import pytest

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, Record, UserMemory
from adaptive_memory_core.errors import FilterError
from tests.behaviour.refused_input import SURROGATE, alice, hers, refused, untouched

__all__ = ["alice", "hers", "untouched"]  # fixtures


BAD_METADATA: list[Any] = [
    {"key": {"nested": 1}},
    {"key": []},
    {"key": [1, "a"]},
    {"key": [1, 2.5]},
    {"key": [[1]]},
    {"key": (1, 2)},
    {"key": {1, 2}},
    {"key": b"bytes"},
    {"key": datetime(2025, 1, 1)},
    {"key": math.nan},
    {"key": math.inf},
    {"key": [math.nan]},
    {"key": 2**63},
    {"key": np.float32(1)},
    {"key": np.int64(1)},
    {"key": SURROGATE},
    {"key": [SURROGATE]},
    {SURROGATE: 1},
    {"": 1},
    {5: 1},
    {None: 1},
    {"chroma:document": "x"},
    {"#document": "x"},
    {"$and": 1},
    {"$anything": 1},
    {"user_id": "bob"},
    {"last_read": 5.0},
    {"retrieval_count": 5},
    "text",
    [("key", 1)],
    5,
]


@pytest.mark.parametrize("metadata", BAD_METADATA, ids=lambda metadata: ascii(metadata)[:30])
def test_metadata_that_cannot_be_kept_is_refused(untouched: UserMemory, metadata: Any) -> None:
    refused(lambda: untouched.remember("tea", metadata=metadata), InvalidInputError)


def test_metadata_that_can_be_kept_comes_back_as_it_was(alice: UserMemory) -> None:
    given: dict[str, Any] = {
        "text": "x\x00y",
        "empty": "",
        "whole": 2**63 - 1,
        "negative": -(2**63),
        "number": 0.1,
        "flag": True,
        "words": ["a", "b"],
        "flags": [True, False],
        "numbers": [1.5, 2.5],
        "key with spaces, ünï¢ødé and 日本": 1,
        "dollar$": 1,
        "hash#": 1,
    }
    alice.remember("tea", id="full", metadata=given)
    kept = alice.get("full").metadata
    assert kept == given
    assert {key: type(value) for key, value in kept.items()} == {key: type(value) for key, value in given.items()}


def test_a_key_without_a_value_is_left_out(alice: UserMemory) -> None:
    given = {"page": 3, "chapter": None}
    ids = [
        alice.remember("one tea", metadata=given),
        *alice.remember_many([{"text": "two teas", "metadata": given}, Record(text="three teas", metadata=given)]),
        *alice.observe([{"text": "four teas", "metadata": given}]),
    ]
    assert [dict(alice.get(one).metadata) for one in ids] == [{"page": 3}] * 4


BAD_FILTERS: list[Any] = [
    {},
    [],
    "kind",
    5,
    {1: 2},
    {"a": None},
    {"a": {}},
    {"a": []},
    {"a": [1]},
    {"a": {"$foo": 1}},
    {"a": {"$gt": "x"}},
    {"a": {"$gt": 1, "$lt": 2}},
    {"a": {"$in": []}},
    {"a": {"$in": [1, "x"]}},
    {"a": math.nan},
    {"a": math.inf},
    {"a": b"x"},
    {"a": object()},
    {"a": SURROGATE},
    {SURROGATE: 1},
    {"$and": []},
    {"$and": [{"a": 1}]},
    {"$or": {"a": 1}},
    {"$not": [{"a": 1}]},
    {"$contains": "x"},
    {"#document": "x"},
]


@pytest.mark.parametrize("where", BAD_FILTERS, ids=lambda where: ascii(where).partition(" at 0x")[0][:30])
def test_a_filter_that_chroma_would_reject_is_refused(untouched: UserMemory, where: Any) -> None:
    memory = untouched.memory
    assert isinstance(memory, AdaptiveMemory)
    refused(lambda: untouched.recall("tea", filter=where), FilterError, "The filter")
    refused(lambda: memory.for_everyone().recall("tea", filter=where), FilterError, "The filter")
