"""How are texts embedded by OpenAI, or by any server with its protocol?"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from adaptive_memory_core.errors import EmbedderError, InvalidInputError
from adaptive_memory_core.models.extras import load, require
from adaptive_memory_core.models.openai_client import openai_client
from adaptive_memory_core.models.vectors import Vectors

MAX_BATCH_TEXTS = 2048  # the protocol's own limit for one request
MAX_BATCH_CHARACTERS = 250_000  # OpenAI refuses requests above 300,000 tokens; a token is seldom less than a character


class OpenAIEmbedder:
    """Texts to the vectors of a hosted model, in batches, in order; the client retries what can be retried.

    Without `client`, `api_key` and `base_url` mean what they mean to the `openai` package, environment included.
    `dimensions` asks the model for shorter vectors, and belongs to the name: vectors of two lengths are not compared.

    >>> OpenAIEmbedder(api_key="sk-...", dimensions=512).name
    'openai:text-embedding-3-small:512'
    """

    def __init__(
        self,
        model: str = "text-embedding-3-small",
        *,
        dimensions: int | None = None,
        client: Any = None,
        api_key: str | None = None,
        base_url: str | None = None,
        batch_size: int = 512,
        max_retries: int = 3,
        timeout_seconds: float = 30.0,
    ) -> None:
        if not 1 <= batch_size <= MAX_BATCH_TEXTS:
            raise InvalidInputError(f"batch_size={batch_size}. Allowed: 1 to {MAX_BATCH_TEXTS}. The default is 512.")
        require(["openai"], extra="openai")
        self.model = model
        self.dimension = dimensions
        self.name = f"openai:{model}" if dimensions is None else f"openai:{model}:{dimensions}"
        self._batch_size = batch_size
        self._client = (
            client
            if client is not None
            else openai_client(
                EmbedderError,
                api_key=api_key,
                base_url=base_url,
                max_retries=max_retries,
                timeout_seconds=timeout_seconds,
            )
        )

    def __call__(self, texts: Sequence[str]) -> Vectors:
        vectors: list[Any] = []
        for batch in batches(texts, most_texts=self._batch_size, most_characters=MAX_BATCH_CHARACTERS):
            vectors += self._ask(batch)
        return np.array(vectors, dtype=np.float32)

    def _ask(self, batch: list[str]) -> list[Any]:
        shorter = {} if self.dimension is None else {"dimensions": self.dimension}
        try:
            answer = self._client.embeddings.create(model=self.model, input=batch, encoding_format="float", **shorter)
        except load("openai").OpenAIError as error:
            raise EmbedderError(
                f"{self.name} failed on {len(batch)} texts with {type(error).__name__}: {error} "
                "Nothing was embedded. Check model, api_key= and base_url=, then repeat the call."
            ) from error
        if len(answer.data) != len(batch):
            raise EmbedderError(
                f"{self.name} returned {len(answer.data)} vectors for {len(batch)} texts. Allowed: one for each. "
                "Texts must not be empty; if they are not, the server behind base_url= is at fault."
            )
        return [_numbers(item.embedding) for item in sorted(answer.data, key=lambda item: item.index)]


def batches(texts: Sequence[str], *, most_texts: int, most_characters: int) -> Iterator[list[str]]:
    """The texts in order, in as few requests as the two limits allow; a text above the limit goes alone.

    >>> list(batches(["aa", "b", "c", "ddddd"], most_texts=2, most_characters=3))
    [['aa', 'b'], ['c'], ['ddddd']]
    >>> list(batches([], most_texts=2, most_characters=3))
    []
    """
    batch: list[str] = []
    characters = 0
    for text in texts:
        if batch and (len(batch) == most_texts or characters + len(text) > most_characters):
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    if batch:
        yield batch


def _numbers(embedding: Any) -> Any:
    """Some servers answer in base64 whatever they were asked for."""
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding), dtype="<f4")
    return embedding
