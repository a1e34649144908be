"""Are two records of one user and id found, and merged into one without losing a read?"""

from __future__ import annotations

from typing import Any

import pytest

from adaptive_memory_core import AdaptiveMemory, Policy, Scope
from adaptive_memory_core.identity import scoped_id
from tests.conftest import Clock, Open, word_vectors

ALICE = Scope("alice")
TWIN = scoped_id(ALICE, "tea")


@pytest.fixture
def twinned(open_memory: Open, clock: Clock) -> AdaptiveMemory:
    """A record, and behind its back another one under the id that alice's would have beside somebody else's."""
    memory = open_memory(policy=Policy(refresh_floor_seconds=0.0))
    alice = memory.for_user("alice")
    alice.remember_many([{"id": "tea", "text": "alice likes tea"}, {"id": "rain", "text": "rain on monday"}])
    return memory


def add_twin(memory: AdaptiveMemory, clock: Clock, text: str = "alice likes tea", later: float = 0.0) -> None:
    collection: Any = memory.ports().records.collection
    collection.add(
        ids=[TWIN],
        documents=[text],
        embeddings=word_vectors([text]),
        metadatas=[{"user_id": "alice", "created_at": clock.now + later}],
    )


def test_twins_are_found_and_merged_with_the_reads_of_both(twinned: AdaptiveMemory, clock: Clock) -> None:
    alice = twinned.for_user("alice")
    add_twin(twinned, clock)
    for _ in range(3):
        clock.pass_days(1)
        assert alice.recall(
            "alice likes tea", k=2, policy=alice.memory.policy.replace(advanced={"duplicates": "keep"})
        ).ids == ("tea", "tea")
    report = twinned.check()
    assert "records: 1 records are stored twice under one user and id: 'tea' of user 'alice'." in str(report)
    assert not report.ok
    assert twinned.check(repair=True).ok
    assert twinned.check().findings == ()
    assert alice.recall("alice likes tea", k=5).ids == ("tea", "rain")
    assert alice.get("tea").read.retrieval_count == 3 + 3 + 1
    assert alice.get("tea").read.last_read == clock.now
    assert alice.stats().records == 2
    alice.forget("tea")
    store: Any = twinned.ports().records
    assert store.size() == 1


def test_of_twins_that_say_something_else_the_later_stays_with_its_own_reads(
    twinned: AdaptiveMemory, clock: Clock
) -> None:
    alice = twinned.for_user("alice")
    alice.recall("alice likes tea", k=1)
    add_twin(twinned, clock, "alice likes coffee by now", later=60.0)
    assert twinned.check(repair=True).ok
    assert alice.get("tea").text == "alice likes coffee by now"
    assert alice.get("tea").read.retrieval_count == 0
    assert alice.recall("alice likes coffee by now", k=1).ids == ("tea",)


def test_an_id_that_two_users_have_is_no_twin(twinned: AdaptiveMemory) -> None:
    twinned.for_user("bob").remember("bob likes tea", id="tea")
    assert twinned.check(repair=True).findings == ()
    assert twinned.for_user("bob").get("tea").text == "bob likes tea"
