"""Does strength decay as the paper says, in closed form, whatever the policies were? And in columns as one by one?"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import Policy, ReadState
from adaptive_memory_core.learn.decay import (
    PacedSpan,
    Timeline,
    met,
    settled,
    strength,
    strength_columns,
    strengths_of,
    strong_since,
)
from adaptive_memory_core.policy import Decay, Remembrance
from adaptive_memory_core.policy.learning import DecayCurve, DecayPace

DAY = 86_400.0
decays = st.builds(
    DecayCurve,
    grace=st.sampled_from([0.0, 1.0, 2.5, 5.0, 20.0]),
    rate=st.sampled_from([0.5, 0.8, 0.95, 1.0]),
    floor=st.sampled_from([0.0, 0.0, 0.2]),
)
paces = st.builds(
    DecayPace,
    unit=st.sampled_from(["recalls", "days"]),
    decay=decays,
    by_kind=st.sampled_from([(), (("fact", DecayCurve(1.0, 0.9, 0.1)),)]),
)
kinds = st.sampled_from([None, "fact", "chat"])


@st.composite
def timelines(draw: st.DrawFn) -> Timeline:
    """Some paces, each from a later step and time on."""
    step, at, spans = 0, -math.inf, []
    for pace in draw(st.lists(paces, min_size=1, max_size=4)):
        spans.append(PacedSpan(step, at, pace))
        step += draw(st.integers(1, 12))
        at = float(step) * DAY
    return Timeline(step, tuple(spans))


@st.composite
def states(draw: st.DrawFn, step: int) -> ReadState:
    fresh = draw(st.integers(0, step))
    since = draw(st.integers(fresh, step))
    known = draw(st.booleans())
    return ReadState(
        strength=draw(st.floats(0.0, 1.0)),
        fresh_step=fresh,
        settled_step=since,
        fresh_at=fresh * DAY if known else None,
        settled_at=since * DAY if known else None,
        remembered=draw(st.booleans()),
        pinned=draw(st.booleans()),
    )


def step_by_step(state: ReadState, kind: str | None, timeline: Timeline) -> float:
    """What a loop over all steps leaves, as Algorithm 1 has it; for paces that count recalls."""
    left = state.strength
    if state.remembered or state.pinned:
        return left
    for step in range(1, timeline.step + 1):
        decay = [span for span in timeline.spans if span.from_step <= step][-1].pace.of(kind)
        if step > state.settled_step and step - state.fresh_step > decay.grace:
            left = max(left * decay.rate, min(left, decay.floor))
    return left


@given(st.data(), timelines(), kinds)
def test_the_closed_form_is_the_loop(data: st.DataObject, timeline: Timeline, kind: str | None) -> None:
    recalls = tuple(replace(span, pace=replace(span.pace, unit="recalls")) for span in timeline.spans)
    timeline = replace(timeline, spans=recalls)
    state = data.draw(states(timeline.step))
    assert strength(state, kind, timeline, now=0.0) == pytest.approx(step_by_step(state, kind, timeline), rel=1e-12)


@given(st.data(), timelines(), kinds, st.integers(0, 5))
def test_settling_on_the_way_changes_nothing(
    data: st.DataObject, timeline: Timeline, kind: str | None, back: int
) -> None:
    state = data.draw(states(timeline.step))
    now = timeline.step * DAY
    middle = max(state.settled_step, timeline.step - back)
    spans = tuple(span for span in timeline.spans if span.from_step <= middle)
    halfway = settled(state, kind, Timeline(middle, spans), now=middle * DAY)
    if state.settled_at is not None:
        direct = strength(state, kind, timeline, now=now)
        assert strength(halfway, kind, timeline, now=now) == pytest.approx(direct, rel=1e-9, abs=1e-12)


@given(st.data(), timelines())
def test_columns_give_what_one_by_one_gives(data: st.DataObject, timeline: Timeline) -> None:
    rows = data.draw(st.lists(st.tuples(states(timeline.step), kinds), min_size=1, max_size=8))
    now = timeline.step * DAY
    names = np.array([kind for _, kind in rows], dtype=object)
    found = strengths_of(strength_columns([state for state, _ in rows]), names, timeline, now=now)
    assert list(found) == pytest.approx([strength(state, kind, timeline, now=now) for state, kind in rows], rel=1e-12)


@given(st.data(), timelines(), kinds, st.floats(0.001, 1.0))
def test_whoever_is_strong_enough_was_settled_since(
    data: st.DataObject, timeline: Timeline, kind: str | None, least: float
) -> None:
    state = replace(data.draw(states(timeline.step)), remembered=False, pinned=False)
    now = timeline.step * DAY
    bounds = strong_since(timeline, least, now=now)
    assert bounds is not None
    if strength(state, kind, timeline, now=now) >= least:
        assert state.settled_step >= bounds[0]
        assert state.settled_at is None or state.settled_at >= bounds[1]


@given(st.floats(0.0, 400.0), st.floats(0.0, 1.0))
def test_strength_stays_between_the_floor_and_what_it_was(days: float, floor: float) -> None:
    timeline = Timeline(0, (PacedSpan(0, -math.inf, DecayPace("days", DecayCurve(2.0, 0.9, floor))),))
    for start in (1.0, 0.3):
        left = strength(ReadState(strength=start, settled_at=0.0, fresh_at=0.0), None, timeline, now=days * DAY)
        assert min(start, floor) <= left <= start


def test_the_clock_going_back_decays_nothing() -> None:
    timeline = Timeline(0, (PacedSpan(0, -math.inf, DecayPace("days", DecayCurve(0.0, 0.5))),))
    state = ReadState(settled_at=10 * DAY, fresh_at=10 * DAY)
    assert strength(state, None, timeline, now=9 * DAY) == 1.0


def test_a_record_that_is_met_late_has_not_decayed_before() -> None:
    timeline = Timeline(100, (PacedSpan(0, -math.inf, DecayPace("recalls", DecayCurve(5.0, 0.5))),))
    assert strength(met(timeline, ReadState(), now=0.0), None, timeline, now=0.0) == 1.0


def test_a_kind_has_its_own_numbers() -> None:
    policy = Policy(decay=Decay(rate=0.5, by_kind={"fact": Remembrance(rate=0.9, remembrance_threshold=1)}))
    assert policy.pace.of("fact").rate == 0.9
    assert policy.pace.of("chat").rate == policy.pace.of(None).rate == 0.5
    assert policy.decay.of("fact").remembrance_threshold == 1
    assert policy.decay.of("chat").remembrance_threshold == 3
    assert Policy.from_json(policy.to_json()) == policy
