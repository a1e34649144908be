"""The frozen values of the core: record, cue, hit, read state and others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError

SHOWN = 60  # characters of a text or id in a repr
Metadata = Mapping[str, Any]


class Verdict(str, Enum):
    """Feedback on a hit."""

    HELPFUL = "helpful"
    UNHELPFUL = "unhelpful"


EVERYONE = "everyone"  # the name of the records that belong to no user
MESSAGE_KIND = "message"  # the kind of an observed record
NUMBERED = "number#n-"  # prefix of a user given as a number; a user given as a text never has this form


class Scope(NamedTuple):
    """The owner of records: one user, or nobody (`user=None`). It is the first argument of every port method.

    With `over` a user reads everyone's records in addition to their own. The state learned about both belongs to the
    user alone, and everyone's records are changed only through everyone's scope. A user given by a number is not the
    user with that text as name.

    >>> Scope.of(7).name, Scope.of("7").name, Scope.of(7) == Scope.of("7"), str(Scope.of(7))
    (7, '7', False, 'user 7')
    >>> reader = Scope("ana", over=EVERYONE)
    >>> str(reader), str(reader.own)
    ("user 'ana' over everyone", "user 'ana'")
    >>> [str(one) for one in reader.parts]
    ["user 'ana'", 'everyone']
    """

    user: str | None
    over: str | None = None

    @classmethod
    def of(cls, name: str | int | None) -> Scope:
        """The scope of a user given as in the metadata, by a text or a number; None is nobody."""
        return cls(f"{NUMBERED}{name}" if isinstance(name, int) else name)

    @property
    def name(self) -> str | int | None:
        """The user as in the metadata."""
        user = self.user
        return int(user[len(NUMBERED) :]) if user is not None and user.startswith(NUMBERED) else user

    def __str__(self) -> str:
        own = EVERYONE if self.user is None else f"user {self.name!r}"
        return own if self.over is None else f"{own} over {self.over}"

    @property
    def own(self) -> Scope:
        """The records that this scope may change."""
        return self if self.over is None else Scope(self.user)

    @property
    def parts(self) -> tuple[Scope, ...]:
        """The scopes whose records are read, the user's own first."""
        return (self,) if self.over is None else (Scope(self.user), Scope(None))

    @property
    def sees_unowned(self) -> bool:
        """Whether records that belong to no user are also read."""
        return self.user is None or self.over is not None


@dataclass(frozen=True, slots=True)
class ReadState:
    """The state that reads and feedback have given a record.

    `last_read` is the time of the last counted read (POSIX seconds). `refreshed_at` is the start of recency: the same
    time, unless the policy requires several reads. `streak` counts consecutive reads within the window, `credit` the
    counted reads since a demotion last reset it. `warmth` is the retrieval count after its decay, as of `last_read`.
    `boost` is the change of importance by feedback (0.05 = 5 % more). `useful_at` is the time of the last read with
    helpful feedback, `useful_step` the user's recall at that time; `helpful` and `unhelpful` count the feedback.

    `strength` is its last computed value, at the user's recall `settled_step` and the time `settled_at`; later decay is
    applied when it is used. `fresh_step` and `fresh_at` are the recall and time of the last read, or of the record's
    creation: the start of the grace period.
    """

    last_read: float | None = None
    refreshed_at: float | None = None
    streak: int = 0
    retrieval_count: int = 0
    credit: int = 0
    warmth: float = 0.0
    remembered: bool = False
    strength: float = 1.0
    settled_step: int = 0
    boost: float = 0.0
    pinned: bool = False
    settled_at: float | None = None
    fresh_step: int = 0
    fresh_at: float | None = None
    useful_at: float | None = None
    useful_step: int = 0
    helpful: int = 0
    unhelpful: int = 0


NEVER_READ = ReadState()
UNKNOWN_STEP = -1_000  # for a useful read that is known only from the collection: many recalls ago


