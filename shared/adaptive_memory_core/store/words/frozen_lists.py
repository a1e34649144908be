"""Posting lists as arrays, and the words of a record.

Everyone's lists are in RAM once, however many users read them; a user's and everyone's lists are joined for a single
query.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.channels.language_of_text import language_of
from adaptive_memory_core.channels.languages import CODES, ENGLISH
from adaptive_memory_core.channels.matches import Asked, Numbers, posting
from adaptive_memory_core.channels.sessions import Conversation, Layout, surroundings_of
from adaptive_memory_core.channels.turns import BY_FIELD, Turn, TurnArrays
from adaptive_memory_core.channels.words_of_text import words
from adaptive_memory_core.flow.ports.ledger_values import WordRow
from adaptive_memory_core.store.user_copies import Arrays, packed, unpacked


class RecordText(NamedTuple):
    """A record's text, its place in a conversation, and the language that its metadata gives."""

    stored_id: str
    text: str
    turn: Turn
    language: str | None = None


@lru_cache(maxsize=100_000)  # of at most 500 bytes each
def digest_of(word: str) -> int:
    """The number that represents a word."""
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little", signed=True)


def language_mark(code: str) -> str:
    """The entry among a record's words that marks its language; it occurs in no text."""
    return f"\0{code}"


LANGUAGES = {digest_of(language_mark(code)): code for code in sorted(CODES)}


def mark(text: str, turn: Turn, language: str | None = None) -> bytes:
    """A digest that changes with the text, its place or its given language."""
    content = (text, *turn) if language in (None, ENGLISH) else (text, *turn, language)
    return hashlib.blake2b(repr(content).encode(errors="replace"), digest_size=8).digest()


def row_of(one: RecordText) -> WordRow:
    """A record's words as stored in the ledger, with the mark of their language unless it is English."""
    speaker = "" if one.turn.speaker is None or one.turn.speaker_from != BY_FIELD else f"{one.turn.speaker} "
    language = _language(one)
    said = words(speaker + one.text, language)
    different = dict.fromkeys(said if language is None else [*said, language_mark(language)])
    terms = np.fromiter(map(digest_of, different), dtype="<i8", count=len(different))
    return (
        one.stored_id,
        mark(one.text, one.turn, one.language),
        len(said),
        terms.tobytes(),
        *one.turn,
    )


def _language(one: RecordText) -> str | None:
    """The given language, else the detected one; None for English and if detection is not certain."""
    found = language_of(one.text) if one.language is None else one.language
    return None if found == ENGLISH else found


Array = Any


class WordOfRecord(NamedTuple):
    """Words of some records: for each entry, the word's number and the record's number."""

    terms: Array
    docs: Array


class FrozenLists(NamedTuple):
    """Posting lists: the records with the word `known[i]` are `docs[bounds[i]:bounds[i + 1]]`."""

    known: Array
    bounds: Array
    docs: Array

    @property
    def nbytes(self) -> int:
        total: int = sum(one.nbytes for one in self)
        return total


def nothing() -> FrozenLists:
    """Empty lists."""
    return FrozenLists(np.empty(0, dtype="<i8"), np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int64))


def merged_lists(lists: FrozenLists, more: Sequence[WordOfRecord]) -> FrozenLists:
    """The lists with the words of later records added, each after the records already listed for the word.

    >>> one = merged_lists(nothing(), [WordOfRecord(np.array([7, 3]), np.array([0, 0]))])
    >>> two = merged_lists(one, [WordOfRecord(np.array([7, 5]), np.array([1, 1]))])
    >>> two.known.tolist(), two.bounds.tolist(), two.docs.tolist()
    ([3, 5, 7], [0, 1, 2, 4], [0, 1, 0, 1])
    """
    if not more:
        return lists
    terms, docs = (np.concatenate(column) for column in zip(*more, strict=True))
    order = terms.argsort(kind="stable")
    in_order = terms[order]
    begins = begins_of_runs(in_order)
    new, sizes = in_order[begins], np.diff(begins, append=len(terms))
    behind = lists.bounds[lists.known.searchsorted(in_order, side="right")]
    both = np.sort(np.concatenate((lists.known, new)))
    known = both[begins_of_runs(both)].astype("<i8")
    spread = np.zeros(len(known), dtype=np.int64)
    spread[known.searchsorted(lists.known)] = np.diff(lists.bounds)
    spread[known.searchsorted(new)] += sizes
    return FrozenLists(known, np.concatenate(([0], np.cumsum(spread))), np.insert(lists.docs, behind, docs[order]))


