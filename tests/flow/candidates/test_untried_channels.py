"""Is it said, once, that words could find more, where nobody measured the embedder?"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.flow.candidates.untried_channels import UNTRIED
from adaptive_memory_core.models.embedder import as_embedder
from tests.conftest import Vectors

MANY = [f"note number {number}" for number in range(30)]
BOTH: Any = ("dense", "lexical")


def test_it_is_said_once_where_there_is_more_than_was_looked_at(memory: AdaptiveMemory) -> None:
    alice = memory.for_user("alice")
    alice.remember("tea at noon")
    assert alice.recall("tea").trace == ()  # all there is was looked at
    alice.remember_many(MANY)
    assert alice.recall("note", policy=Policy(channels=("dense",))).trace == ()  # somebody has chosen
    assert alice.recall("note", policy=Policy(channels=BOTH)).trace == ()
    assert alice.recall("note").trace == (UNTRIED,)
    assert alice.recall("note").trace == ()
    assert memory.for_user("ben").recall("note").trace == ()


def test_nothing_is_said_where_the_embedder_was_measured(collection: Collection, embed: Callable[..., Vectors]) -> None:
    named = as_embedder(embed, name="all-minilm-l6-v2")
    with closing(AdaptiveMemory(collection, embedder=named)) as memory:
        alice = memory.for_user("alice")
        alice.remember_many(MANY)
        assert alice.recall("note").trace == ()
