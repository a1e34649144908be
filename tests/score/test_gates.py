"""Who may be returned at all, and does everyone who is left out hear why?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import Policy, Record
from adaptive_memory_core.reports import Hit
from adaptive_memory_core.score.ranking import as_candidates, unfit
from adaptive_memory_core.score.select import MOST_CANDIDATES, select, wants_more

NOW = 1_000.0


def hit(name: str, close: float = 0.5, **fields: Any) -> Hit:
    return Hit(Record(name, name, **fields), close, name)


@pytest.mark.parametrize("distance", [float("nan"), float("inf"), float("-inf")])
def test_a_distance_that_is_no_number_is_dropped_with_a_reason(distance: float) -> None:
    kept, dropped = select([hit("broken", distance), hit("fine")], Policy(), k=5, now=NOW)
    assert [one.id for one in kept] == ["fine"]
    assert [(one.id, one.reason, one.score) for one in dropped] == [("broken", "no usable distance", None)]
    assert kept[0].score == pytest.approx(0.5 * (0.95 + 0.025 * 0.5))


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, None),
        ({"valid_until": NOW}, "expired"),
        ({"valid_until": NOW + 1}, None),
        ({"valid_until": 0.0}, "expired"),
        ({"valid_from": NOW}, None),
        ({"valid_from": NOW + 1}, "not valid yet"),
        ({"superseded_by": "b"}, "superseded by b"),
        ({"superseded_by": "b", "valid_until": NOW}, "superseded by b"),
        ({"superseded_by": "b", "valid_until": NOW + 1}, None),
    ],
)
def test_a_record_counts_only_while_it_is_valid(fields: dict[str, Any], reason: str | None) -> None:
    assert unfit(hit("a", **fields), Policy(), now=NOW) == reason


@given(st.lists(st.floats(-1, 1), max_size=10), st.floats(0.01, 1))
def test_the_similarity_floor_is_absolute(close: list[float], floor: float) -> None:
    found = [hit(str(n), value) for n, value in enumerate(close)]
    kept, dropped = select(found, Policy(min_similarity=floor), k=100, now=NOW)
    assert {one.id for one in kept} == {str(n) for n, value in enumerate(close) if value >= floor}
    assert all(one.reason == "below the similarity floor" for one in dropped)


def test_where_nothing_is_relevant_nothing_is_returned() -> None:
    kept, dropped = select([hit("a", 0.1), hit("b", 0.2)], Policy(min_similarity=0.3), k=5, now=NOW)
    assert kept == ()
    assert len(dropped) == 2


def test_a_floor_of_0_is_off() -> None:
    assert len(select([hit("a", -0.9)], Policy(), k=5, now=NOW)[0]) == 1


@given(st.lists(st.floats(0, 1), max_size=12), st.integers(1, 15), st.floats(0, 1))
def test_every_candidate_is_either_kept_or_dropped_with_a_reason(close: list[float], k: int, floor: float) -> None:
    found = [hit(str(n), value, valid_until=0.0 if n % 4 == 3 else None) for n, value in enumerate(close)]
    kept, dropped = select(found, Policy(min_score=floor), k=k, now=NOW)
    assert len(kept) <= k
    assert sorted([one.id for one in kept] + [one.id for one in dropped]) == sorted(one.record.id for one in found)
    assert all(one.reason for one in dropped)
    assert all(one.score >= floor for one in kept)


def test_what_is_beyond_k_keeps_its_score() -> None:
    kept, dropped = select([hit("a", 0.9), hit("b", 0.1)], Policy(), k=1, now=NOW)
    assert [one.id for one in kept] == ["a"]
    assert dropped[0].reason == "beyond k"
    assert dropped[0].scored is not None
    assert dropped[0].score == dropped[0].scored.score


def test_gates_that_take_too_many_ask_for_more_and_a_floor_does_not() -> None:
    expired = [hit(str(n), valid_until=0.0) for n in range(20)]
    far = [hit(str(n), 0.1) for n in range(20)]

    def more(hits: Sequence[Hit], policy: Policy, asked: int = 20) -> bool:
        return wants_more(as_candidates(hits), policy, k=5, asked=asked, now=NOW, near=len(hits))

    assert more(expired, Policy())
    assert not more(far, Policy(min_similarity=0.5))
    assert not more(expired * 100, Policy(), asked=MOST_CANDIDATES)
    assert not more(expired[:19], Policy())
    assert not more([], Policy())
