"""What does an agent's graph keep of a turn's memory? The question, the recall's id and the ids shown; no texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from langchain.agents.middleware.types import AgentState, PrivateStateAttr
from typing_extensions import NotRequired, TypedDict

from langchain_adaptive_memory.agents.around import Belonging

CHANNEL = "adaptive_memory_turns"


class Turn(TypedDict):
    """What was recalled for one question: which records, under which marks.

    Their texts are not here: states are streamed to clients and kept in checkpoints, where nobody can forget them.
    `asked` are the user's own words, by message, for they may have been summed up when the turn ends. `around` names
    what is shown around the records, where the policy gives recalls another shape.
    """

    user: str | int | None
    turn: str
    question: str
    recall: str
    cue: str
    marks: dict[str, str]
    asked: list[tuple[str | None, str]]
    around: NotRequired[Belonging | None]


Turns = dict[str, Turn | None]  # by the name of the middleware


def merged(before: Turns | None, after: Turns) -> Turns:
    """Each middleware writes its own.

    >>> merged(None, {"a": None}) | merged({"a": None}, {"b": None})
    {'a': None, 'b': None}
    """
    return {**(before or {}), **after}


class MemoryState(AgentState[Any]):
    """The agent's state, with a channel that is neither input nor output."""

    adaptive_memory_turns: NotRequired[Annotated[Turns, PrivateStateAttr, merged]]


def turn_in(state: Mapping[str, Any], name: str) -> Turn | None:
    """The turn that this middleware has under way.

    >>> turn_in({"messages": []}, "memory") is None
    True
    """
    turns: Turns = state.get(CHANNEL) or {}
    return turns.get(name)
