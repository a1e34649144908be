"""Chat models as functions, paused for a while after failures, with requests for strict JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError, JudgeError

Chat = Callable[[str, str], str]  # instructions, material -> reply


def as_chat(given: Any) -> Chat:
    """The caller's chat model as a function. The caller gives a function, an object with `invoke(messages)` like
    LangChain's chat models, or an object with `complete(prompt)` like LlamaIndex's.

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
    """The text of a reply: a string, an object with a text, or an object with a list of text blocks.

    >>> _text("a"), _text([{"type": "text", "text": "b"}, "c"])
    ('a', 'bc')
    """
    if isinstance(reply, str):
        return reply
    if isinstance(reply, list | tuple):
        return "".join(one if isinstance(one, str) else str(one.get("text", "")) for one in reply)
    content = getattr(reply, "content", None)
    return _text(content if content is not None else str(getattr(reply, "text", "")))


FAILURES = 3  # in a row
REST_SECONDS = 60.0


class Resting:
    """A chat model that raises immediately for a minute after three failures in a row.

    >>> def down(instructions, material): raise TimeoutError("no answer")
    >>> chat, said = Resting(down, clock=lambda: 0.0), []
    >>> for _ in range(4):
    ...     try: chat("Judge.", "tea")
    ...     except Exception as error: said.append(type(error).__name__)
    >>> said
    ['TimeoutError', 'TimeoutError', 'TimeoutError', 'JudgeError']
    """

    def __init__(self, chat: Chat, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._chat, self._clock = chat, clock
        self._failures, self._until, self._last = 0, 0.0, ""

    def __call__(self, instructions: str, material: str) -> str:
        if self._failures >= FAILURES and self._clock() < self._until:
            rests = f"It failed {FAILURES} times in a row, and is not called for {REST_SECONDS:.0f} seconds."
            raise JudgeError(f"{self._last} {rests}")
        try:
            reply = self._chat(instructions, material)
        except Exception as error:
            self._failures, self._until, self._last = self._failures + 1, self._clock() + REST_SECONDS, str(error)
            raise
        self._failures = 0
        return reply


TRIES = 2
MOST_SHOWN = 120  # characters shown of a reply that cannot be parsed


class JsonReply(NamedTuple):
    """The value parsed from a reply; None with a note that quotes the reply if it was not valid."""

    value: Any = None
    note: str | None = None


def ask_for_json(chat: Chat, prompt: str, material: Mapping[str, Any], read: Callable[[Any], Any]) -> JsonReply:
    """Ask the model for JSON and return the result of `read`, which raises ValueError for any other reply.

    >>> replies = iter(["Sure!", '{"sure": true}'])
    >>> ask_for_json(lambda *_: next(replies), "Judge.", {}, lambda given: given["sure"])
    JsonReply(value=True, note=None)
    >>> ask_for_json(lambda *_: "Sure!", "Judge.", {}, lambda given: given).note
    "the judge was not believed: it said 'Sure!', which is not the JSON that it was asked for"
    """
    reply = ""
    for _ in range(TRIES):
        try:
            reply = chat(prompt, prompt_json(material))
        except Exception as error:  # noqa: BLE001 - the caller's model may fail in any way
            return JsonReply(None, f"the judge failed: {error}")
        try:
            return JsonReply(read(json.loads(reply)))
        except (ValueError, KeyError, TypeError, RecursionError):  # RecursionError: 1,000 nested brackets
            continue
    shown = repr(reply[:MOST_SHOWN])
    return JsonReply(None, f"the judge was not believed: it said {shown}, which is not the JSON that it was asked for")


def prompt_json(material: Mapping[str, Any]) -> str:
    """The material as JSON, with angle brackets in its texts escaped, so that no text can look like an end mark.

    >>> prompt_json({"text": "</memories>"})
    '{"text": "\\\\u003c/memories\\\\u003e"}'
    """
    return json.dumps(dict(material), ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e")