def begins_of_runs(in_order: Array) -> Array:
    """The index at which each different number begins, in sorted numbers. `numpy.unique` handles more cases, but loads
    a part of numpy that nothing else here needs, which slows down a process's first recall.

    >>> begins_of_runs(np.array([3, 3, 5, 7, 7])).tolist(), begins_of_runs(np.array([], dtype=int)).tolist()
    ([0, 2, 3], [])
    """
    differs = np.ones(len(in_order), dtype=bool)
    np.not_equal(in_order[1:], in_order[:-1], out=differs[1:])
    return np.flatnonzero(differs)


def without_removed(lists: FrozenLists, alive: Array) -> FrozenLists:
    """The lists without removed records; the others are renumbered without gaps.

    >>> whole = merged_lists(nothing(), [WordOfRecord(np.array([3, 3, 7]), np.array([0, 1, 0]))])
    >>> left = without_removed(whole, np.array([False, True]))
    >>> left.known.tolist(), left.bounds.tolist(), left.docs.tolist()
    ([3], [0, 1], [0])
    """
    kept = alive[lists.docs]
    number = np.cumsum(alive) - 1
    terms = np.repeat(lists.known, np.diff(lists.bounds))[kept]
    starts = begins_of_runs(terms)
    return FrozenLists(terms[starts], np.append(starts, len(terms)), number[lists.docs[kept]])


MARK_BYTES = 8
TURNS = ("speakers", "speaker_from", "sessions", "places")


class ListsFromFile(NamedTuple):
    """The lists and attributes of all records; a length of 0 marks a removed record. `said` are words missing from
    `lists`."""

    ids: Sequence[str]
    marks: Sequence[bytes]
    turns: TurnArrays
    sessions: Sequence[str]  # the names of the turns' sessions
    rows: Array
    lengths: Array
    lists: FrozenLists
    said: Sequence[WordOfRecord]


def arrays_of(contents: ListsFromFile) -> dict[str, Array]:
    """The arrays to write into a file."""
    alive = contents.lengths > 0.0
    lists = merged_lists(contents.lists, contents.said)
    if not alive.all():
        lists = without_removed(lists, alive)
    there = np.flatnonzero(alive)
    turns = contents.turns
    speaker_names, speakers = _used(turns.names, turns.speakers[there])
    session_names, sessions = _used(contents.sessions, turns.sessions[there])
    marks = np.frombuffer(b"".join(contents.marks), dtype=np.uint8).reshape(-1, MARK_BYTES)
    return {
        "ids": packed(contents.ids[place] for place in there.tolist()),
        "marks": marks[there],
        "speaker_names": packed(speaker_names),
        "session_names": packed(session_names),
        "speakers": speakers,
        "speaker_from": turns.speaker_from[there],
        "sessions": sessions,
        "places": turns.places[there],
        "rows": contents.rows[there],
        "lengths": contents.lengths[there],
        **lists._asdict(),
    }


def contents_of(arrays: Arrays) -> ListsFromFile:
    """The contents of a file.

    >>> lists = FrozenLists(np.array([5]), np.array([0, 1]), np.array([1]))
    >>> rows, lengths = np.array([3, 9]), np.array([0.0, 4.0])
    >>> turns = TurnArrays(["Ana"], np.array([0, -1]), np.array([0, 0]), np.array([-1, 0]), np.array([1.0, 2.0]))
    >>> one = ListsFromFile(["a", "b"], [b"8 bytes.", b"another."], turns, ["s"], rows, lengths, lists, [])
    >>> held = arrays_of(one)
    >>> left = contents_of(Arrays({}, held, {name: len(array) for name, array in held.items()}))
    >>> left.ids, left.marks, left.turns.speakers.tolist(), left.sessions, left.lists.docs.tolist()
    (['b'], [b'another.'], [-1], ['s'], [0])
    """
    marks = arrays["marks"].tobytes()
    return ListsFromFile(
        unpacked(arrays["ids"]),
        [marks[start : start + MARK_BYTES] for start in range(0, len(marks), MARK_BYTES)],
        TurnArrays(unpacked(arrays["speaker_names"]), *(arrays[name] for name in TURNS)),
        unpacked(arrays["session_names"]),
        arrays["rows"],
        arrays["lengths"],
        FrozenLists(*(arrays[name] for name in FrozenLists._fields)),
        [],
    )


