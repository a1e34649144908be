"""Where does an episode end? At a gap in time, a change of topic in vectors and in words, what says so, or its size."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from adaptive_memory_core.channels.conversation.turns import asks
from adaptive_memory_core.channels.words.words_of_text import words
from adaptive_memory_core.hierarchy.nodes import Array, Said
from adaptive_memory_core.hierarchy.phrases import ENDS, TURNS_TO
from adaptive_memory_core.let_others_run import let_others_run
from adaptive_memory_core.policy.hierarchy import Hierarchies

Decided = Callable[[Sequence[Said], Sequence[Said]], bool | None]  # of what came before, and what follows
BESIDE = 3  # messages before and after a gap that are compared: a single one is often "Sure!"
AHEAD = 1  # messages after the one that may begin an episode, without which it is not decided
LOOKED_AT = 500  # characters at the start and at the end of a message, in which words are looked for


def starts(
    said: Sequence[Said],
    settings: Hierarchies,
    *,
    usual: float,
    begun: int = 0,
    whole: bool = True,
    decided: Decided | None = None,
) -> list[int]:
    """The places of the messages that begin an episode, those of the first `begun` left out: they are in one already.

    `usual` is the cosine of two texts that have nothing to do with each other. Unless it is the `whole` conversation, a
    change of topic is seen once it has gone on. `decided` may say of a gap whether it is a change of topic (None: the
    rule is asked).

    >>> def at(minute, text): return Said(str(minute), "Ana", text, 60.0 * minute)
    >>> starts([at(0, "I sold my car."), at(1, "Cars rust."), at(50, "Cars rust.")], Hierarchies(), usual=0.0)
    [0, 2]
    >>> starts([at(0, "I sold my car."), at(1, "By the way, rain?")], Hierarchies(), usual=0.0, begun=1)
    [1]
    """
    gaps = _Gaps(said, settings, usual, whole, decided)
    found: list[int] = []
    first = 0
    for place in range(begun, len(said)):
        let_others_run()
        if place == 0 or gaps.ends(first, place):
            found.append(place)
            first = place
    return found


class _Gaps:
    """The gaps of one conversation, each between two messages; words are taken once."""

    def __init__(
        self, said: Sequence[Said], settings: Hierarchies, usual: float, whole: bool, decided: Decided | None
    ) -> None:
        self._said, self._settings, self._usual = said, settings, usual
        self._whole, self._decided = whole, decided
        self._words: dict[int, frozenset[str]] = {}

    def ends(self, first: int, place: int) -> bool:
        """Whether the episode that began at `first` ends before the message at `place`."""
        said, settings = self._said, self._settings
        if said[place].at - said[place - 1].at > 60.0 * settings.gap_minutes or self._is_full(first, place):
            return True
        if not self._whole and place + AHEAD >= len(said):
            return False
        if self._decided is not None:
            by_model = self._decided(said[first:place], said[place : place + 1 + AHEAD])
            if by_model is not None:
                return by_model
        if TURNS_TO.match(said[place].text) or _has_ended(said, place, first):
            return True
        early = place - first < settings.shortest or asks(said[place - 1].text)
        return not early and self._turns(range(max(first, place - BESIDE), place), place)

    def _is_full(self, first: int, place: int) -> bool:
        if place - first >= self._settings.longest:
            return True
        return sum(len(one.text) for one in self._said[first:place]) >= self._settings.characters

    def _turns(self, before: range, place: int) -> bool:
        """Whether what follows is about something else than what came before, in words and, where known, in vectors."""
        after = range(place, min(place + 1 + AHEAD, len(self._said)))
        if self._words_in_common(before, after) > self._settings.topic_words:
            return False
        likeness = _likeness([self._said[one] for one in before], [self._said[one] for one in after])
        return likeness is None or likeness < self._usual + self._settings.topic * (1.0 - self._usual)

    def _words_in_common(self, before: range, after: range) -> float:
        """The share of the words of the shorter side that the other side has as well."""
        one, other = (frozenset().union(*map(self._words_of, side)) for side in (before, after))
        return len(one & other) / max(1, min(len(one), len(other)))

    def _words_of(self, place: int) -> frozenset[str]:
        found = self._words.get(place)
        if found is None:
            found = self._words[place] = frozenset(words(start_and_end(self._said[place].text)))
        return found


def start_and_end(text: str) -> str:
    """Of a long message where it begins and where it ends: there it says what it is about."""
    return text if len(text) <= 2 * LOOKED_AT else f"{text[:LOOKED_AT]} {text[-LOOKED_AT:]}"


def _has_ended(said: Sequence[Said], place: int, first: int) -> bool:
    """Whether both have said goodbye before, and neither does here."""
    ended = [ENDS.search(one.text) is not None for one in said[max(first, place - 2) : place + 1]]
    return len(ended) == 3 and ended[:2] == [True, True] and not ended[2]


def _likeness(before: Sequence[Said], after: Sequence[Said]) -> float | None:
    one, other = _sum(before), _sum(after)
    if one is None or other is None:
        return None
    length = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / length if length > 0.0 else 0.0


def _sum(side: Sequence[Said]) -> Array | None:
    vectors = [one.vector for one in side]
    return None if any(one is None for one in vectors) else np.sum(vectors, axis=0)
