"""How is a chat model asked? A function of instructions and material: an OpenAI server's, or what a framework has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adaptive_memory_core.errors import InvalidInputError, JudgeError
from adaptive_memory_core.models.extras import load, require
from adaptive_memory_core.models.openai_client import openai_client

Chat = Callable[[str, str], str]  # instructions, material -> reply


class OpenAIChat:
    """One request a call, to OpenAI or any server with its protocol.

    The material goes in a message of the user, the instructions in one of the system. Without `client`, `api_key` and
    `base_url` mean what they mean to the `openai` package. `temperature=None` leaves it to the model.

    >>> OpenAIChat(api_key="sk-...").name
    'openai:gpt-4o-mini'
    """

    def __init__(
        self,
        model: str = "gpt-4o-mini",
        *,
        client: Any = None,
        api_key: str | None = None,
        base_url: str | None = None,
        temperature: float | None = 0.0,
        max_retries: int = 1,
        timeout_seconds: float = 20.0,
    ) -> None:
        require(["openai"], extra="openai")
        self.model, self.name = model, f"openai:{model}"
        self._options = {} if temperature is None else {"temperature": temperature}
        self._client = (
            client
            if client is not None
            else openai_client(
                JudgeError, api_key=api_key, base_url=base_url, max_retries=max_retries, timeout_seconds=timeout_seconds
            )
        )

    def __call__(self, instructions: str, material: str) -> str:
        """The model's reply, or a JudgeError."""
        messages = [{"role": "system", "content": instructions}, {"role": "user", "content": material}]
        try:
            answer = self._client.chat.completions.create(model=self.model, messages=messages, **self._options)
        except load("openai").OpenAIError as error:
            failed = f"{self.name}: {type(error).__name__}: {error}"
            raise JudgeError(f"{failed} Check model, api_key= and base_url=.") from error
        return (answer.choices[0].message.content if answer.choices else None) or ""


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
        f"The chat model is {given!r:.80}. Give OpenAIChat(...), a LangChain chat model, a LlamaIndex LLM, or a "
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