class Seen(NamedTuple):
    """A record's state as a verb read it, its kind, and its words and source (`text_identity`).

    If `shared`, the record is everyone's, and the state is that of a user who reads it.
    """

    state: ReadState
    kind: str | None
    origin: bytes | None = None
    shared: bool = False
    text_digest: bytes | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One stored memory; times are POSIX seconds. `importance` is `written_importance` with the effect of feedback.

    `metadata` contains the caller's other keys; `stored` is all metadata, exactly as in the collection. `derived_from`
    are the ids of the records that it was derived from, and `derived_stale` describes a change to one of them that made
    the record invalid.

    To write a record, `Record(text="...")` is enough; an empty id requests a new id.
    """

    id: str = ""
    text: str = ""
    kind: str | None = None
    importance: float | None = None
    created_at: float | None = None
    valid_from: float | None = None
    valid_until: float | None = None
    supersedes: str | None = None
    superseded_by: str | None = None
    metadata: Metadata = field(default_factory=dict)
    read: ReadState = NEVER_READ
    written_importance: float | None = None
    stored: Metadata = field(default_factory=dict, compare=False, repr=False)
    derived_from: tuple[str, ...] = ()
    derived_stale: str | None = None

    def __repr__(self) -> str:
        """One short line for any record.

        >>> Record("a", "tea", kind="note", metadata={"page": 3})
        Record(id='a', text='tea', kind='note', metadata={'page': 3})
        """
        names = ("kind", "importance", "created_at", "valid_from", "valid_until", "superseded_by", "metadata")
        known = {name: value for name in names if (value := getattr(self, name)) not in (None, {})}
        return _line(self, {"id": self.id, "text": self.text, **known})


@dataclass(frozen=True, slots=True)
class AgentState:
    """The state of an agent's task: recall accepts it instead of a query, and builds a query about the task.

    `goal`, `active_subtask`, `open_loops` (open questions) and the end of `scratchpad` describe the task, and are
    searched by vectors; `utterance` is the user's literal text, and is searched by words.
    """

    goal: str = ""
    active_subtask: str = ""
    open_loops: tuple[str, ...] = ()
    utterance: str = ""
    scratchpad: str = ""

    def __post_init__(self) -> None:
        loops = self.open_loops
        if isinstance(loops, str) or not isinstance(loops, Iterable):
            raise InvalidInputError(f"open_loops is {shown(loops)}. Give a list of strings, e.g. ['which region?'].")
        object.__setattr__(self, "open_loops", tuple(loops))
        said = (self.goal, self.active_subtask, self.utterance, self.scratchpad, *self.open_loops)
        if not all(isinstance(one, str) for one in said):
            raise InvalidInputError(
                f'{shown(self)} contains something that is not a string. Give strings, or "" for an empty field.'
            )


@dataclass(frozen=True, slots=True)
class Cue:
    """A query: its text, and its vector once embedded.

    `words` are the user's own words, if they differ from the text: they are searched for identifiers, error messages
    and times. `state` is the agent's state that the query was built from.
    """

    text: str
    vector: Any = field(default=None, compare=False, repr=False)
    words: str | None = field(default=None, repr=False)
    state: AgentState | None = field(default=None, compare=False, repr=False)

    def __repr__(self) -> str:
        return _line(self, {"text": self.text})

    @property
    def own_words(self) -> str:
        """The user's own words: `words` if given, else the text."""
        return self.text if self.words is None else self.words


@dataclass(frozen=True, slots=True)
class Hit:
    """A record that a channel found. `similarity` is the vectors' cosine, or its equivalent in the collection's space:
    1 is the same text; the value for unrelated texts depends on the embedder.

    `_stored_id` is the record's id inside the collection, for verbs alone: it differs from `record.id` only if two
    users chose the same id, so it would reveal the other user's record. `leads` are the values in [0, 1] from channels
    other than the vectors; all hits of a recall have the same leads. `refused` is the reason if the caller excluded the
    hit. `shared` is the name of its shared scope, None for the reader's own. It is `learnable` unless it comes from a
    fallback, whose records are only shown. `older_than` is the id of the newest record about the same fact, if this
    record is older; `older_perhaps` means that the newest is worded so differently that it may be about something else.
    """

    record: Record
    similarity: float
    _stored_id: str = field(repr=False)
    leads: Mapping[str, float] = field(default_factory=dict)
    refused: str | None = None
    shared: str | None = None
    older_than: str | None = None
    older_perhaps: bool = False
    learnable: bool = True

    def __repr__(self) -> str:
        return _line(self, {"id": self.record.id, "similarity": self.similarity, "text": self.record.text})


