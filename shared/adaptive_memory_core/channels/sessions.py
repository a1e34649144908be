"""Conversations: sessions, speakers, and names that a turn mentions."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.channels.turns import (
    BY_FIELD,
    NOBODY,
    ONLY_IN_TEXT,
    TurnArrays,
    TurnColumns,
    Turns,
)
from adaptive_memory_core.late import late_pattern

ENOUGH = 4  # texts that begin with a name and a colon before the name may be a speaker
OTHERS = 3  # texts of others after which a speaker in a group speaks again; guess
ANSWERED = 0.25  # least share of a speaker's texts that another speaker answers before this one speaks again; guess
NO_NAME = -1
Array = Any


def take_turns(names: Array, count: int) -> list[int]:
    """The names that behave like speakers: others answer them, and they speak again. `names` are the names that texts
    begin with, as numbers below `count` in the order of the texts.

    >>> take_turns(np.array([0, 1] * 4), 2)
    [0, 1]
    >>> take_turns(np.array([0] * 4 + [1] * 4), 2), take_turns(np.array([0] * 9), 1)
    ([], [])
    """
    often = np.bincount(names, minlength=count)
    there = names[often[names] >= ENOUGH] if len(names) else names
    behind = np.concatenate((there, np.full(1 + OTHERS, NO_NAME)))
    size = len(there)
    soon = [behind[after : after + size] == there for after in range(2, 2 + OTHERS)]
    again = (behind[1 : 1 + size] != there) & np.any(soon, axis=0)
    times = np.bincount(there[again], minlength=count)
    found: list[int] = np.flatnonzero((times > 1) & (times >= ANSWERED * often)).tolist()
    return found


ROLES = frozenset(  # roles of chat models and frameworks, which are not names of people
    "ai agent assistant bot chatbot chatgpt copilot developer function gpt human model system tool user".split()  # noqa: SIM905
)
LEAST = 0.05  # below this a record does not count as a turn at all, e.g. a reply of 130 words and more


def among_people(speakers: Mapping[str, Array], sessions: Array, turns: Array | float) -> Array | None:
    """How far each record is a turn among people: 0 in sessions in which a speaker has a role, such as assistant or
    user. `speakers` has the numbers of each speaker's records, `turns` how far each record is a turn. None if no record
    is one.

    >>> speakers = {"ana": np.array([0, 2]), "ben": np.array([1]), "assistant": np.array([3])}
    >>> among_people(speakers, np.array([7, 7, 8, 8, -1]), np.array([1.0, 0.5, 1.0, 1.0, 1.0])).tolist()
    [1.0, 0.5, 0.0, 0.0, 0.0]
    """
    found = np.zeros(len(sessions))
    for numbers in speakers.values():
        found[numbers] = 1.0
    roles = [numbers for name, numbers in speakers.items() if name in ROLES]
    if roles:
        found[np.isin(sessions, sessions[np.concatenate(roles)])] = 0.0
    found *= turns
    found[found < LEAST] = 0.0
    return found if found.any() else None


_CAPITAL = late_pattern(r" [\"'(\u2018\u201c]?([A-Z][\w'\u2019]+)")  # a space first, so that few places are examined
_BEGINS_AFTER = frozenset(("", *".!?:\u2026 "))  # after these, a word has a capital letter anyway
_NO_NAMES = frozenset(
    "i'm i've i'll i'd ok okay monday tuesday wednesday thursday friday saturday sunday "  # noqa: SIM905
    "january february march april may june july august september october november december".split()
)
LONGEST = 2_000  # characters; a longer turn counts as containing a name


def says_name(text: str, speakers: Container[str] = ()) -> bool:
    """Whether the text contains a name other than those of the `speakers`, which are in lower case.

    >>> [says_name(text) for text in ("I met Rex.", "We saw \\"Dune\\" (in Oslo)", "the US", "Ana's in Rome's heart")]
    [True, True, True, True]
    >>> [says_name(text) for text in ("Hi! How are you?", "Well, I'm off on Monday", "Rome", "")]
    [False, False, False, False]
    >>> says_name("Hi Ben, how was Ana's day?", {"ana", "ben"})
    False
    """
    if len(text) > LONGEST:
        return True
    for found in _CAPITAL.finditer(text):
        if text[found.start() - 1 : found.start()] not in _BEGINS_AFTER:
            word = found[1].lower().replace("\u2019", "'").removesuffix("'s")
            if word not in _NO_NAMES and word not in speakers:
                return True
    return False


PAUSE = 3_600.0  # seconds of silence that end a session without a name
LONG = 30.0  # average words per record of a session above which they count less as turns; up to 80 is flat
SMALL = 4_000  # below this number, all records are scanned for each word; measured


class Windows(NamedTuple):
    """The windows of one width: their bounds (`high` exclusive) and lengths in words, and the number of each record's
    window. Each place has a window, and a record's window has the number of its place. With a width of None, each
    session is one window."""

    reach: int | None
    low: Array
    high: Array
    long: Array
    of_record: Array


class Places(NamedTuple):
    """The order of records in their sessions: the `place` of each record, the record at each place (`order`), and the
    session number of each place."""

    order: Array
    place: Array
    first: Array
    last: Array
    session: Array
    windows: tuple[Windows, ...]


def windows_around(lengths: Array, order: Array, first: Array, last: Array, reaches: tuple[int | None, ...]) -> Places:
    """The windows of these widths around each place.

    >>> two = np.array([2.0, 2.0])
    >>> found = windows_around(two, np.arange(2), np.array([0, 0]), np.array([2, 2]), (0, 1, None))
    >>> [window.long.tolist() for window in found.windows]
    [[2.0, 2.0], [4.0, 4.0], [4.0]]
    """
    here = np.arange(len(order))
    place = np.empty_like(order)
    place[order] = here
    running = _running(lengths[order])
    session = np.cumsum(first == here) - 1
    windows = []
    for reach in reaches:
        if reach is None:
            begins = np.flatnonzero(first == here)
            low, high, of_record = begins, last[begins], session[place]
        else:
            low, high, of_record = np.maximum(first, here - reach), np.minimum(last, here + reach + 1), place
        windows.append(Windows(reach, low, high, running[high] - running[low], of_record))
    return Places(order, place, first, last, session, tuple(windows))


def windows_with_word(places: Places, windows: Windows, docs: Array) -> Array:
    """The windows that contain a word, given the records that contain it.

    >>> places = windows_around(np.ones(3), np.arange(3), np.zeros(3, int), np.full(3, 3), (1,))
    >>> windows_with_word(places, places.windows[0], np.array([0])).tolist()
    [0, 1]
    """
    size, there, reach = len(places.order), places.place[docs], windows.reach
    if reach is None:
        return np.flatnonzero(np.bincount(places.session[there]))
    if size < SMALL or (2 * reach + 1) * len(docs) > size / 2:  # scanning everything is faster
        said = np.zeros(size)
        said[there] = 1.0
        running = _running(said)
        return np.flatnonzero(running[windows.high] > running[windows.low])
    near = there[:, None] + np.arange(-reach, reach + 1)
    within = (near >= places.first[there][:, None]) & (near < places.last[there][:, None])
    return np.flatnonzero(np.bincount(near[within], minlength=size))


def _running(values: Array) -> Array:
    return np.concatenate(([0.0], np.cumsum(values)))


# The weight of a word in turns up to this many places away, or in the session (None), in addition to the turn's own.
AROUND = ((1, 0.8), (3, 1.0), (None, 0.5))  # all within a third of these is flat, benchmarks/recall_quality.py


class Layout(NamedTuple):
    """The order of the records: `order` contains their numbers by session and turn, `first` and `last` (exclusive) the
    bounds of each place's session. `lengths` are in words, 0 for a deleted record. `turns` is how far each record's
    session consists of turns: 1 if they are short, towards 0 for long replies."""

    lengths: Array
    live: int
    order: Array
    first: Array
    last: Array
    turns: Array | float = 1.0
    surroundings: Places | None = None  # if there are conversations
    alone: Array | None = None  # marks records outside conversations, if there are both kinds


def surroundings_of(lengths: Array, order: Array, first: Array, last: Array) -> Places:
    """The windows within which the words of neighbours count for a record."""
    return windows_around(lengths, order, first, last, tuple(reach for reach, _ in AROUND))


class Conversation(NamedTuple):
    """The conversations of a user's records. `speakers` are in lower case, each with the numbers of their records.
    `unnamed` is True if texts do not repeat their speaker's name, and `in_sessions` if there is a conversation.
    `places` contains each record's position in the layout's order, and `people` how far it is a turn among people (None
    if no record is)."""

    layout: Layout
    in_sessions: bool
    speakers: Mapping[str, Array]
    unnamed: bool
    places: Array
    people: Array | None = None


def conversation(turns: Turns | TurnArrays, lengths: Array, live: int) -> Conversation:
    """Group records into conversations; a record outside a conversation is alone.

    >>> turns = Turns(["Ana", "Ben", None], [0, 0, 0], ["s", "s", None], [2.0, 1.0, 0.0])
    >>> found = conversation(turns, np.ones(3), 3)
    >>> found.layout.order.tolist(), found.layout.first.tolist(), found.layout.last.tolist(), sorted(found.speakers)
    ([2, 1, 0], [0, 1, 1], [1, 3, 3], ['ana', 'ben'])
    """
    columns = _columns(turns) if isinstance(turns, Turns) else turns
    speakers = _speakers(columns)
    sessions = _sessions(columns, speakers, lengths)
    in_sessions = bool((sessions >= 0).any())
    layout = _in_order(sessions, columns, lengths, live) if in_sessions else _one_by_one(lengths, live)
    spoken = columns.speaker_from[_all(speakers)]
    unnamed = 2 * int((spoken == BY_FIELD).sum()) > len(spoken)
    in_order = np.empty_like(layout.order)
    in_order[layout.order] = np.arange(len(layout.order))
    people = among_people(speakers, sessions, layout.turns) if in_sessions else None
    return Conversation(layout, in_sessions, speakers, unnamed, in_order, people)


def named(cue: str, speakers: Mapping[str, Array]) -> list[str]:
    """The speakers that are named in a cue.

    >>> named("What did Ana's sister say?", {"ana": None, "ben": None})
    ['ana']
    """
    text = cue.lower()
    return [one for one in speakers if one in text and re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text)]


def cue_without_names(cue: str, names: Sequence[str]) -> str:
    """The cue without these names, which dominate a vector and do not help if texts do not repeat them.

    >>> cue_without_names("What did Ana's sister say to Ben?", ["ana", "ben"])
    'What did sister say to ?'
    >>> cue_without_names("Ana?", ["ana"])
    'Ana?'
    """
    pattern = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    left = re.sub(rf"(?<!\w)(?:{pattern})(?:['\u2019]s)?(?!\w)", " ", cue, flags=re.IGNORECASE) if names else cue
    left = " ".join(left.split())
    return left if re.search(r"\w", left) else cue


def next_to(layout: Layout, number: int) -> tuple[int | None, int | None]:
    """The numbers of the records directly before and after a record in its session.

    >>> layout = Layout(np.ones(3), 3, np.array([2, 1, 0]), np.array([0, 0, 2]), np.array([2, 2, 3]))
    >>> [next_to(layout, number) for number in (0, 1, 2)]
    [(None, None), (2, None), (None, 1)]
    """
    place = int(np.flatnonzero(layout.order == number)[0])
    before = int(layout.order[place - 1]) if place > layout.first[place] else None
    after = int(layout.order[place + 1]) if place + 1 < layout.last[place] else None
    return before, after


def _turnlike(lengths: Array, order: Array, first: Array, last: Array) -> Array:
    """How far each record's session consists of turns: 0.25 if its records are twice LONG on average.

    >>> _turnlike(np.array([60.0, 5.0]), np.arange(2), np.arange(2), np.arange(1, 3)).tolist()
    [0.25, 1.0]
    """
    running = np.concatenate(([0.0], np.cumsum(lengths[order])))
    average = (running[last] - running[first]) / (last - first)
    found = np.empty(len(order))
    found[order] = _how_turnlike(average)
    return found


def _how_turnlike(average: Array) -> Array:
    return (LONG / np.maximum(LONG, average)) ** 2


def _columns(turns: Turns) -> TurnArrays:
    made = TurnColumns()
    made.extend(turns)
    return made.columns


def _in_order(sessions: Array, turns: TurnArrays, lengths: Array, live: int) -> Layout:
    """The layout of records ordered by session, then by place, then by number."""
    order = np.lexsort((turns.places, sessions))
    alone = (sessions < 0) & (lengths > 0.0)
    starts = np.flatnonzero(np.diff(sessions[order], prepend=np.nan))
    ends = np.append(starts[1:], len(lengths))
    spread = ends - starts
    first, last = np.repeat(starts, spread), np.repeat(ends, spread)
    around = surroundings_of(lengths, order, first, last)
    return Layout(
        lengths,
        live,
        order,
        first,
        last,
        _turnlike(lengths, order, first, last),
        around,
        alone if alone.any() else None,
    )


def _one_by_one(lengths: Array, live: int) -> Layout:
    """The layout of records without conversations, newest first."""
    first = np.arange(len(lengths))
    return Layout(lengths, live, first[::-1], first, first + 1, _how_turnlike(lengths))


def _speakers(turns: TurnArrays) -> dict[str, Array]:
    """The speakers with the numbers of their records: those in a metadata field, and names before a colon that take
    turns."""
    known: dict[str, int] = {}
    number_of = np.array([known.setdefault(name.lower(), len(known)) for name in turns.names] + [NOBODY])
    if not known:
        return {}
    spoken_by = number_of[turns.speakers]
    spoken = spoken_by >= 0
    in_text = turns.speaker_from == ONLY_IN_TEXT
    sure = set(np.bincount(spoken_by[spoken & ~in_text], minlength=1).nonzero()[0].tolist())
    unsure = np.flatnonzero(spoken & in_text)
    order = np.lexsort((turns.places[unsure], turns.sessions[unsure]))
    sure.update(take_turns(spoken_by[unsure[order]], len(known)))
    order = spoken_by.argsort(kind="stable")
    bounds = spoken_by[order].searchsorted(np.arange(len(known) + 1))
    return {name: order[bounds[one] : bounds[one + 1]] for name, one in known.items() if one in sure}


def _all(speakers: Mapping[str, Array]) -> Array:
    """The numbers of all records that have a speaker."""
    return np.concatenate(list(speakers.values())) if speakers else np.empty(0, dtype=np.int64)


def _sessions(turns: TurnArrays, speakers: Mapping[str, Array], lengths: Array) -> Array:
    """A session number for each record; negative for a record outside conversations."""
    alone = -1 - np.arange(len(lengths), dtype=np.int64)
    numbers = np.where(turns.sessions >= 0, turns.sessions, alone)
    known = int(turns.sessions.max(initial=NOBODY)) + 1
    spoken = _all(speakers)
    loose = np.sort(spoken[numbers[spoken] < 0])
    if len(loose):
        at = turns.places[loose]
        order = at.argsort(kind="stable")
        breaks = np.diff(at[order], prepend=at[order[0]]) > PAUSE
        numbers[loose[order]] = known + np.cumsum(breaks)
    numbers[lengths == 0.0] = -1 - np.flatnonzero(lengths == 0.0)  # a deleted record has no neighbours
    return numbers
