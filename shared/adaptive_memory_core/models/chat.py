"""How is a chat model asked? A function of instructions and material: an OpenAI server's, or what a framework has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.shown_in_errors import shown

Chat = Callable[[str, str], str]  # instructions, material -> reply


def as_chat(given: Any) -> Chat:
    """The function behind what the caller gave: one already, an object with `invoke(messages)` as LangChain's chat
    models have, or one with `complete(prompt)` as LlamaIndex's have.

    >>> class Model:
    ...     def invoke(self, messages): return "; ".join(f"{role}: {text}" for role, text in messages)
    >>> as_chat(Model())("Judge.", "tea")
    'system: Judge.; human: tea'
    >>> as_chat(lambda instructions, material: "{}")("Judge.", "tea")
    '{}'
    """
    invoke, complete = getattr(given, "invoke", None), getattr(given, "complete", None)
    if isinstance(given, type):
        raise _refused(given)
    if callable(invoke):
        return lambda instructions, material: _text(invoke([("system", instructions), ("human", material)]))
    if callable(complete):
        return lambda instructions, material: _text(complete(f"{instructions}\n\n{material}"))
    if not callable(given):
        raise _refused(given)
    chat: Chat = given
    return chat


def _refused(given: object) -> InvalidInputError:
    return InvalidInputError(
        f"The chat model is {shown(given)}. Give OpenAIChat(...), a LangChain chat model, a LlamaIndex LLM, or a "
        "function of instructions and material that returns the reply."
    )


def _text(reply: Any) -> str:
    """The text of a reply, whichever form it has: a text, an object with one, or with a list of blocks that have one.

    >>> _text("a"), _text([{"type": "text", "text": "b"}, "c"])
    ('a', 'bc')
    """
    if isinstance(reply, str):
        return reply
    if isinstance(reply, list | tuple):
        return "".join(one if isinstance(one, str) else str(one.get("text", "")) for one in reply)
    content = getattr(reply, "content", None)
    return _text(content if content is not None else str(getattr(reply, "text", "")))
