"""How are the words of two scopes looked up as those of one? Their lists one behind the other, with common statistics.

Everyone's lists are in RAM once, however many users read them; what is joined is made for one look alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from adaptive_memory_core.channels.conversation.sessions import Conversation
from adaptive_memory_core.channels.words.bm25 import Layout, Posting
from adaptive_memory_core.flow.ports.words import Numbers

Array = Any


class Ids(Protocol):
    """The ids of records by their numbers."""

    def __getitem__(self, number: int, /) -> str: ...


class Lists(NamedTuple):
    """What the lists of a scope say of some words; `times` marks the records that say a time."""

    talk: Conversation
    postings: Sequence[Posting]
    ids: Ids
    numbers: Numbers
    times: Array | None


def joined(parts: Sequence[Lists]) -> Lists:
    """The lists of all parts as those of one scope."""
    if len(parts) == 1:
        return parts[0]
    first, second = parts
    size = len(first.talk.layout.lengths)
    return Lists(
        talk=_conversation(first.talk, second.talk, size),
        postings=[_posting(*pair, size) for pair in zip(first.postings, second.postings, strict=True)],
        ids=_JoinedIds(first.ids, second.ids, size),
        numbers=_JoinedNumbers(first.numbers, second.numbers, size),
        times=None if first.times is None or second.times is None else np.concatenate((first.times, second.times)),
    )


def _posting(one: Posting, other: Posting, size: int) -> Posting:
    """
    >>> first, second = Posting(1, np.array([0]), np.array([2.0])), Posting(1, np.array([1]), np.array([1.0]))
    >>> _posting(first, second, 10).docs.tolist()
    [0, 11]
    """
    if not len(other.docs):
        return one
    docs, counts = np.concatenate((one.docs, other.docs + size)), np.concatenate((one.counts, other.counts))
    return Posting(one.times, docs, counts, one.word)


def _conversation(one: Conversation, other: Conversation, size: int) -> Conversation:
    """Sessions stay apart: a name of one scope's is not that of the other's."""
    a, b = one.layout, other.layout
    layout = Layout(
        np.concatenate((a.lengths, b.lengths)),
        a.live + b.live,
        np.concatenate((a.order, b.order + size)),
        np.concatenate((a.first, b.first + size)),
        np.concatenate((a.last, b.last + size)),
        np.concatenate((a.turns, b.turns)),
        alone=np.concatenate((_alone(one), _alone(other))) if one.in_sessions or other.in_sessions else None,
    )
    speakers: dict[str, Array] = dict(one.speakers)
    for name, said in other.speakers.items():
        speakers[name] = np.concatenate((speakers[name], said + size)) if name in speakers else said + size
    in_sessions, unnamed = one.in_sessions or other.in_sessions, one.unnamed or other.unnamed
    places = np.concatenate((one.places, other.places + size))
    people = None if one.people is None and other.people is None else np.concatenate((_people(one), _people(other)))
    return Conversation(layout, in_sessions, speakers, unnamed, places, people)


def _people(talk: Conversation) -> Array:
    return np.zeros(len(talk.layout.lengths)) if talk.people is None else talk.people


def _alone(talk: Conversation) -> Array:
    """Marks the records that are of no conversation."""
    layout = talk.layout
    if not talk.in_sessions:
        return layout.lengths > 0.0
    return np.zeros(len(layout.lengths), dtype=bool) if layout.alone is None else layout.alone


class _JoinedIds:
    def __init__(self, first: Ids, second: Ids, size: int) -> None:
        self._first, self._second, self._size = first, second, size

    def __getitem__(self, number: int, /) -> str:
        return self._first[number] if number < self._size else self._second[number - self._size]


class _JoinedNumbers:
    """What was written after the lists were read has no number in them."""

    def __init__(self, first: Numbers, second: Numbers, size: int) -> None:
        self._first, self._second, self._size = first, second, size

    def get(self, stored_id: str, default: int, /) -> int:
        own = self._first.get(stored_id, -1)
        if 0 <= own < self._size:
            return own
        other = self._second.get(stored_id, -1)
        return default if other < 0 else other + self._size

    def __contains__(self, stored_id: object, /) -> bool:
        return isinstance(stored_id, str) and self.get(stored_id, -1) >= 0

    def __getitem__(self, stored_id: str, /) -> int:
        return self.get(stored_id, -1)
