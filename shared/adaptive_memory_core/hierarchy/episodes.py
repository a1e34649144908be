"""Episodes: finding where one ends, titles and narratives by rule, and cuts of a set of vectors in two."""

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
ROUNDS = 10  # of moving members to the nearer of two centres; usually fewer are needed


def cuts(members: Array) -> list[Cut]:
    """The possible cuts of at least two members, without repetition or empty sides: at each place along the axis of
    greatest spread, and into two halves around the least similar pair. The first member is always on the first side.

    >>> cuts(np.array([[1.0, 0.0], [0.0, 1.0]]))
    [(True, False)]
    >>> (True, True, False, False) in cuts(np.array([[1.0, 0.0], [0.9, 0.1], [0.1, 0.9], [0.0, 1.0]]))
    True
    """
    found = [_oriented(one) for one in (*_along_axis(members), _around_pair(members))]
    return list(dict.fromkeys(one for one in found if any(one) and not all(one)))


def _along_axis(members: Array) -> list[Array]:
    """The cuts along the axis of greatest spread. Each side has at least two members, or one if there are fewer than
    four."""
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
]  # from the messages before a gap and those after it
CHARACTERS = 4_000  # of an episode, after which the next message begins another; guess
SHORTEST = 2  # messages before a change of topic can end an episode; a sweep: docs/research/conversations.md
SAME_TOPIC = 0.35  # similarity (0 unrelated, 1 equal) below which the topic differs; docs/research/conversations.md
WORDS_OF_TOPIC = 0.2  # share of common words up to which the topic may differ; docs/research/conversations.md
BESIDE = 3  # messages before a gap that are compared: a single one is often "Sure!"
AHEAD = 1  # further messages after a gap that must be there before a change of topic is decided
LOOKED_AT = 500  # characters at the start and at the end of a long message whose words are compared


def starts(
    messages: Sequence[HierarchyMessage],
    settings: Hierarchies,
    *,
    unrelated: Array | None = None,
    begun: int = 0,
    whole: bool = True,
    decided: Decided | None = None,
) -> list[int]:
    """The positions of the messages that begin an episode, except for the first `begun`, which are in one already.

    `unrelated` is the mean vector of unrelated texts, from which vectors are measured. If the messages are not the
    `whole` conversation, a change of topic is recognised only after a further message. `decided` may decide whether a
    gap changes the topic; if it returns None, the rule decides.

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
    """The gaps between the messages of one conversation. The words of each message are cached."""

    def __init__(
        self,
        messages: Sequence[HierarchyMessage],
        settings: Hierarchies,
        unrelated: Array | None,
        whole: bool,
        decided: Decided | None,
    ) -> None:
        self._messages, self._settings, self._unrelated = messages, settings, unrelated
        self._whole, self._decided = whole, decided
        self._words: dict[int, frozenset[str]] = {}

    def ends(self, first: int, place: int) -> bool:
        """Whether the episode that began at `first` ends before the message at `place`."""
        messages, settings = self._messages, self._settings
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
        return sum(len(one.text) for one in self._messages[first:place]) >= CHARACTERS

    def _turns(self, before: range, place: int) -> bool:
        """Whether the topic changes at `place`, by words and, if they are known, by vectors."""
        after = range(place, min(place + 1 + AHEAD, len(self._messages)))
        if self._words_in_common(before, after) > WORDS_OF_TOPIC:
            return False
        one, other = (_sum([self._messages[place] for place in side], self._unrelated) for side in (before, after))
        return one is None or other is None or float(one @ other) < SAME_TOPIC

    def _words_in_common(self, before: range, after: range) -> float:
        """The share of the shorter side's words that the other side has too."""
        one, other = (frozenset().union(*map(self._words_of, side)) for side in (before, after))
        return len(one & other) / max(1, min(len(one), len(other)))

    def _words_of(self, place: int) -> frozenset[str]:
        found = self._words.get(place)
        if found is None:
            found = self._words[place] = frozenset(words(message_ends(self._messages[place].text)))
        return found


def message_ends(text: str) -> str:
    """The start and the end of a long message, which usually name its topic; a short message in whole."""
    return text if len(text) <= 2 * LOOKED_AT else f"{text[:LOOKED_AT]} {text[-LOOKED_AT:]}"


def _has_ended(messages: Sequence[HierarchyMessage], place: int, first: int) -> bool:
    """Whether the two messages before `place` say goodbye and the one there does not."""
    ended = [ENDS.search(one.text) is not None for one in messages[max(first, place - 2) : place + 1]]
    return len(ended) == 3 and ended[:2] == [True, True] and not ended[2]


def _sum(side: Sequence[HierarchyMessage], unrelated: Array) -> Array | None:
    """The direction of the messages' vectors, measured from unrelated texts; None if a vector is unknown."""
    vectors = [one.vector for one in side]
    if any(one is None for one in vectors):
        return None
    return unit_vectors(from_unrelated(np.array(vectors), unrelated).sum(axis=0))


LONGEST_TITLE = 80  # characters
LONGEST_NARRATIVE = 1_500  # characters


def episode_title(messages: Sequence[HierarchyMessage]) -> str:
    """The most frequent term, followed by the most informative sentence.

    >>> first = HierarchyMessage("1", "Ana", "I adopted a puppy.", 0.0)
    >>> episode_title([first, HierarchyMessage("2", "Ben", "A puppy? Sweet puppy!", 1.0)])
    'puppy: Ana adopted a puppy.'
    """
    best = distil(messages, 1)
    terms = distinctive_terms([one.text for one in spoken(messages)], {}, len(messages), most=1) if messages else ""
    title = f"{terms}: {best[0].shown}" if best else terms
    return title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1].rstrip()}\u2026"


def narrative_of(messages: Sequence[HierarchyMessage], sentences: int) -> str:
    """The date and the most informative sentences in their order: an extract without additions. If no sentence is
    informative, as in small talk, all messages.

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
    """The times of the first and the last message, in POSIX seconds.

    >>> span([HierarchyMessage("1", None, "a", 7.0), HierarchyMessage("2", None, "b", 9.0)])
    (7.0, 9.0)
    """
    times = [one.at for one in messages]
    return min(times), max(times)
