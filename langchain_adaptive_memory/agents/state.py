"""What does an agent's graph keep of a turn's memory? And which of its messages are the question and the answer?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar

from langchain.agents.middleware.types import AgentState, PrivateStateAttr
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from typing_extensions import NotRequired, TypedDict

from adaptive_memory_core import InvalidInputError

T = TypeVar("T")
CHANNEL = "adaptive_memory_turns"


class Turn(TypedDict):
    """What was recalled for one question, from its recall to its answer: which records, under which marks.

    Their texts are not here: states are streamed to clients and kept in checkpoints, where nobody can forget them.
    """

    user: str | None
    recall: str
    cue: str
    marks: dict[str, str]


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


def last_question(messages: Sequence[BaseMessage]) -> HumanMessage | None:
    """The user's latest message, if it has words.

    >>> last_question([HumanMessage("tea?"), AIMessage("yes")]).text
    'tea?'
    """
    asked = next((one for one in reversed(messages) if isinstance(one, HumanMessage)), None)
    return asked if asked is not None and words(asked) else None


def last_answer(messages: Sequence[BaseMessage]) -> str:
    """The words of the latest message of the model after that, or ""."""
    for one in reversed(messages):
        if isinstance(one, HumanMessage):
            break
        if isinstance(one, AIMessage) and words(one):
            return words(one)
    return ""


def turns_of(messages: Sequence[BaseMessage]) -> list[tuple[str, str]]:
    """Each message of the user with the model's answer to it, "" where there is none.

    >>> turns_of([HumanMessage("tea?"), AIMessage("yes"), HumanMessage("now?")])
    [('tea?', 'yes'), ('now?', '')]
    """
    asked = [number for number, one in enumerate(messages) if isinstance(one, HumanMessage)]
    ends = [*asked[1:], len(messages)]
    return [(words(messages[begin]), last_answer(messages[begin:end])) for begin, end in zip(asked, ends, strict=False)]


def words(message: BaseMessage) -> str:
    """The text of a message, without images and the like."""
    return str(message.text).strip()


def one_of(value: T, allowed: Sequence[Any], what: str) -> T:
    """The value, if it is one of these."""
    if value in allowed:
        return value
    raise InvalidInputError(f"{what} is {value!r}. Give {' or '.join(map(repr, allowed))}.")
