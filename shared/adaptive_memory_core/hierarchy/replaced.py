"""Which earlier semantic does a new one replace? One that makes the same statement about the same subject."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from adaptive_memory_core.hierarchy.nodes import SemanticKey
from adaptive_memory_core.score.same_statement import same_sentence


class Stated(NamedTuple):
    """A semantic as it is shown, and its time in POSIX seconds."""

    key: SemanticKey
    shown: str
    at: float


def replaced(new: Stated, others: Iterable[Stated]) -> SemanticKey | None:
    """The latest of the others that is older and says the same; None if none does.

    >>> home, moved = Stated(1, "Ana lives in Oslo.", 10.0), Stated(2, "Ana lives in Turin.", 20.0)
    >>> replaced(moved, [home]), replaced(home, [moved]), replaced(Stated(3, "Ben lives in Rome.", 30.0), [home, moved])
    (1, None, None)
    """
    same = [one for one in others if one.at < new.at and same_sentence(one.shown, new.shown)]
    return max(same, key=lambda one: (one.at, one.key)).key if same else None


def of_its_speaker(text: str, shown: str) -> bool:
    """Whether it says something of its speaker, and is not only shown with the name before it.

    >>> of_its_speaker("I live in Oslo.", "Ana lives in Oslo."), of_its_speaker("It rained.", "Ana: It rained.")
    (True, False)
    """
    _, told, rest = shown.partition(": ")
    return shown == text or not (told and text.endswith(rest))
