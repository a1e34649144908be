"""What does a time asked about change in a ranking? Bounded, and nothing where no time is asked about."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import Intent, Policy, Record, Weights, Window
from adaptive_memory_core.policy import Advanced
from adaptive_memory_core.reports import Hit
from adaptive_memory_core.score.ranking import as_candidates
from adaptive_memory_core.score.select import select
from adaptive_memory_core.score.time_match import attuned, closeness, timing

DAY = 86_400.0
WEEK = Intent((Window(100 * DAY, 107 * DAY),))


def hit(name: str, day: float | None, similarity: float = 0.5, **more: float) -> Hit:
    return Hit(Record(name, name, created_at=None if day is None else day * DAY, **more), similarity, name)  # type: ignore[arg-type]


def order(hits: list[Hit], intent: Intent, policy: Policy | None = None, now: float = 200 * DAY) -> list[str]:
    kept, _ = select(hits, policy or Policy(), k=10, now=now, intent=intent)
    return [one.id for one in kept]


def test_what_happened_in_the_window_comes_first_among_equals() -> None:
    assert order([hit("new", 199), hit("then", 103), hit("old", 1)], WEEK)[0] == "then"


MAY = Window(100 * DAY, 131 * DAY)


@pytest.mark.parametrize("day", [100 - 12, 131 + 12])
def test_twelve_days_outside_a_month_is_not_in_it(day: int) -> None:
    assert order([hit("beside", day, 0.6), hit("then", 111, 0.4), hit("far", 1, 0.0)], Intent((MAY,)))[0] == "then"


def test_a_day_is_felt_longer_after_it_than_before() -> None:
    day = Window(100 * DAY, 101 * DAY)
    assert [closeness(Record("a", "x", created_at=at * DAY), day) for at in (99, 102.5)] == [0.5, 0.5]


def test_a_vague_window_is_felt_on_both_sides_and_an_open_one_where_it_is_open_wholly() -> None:
    about = Window(100 * DAY, 131 * DAY, soft_seconds=15.5 * DAY)
    assert [closeness(Record("a", "x", created_at=day * DAY), about) for day in (84.5, 146.5)] == [0.5, 0.5]
    since = Window(100 * DAY, None)
    assert [closeness(Record("a", "x", created_at=day * DAY), since) for day in (95, 999)] == [0.5, 1.0]


def test_what_began_to_hold_in_the_window_counts_as_much() -> None:
    assert order([hit("new", 199), hit("told late", 150, valid_from=101 * DAY)], WEEK)[0] == "told late"


def test_what_held_from_before_until_after_counts_as_much() -> None:
    spans = hit("held", 1, valid_from=50 * DAY, valid_until=150 * DAY)
    assert order([hit("new", 120), spans], WEEK, now=140 * DAY)[0] == "held"


def test_what_is_irrelevant_gains_nothing_by_its_date() -> None:
    kept, _ = select([hit("right", 199, 0.9), hit("off topic", 103, 0.1)], Policy(), k=5, now=200 * DAY, intent=WEEK)
    assert kept[0].id == "right"


def test_the_past_drops_recency_and_the_present_raises_it() -> None:
    equal = Policy.preset("equal")
    assert attuned(equal, Intent(lean="past")).weights.recency == 0.0
    assert attuned(equal, WEEK).weights.recency == 0.0
    assert attuned(equal, Intent(lean="present")).weights.recency == 2.0
    assert attuned(equal, Intent()) is equal


def test_originally_prefers_the_older_and_currently_the_newer() -> None:
    hits = [hit("old", 1), hit("middle", 100), hit("new", 199)]
    assert order(hits, Intent(lean="earliest")) == ["old", "middle", "new"]
    assert order(hits, Intent(lean="present")) == ["new", "middle", "old"]


def test_where_no_time_fits_nothing_changes() -> None:
    hits = [hit("a", 1, 0.9), hit("b", 2, 0.5), hit("c", None, 0.4)]
    far = Intent((Window(5_000 * DAY, 5_001 * DAY),))
    policy = Policy(weights=Weights(recency=0, importance=0, similarity=1))
    plain, _ = select(hits, policy, k=5, now=200 * DAY)
    asked, _ = select(hits, policy, k=5, now=200 * DAY, intent=far)
    assert plain == asked


def test_a_record_of_unknown_time_stands_between_those_in_and_out_of_the_window() -> None:
    assert order([hit("out", 1), hit("unknown", None), hit("in", 103)], WEEK) == ["in", "unknown", "out"]


def test_temporal_false_ignores_the_intent() -> None:
    policy = Policy(time_words="off")
    hits = [hit("new", 199), hit("then", 103)]
    assert order(hits, WEEK, policy) == order(hits, Intent(), policy)


def test_a_policy_of_recency_alone_keeps_it() -> None:
    policy = Policy(weights=Weights(recency=1, importance=0, similarity=0))
    assert attuned(policy, WEEK).weights == policy.weights


SCORES = st.lists(st.tuples(st.floats(0, 1), st.none() | st.floats(-1e15, 1e15)), min_size=1, max_size=8)
INTENTS = st.sampled_from(
    [
        *(WEEK, Intent((Window(None, 0.0),)), Intent((Window(0.0, None), Window(-5.0, -1.0)))),
        *(Intent(lean="past"), Intent(lean="earliest"), Intent(lean="present")),
    ]
)


@given(SCORES, INTENTS, st.floats(0, 3), st.booleans())
def test_scores_stay_in_bounds_parts_add_up_and_what_fits_gains(
    given: list[tuple[float, float | None]], intent: Intent, time: float, alone: bool
) -> None:
    policy = Policy(advanced=Advanced(time_weight=time))
    hits = [hit(str(n), None if at is None else at / DAY, close) for n, (close, at) in enumerate(given)]
    kept, _ = select(hits, policy, k=20, now=0.0, intent=intent, time_alone=alone)
    for one in kept:
        assert 0.0 <= one.score <= 1.0
        assert one.score == pytest.approx(sum(one.parts.values()))
    found = timing(as_candidates(hits), intent, policy, alone=alone)
    if found is not None:
        assert max(found.nats) <= found.most + 1e-9
        by_fit = sorted(zip(found.fits, found.nats, strict=True))
        assert alone or all(one[1] <= other[1] + 1e-9 for one, other in pairwise(by_fit))


@given(st.floats(-1e15, 1e15), st.floats(-1e15, 1e15), st.floats(0, 1e15))
def test_closeness_is_a_share_and_whole_only_within(at: float, start: float, length: float) -> None:
    window = Window(start, start + length + 1.0)
    close = closeness(Record("a", "x", created_at=at), window)
    assert close is not None
    assert 0.0 <= close <= 1.0
    assert (at in window) <= (close == 1.0)
