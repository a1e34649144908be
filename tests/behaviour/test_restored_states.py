"""What is taken in from outside? A state, a metadata value, a row: in its range, or refused, or not believed."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, Policy, UserMemory, error_messages
from adaptive_memory_core.learn.after_read import FLAGS, RANGES
from tests.behaviour.conftest import shown
from tests.conftest import Open, word_vectors

NUMBERS = [math.nan, math.inf, -math.inf, 1e308, -1e308, 10**400, "1", True, [], {}]
TIMES = ["last_read", "refreshed_at", "settled_at", "fresh_at", "useful_at"]


@pytest.fixture
def exported(alice: UserMemory) -> dict[str, Any]:
    alice.remember("green tea", id="tea")
    alice.feedback(alice.recall("tea", k=1), helpful=["tea"])
    return json.loads(json.dumps(alice.export_state()))  # type: ignore[no-any-return]


def with_field(state: dict[str, Any], name: str, value: object) -> dict[str, Any]:
    line = state["records"][0]
    return {**state, "records": [{**line, "state": {**line["state"], name: value}}]}


@pytest.mark.parametrize("name", list(RANGES))
def test_a_field_beyond_its_range_is_refused_by_name(alice: UserMemory, exported: dict[str, Any], name: str) -> None:
    before = alice.get("tea").read
    for value in [*NUMBERS, RANGES[name].low - 1, *([] if name in TIMES else [None])]:
        with pytest.raises(InvalidInputError) as raised:
            alice.restore_state(with_field(exported, name, value))
        assert "'tea'" in str(raised.value)
        assert f"{name}={error_messages.shown(value)}" in str(raised.value)  # cut, with its length, if it is long
        assert str(RANGES[name]) in str(raised.value)
    assert alice.get("tea").read == before


@pytest.mark.parametrize("name", FLAGS)
def test_a_flag_is_true_or_false(memory: AdaptiveMemory, exported: dict[str, Any], name: str) -> None:
    for value in (1, "true", None, math.nan):
        with pytest.raises(InvalidInputError, match=f"{name}=.*true or false"):
            memory.for_user("alice").restore_state(with_field(exported, name, value))


@pytest.mark.parametrize(
    "line", [None, "tea", {}, {"id": 5}, {"id": "tea", "origin": 5, "state": {}}, {"id": "tea", "origin": "zz"}]
)
def test_a_damaged_line_is_shown(memory: AdaptiveMemory, exported: dict[str, Any], line: Any) -> None:
    with pytest.raises(InvalidInputError, match="damaged"):
        memory.for_user("alice").restore_state({**exported, "records": [line]})
    for records in (None, "tea", {"tea": 1}, 5):
        with pytest.raises(InvalidInputError, match="'records'"):
            memory.for_user("alice").restore_state({**exported, "records": records})


@pytest.mark.parametrize("name", list(RANGES))
@pytest.mark.hard("large")
def test_the_ends_of_a_range_break_nothing_that_comes_after(
    open_memory: Open, exported: dict[str, Any], name: str
) -> None:
    """Across a restart, under a policy that uses every field."""
    policy = Policy.preset("balanced").replace(
        learning={"half_life_growth": 0.5}, reads_before_refresh=2, refresh_floor_seconds=0
    )
    high = 10**12 if math.isinf(RANGES[name].high) else RANGES[name].high
    for value in (RANGES[name].low, high):
        exact = int(value) if RANGES[name].whole else value
        with open_memory(policy=policy) as there:
            alice = there.for_user("alice")
            alice.remember("green tea", id="tea")
            alice.remember("black coffee", id="coffee")
            alice.demote("tea")
            alice.restore_state(with_field(exported, name, exact))
        with open_memory(policy=policy) as there:
            alice = there.for_user("alice")
            answer = alice.recall("tea", k=2)
            assert {*answer.ids} == {"tea", "coffee"}
            assert all(0.0 <= hit.score <= 1.0 for hit in answer)
            assert answer.step is not None, answer.trace
            assert "green tea" in answer.render()
            alice.feedback(answer, unhelpful=["tea"])
            alice.feedback(answer, helpful=["tea"])
            assert json.dumps(alice.export_state(), allow_nan=False)
            assert alice.stats().strengths is not None
            alice.forget("tea")
            alice.forget("coffee")


def test_metadata_beyond_reason_count_as_unknown(over: Open, collection: Collection) -> None:
    strange = [1e308, -1e308, 1e300, "1e308", "soon", -1.0]
    keys = ["last_read", "useful_at", "created_at", "strength", "retrieval_count", "importance_boost", "importance"]
    rows = [{"user_id": "alice", key: value} for key in keys for value in strange]
    ids = [f"m{number}" for number in range(len(rows))]
    texts = [f"tea number {number}" for number in range(len(rows))]
    collection.add(ids=ids, documents=texts, metadatas=rows, embeddings=word_vectors(texts))  # type: ignore[arg-type]
    memory = over(policy=Policy.preset("balanced"))
    alice = memory.for_user("alice")
    for _ in range(2):
        answer = alice.recall("tea number 1", k=len(rows))
        assert answer.step is not None, answer.trace
        assert len(answer) + len(answer.dropped) >= 20
        assert all(0.0 <= hit.score <= 1.0 for hit in answer)
        assert answer.render()
    assert json.dumps(alice.export_state(), allow_nan=False)
    memory.flush()
    assert shown(memory, answer[0].id)["retrieval_count"] >= 1
    assert alice.stats().strengths is not None
