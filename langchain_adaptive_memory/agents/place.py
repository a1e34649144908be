"""Where in the prompt are memories placed? Before the user's question, in the message that asks it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeVar

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage

from langchain_adaptive_memory.agents.conversation import is_users, key_of

Place = Literal["user", "system"]
M = TypeVar("M", HumanMessage, SystemMessage)


def before_question(messages: Sequence[AnyMessage], block: str, question: str) -> list[AnyMessage]:
    """The messages with the block at the head of the one that asks; no message more, so roles alternate as before.

    Where the question has been summed up since, it is the last in the user's role; without any, a new first one.

    >>> [one.text for one in before_question([HumanMessage("tea?", id="1")], "Evidence.", "id 1")]
    ['Evidence.\\n\\ntea?']
    """
    asked = [place for place, one in enumerate(messages) if isinstance(one, HumanMessage)]
    found = [place for place in asked if is_users(messages[place]) and key_of(messages[place]) == question] or asked
    if not found:
        return [HumanMessage(block), *messages]
    made = list(messages)
    message = made[found[-1]]
    made[found[-1]] = joined(message, [block], []) if isinstance(message, HumanMessage) else message
    return made


def after_system(message: SystemMessage | None, block: str) -> SystemMessage:
    """The system message with the block after what it says, in the form it has; the given one stays as it is."""
    return SystemMessage(block) if message is None else joined(message, [], [block])


def joined(message: M, before: Sequence[str], after: Sequence[str]) -> M:
    """A copy of the message with these texts around what it says."""
    said: str | list[Any] = message.content
    if isinstance(said, str):
        return message.model_copy(update={"content": "\n\n".join(filter(None, [*before, said, *after]))})
    return message.model_copy(update={"content": [*map(_block, before), *said, *map(_block, after)]})


def _block(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}
