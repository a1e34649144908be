"""How does an OpenAI model rate texts for a cue? Marks from any server with its protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adaptive_memory_core.errors import JudgeError, RerankerError
from adaptive_memory_core.models.chat_reranker import LONGEST, PROMPT, checked, marks, material
from adaptive_memory_core.models.openai_chat import OpenAIChat, text_of


class OpenAIReranker:
    """One request for each recall: the cue and its best candidates, which the model marks from 0 to 10.

    The texts leave this machine for the server. They go as JSON in a message of the user, so that none of them can pass
    for an instruction or end its place; `longest` characters of each are shown. Without `client`, `api_key` and
    `base_url` mean what they mean to the `openai` package. `temperature=None` leaves it to the model.

    >>> OpenAIReranker(api_key="sk-...").name
    'openai:gpt-4o-mini'
    """

    def __init__(
        self,
        model: str = "gpt-4o-mini",
        *,
        client: Any = None,
        api_key: str | None = None,
        base_url: str | None = None,
        longest: int = LONGEST,
        temperature: float | None = 0.0,
        max_retries: int = 1,
        timeout_seconds: float = 20.0,
    ) -> None:
        self._longest, self._prompt = checked(longest), PROMPT.read_text(encoding="utf-8")
        try:
            self._chat = OpenAIChat(
                model,
                client=client,
                api_key=api_key,
                base_url=base_url,
                temperature=temperature,
                max_retries=max_retries,
                timeout_seconds=timeout_seconds,
            )
        except JudgeError as error:
            raise RerankerError(str(error)) from error
        self.model, self.name = model, self._chat.name

    def __call__(self, cue: str, texts: Sequence[str]) -> list[float]:
        """One number in [0, 1] for each text."""
        given = material(cue, [text[: self._longest] for text in texts])
        try:
            reply = text_of(self._chat.completion(self._prompt, given, f" on {len(texts)} texts"), self.name)
        except JudgeError as error:
            raise RerankerError(str(error)) from error
        return marks(reply, len(texts), self.name)
