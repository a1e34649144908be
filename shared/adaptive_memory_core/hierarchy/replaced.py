"""Which earlier semantic does a new one replace? One that says the same of the same subject, but for what changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from adaptive_memory_core.hierarchy.nodes import SemanticKey
from adaptive_memory_core.policy.updates import Updates
from adaptive_memory_core.score.facts.asked import asked
from adaptive_memory_core.score.facts.same_fact import in_same_words
from adaptive_memory_core.score.facts.statement import statement


class Stated(NamedTuple):
    """A semantic as it is shown, and its time in POSIX seconds."""

    key: SemanticKey
    shown: str
    at: float


def replaced(new: Stated, others: Iterable[Stated], rule: Updates) -> SemanticKey | None:
    """The latest of the others that is older and says the same; None where none does.

    >>> home, moved = Stated(1, "Ana lives in Oslo.", 10.0), Stated(2, "Ana lives in Turin.", 20.0)
    >>> replaced(moved, [home], Updates()), replaced(home, [moved], Updates())
    (1, None)
    >>> replaced(Stated(3, "Ben lives in Rome.", 30.0), [home, moved], Updates()) is None
    True
    """
    older = [one for one in others if one.at < new.at and len(one.shown) <= rule.longest_text]
    if len(new.shown) > rule.longest_text:
        return None
    same = [one for one in older if _same(one.shown, new.shown, rule)]
    return max(same, key=lambda one: (one.at, one.key)).key if same else None


def of_its_speaker(text: str, shown: str) -> bool:
    """Whether it says something of its speaker, and is not only shown with the name before it.

    >>> of_its_speaker("I live in Oslo.", "Ana lives in Oslo."), of_its_speaker("It rained.", "Ana: It rained.")
    (True, False)
    """
    _, told, rest = shown.partition(": ")
    return shown == text or not (told and text.endswith(rest))


def _same(old: str, new: str, rule: Updates) -> bool:
    """Judged as if somebody had asked for what both have in common."""
    said, words = statement(new).said, old.split()
    common = [word for word, plain in zip(words, _plain(words), strict=True) if plain in said]
    return len(common) >= 2 and in_same_words(statement(old), statement(new), asked(" ".join(common)), rule)


def _plain(words: list[str]) -> list[str]:
    return [word.lower().strip(".,;:!?\"'()") for word in words]
