"""Who talks to people? There a question is no answer. What somebody asks an assistant is what they said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from adaptive_memory_core.channels.conversation.turns import stated

ROLES = frozenset(  # what chat models and frameworks call those who speak, none of them a person's name
    "ai agent assistant bot chatbot chatgpt copilot developer function gpt human model system tool user".split()  # noqa: SIM905
)
LEAST = 0.05  # of a turn; what is less, as replies of 130 words and more, gains and loses nothing by it
Array = Any


def among_people(speakers: Mapping[str, Array], sessions: Array, turns: Array | float) -> Array | None:
    """How far each record is a turn of a session in which nobody has the role of an assistant, or of its user; by the
    numbers of each speaker's records, the session of each record and how far it is a turn. None where no record is.

    >>> speakers = {"ana": np.array([0, 2]), "ben": np.array([1]), "assistant": np.array([3])}
    >>> among_people(speakers, np.array([7, 7, 8, 8, -1]), np.array([1.0, 0.5, 1.0, 1.0, 1.0])).tolist()
    [1.0, 0.5, 0.0, 0.0, 0.0]
    """
    found = np.zeros(len(sessions))
    for numbers in speakers.values():
        found[numbers] = 1.0
    roles = [numbers for name, numbers in speakers.items() if name in ROLES]
    if roles:
        found[np.isin(sessions, sessions[np.concatenate(roles)])] = 0.0
    found *= turns
    found[found < LEAST] = 0.0
    return found if found.any() else None


def stated_in(texts: Sequence[str], people: Sequence[float]) -> list[float]:
    """How much of each text asks nothing, as far as it is a turn among people; 1 elsewhere.

    >>> stated_in(["And you?", "And you?", "And you?", "Fine."], [1.0, 0.25, 0.0, 1.0])
    [0.0, 0.75, 1.0, 1.0]
    """
    return [1.0 - among * (1.0 - stated(text)) if among else 1.0 for text, among in zip(texts, people, strict=True)]
