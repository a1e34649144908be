"""What do the memories say that do not fit into a budget? A chat model sums them up for `render(summarise=...)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adaptive_memory_core.models.chat import as_chat
from adaptive_memory_core.models.judges import LONGEST, prompt
from adaptive_memory_core.models.strict_json import asked

WORDS_A_TOKEN = 0.7  # of English; guess: what is longer is cut


class ChatSummary:
    """Sums up texts within a number of tokens: `recall.render(max_tokens=600, summarise=ChatSummary(model))`.

    Where the model fails or says something else, it gives nothing, and `render` shows extracts as it does without one.

    >>> ChatSummary(lambda instructions, material: '{"summary": "Ana has a cat."}')(["Ana has a cat. It is old."], 20)
    'Ana has a cat.'
    """

    def __init__(self, model: Any) -> None:
        self._chat, self._prompt = as_chat(model), prompt("summary")

    def __call__(self, texts: Sequence[str], max_tokens: int) -> str:
        material = {"words": max(1, int(max_tokens * WORDS_A_TOKEN)), "texts": [text[:LONGEST] for text in texts]}
        return asked(self._chat, self._prompt, material, _summary).value or ""


def _summary(given: Any) -> str:
    """
    >>> _summary({"summary": " Ana has a cat. "})
    'Ana has a cat.'
    """
    return str.strip(given["summary"])