@dataclass(frozen=True, slots=True)
class Scored:
    """A hit with its score in [0, 1] and the parts that add up to it; `signals` are the raw values behind the parts."""

    hit: Hit
    score: float
    parts: Mapping[str, float]
    signals: Mapping[str, float]

    def __repr__(self) -> str:
        """
        >>> Scored(Hit(Record("a", "green tea"), 0.5, "a"), 0.25, {}, {})
        Scored(id='a', score=0.25, text='green tea')
        """
        return _line(self, {"id": self.id, "score": round(self.score, 3), "text": self.text})

    def to_dict(self) -> dict[str, Any]:
        """The hit as plain values for `json.dumps`; None for unknown values."""
        record = self.hit.record
        return {
            "id": record.id,
            "text": record.text,
            "score": float(self.score),
            "similarity": float(self.hit.similarity),
            "parts": {name: float(part) for name, part in self.parts.items()},
            "kind": record.kind,
            "importance": record.importance,
            "created_at": record.created_at,
            "valid_from": record.valid_from,
            "valid_until": record.valid_until,
            "metadata": dict(record.metadata),
            "shared": self.hit.shared,
            "older_than": self.hit.older_than,
        }

    @property
    def id(self) -> str:
        return self.hit.record.id

    @property
    def text(self) -> str:
        return self.hit.record.text

    @property
    def record(self) -> Record:
        return self.hit.record

    @property
    def metadata(self) -> Metadata:
        """The caller's own metadata, as in `record.metadata`."""
        return self.hit.record.metadata

    @property
    def created_at(self) -> float | None:
        """The record's time in POSIX seconds; None if unknown."""
        return self.hit.record.created_at

    @property
    def similarity(self) -> float:
        return self.hit.similarity

    @property
    def shared(self) -> str | None:
        """The name of the record's shared scope; None for the reader's own."""
        return self.hit.shared

    @property
    def older_than(self) -> str | None:
        """The id of the newest record about the same fact; None if this is the newest or the only record."""
        return self.hit.older_than

    @property
    def older_perhaps(self) -> bool:
        """Whether the newest record is worded so differently that it may be about something else."""
        return self.hit.older_perhaps


@dataclass(frozen=True, slots=True)
class Dropped:
    """A candidate that was not returned, and the reason. `scored` is None if it was dropped before scoring; `hit` is
    then set if the policy was the reason, so that another policy can score it."""

    id: str
    reason: str
    scored: Scored | None = None
    hit: Hit | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return _line(self, {"id": self.id, "reason": self.reason, "score": self.score})

    @property
    def score(self) -> float | None:
        return None if self.scored is None else self.scored.score


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The message right before a hit (`offset` -1) or right after it (1), shown with the hit whose id is `of`.

    It is not a hit: no channel found it, and it does not count as read.
    """

    record: Record
    of: str
    offset: int


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A checked record to be written into the collection. `id=None` requests a new id."""

    text: str
    id: str | None = None
    importance: float = 0.5
    kind: str = "event"
    created_at: float | None = None
    valid_from: float | None = None
    valid_until: float | None = None
    supersedes: str | None = None
    metadata: Metadata = field(default_factory=dict)
    derived_from: tuple[str, ...] = ()


def _line(value: object, known: Mapping[str, Any]) -> str:
    """A repr on one line, with long values cut."""
    return f"{type(value).__name__}({', '.join(f'{name}={shown(one, SHOWN)}' for name, one in known.items())})"
