"""Is an episode admitted exactly where it makes the reader less uncertain, and does it stop asking in time?"""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.hierarchy.top_down import Context, Expansion, Part, expand


def run(
    uncertainty: Callable[[Context], float], episodes: list[int], *, drop: float = 0.1, patience: int = 2
) -> Expansion:
    return expand(uncertainty, episodes, episode_drop=drop, message_drop=drop, patience=patience)


def falls_by(worth: dict[Part, float]) -> Callable[[Context], float]:
    return lambda context: 10.0 - sum(worth.get(part, 0.0) for part in context)


def test_messages_are_told_only_where_the_summary_leaves_something_open() -> None:
    worth = {Part(1, "summary"): 1.0, Part(1, "messages"): 1.05, Part(2, "summary"): 1.0, Part(2, "messages"): 3.0}
    found = run(falls_by(worth), [1, 2])
    assert found.parts == (Part(1, "summary"), Part(2, "messages"))
    assert (found.before, found.after) == (10.0, 6.0)


def test_it_stops_asking_after_so_many_in_a_row_that_do_not_help() -> None:
    worth = {Part(number, "summary"): 1.0 for number in (1, 3, 9)}
    found = run(falls_by(worth), [1, 2, 3, 4, 5, 9])
    assert [part.episode for part in found.parts] == [1, 3]
    assert found.stopped_early
    assert found.asked == 1 + 2 + 1 + 2 + 1 + 1


def test_the_last_one_that_does_not_help_is_no_early_stop() -> None:
    assert not run(falls_by({}), [1, 2], patience=2).stopped_early
    assert run(falls_by({}), [1, 2, 3], patience=2).stopped_early


@given(st.dictionaries(st.integers(0, 9), st.floats(-1, 1), max_size=10), st.integers(1, 4))
def test_uncertainty_never_rises_and_only_what_helps_is_admitted(worth: dict[int, float], patience: int) -> None:
    known = {Part(number, "summary"): value for number, value in worth.items()}
    found = run(falls_by(known), sorted(worth), patience=patience)
    assert found.after <= found.before
    assert all(known[Part(part.episode, "summary")] >= 0.1 - 1e-9 for part in found.parts)
    assert found.asked <= 1 + 2 * len(worth)
