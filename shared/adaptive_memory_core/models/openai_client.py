"""How is a client of the `openai` package made? With what the caller gave; an error of ours where it cannot be."""

from __future__ import annotations

from typing import Any

from adaptive_memory_core.errors import AdaptiveMemoryError
from adaptive_memory_core.models.extras import load


def openai_client(
    failed: type[AdaptiveMemoryError],
    *,
    api_key: str | None,
    base_url: str | None,
    max_retries: int,
    timeout_seconds: float,
) -> Any:
    """The client, for OpenAI or a server with its protocol; `failed` is the error where none can be made."""
    openai = load("openai")
    try:
        return openai.OpenAI(api_key=api_key, base_url=base_url, max_retries=max_retries, timeout=timeout_seconds)
    except openai.OpenAIError as error:
        raise failed(
            f"The openai package could not make a client: {error} Allowed: a key, or a client that has one. "
            "Set OPENAI_API_KEY, or pass api_key= (any text for a server that asks for none) or client=."
        ) from error
