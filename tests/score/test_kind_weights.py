"""Do records of a kind score by the weights of that kind, within bounds, with parts that add up?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import Intent, Policy, PolicyError, Weights, Window
from adaptive_memory_core.policy import Advanced
from adaptive_memory_core.records import Hit, Record, Scored
from adaptive_memory_core.score.select import select

KINDS = ("fact", "reflection", "event")
WEIGHTS = st.builds(Weights, st.floats(0, 2), st.floats(0, 2), st.floats(0.1, 2))


def hit(name: str, kind: str, similarity: float = 0.5, importance: float = 0.5, at: float = 0.0) -> Hit:
    return Hit(Record(name, name, kind=kind, created_at=at, importance=importance), similarity, name)


def scores(hits: list[Hit], policy: Policy, intent: Intent | None = None) -> dict[str, Scored]:
    kept, _ = select(hits, policy, k=20, now=100.0, intent=intent or Intent())
    return {one.id: one for one in kept}


def test_a_kind_without_weights_of_its_own_has_those_of_the_policy() -> None:
    hits = [hit("a", "event", 0.9), hit("b", "event", 0.4)]
    plain = scores(hits, Policy.preset("equal"))
    own = scores(hits, Policy.preset("equal").replace(advanced={"kind_weights": {"fact": Weights(0, 0, 1)}}))
    assert {one: found.parts for one, found in plain.items()} == {one: found.parts for one, found in own.items()}


def test_importance_counts_more_for_reflections_and_similarity_for_facts() -> None:
    """As the article weighs tiers."""
    important = {"importance": 0.9, "similarity": 0.3}
    similar = {"importance": 0.1, "similarity": 0.7}
    policy = Policy(
        weights=Weights(0, 1, 1),
        advanced=Advanced(blend="absolute", kind_weights={"reflection": Weights(0, 3, 1), "fact": Weights(0, 1, 3)}),
        channels=("dense",),
    )
    hits = [
        *(hit(f"{kind} important", kind, **important) for kind in KINDS),
        *(hit(f"{kind} similar", kind, **similar) for kind in KINDS),
    ]
    found = {name: round(one.score, 9) for name, one in scores(hits, policy).items()}
    assert found == {
        "reflection important": 0.75,
        "fact important": 0.45,
        "event important": 0.6,
        "reflection similar": 0.25,
        "fact similar": 0.55,
        "event similar": 0.4,
    }


def test_a_question_of_the_past_takes_the_recency_of_kinds_away_too() -> None:
    policy = Policy.preset("equal").replace(advanced={"kind_weights": {"fact": Weights(5, 0, 1)}})
    hits = [hit("new", "fact", at=99.0), hit("then", "fact", at=10.0)]
    assert next(iter(scores(hits, policy))) == "new"
    assert next(iter(scores(hits, policy, Intent((Window(5.0, 15.0),))))) == "then"


@given(
    st.lists(st.tuples(st.sampled_from(KINDS), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=9),
    WEIGHTS,
    st.dictionaries(st.sampled_from(KINDS), WEIGHTS),
    st.sampled_from(["sum", "product", "absolute", "auto"]),
)
def test_scores_stay_in_bounds_and_parts_add_up(
    given: list[tuple[str, float, float]], weights: Weights, kinds: dict[str, Weights], blend: str
) -> None:
    policy = Policy(weights=weights, advanced=Advanced(kind_weights=kinds, blend=blend))  # type: ignore[arg-type]
    hits = [hit(str(number), kind, close, worth) for number, (kind, close, worth) in enumerate(given)]
    for one in scores(hits, policy).values():
        assert 0.0 <= one.score <= 1.0
        assert sum(one.parts.values()) == pytest.approx(one.score, abs=1e-9)


@pytest.mark.parametrize("given_", [{"fact": 0.8}, {"": Weights()}, {5: Weights()}, {"fact": None}, "fact", 1])
def test_weights_that_are_none_are_refused(given_: object) -> None:
    with pytest.raises(PolicyError, match=r"kind_weights=.* is not allowed"):
        Policy(advanced=Advanced(kind_weights=given_))
