"""What is a system that can be compared? It takes each user's texts, and then answers questions with their ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from adaptive_memory_core.evaluate.labelled import Item
from adaptive_memory_core.evaluate.tokens_shown import Unit
from adaptive_memory_core.models.embedder import Embedder


class Asked(NamedTuple):
    """One question: who asks it, when (POSIX seconds), for how many hits, and whether they count as read."""

    user: str
    text: str
    k: int
    now: float
    reading: bool = False


class Found(NamedTuple):
    """The ids, best first. `units` gives those that are shown together; without it each stands for itself. `page` gives
    what a chat model is shown within so many tokens; without it, the texts in this order. Neither is timed."""

    ids: Sequence[str]
    units: Callable[[], Sequence[Unit]] | None = None
    page: Callable[[int], str] | None = None


class System(Protocol):
    """Whatever finds texts. `prepare` comes before each `ask` and is not timed."""

    def write(self, user: str, items: Sequence[Item], *, now: float) -> None:
        """Take in a user's texts, in their order; called once for each user."""
        ...

    def prepare(self, asked: Asked) -> None: ...

    def ask(self, asked: Asked) -> Found: ...

    def figures(self) -> Sequence[Mapping[str, float]]:
        """What it is like at the end, a row for each user; nothing, where there is nothing to tell."""
        ...

    def close(self) -> None: ...


Maker = Callable[[Embedder, Mapping[str, Any]], System]
