"""Which episodes are worth their tokens? Stage II of xMemory: those that make the reader less uncertain.

How uncertain the reader is with a context is a function that is passed in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

Detail = Literal["summary", "messages"]


class Part(NamedTuple):
    """An episode by its number, and how much of it is told."""

    episode: int
    detail: Detail


Context = tuple[Part, ...]  # in the order of admission; besides them there is always what is known of themes and facts


@dataclass(frozen=True, slots=True)
class Expansion:
    """What was admitted, the reader's uncertainty before and after, and how often the reader was asked."""

    parts: Context
    before: float
    after: float
    asked: int
    stopped_early: bool = False


def expand(
    uncertainty: Callable[[Context], float],
    episodes: Sequence[int],
    *,
    episode_drop: float,
    message_drop: float,
    patience: int,
) -> Expansion:
    """The episodes, most promising first, of which each makes the reader's uncertainty fall by at least `episode_drop`;
    in full where that makes it fall by `message_drop` more. After `patience` episodes in a row that did not, it stops.

    >>> rules = {"episode_drop": 0.1, "message_drop": 0.1, "patience": 1}
    >>> knows = {(7, "summary"): 0.5, (7, "messages"): 0.2}
    >>> found = expand(lambda context: 2.0 - sum(knows.get(part, 0.0) for part in context), [7, 8, 9], **rules)
    >>> found.parts, found.asked, found.stopped_early          # the whole of 7 says less than its summary
    ((Part(episode=7, detail='summary'),), 4, True)
    >>> expand(lambda context: 1.0, [], **rules)
    Expansion(parts=(), before=1.0, after=1.0, asked=1, stopped_early=False)
    """
    before = uncertainty(())
    chosen: Context = ()
    sure, asked, idle = before, 1, 0
    for place, episode in enumerate(episodes):
        told = uncertainty((*chosen, Part(episode, "summary")))
        asked += 1
        if sure - told < episode_drop:
            idle += 1
            if idle >= patience:
                return Expansion(chosen, before, sure, asked, stopped_early=place + 1 < len(episodes))
            continue
        whole = uncertainty((*chosen, Part(episode, "messages")))
        asked += 1
        detail: Detail = "messages" if told - whole >= message_drop else "summary"
        chosen, sure, idle = (*chosen, Part(episode, detail)), min(told, whole if detail == "messages" else told), 0
    return Expansion(chosen, before, sure, asked)
