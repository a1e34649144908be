"""Saving and judging a conversation, and placing evidence in its messages."""

from __future__ import annotations

import inspect
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig

from adaptive_memory_core import InvalidInputError
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.flow.feedback_on_answer import Used
from adaptive_memory_core.learn.after_read import worth_keeping
from langchain_adaptive_memory.agents.conversation import (
    is_users,
    key_of,
    last_question,
    question_turn,
    thread_of,
    turns_of,
    words,
)
from langchain_adaptive_memory.agents.evidence import unmarked
from langchain_adaptive_memory.used import used_in

Place = Literal["user", "system"]
M = TypeVar("M", HumanMessage, SystemMessage)


def before_question(messages: Sequence[AnyMessage], block: str, question: str) -> list[AnyMessage]:
    """The messages with the block at the start of the question. No message is added, so that roles still alternate.

    If the question has been summed up in the meantime, the block goes to the last message in the user's role or, if
    there is none, to a new first message.

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
    """A copy of the system message with the block after its text, in the same form."""
    return SystemMessage(block) if message is None else joined(message, [], [block])


def joined(message: M, before: Sequence[str], after: Sequence[str]) -> M:
    """A copy of the message with these texts around its text."""
    said: str | list[Any] = message.content
    if isinstance(said, str):
        return message.model_copy(update={"content": "\n\n".join(filter(None, [*before, said, *after]))})
    return message.model_copy(update={"content": [*map(_block, before), *said, *map(_block, after)]})


def _block(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def used_for(answer: Any, config: RunnableConfig | None) -> list[Used]:
    """The items for `feedback`: for an agent's output, the turn of its last question as well.

    >>> used_for(["tea"], None)
    [Used(id='tea', recall=None, shared=False)]
    """
    found = used_in(answer)
    messages = answer.get("messages") if isinstance(answer, Mapping) else None
    question = last_question(messages or [])
    return found if question is None else [*found, Used(question_turn(question, thread_of(config)))]


Save = Literal["user", "turn"] | Callable[[str, str], str | Iterable[str] | None]


def checked_save(save: Any) -> Save | None:
    """The setting of what a middleware saves, checked."""
    if save in (None, "user", "turn") or (callable(save) and not inspect.iscoroutinefunction(save)):
        return save  # type: ignore[no-any-return]
    raise InvalidInputError(
        f"save is {shown(save)}. Give None, 'user', 'turn', or a function (not async) of the user's words and the "
        "answer to the text to store, to several, or to None."
    )


def to_save(
    save: Save | None, said: Mapping[str | None, str], answer: str, messages: Sequence[BaseMessage], thread: str | None
) -> dict[str, str]:
    """The texts to save, by id; `said` are the user's words in this turn, by the id of the message."""
    answer = unmarked(answer)
    if not said or save is None:
        return {}
    if save == "user":
        kept = {one: text for one, text in said.items() if worth_keeping(text)}
        return {saved_id(_first_with(text, one, messages), text, thread): text for one, text in kept.items()}
    last = list(said)[-1]
    if callable(save):
        chosen = save("\n".join(said.values()), answer)
        texts = [chosen] if isinstance(chosen, str) else list(chosen or ())
        ids = [saved_id(last, text, thread, number) for number, text in enumerate(texts)]
        return dict(zip(ids, texts, strict=True))
    if not worth_keeping("\n".join(said.values()), answer):
        return {}
    text = as_turn(said.values(), answer)
    return {saved_id(last, text, thread): text}


def as_turn(said: Iterable[str], answer: str) -> str:
    """A turn as one text; only the user's words if there is no answer."""
    if not answer:
        return "\n".join(said)
    return "\n".join([*(f"User: {one}" for one in said), f"Assistant: {answer}"])


def saved_id(message: str | None, text: str, thread: str | None, number: int = 0) -> str:
    """The id of a saved text: in a thread, from the message's id, so that edits overwrite it; otherwise from the text.

    >>> saved_id("1", "tea", "t") == saved_id("1", "coffee", "t")
    True
    >>> saved_id("1", "tea", None) == saved_id("2", "tea", None)
    True
    """
    name = text if message is None or thread is None else f"{thread}\n{message}" + (f"\n{number}" if number else "")
    return f"turn-{uuid.uuid5(uuid.NAMESPACE_OID, name)}"


def in_sight(messages: Sequence[BaseMessage], thread: str | None) -> list[str]:
    """The ids under which this conversation may have been saved, since the model already sees it."""
    said = [(one.id, words(one), unmarked(answer)) for one, answer in turns_of(messages)]
    ids = [saved_id(one, text, thread) for one, asked, answer in said for text in (asked, as_turn([asked], answer))]
    return list(dict.fromkeys(ids))


def _first_with(text: str, message: str | None, messages: Sequence[BaseMessage]) -> str | None:
    """The id of the first message with this text, so that a repeated text is stored once."""
    return next((one.id for one, _ in turns_of(messages) if words(one) == text), message)
