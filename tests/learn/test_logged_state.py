"""Can a state be told from what the log keeps of it: its columns, and the signals to six digits?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import Policy
from adaptive_memory_core.learn.logged_state import Basis, logged_state, state_columns
from adaptive_memory_core.policy import Learning
from adaptive_memory_core.records import Hit, ReadState, Record
from adaptive_memory_core.score.ranking import as_candidates
from adaptive_memory_core.score.signals import DAY, since_read, worths

NOW, SECOND, DIGITS = 1.7e9, 1.0, 6
AGES = st.floats(0.0, 40.0) | st.floats(0.0, 4_000.0)  # days
READ = st.builds(
    lambda age, earlier, count, left: ReadState(
        last_read=NOW - age * DAY,
        refreshed_at=NOW - (age + earlier) * DAY,
        retrieval_count=count,
        credit=count,
        warmth=max(0.0, count * left),
    ),
    AGES,
    st.just(0.0) | st.just(0.0) | st.floats(0.0, 9.0),
    st.integers(1, 15) | st.integers(1, 500),
    st.floats(0.2, 1.0) | st.just(1.0),
)
STATES = st.lists(READ | st.just(ReadState()), min_size=1, max_size=8)
POLICIES = {
    "usual": Policy(),
    "short": Policy(half_life_days=0.5),
    "growing": Policy(learning=Learning(half_life_growth=0.5)),
    "equal": Policy.preset("equal"),
}


def told_of(states: list[ReadState], policy: Policy) -> list[ReadState]:
    """The states as a replay has them."""
    importances: list[float | None] = [0.25] * len(states)
    signals = {
        "recency": since_read(states, policy, now=NOW),
        "importance": worths(importances, states, policy, now=NOW),
    }
    hits = [
        Hit(Record(str(one), "text", importance=0.25, read=state), 0.5, str(one)) for one, state in enumerate(states)
    ]
    columns = state_columns(as_candidates(hits).columns, Basis(policy=policy), scored=len(states), at=NOW)
    logged = {name: [round(one, DIGITS) for one in values] for name, values in signals.items()}
    return [
        logged_state(
            {title: round(values[one]) for title, values in columns.items()},
            {name: values[one] for name, values in logged.items()},
            policy,
            step=0,
            at=NOW,
        )
        for one in range(len(states))
    ]


@given(STATES, st.sampled_from(sorted(POLICIES)))
def test_a_logged_state_gives_the_signals_that_it_gave(states: list[ReadState], name: str) -> None:
    policy = POLICIES[name]
    told = told_of(states, policy)
    assert since_read(told, policy, now=NOW) == pytest.approx(since_read(states, policy, now=NOW), abs=3e-5)
    importances: list[float | None] = [0.25] * len(states)
    worth = worths(importances, states, policy, now=NOW)
    assert worths(importances, told, policy, now=NOW) == pytest.approx(worth, abs=3e-5)
    assert [abs(one.credit - two.credit) for one, two in zip(told, states, strict=True)] == [0] * len(states)


def test_what_was_last_read_years_ago_does_not_come_back_as_just_read() -> None:
    (told,) = told_of([ReadState(last_read=NOW - 900 * DAY, refreshed_at=NOW - 900 * DAY, credit=1)], Policy())
    assert told.last_read == NOW - 900 * DAY
