"""Episodes: where one ends, how a long one is cut, and what it holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from adaptive_memory_core.channels.turns import asks
from adaptive_memory_core.channels.words_of_text import words
from adaptive_memory_core.context.entries import date_of
from adaptive_memory_core.hierarchy.neighbours import from_unrelated, unit_vectors
from adaptive_memory_core.hierarchy.nodes import Array, HierarchyMessage, distinctive_terms
from adaptive_memory_core.hierarchy.semantics import ENDS, TURNS_TO, distil, spoken
from adaptive_memory_core.policy.advanced import Hierarchies

Cut = tuple[bool, ...]
ROUNDS = 10  # of moving members to the nearer of two centres; they settle earlier, as a rule


def cuts(members: Array) -> list[Cut]:
    """Cuts of at least two members, neither side empty, each once: along the axis in which they spread most, and the
    two halves around the pair that is least alike. The first member is always on the first side.

    >>> cuts(np.array([[1.0, 0.0], [0.0, 1.0]]))
    [(True, False)]
    >>> (True, True, False, False) in cuts(np.array([[1.0, 0.0], [0.9, 0.1], [0.1, 0.9], [0.0, 1.0]]))
    True
    """
    found = [_oriented(one) for one in (*_along_axis(members), _around_pair(members))]
    return list(dict.fromkeys(one for one in found if any(one) and not all(one)))


def _along_axis(members: Array) -> list[Array]:
    """In the order along the axis, at each place that leaves at least two on each side, as far as there are so many."""
    count = len(members)
    centred = members - members.mean(axis=0)
    _, _, axes = np.linalg.svd(centred @ centred.T)
    order = np.lexsort((np.arange(count), axes[0]))
    least = 1 if count < 4 else 2
    made = []
    for place in range(least, count - least + 1):
        side = np.zeros(count, dtype=bool)
        side[order[:place]] = True
        made.append(side)
    return made


def _around_pair(members: Array) -> Array:
    alike = members @ members.T
    first, second = np.unravel_index(int(np.argmin(alike)), alike.shape)
    side: Array = alike[first] >= alike[second]
    side[first], side[second] = True, first == second
    for _ in range(ROUNDS):
        if not side.any() or side.all():
            break
        one, other = members[side].mean(axis=0), members[~side].mean(axis=0)
        again = members @ one >= members @ other
        if (again == side).all() or not again.any() or again.all():
            break
        side = again
    return side


def _oriented(side: Array) -> Cut:
    return tuple(bool(one) for one in (side if side[0] else ~side))


Decided = Callable[
    [Sequence[HierarchyMessage], Sequence[HierarchyMessage]], bool | None
]  # of what came before, and what follows
CHARACTERS = 4_000  # of an episode, from which on the next message begins another; guess
SHORTEST = 2  # messages before a change of topic can end an episode; a sweep: docs/research/conversations.md
SAME_TOPIC = 0.35  # of the way from unrelated to equal; below: another topic; docs/research/conversations.md
WORDS_OF_TOPIC = 0.2  # share of words in common, up to which: another topic; docs/research/conversations.md
BESIDE = 3  # messages before and after a gap that are compared: a single one is often "Sure!"
AHEAD = 1  # messages after the one that may begin an episode, without which it is not decided
LOOKED_AT = 500  # characters at the start and at the end of a message, in which words are looked for


def starts(
    messages: Sequence[HierarchyMessage],
    settings: Hierarchies,
    *,
    unrelated: Array | None = None,
    begun: int = 0,
    whole: bool = True,
    decided: Decided | None = None,
) -> list[int]:
    """The places of the messages that begin an episode, those of the first `begun` left out: they are in one already.

    `unrelated` is the mean vector of texts that have nothing to do with each other, from which vectors are measured.
    Unless it is the `whole` conversation, a change of topic is seen once it has gone on. `decided` may say of a gap
    whether it is a change of topic (None: the rule is asked).

    >>> def at(minute, text): return HierarchyMessage(str(minute), "Ana", text, 60.0 * minute)
    >>> starts([at(0, "I sold my car."), at(1, "Cars rust."), at(50, "Cars rust.")], Hierarchies())
    [0, 2]
    >>> starts([at(0, "I sold my car."), at(1, "By the way, rain?")], Hierarchies(), begun=1)
    [1]
    """
    gaps = _Gaps(messages, settings, unrelated, whole, decided)
    found: list[int] = []
    first = 0
    for place in range(begun, len(messages)):
        if place == 0 or gaps.ends(first, place):
            found.append(place)
            first = place
    return found


class _Gaps:
    """The gaps of one conversation, each between two messages; words are taken once."""

    def __init__(
        self,
        messages: Sequence[HierarchyMessage],
        settings: Hierarchies,
        unrelated: Array | None,
        whole: bool,
        decided: Decided | None,
    ) -> None:
        self._said, self._settings, self._unrelated = messages, settings, unrelated
        self._whole, self._decided = whole, decided
        self._words: dict[int, frozenset[str]] = {}

    def ends(self, first: int, place: int) -> bool:
        """Whether the episode that began at `first` ends before the message at `place`."""
        messages, settings = self._said, self._settings
        if messages[place].at - messages[place - 1].at > 60.0 * settings.gap_minutes or self._is_full(first, place):
            return True
        if not self._whole and place + AHEAD >= len(messages):
            return False
        if self._decided is not None:
            by_model = self._decided(messages[first:place], messages[place : place + 1 + AHEAD])
            if by_model is not None:
                return by_model
        if TURNS_TO.match(messages[place].text) or _has_ended(messages, place, first):
            return True
        early = place - first < SHORTEST or asks(messages[place - 1].text)
        return not early and self._turns(range(max(first, place - BESIDE), place), place)

    def _is_full(self, first: int, place: int) -> bool:
        if place - first >= self._settings.episode_messages:
            return True
        return sum(len(one.text) for one in self._said[first:place]) >= CHARACTERS

    def _turns(self, before: range, place: int) -> bool:
        """Whether what follows is about something else than what came before, in words and, where known, in vectors."""
        after = range(place, min(place + 1 + AHEAD, len(self._said)))
        if self._words_in_common(before, after) > WORDS_OF_TOPIC:
            return False
        one, other = (_sum([self._said[place] for place in side], self._unrelated) for side in (before, after))
        return one is None or other is None or float(one @ other) < SAME_TOPIC

    def _words_in_common(self, before: range, after: range) -> float:
        """The share of the words of the shorter side that the other side has as well."""
        one, other = (frozenset().union(*map(self._words_of, side)) for side in (before, after))
        return len(one & other) / max(1, min(len(one), len(other)))

    def _words_of(self, place: int) -> frozenset[str]:
        found = self._words.get(place)
        if found is None:
            found = self._words[place] = frozenset(words(message_ends(self._said[place].text)))
        return found


def message_ends(text: str) -> str:
    """Of a long message where it begins and where it ends: there it says what it is about."""
    return text if len(text) <= 2 * LOOKED_AT else f"{text[:LOOKED_AT]} {text[-LOOKED_AT:]}"


def _has_ended(messages: Sequence[HierarchyMessage], place: int, first: int) -> bool:
    """Whether both have said goodbye before, and neither does here."""
    ended = [ENDS.search(one.text) is not None for one in messages[max(first, place - 2) : place + 1]]
    return len(ended) == 3 and ended[:2] == [True, True] and not ended[2]


def _sum(side: Sequence[HierarchyMessage], unrelated: Array) -> Array | None:
    """The direction of what is said, from what unrelated texts have in common; None if a vector is unknown."""
    vectors = [one.vector for one in side]
    if any(one is None for one in vectors):
        return None
    return unit_vectors(from_unrelated(np.array(vectors), unrelated).sum(axis=0))


LONGEST_TITLE = 80  # characters
LONGEST_NARRATIVE = 1_500  # characters


def episode_title(messages: Sequence[HierarchyMessage]) -> str:
    """The terms that come most often and, behind them, the sentence that says most.

    >>> first = HierarchyMessage("1", "Ana", "I adopted a puppy.", 0.0)
    >>> episode_title([first, HierarchyMessage("2", "Ben", "A puppy? Sweet puppy!", 1.0)])
    'puppy: Ana adopted a puppy.'
    """
    best = distil(messages, 1)
    terms = distinctive_terms([one.text for one in spoken(messages)], {}, len(messages), most=1) if messages else ""
    title = f"{terms}: {best[0].shown}" if best else terms
    return title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1].rstrip()}\u2026"


def narrative_of(messages: Sequence[HierarchyMessage], sentences: int) -> str:
    """The day, and the sentences that say most in the order in which they were said: an extract, nothing is added.
    Of small talk, in which no sentence stands by itself, all that was said.

    >>> first = HierarchyMessage("1", "Ana", "Wow! I adopted a puppy in May.", 0.0)
    >>> narrative_of([first, HierarchyMessage("2", "Ben", "Great!", 60.0)], 5)
    '1970-01-01: Ana adopted a puppy in May.'
    >>> narrative_of([HierarchyMessage("1", "Ana", "Hi!", 0.0), HierarchyMessage("2", "Ben", "Hello!", 60.0)], 5)
    '1970-01-01: Ana: Hi! Ben: Hello!'
    """
    shown = [one.shown for one in distil(messages, sentences)]
    shown = shown or [f"{one.speaker}: {one.text}" if one.speaker else one.text for one in spoken(messages)]
    text = f"{date_of(messages[0].at)}: {' '.join(shown)}" if messages else ""
    return text if len(text) <= LONGEST_NARRATIVE else f"{text[: LONGEST_NARRATIVE - 1].rstrip()}\u2026"


def span(messages: Sequence[HierarchyMessage]) -> tuple[float, float]:
    """When it began and ended, in POSIX seconds.

    >>> span([HierarchyMessage("1", None, "a", 7.0), HierarchyMessage("2", None, "b", 9.0)])
    (7.0, 9.0)
    """
    times = [one.at for one in messages]
    return min(times), max(times)
