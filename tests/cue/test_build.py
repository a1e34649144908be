"""Does an agent's state become a cue about its task, and is a cue that has gone stale noticed?"""

from __future__ import annotations

from typing import Any

import pytest

from adaptive_memory_core import AgentState, Cue, InvalidInputError, build_cue, drift
from adaptive_memory_core.cue.question_kinds import SCRATCHPAD

STATE = AgentState(
    goal="Move billing to the new tier",
    active_subtask="write the rollback plan",
    open_loops=("which region first?", " "),
    utterance="it says ERR_1234 again",
    scratchpad="checked the staging logs",
)


def test_vectors_look_for_the_task_and_words_for_what_the_user_said() -> None:
    cue = build_cue(STATE)
    for part in ("Move billing", "rollback plan", "which region first?", "staging logs"):
        assert part in cue.text
    assert "ERR_1234" not in cue.text
    assert cue.own_words == "it says ERR_1234 again"


def test_without_a_task_the_users_words_are_all_there_is() -> None:
    assert build_cue(AgentState(utterance="what tea?")).text == "what tea?"


def test_without_an_utterance_words_look_for_the_task() -> None:
    cue = build_cue(AgentState(goal="Buy tea"))
    assert cue.own_words == cue.text == "Goal: Buy tea"


def test_only_the_end_of_a_long_scratchpad_counts() -> None:
    text = build_cue(AgentState(goal="g", scratchpad="early " * 500 + "late")).text
    assert text.endswith("late")
    assert len(text) < SCRATCHPAD + 30


def test_a_blank_state_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="blank"):
        build_cue(AgentState(goal=" ", open_loops=[""]))  # type: ignore[arg-type] # any iterable will do


@pytest.mark.parametrize("wrong", [{"open_loops": "one"}, {"open_loops": 3}, {"goal": 3}, {"open_loops": [3]}])
def test_what_is_no_text_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match="Give"):
        AgentState(**wrong)


def test_a_cue_that_was_not_built_again_is_noticed_with_what_has_moved_on() -> None:
    moved = AgentState(goal=STATE.goal, active_subtask="deploy", utterance="go on")
    note = drift(build_cue(STATE), moved)
    assert note is not None
    assert all(name in note for name in ("active_subtask", "open_loops", "utterance", "scratchpad"))
    assert "goal" not in note
    assert drift(build_cue(moved), moved) is None


def test_a_cue_by_hand_is_stale_when_it_has_little_in_common_with_the_state() -> None:
    assert drift(Cue("favourite tea of the office cat"), STATE) is not None
    assert drift(Cue("rollback plan for billing"), STATE) is None
