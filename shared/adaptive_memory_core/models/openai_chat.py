"""How is a chat model of an OpenAI server asked? One request a call, to any server with its protocol."""

from __future__ import annotations

from typing import Any

from adaptive_memory_core.errors import JudgeError
from adaptive_memory_core.models.extras import load, require
from adaptive_memory_core.models.openai_client import openai_client


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
        self._options: dict[str, Any] = {} if temperature is None else {"temperature": temperature}
        limits: dict[str, Any] = {"max_retries": max_retries, "timeout_seconds": timeout_seconds}
        self._client: Any = client
        if client is None:
            self._client = openai_client(JudgeError, api_key=api_key, base_url=base_url, **limits)

    def __call__(self, instructions: str, material: str) -> str:
        """The model's reply, or a JudgeError."""
        return text_of(self.completion(instructions, material), self.name)

    def completion(self, instructions: str, material: str, about: str = "", **options: Any) -> Any:
        """The whole answer of the server, or a JudgeError that says `about` what it was asked."""
        messages = [{"role": "system", "content": instructions}, {"role": "user", "content": material}]
        given = {**self._options, **options}
        try:
            return self._client.chat.completions.create(model=self.model, messages=messages, **given)
        except (load("openai").OpenAIError, ValueError) as error:  # the latter for an answer that is no JSON
            status = getattr(error, "status_code", None)
            kind = type(error).__name__ + (f" ({status})" if status else "")
            raise JudgeError(
                f"{self.name} failed{about} with {kind}: {error} Check model, api_key= and base_url=."
            ) from error


def text_of(completion: Any, name: str) -> str:
    """What the model said; a JudgeError where the server answered with something else than a chat completion.

    >>> text_of([], "openai:m")
    Traceback (most recent call last):
    adaptive_memory_core.errors.JudgeError: openai:m answered with no chat completion but list. Check base_url=.
    """
    try:
        said = completion.choices[0].message.content if completion.choices else None
    except (AttributeError, TypeError, LookupError) as error:
        kind = type(completion).__name__
        raise JudgeError(f"{name} answered with no chat completion but {kind}. Check base_url=.") from error
    if said is not None and not isinstance(said, str):
        raise JudgeError(f"{name} answered with {type(said).__name__} in the place of a text. Check base_url=.")
    return said or ""
