"""Turns of a conversation: parsed from records, and stored in columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.fields import Fields
from adaptive_memory_core.late import late_pattern
from adaptive_memory_core.records import Metadata

BY_FIELD, IN_TEXT, ONLY_IN_TEXT = 0, 1, 2  # where a speaker's name is given
_ASKED = late_pattern(r"[?\u037e\u061f](?=[\s\])\"'\u201d*!?]|$)|\uff1f")
_SENTENCE = late_pattern(
    r"[^.!?\u2026\u3002\uff01\uff1f\u037e\u061f]*[.!?\u2026\u3002\uff01\uff1f\u037e\u061f]+|[^.!?]+$"
)
LONGEST = 2_000  # characters; a longer turn always counts as a statement
_PREFIX = late_pattern(r"(?=[^\W\d_])([\w.'-]{1,30}(?: [\w.'-]{1,30}){0,2}): ")


class Turn(NamedTuple):
    """A turn's speaker, its session, and its place in the session; None if the record does not contain them."""

    speaker: str | None = None
    session: str | None = None
    place: float | None = None
    speaker_from: int = BY_FIELD


def turn_of(text: str, metadata: Metadata | None, fields: Fields, *, created_at: float | None) -> Turn:
    """The turn in a record; turns without a sequence number are ordered by their time.

    >>> turn_of("Hi!", {"speaker": "Ana", "session": 3, "seq": 7}, Fields(), created_at=None)
    Turn(speaker='Ana', session='3', place=7.0, speaker_from=0)
    >>> turn_of("Ana: Hi!", {"session": "monday"}, Fields(), created_at=50.0)
    Turn(speaker='Ana', session='monday', place=50.0, speaker_from=2)
    >>> turn_of("At 10:30 we met.", None, Fields(), created_at=None)
    Turn(speaker=None, session=None, place=None, speaker_from=0)
    """
    found: Metadata = {} if metadata is None else metadata
    place = _number(found.get(fields.seq))
    place = created_at if place is None else place
    speaker, session = _name(found.get(fields.speaker)), _name(found.get(fields.session))
    if speaker is not None:
        return Turn(speaker, session, place, IN_TEXT if text.startswith(f"{speaker}:") else BY_FIELD)
    prefix = _PREFIX.match(text)
    return Turn(None, session, place) if prefix is None else Turn(prefix[1], session, place, ONLY_IN_TEXT)


def adjacent_turns(turns: Iterable[tuple[str, Turn]]) -> dict[str, tuple[str | None, str | None]]:
    """The ids directly before and after each turn; turns without a session or a place are left out.

    >>> turns = [("b", Turn("Ben", "s", 2.0)), ("a", Turn("Ana", "s", 1.0)), ("c", Turn(None, "t", 3)), ("d", Turn())]
    >>> adjacent_turns(turns)
    {'a': (None, 'b'), 'b': ('a', None), 'c': (None, None)}
    """
    ordered = [
        (turn.session, turn.place, one) for one, turn in turns if turn.session is not None and turn.place is not None
    ]
    ordered.sort(key=lambda one: one[:2])
    sessions = [None, *(session for session, _, _ in ordered), None]
    ids = [None, *(one for _, _, one in ordered), None]
    return {
        one: (
            ids[number - 1] if sessions[number - 1] == session else None,
            ids[number + 1] if sessions[number + 1] == session else None,
        )
        for number, (session, _, one) in enumerate(ordered, start=1)
    }


def asks(text: str) -> bool:
    """Whether the text contains a question, so that the next turn may be an answer.

    >>> [asks(text) for text in ("How are you? I am well.", "\u5143\u6c17\uff1f", "see http://x.org/?q=1", "Fine.")]
    [True, True, False, False]
    """
    return _ASKED.search(text) is not None


def stated(text: str) -> float:
    """The share of a text that is not a question, by characters.

    >>> stated("I moved to Oslo."), stated("And you?"), stated("Fine. And you?") > 0.3, stated("http://x.org/?q=1")
    (1.0, 0.0, True, 1.0)
    """
    if len(text) > LONGEST or not (_may_ask(text) and asks(text)):
        return 1.0
    letters = asked = 0
    for sentence in _SENTENCE.findall(text):
        letters += len(sentence)
        if _may_ask(sentence) and asks(sentence):
            asked += len(sentence)
    return 1.0 - asked / letters if asked else 1.0


