"""Do weights of kinds order what they should, within bounds, and add up?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import Policy, PolicyError, Weights
from adaptive_memory_core.records import Hit, Record
from adaptive_memory_core.score.select import select

KINDS = ("fact", "reflection", "event")


def hits(*similarities: float) -> list[Hit]:
    return [
        Hit(Record(f"{n}", "text", kind=KINDS[n % 3], created_at=0.0), close, f"{n}")
        for n, close in enumerate(similarities)
    ]


def test_without_weights_nothing_changes() -> None:
    plain, _ = select(hits(0.9, 0.8, 0.7), Policy(), k=3, now=0.0)
    equal, _ = select(hits(0.9, 0.8, 0.7), Policy(kind_weights={"fact": 1}), k=3, now=0.0)
    assert [(one.id, one.score) for one in equal] == [(one.id, one.score) for one in plain]
    assert "kind" not in plain[0].parts


def test_a_kind_that_weighs_less_falls_behind_its_equal() -> None:
    kept, _ = select(hits(0.8, 0.8), Policy(kind_weights={"fact": 0.8}), k=2, now=0.0)
    assert [one.record.kind for one in kept] == ["reflection", "fact"]


def test_a_kind_that_weighs_more_leaves_the_others_less() -> None:
    policy = Policy(weights=Weights(0, 0, 1), kind_weights={"reflection": 2.0})
    kept, _ = select(hits(0.8, 0.8, 0.8), policy, k=3, now=0.0)
    assert kept[0].record.kind == "reflection"
    assert [one.score for one in kept] == [0.8, 0.4, 0.4]


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=9), st.floats(0.01, 10), st.sampled_from(["sum", "product", "auto"])
)
def test_scores_stay_in_bounds_and_parts_add_up(similarities: list[float], weight: float, blend: str) -> None:
    policy = Policy(kind_weights={"fact": weight, "reflection": 0.5}, blend=blend)  # type: ignore[arg-type]
    kept, _ = select(hits(*similarities), policy, k=9, now=0.0)
    for one in kept:
        assert 0.0 <= one.score <= 1.0
        assert sum(one.parts.values()) == pytest.approx(one.score, abs=1e-9)


@pytest.mark.parametrize(
    "given_", [{"fact": 0}, {"fact": -1}, {"fact": 11}, {"fact": True}, {"": 1}, {"fact": "1"}, "fact", 1]
)
def test_weights_that_are_none_are_refused(given_: object) -> None:
    with pytest.raises(PolicyError, match=r"kind_weights=.* is not allowed"):
        Policy(kind_weights=given_)  # type: ignore[arg-type]
