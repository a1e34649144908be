"""The cue built from an agent's state: a text about the task for vectors, and the user's own words for word search."""

from __future__ import annotations

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.records import AgentState, Cue

SCRATCHPAD = 400  # characters of its end that say what the agent is doing now; guess


def build_cue(state: AgentState) -> Cue:
    """The cue of a state: its text says what the agent is doing, its words are the user's own.

    >>> cue = build_cue(AgentState(goal="Ship v2", open_loops=["which region?"], utterance="error E1234 again"))
    >>> print(cue.text)
    Goal: Ship v2
    Open questions: which region?
    >>> cue.own_words
    'error E1234 again'
    """
    lines = {
        "Goal": state.goal,
        "Current step": state.active_subtask,
        "Open questions": "; ".join(loop.strip() for loop in state.open_loops if loop.strip()),
        "Notes": _end(state.scratchpad),
    }
    text = "\n".join(f"{name}: {' '.join(said.split())}" for name, said in lines.items() if said.strip())
    if not text and not state.utterance.strip():
        raise InvalidInputError("The AgentState is blank. Say at least what its goal is, or what the user said.")
    return Cue(text or state.utterance, words=state.utterance if state.utterance.strip() else None, state=state)


def drift(cue: Cue, state: AgentState) -> str | None:
    """What to say where a cue was built once and the state has moved on since; None where it has not.

    A cue that is not rebuilt keeps finding what was of use at the start of the task, and looks as if it worked.

    >>> early = build_cue(AgentState(goal="Ship v2", active_subtask="write the tests"))
    >>> drift(early, AgentState(goal="Ship v2", active_subtask="deploy"))
    'the cue is stale: active_subtask has changed since it was built; build it again, or recall by the state itself'
    >>> drift(early, AgentState(goal="Ship v2", active_subtask="write the tests")) is None
    True
    """
    before = cue.state
    if before is None:
        fresh = build_cue(state)
        return (
            None
            if _share(cue, fresh) >= SHARED
            else "the cue has little in common with the agent's state: build it from that"
        )
    names = ("goal", "active_subtask", "open_loops", "utterance", "scratchpad")
    moved = [name for name in names if getattr(before, name) != getattr(state, name)]
    if not moved:
        return None
    have = "has" if len(moved) == 1 else "have"
    return (
        f"the cue is stale: {', '.join(moved)} {have} changed since it was built; build it again, or recall by the "
        "state itself"
    )


SHARED = 0.2  # of the cue's words that occur in the state; guess


def _share(cue: Cue, fresh: Cue) -> float:
    own = set(f"{cue.text} {cue.own_words}".lower().split())
    return len(own & set(f"{fresh.text} {fresh.own_words}".lower().split())) / max(1, len(own))


def _end(scratchpad: str) -> str:
    """The last of the notes, from the start of a word."""
    end = scratchpad.strip()
    return end if len(end) <= SCRATCHPAD else end[-SCRATCHPAD:].partition(" ")[2]
