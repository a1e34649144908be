"""Which records are turns of one conversation? Sessions in order, and each speaker's turns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.channels.conversation.take_turns import take_turns
from adaptive_memory_core.channels.conversation.turns import BY_FIELD, ONLY_IN_TEXT
from adaptive_memory_core.channels.words.bm25 import Layout, by_length, surroundings_of

PAUSE = 3_600.0  # seconds without a word that end a session which has no name
LONG = 30.0  # words of a session's records on average from which they are less turns than replies; to 80 is flat
Array = Any


class Turns(NamedTuple):
    """One entry a record: who spoke, how that is known, the session, and the place in it."""

    speakers: Sequence[str | None]
    told: Sequence[int]
    sessions: Sequence[str | None]
    places: Sequence[float]


class Conversation(NamedTuple):
    """`speakers` are in lower case, each with the numbers of what they said; `unnamed` says that texts do not repeat
    their speaker's name, and `in_sessions` that there is a conversation at all. `places` say where in the
    layout's order each record stands."""

    layout: Layout
    in_sessions: bool
    speakers: Mapping[str, Array]
    unnamed: bool
    places: Array


def conversation(turns: Turns, lengths: Array, live: int) -> Conversation:
    """How the records stand to each other; those of no conversation stand alone.

    >>> turns = Turns(["Ana", "Ben", None], [0, 0, 0], ["s", "s", None], [2.0, 1.0, 0.0])
    >>> found = conversation(turns, np.ones(3), 3)
    >>> found.layout.order.tolist(), found.layout.first.tolist(), found.layout.last.tolist(), sorted(found.speakers)
    ([2, 1, 0], [0, 1, 1], [1, 3, 3], ['ana', 'ben'])
    """
    speakers = _speakers(turns)
    sessions = _sessions(turns, speakers, lengths)
    order = _order(sessions, turns)
    starts = np.flatnonzero(np.diff(sessions[order], prepend=np.nan))
    ends = np.append(starts[1:], len(lengths))[: len(starts)]
    spread = ends - starts
    first, last = np.repeat(starts, spread), np.repeat(ends, spread)
    in_sessions = bool((sessions >= 0).any())
    around = surroundings_of(lengths, order, first, last) if in_sessions else None
    turnlike, alone = _turnlike(lengths, order, first, last), by_length(lengths, live)
    layout = Layout(lengths, live, order, first, last, turnlike, around, alone)
    spoken = [turns.told[number] for number in _all(speakers).tolist()]
    unnamed = 2 * spoken.count(BY_FIELD) > len(spoken)
    in_order = np.empty_like(order)
    in_order[order] = np.arange(len(order))
    return Conversation(layout, in_sessions, speakers, unnamed, in_order)


def named(cue: str, speakers: Mapping[str, Array]) -> list[str]:
    """The speakers that a cue names.

    >>> named("What did Ana's sister say?", {"ana": None, "ben": None})
    ['ana']
    """
    text = cue.lower()
    return [one for one in speakers if one in text and re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text)]


def without(cue: str, names: Sequence[str]) -> str:
    """The cue without these names: they swamp a vector, and say nothing where no text repeats them.

    >>> without("What did Ana's sister say to Ben?", ["ana", "ben"])
    'What did sister say to ?'
    >>> without("Ana?", ["ana"])
    'Ana?'
    """
    pattern = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    left = re.sub(rf"(?<!\w)(?:{pattern})(?:['\u2019]s)?(?!\w)", " ", cue, flags=re.IGNORECASE) if names else cue
    left = " ".join(left.split())
    return left if re.search(r"\w", left) else cue


def next_to(layout: Layout, number: int) -> tuple[int | None, int | None]:
    """The numbers of the records right before and right after one in its session.

    >>> layout = Layout(np.ones(3), 3, np.array([2, 1, 0]), np.array([0, 0, 2]), np.array([2, 2, 3]))
    >>> [next_to(layout, number) for number in (0, 1, 2)]
    [(None, None), (2, None), (None, 1)]
    """
    place = int(np.flatnonzero(layout.order == number)[0])
    before = int(layout.order[place - 1]) if place > layout.first[place] else None
    after = int(layout.order[place + 1]) if place + 1 < layout.last[place] else None
    return before, after


def _turnlike(lengths: Array, order: Array, first: Array, last: Array) -> Array:
    """Of each record how far its session consists of turns: a quarter, where its records are twice LONG on average.

    >>> _turnlike(np.array([60.0, 5.0]), np.arange(2), np.arange(2), np.arange(1, 3)).tolist()
    [0.25, 1.0]
    """
    running = np.concatenate(([0.0], np.cumsum(lengths[order])))
    average = (running[last] - running[first]) / (last - first)
    found = np.empty(len(order))
    found[order] = (LONG / np.maximum(LONG, average)) ** 2
    return found


def _order(sessions: Array, turns: Turns) -> Array:
    """The numbers of the records by session, and in it by their places."""
    if sessions.max(initial=-1) < 0:  # all stand alone: the last one has the lowest number
        return np.arange(len(sessions))[::-1]
    return np.lexsort((np.arange(len(sessions)), np.array(turns.places), sessions))


def _speakers(turns: Turns) -> dict[str, Array]:
    """Those that a field names, and those with whose names texts begin that take turns."""
    known: dict[str, int] = {}
    number_of: dict[str | None, int] = {None: -1}
    for name in dict.fromkeys(turns.speakers):
        if name is not None:
            number_of[name] = known.setdefault(name.lower(), len(known))
    if not known:
        return {}
    told = np.array(turns.told)
    spoken_by = np.array([number_of[name] for name in turns.speakers], dtype=np.int64)
    names = list(known)
    sure = {names[one] for one in np.unique(spoken_by[(spoken_by >= 0) & (told != ONLY_IN_TEXT)]).tolist()}
    unsure = [
        (turns.sessions[number] or "", turns.places[number], number, names[spoken_by[number]])
        for number in np.flatnonzero((spoken_by >= 0) & (told == ONLY_IN_TEXT)).tolist()
    ]
    sure |= take_turns([name for *_, name in sorted(unsure)])
    order = spoken_by.argsort(kind="stable")
    bounds = spoken_by[order].searchsorted(np.arange(len(names) + 1))
    return {name: order[bounds[one] : bounds[one + 1]] for one, name in enumerate(names) if name in sure}


def _all(speakers: Mapping[str, Array]) -> Array:
    """The numbers of all that somebody spoke."""
    return np.concatenate(list(speakers.values())) if speakers else np.empty(0, dtype=np.int64)


def _sessions(turns: Turns, speakers: Mapping[str, Array], lengths: Array) -> Array:
    """A number for each record's session; below 0 for what stands alone."""
    numbers = -1 - np.arange(len(lengths), dtype=np.int64)
    names = [one for one in dict.fromkeys(turns.sessions) if one is not None]
    known: dict[str | None, int] = {name: number for number, name in enumerate(names)}
    if names:
        named = np.array([known.get(one, -1) for one in turns.sessions], dtype=np.int64)
        numbers = np.where(named >= 0, named, numbers)
    spoken = _all(speakers)
    loose = np.sort(spoken[numbers[spoken] < 0])
    if len(loose):
        at = np.array(turns.places)[loose]
        order = np.lexsort((loose, at))
        breaks = np.diff(at[order], prepend=at[order[0]]) > PAUSE
        numbers[loose[order]] = len(known) + np.cumsum(breaks)
    numbers[lengths == 0.0] = -1 - np.flatnonzero(lengths == 0.0)  # what is gone is nobody's neighbour
    return numbers