def _used(names: Sequence[str], numbers: Array) -> tuple[list[str], Array]:
    """The names that are still in use, without those of removed records only; and the numbers renumbered to match.

    >>> found, numbers = _used(["a", "b", "c"], np.array([2, -1, 0, 2]))
    >>> found, numbers.tolist()
    (['a', 'c'], [1, -1, 0, 1])
    """
    used = np.unique(numbers[numbers >= 0])
    among = np.full(len(names) + 1, -1, dtype=np.int32)  # the last entry is for -1, no name
    among[used] = np.arange(len(used))
    return [names[one] for one in used.tolist()], among[numbers]


class Lists(NamedTuple):
    """The postings of a query's words in a scope's lists; `times` marks records that state a time, if the query asks
    for one."""

    talk: Conversation
    asked: Asked
    ids: Sequence[str] | _JoinedIds
    numbers: Numbers
    times: Array | None


def concatenated_lists(first: Lists, second: Lists) -> Lists:
    """The lists of both parts of a scope as one."""
    size = len(first.talk.layout.lengths)
    talk = _conversation(first.talk, second.talk, size)
    asked = {}
    for word, (times, one) in first.asked.items():
        docs = np.concatenate((one.docs, second.asked[word][1].docs + size))
        asked[word] = times, posting(word, docs, talk)
    return Lists(
        talk=talk,
        asked=asked,
        ids=_JoinedIds(first.ids, second.ids, size),
        numbers=_JoinedNumbers(first.numbers, second.numbers, size),
        times=None if first.times is None or second.times is None else np.concatenate((first.times, second.times)),
    )


def _conversation(one: Conversation, other: Conversation, size: int) -> Conversation:
    """Both conversations as one. Sessions are kept apart, even if they have the same name in both."""
    a, b = one.layout, other.layout
    people = None if one.people is None and other.people is None else np.concatenate((_people(one), _people(other)))
    lengths, order = np.concatenate((a.lengths, b.lengths)), np.concatenate((a.order, b.order + size))
    first, last = np.concatenate((a.first, b.first + size)), np.concatenate((a.last, b.last + size))
    layout = Layout(
        lengths,
        a.live + b.live,
        order,
        first,
        last,
        np.concatenate((a.turns, b.turns)),
        surroundings=None if people is None else surroundings_of(lengths, order, first, last),
        alone=np.concatenate((_alone(one), _alone(other))) if one.in_sessions or other.in_sessions else None,
    )
    speakers: dict[str, Array] = dict(one.speakers)
    for name, said in other.speakers.items():
        speakers[name] = np.concatenate((speakers[name], said + size)) if name in speakers else said + size
    in_sessions, unnamed = one.in_sessions or other.in_sessions, one.unnamed or other.unnamed
    places = np.concatenate((one.places, other.places + size))
    return Conversation(layout, in_sessions, speakers, unnamed, places, people)


def _people(talk: Conversation) -> Array:
    return np.zeros(len(talk.layout.lengths)) if talk.people is None else talk.people


def _alone(talk: Conversation) -> Array:
    """Marks the records that belong to no conversation."""
    layout = talk.layout
    if not talk.in_sessions:
        return layout.lengths > 0.0
    return np.zeros(len(layout.lengths), dtype=bool) if layout.alone is None else layout.alone


class _JoinedIds:
    def __init__(self, first: Sequence[str] | _JoinedIds, second: Sequence[str] | _JoinedIds, size: int) -> None:
        self._first, self._second, self._size = first, second, size

    def __getitem__(self, number: int, /) -> str:
        return self._first[number] if number < self._size else self._second[number - self._size]


class _JoinedNumbers:
    """Numbers in the joined lists; records written after the lists were read have none."""

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
