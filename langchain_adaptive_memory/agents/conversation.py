"""The messages of an agent: the user's messages, the question, and the answer."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel

THREAD = "thread_id"


def is_users(message: BaseMessage) -> bool:
    """Whether a message is the user's own, and not a summary that a middleware substituted.

    >>> is_users(HumanMessage("tea?")), is_users(HumanMessage("a summary", additional_kwargs={"lc_source": "x"}))
    (True, False)
    """
    return isinstance(message, HumanMessage) and "lc_source" not in message.additional_kwargs


def latest_of_user(messages: Sequence[BaseMessage]) -> HumanMessage | None:
    """The user's latest message, even without words."""
    return next((one for one in reversed(messages) if isinstance(one, HumanMessage) and is_users(one)), None)


def last_question(messages: Sequence[BaseMessage]) -> HumanMessage | None:
    """The user's latest message, if it has words.

    >>> last_question([HumanMessage("tea?"), AIMessage("yes")]).text
    'tea?'
    """
    asked = latest_of_user(messages)
    return asked if asked is not None and words(asked) else None


def newly_asked(messages: Sequence[BaseMessage]) -> list[HumanMessage]:
    """The user's last messages without other messages in between, which count as one question.

    >>> [one.text for one in newly_asked([HumanMessage("a"), AIMessage("x"), HumanMessage("b"), HumanMessage("c")])]
    ['b', 'c']
    """
    asked: list[HumanMessage] = []
    for one in reversed(messages):
        if isinstance(one, HumanMessage) and is_users(one):
            asked.insert(0, one)
        elif asked:
            break
    return [one for one in asked if words(one)]


def last_answer(messages: Sequence[BaseMessage], structured: Any = None) -> str:
    """The text of the model's latest message after the user's; without it, the structured response as JSON, or "".

    >>> last_answer([HumanMessage("tea?"), AIMessage("")], {"drink": "tea"})
    '{"drink": "tea"}'
    """
    for one in reversed(messages):
        if isinstance(one, HumanMessage) and is_users(one):
            break
        if isinstance(one, AIMessage) and words(one):
            return words(one)
    return "" if structured is None else in_words(structured)


def in_words(structured: Any) -> str:
    """A structured response as JSON."""
    if isinstance(structured, BaseModel):
        return structured.model_dump_json()
    known = asdict(structured) if is_dataclass(structured) and not isinstance(structured, type) else structured
    return json.dumps(known, ensure_ascii=False, default=str)


def turns_of(messages: Sequence[BaseMessage]) -> list[tuple[HumanMessage, str]]:
    """Each message of the user with the model's answer to it, "" if there is none.

    >>> [(one.text, answer) for one, answer in turns_of([HumanMessage("tea?"), AIMessage("yes"), HumanMessage("now?")])]
    [('tea?', 'yes'), ('now?', '')]
    """
    asked = [(number, one) for number, one in enumerate(messages) if isinstance(one, HumanMessage) and is_users(one)]
    ends = [*(number for number, _ in asked[1:]), len(messages)]
    return [(one, last_answer(messages[begin:end])) for (begin, one), end in zip(asked, ends, strict=False)]


def words(message: BaseMessage) -> str:
    """The text of a message, without images and the like."""
    return str(message.text).strip()


def key_of(message: BaseMessage) -> str:
    """The key that distinguishes a message from the others of its conversation."""
    return words(message) if message.id is None else f"id {message.id}"


def thread_of(config: RunnableConfig | None) -> str | None:
    """The thread that a run belongs to, if there is one."""
    settings: Mapping[str, Any] = (config or {}).get("configurable") or {}
    thread = settings.get(THREAD)
    return None if thread is None else str(thread)


def question_turn(message: BaseMessage, thread: str | None) -> str:
    """The name of the turn that a message begins, which is the same if the turn is repeated.

    >>> question_turn(HumanMessage("tea?", id="1"), "t") == question_turn(HumanMessage("tea?", id="1"), "t")
    True
    """
    said = json.dumps([thread, message.id, words(message)])
    return f"question-{uuid.uuid5(uuid.NAMESPACE_OID, said)}"
