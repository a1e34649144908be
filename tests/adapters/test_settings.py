"""What may be set of a retriever of either framework, for all calls or for one, and what is refused at once."""

from __future__ import annotations

from typing import Any

import pytest

from adaptive_memory_core import InvalidInputError, Policy, PolicyError, UserMemory, Weights
from adaptive_memory_core.errors import FilterError
from tests.adapters.conftest import Adapter

BY_RECENCY = Policy(weights=Weights(recency=1, importance=0, similarity=0))


@pytest.mark.parametrize(
    ("name", "wrong", "right", "error"),
    [
        ("policy", "fast", BY_RECENCY, PolicyError),
        ("policy", {"half_life_days": 7}, BY_RECENCY, PolicyError),
        *(("k", wrong, 2, InvalidInputError) for wrong in (0, "4", True)),
        ("filter", "kind = fact", None, FilterError),
        ("reinforce", "no", False, InvalidInputError),
        ("score", "cosine", "similarity", InvalidInputError),
        *(("min_score", wrong, 0.1, InvalidInputError) for wrong in (40, 80)),
        *(("min_similarity", wrong, 0.1, InvalidInputError) for wrong in (-1, -0.1)),
    ],
)
async def test_a_wrong_setting_is_refused_where_it_is_given_assigned_or_asked_for(
    adapter: Adapter, alice: UserMemory, name: str, wrong: Any, right: Any, error: type[Exception]
) -> None:
    name = {"k": adapter.k, "filter": adapter.filter}.get(name, name)
    with pytest.raises(error, match=name):
        adapter.over_memory(alice, **({"k": wrong} if name == adapter.k else {name: wrong}))
    retriever = adapter.over_memory(alice)
    before = getattr(retriever, name)
    with pytest.raises(error, match=name):
        setattr(retriever, name, wrong)
    assert getattr(retriever, name) == before
    for awaited in (False, True):
        with pytest.raises(error, match=name):
            await adapter.find(retriever, "tea", awaited=awaited, **{name: wrong})
    setattr(retriever, name, right)
    assert getattr(retriever, name) == right
    assert await adapter.find(retriever, "green tea")


async def test_blocking_and_async_calls_take_the_same_arguments_and_agree(adapter: Adapter, alice: UserMemory) -> None:
    retriever = adapter.over_memory(alice, reinforce=False)
    asked: list[dict[str, Any]] = [
        *({adapter.k: k} for k in (1, 5)),
        *({}, {"min_score": 0.5}, {"min_similarity": 0.3}, {"policy": BY_RECENCY}),
        {"reinforce": False, "now": 1_760_000_500.0},
    ]
    for arguments in asked:
        expected = await adapter.look(retriever, "green tea", **arguments)
        found = await adapter.look(retriever, "green tea", awaited=True, **arguments)
        assert adapter.ids(found) == adapter.ids(expected)
        assert [adapter.score(one) for one in found] == [adapter.score(one) for one in expected]
        assert len(found) == arguments.get(adapter.k, len(found))
    assert len(await adapter.find(retriever, "green tea")) == 4, "a call changes nothing for the next"


async def test_thresholds_leave_out_what_is_below(adapter: Adapter, alice: UserMemory) -> None:
    retriever = adapter.over_memory(alice, k=9)
    scores = [adapter.score(one) for one in await adapter.look(retriever, "green tea")]
    assert await adapter.find(retriever, "green tea", min_score=scores[0] - 1e-6) == ["green tea is nice"]
    assert len(await adapter.find(retriever, "green tea", min_score=scores[2] - 1e-6)) == 3
    near = sorted(hit.similarity or 0 for hit in alice.recall("green tea", k=9))
    assert len(await adapter.find(retriever, "green tea", min_similarity=near[3] - 1e-6)) == 2
    assert await adapter.find(retriever, "quantum chromodynamics", min_similarity=0.5) == []
    retriever.min_score = scores[0] - 1e-6
    assert await adapter.find(retriever, "green tea") == ["green tea is nice"]
    assert len(await adapter.find(retriever, "green tea", min_score=None)) == 5


async def test_a_turn_may_be_named(adapter: Adapter, alice: UserMemory) -> None:
    retriever = adapter.over_memory(alice, policy=Policy(refresh_floor_seconds=0.0))
    for turn in ("monday", "monday", "tuesday"):
        await adapter.find(retriever, "tea", turn=turn)
    assert alice.get("tea").read.retrieval_count == 2
    assert alice.recalls()[0].turn == "tuesday"
