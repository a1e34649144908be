"""How important is a text that is to be remembered? A chat model says it, or, without one, a rule."""

from __future__ import annotations

from typing import Any

from adaptive_memory_core.flow.ports.judges import Salient
from adaptive_memory_core.learn.salience import salience
from adaptive_memory_core.models.chat import as_chat
from adaptive_memory_core.models.judges import LONGEST, prompt
from adaptive_memory_core.models.strict_json import asked

BEST = 10  # the most important that the prompt knows


class SalienceJudge:
    """Says how important texts are: `user.remember(text, importance=SalienceJudge(model))`.

    Without a model it goes by a rule that knows English (docs/learning.md says what that is worth).

    >>> SalienceJudge()("I am allergic to peanuts.")
    Salient(importance=0.8, note=None)
    >>> SalienceJudge(lambda instructions, material: '{"importance": 9}')("I am allergic to peanuts.")
    Salient(importance=0.9, note=None)
    """

    def __init__(self, model: Any = None) -> None:
        self._chat, self._prompt = None if model is None else as_chat(model), prompt("salience")

    def __call__(self, text: str) -> Salient:
        if self._chat is None:
            return Salient(salience(text))
        return Salient(*asked(self._chat, self._prompt, {"text": text[:LONGEST]}, _share))


def _share(given: Any) -> float:
    """
    >>> _share({"importance": 7})
    0.7
    """
    found = given["importance"]
    if type(found) not in (int, float) or not 0 <= found <= BEST:
        raise ValueError(found)
    return float(found) / BEST