def _may_ask(text: str) -> bool:
    """Whether a text could contain a question: a quick check, because most texts contain none."""
    return "?" in text or not text.isascii()


def _name(value: object) -> str | None:
    """The value as a name; a number may be a name."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value).strip() or None


def _number(value: object) -> float | None:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if usable else None  # type: ignore[arg-type] # it is a number, or not used


Array = Any
NOBODY = -1  # instead of a number if there is no name


class Turns(NamedTuple):
    """Columns with an entry per record: the speaker, where the speaker is given, the session, and the place in it."""

    speakers: Sequence[str | None]
    speaker_from: Sequence[int]
    sessions: Sequence[str | None]
    places: Sequence[float]


class TurnArrays(NamedTuple):
    """The columns of Turns with numbers instead of names; `names` contains the speakers by number."""

    names: Sequence[str]
    speakers: Array
    speaker_from: Array
    sessions: Array
    places: Array


class TurnColumns:
    """Turn columns that can be extended. Arrays that were returned before do not change.

    >>> turns = TurnColumns()
    >>> turns.extend(Turns(["Ana", None], [0, 0], ["s", "t"], [1.0, 2.0])); before = turns.columns
    >>> turns.extend(Turns(["Ana"], [0], ["t"], [3.0]))
    >>> turns.columns.speakers.tolist(), turns.columns.sessions.tolist(), len(before.places)
    ([0, -1, 0], [0, 1, 1], 2)
    """

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._session_names: dict[str, int] = {}
        self._speakers, self._speaker_from = Growing(np.int32), Growing(np.int8)
        self._sessions, self._places = Growing(np.int32), Growing(np.float64)

    @classmethod
    def of(cls, columns: TurnArrays, sessions: Sequence[str]) -> TurnColumns:
        """TurnColumns with these columns; `sessions` are the names of the sessions."""
        one = cls()
        one._names = {name: number for number, name in enumerate(columns.names)}
        one._session_names = {name: number for number, name in enumerate(sessions)}
        one._append(columns)
        return one

    @property
    def columns(self) -> TurnArrays:
        found = (self._speakers, self._speaker_from, self._sessions, self._places)
        return TurnArrays(tuple(self._names), *(one.all for one in found))

    @property
    def session_names(self) -> list[str]:
        return list(self._session_names)

    def extend(self, turns: Turns) -> None:
        """Add the turns of later records."""
        speakers, sessions = _numbers(turns.speakers, self._names), _numbers(turns.sessions, self._session_names)
        self._append(TurnArrays((), speakers, turns.speaker_from, sessions, turns.places))

    def _append(self, more: TurnArrays) -> None:
        self._speakers.extend(more.speakers)
        self._speaker_from.extend(more.speaker_from)
        self._sessions.extend(more.sessions)
        self._places.extend(more.places)


class Growing:
    """An array with spare room, so that appending takes time in proportion to what is appended.

    >>> one = Growing(np.int64); one.extend([1, 2]); before = one.all; one.extend([3])
    >>> before.tolist(), one.all.tolist()
    ([1, 2], [1, 2, 3])
    """

    def __init__(self, kind: Any) -> None:
        self._room, self._size = np.empty(0, dtype=kind), 0

    @property
    def all(self) -> Array:
        return self._room[: self._size]

    def extend(self, more: Any) -> None:
        size = self._size + len(more)
        if size > len(self._room):
            grown = np.empty(max(size, 2 * len(self._room)), dtype=self._room.dtype)
            grown[: self._size] = self._room[: self._size]
            self._room = grown
        self._room[self._size : size] = more
        self._size = size


def _numbers(names: Iterable[str | None], known: dict[str, int]) -> list[int]:
    """The number of each name; new ones get the next numbers."""
    return [NOBODY if one is None else known.setdefault(one, len(known)) for one in names]
