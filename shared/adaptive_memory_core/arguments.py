"""Are the caller's arguments valid? Each value is checked where it enters, before anything is read or written."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, cast

import numpy as np

from adaptive_memory_core.cue.build import build_cue, drift
from adaptive_memory_core.errors import FilterError, InvalidInputError, PolicyError, ScopeError
from adaptive_memory_core.identity import is_namespaced, is_reserved
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import RESERVED, AgentState, Cue, Fields, Metadata, NewRecord, Record, Scope
from adaptive_memory_core.score.refusals import AT_ONCE, bar
from adaptive_memory_core.score.signals import NEUTRAL_IMPORTANCE, boosted

LONGEST_NAME = 1_000  # characters of a user or record id
LARGEST_K = 10_000
LAST_MOMENT = 1e15  # POSIX seconds; beyond it a float keeps no fraction of one
_ARGUMENTS = tuple(field.name for field in fields(NewRecord))


def user_scope(user: object) -> Scope:
    """The scope of a user.

    >>> user_scope("alice")
    Scope(user='alice')
    >>> user_scope("")
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.ScopeError: The user id is ''. Give a non-empty string, or use for_everyone() ...
    """
    if not isinstance(user, str) or not user.strip():
        raise ScopeError(
            f"The user id is {user!r}. Give a non-empty string, or use for_everyone() for records that are nobody's."
        )
    if is_namespaced(user):
        raise ScopeError(
            f"The user id {user!r} has the form of those that are no user's, such as a chat session's. Give another; a "
            "session's memory is given by what keeps it, e.g. AdaptiveMemoryBlock.for_session(...)."
        )
    return Scope(name(user, "user id"))


def shared(users: object) -> frozenset[str]:
    """The users whose records others may be given to read.

    >>> shared("handbook")
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.ScopeError: shared is 'handbook'. Give a list of user ids, e.g. shared=['handbook'].
    """
    if isinstance(users, str) or not isinstance(users, Iterable):
        raise ScopeError(f"shared is {users!r}. Give a list of user ids, e.g. shared=['handbook'].")
    return frozenset(str(user_scope(one).user) for one in users)


def name(value: object, what: str) -> str:
    """A usable id: a non-empty string that can be stored."""
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_NAME:
        shown = repr(value) if len(repr(value)) < 80 else f"{repr(value)[:60]}... ({len(str(value))} characters)"
        raise InvalidInputError(f"The {what} is {shown}. Give a non-empty string of up to {LONGEST_NAME:,} characters.")
    return encodable(value, what)


def encodable(value: str, what: str) -> str:
    """The string, unless it holds half a surrogate pair: that has no UTF-8, so nothing could store it."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidInputError(
            f"The {what} holds a lone surrogate at position {error.start}, which no database can store. Decode the "
            "source properly, or replace it: text.encode('utf-8', 'replace').decode()."
        ) from None
    return value


def words(value: object, what: str) -> str:
    """A text or a cue with something in it."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidInputError(f"The {what} is {value!r:.80}. Give a string that is not blank.")
    return encodable(value, what)


def cue(value: object) -> Cue:
    """What is looked for: words, or words with the vector that somebody made of them already.

    >>> cue("tea"), cue(Cue("", [1.0, 0.0])).vector.tolist()
    (Cue(text='tea'), [1.0, 0.0])
    >>> cue(Cue("tea", [1.0, float("nan")]))
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.InvalidInputError: The cue's vector is no list of finite numbers. ...
    """
    if isinstance(value, AgentState):
        value = build_cue(value)
    if not isinstance(value, Cue):
        return Cue(words(value, "cue"))
    if value.words is not None:
        words(value.words, "cue's words")
    if value.vector is None or not isinstance(value.text, str):
        return replace(value, text=words(value.text, "cue"))
    try:
        vector = np.asarray(value.vector, dtype=np.float32)
    except (TypeError, ValueError):
        vector = np.empty(0, dtype=np.float32)
    if vector.ndim != 1 or not len(vector) or not np.isfinite(vector).all():
        raise InvalidInputError(
            "The cue's vector is no list of finite numbers. Give what the collection's embedder makes of a query, or "
            "a cue without a vector."
        )
    return replace(value, text=encodable(value.text, "cue"), vector=vector)


def channels(policy: Policy, own: Collection[str]) -> None:
    """Nothing, or an error: a policy names channels that this memory does not have."""
    named = dict.fromkeys([*policy.ways, *dict(policy.channel_weights)])
    unknown = [name for name in named if name not in own]
    if unknown:
        raise PolicyError(
            f"The policy names the channels {', '.join(map(repr, unknown))}. This memory has: "
            f"{', '.join(own)}. Give yours to it: AdaptiveMemory(..., channels={{{unknown[0]!r}: function}})."
        )


def guests(value: object) -> Mapping[str, str]:
    """Hits that may be in no collection: id to text."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(one, str) for pair in value.items() for one in pair):
        raise InvalidInputError(f"guests is {value!r}. Give a mapping from ids to texts, or None.")
    return value


def drifted(given: Cue, state: object) -> tuple[str, ...]:
    """A note where the cue was built of a state that is no longer the agent's."""
    if state is None:
        return ()
    if not isinstance(state, AgentState):
        raise InvalidInputError(f"state is {state!r}. Give the AgentState as it is now, or None.")
    note = drift(given, state)
    return () if note is None else (note,)


def bars(accept: object, in_context: object) -> Callable[[Record], str | None] | None:
    """What the caller will not have, as one question; None where nothing is barred."""
    if accept is not None and not callable(accept):
        raise InvalidInputError(f"accept is {accept!r}. Give a function from a Record to True or False, or None.")
    if inspect.iscoroutinefunction(accept) or inspect.iscoroutinefunction(getattr(accept, "__call__", None)):  # noqa: B004
        raise InvalidInputError(f"accept is the coroutine function {accept!r}. {AT_ONCE} and give a plain function.")
    if isinstance(in_context, str) or not isinstance(in_context, Iterable):
        raise InvalidInputError(f"in_context is {in_context!r}. Give a list of ids and texts, e.g. ['note-1'].")
    given = [one if isinstance(one, str) else _refused(one) for one in in_context]
    return bar(accept, given) if accept is not None or given else None


def _refused(one: object) -> str:
    raise InvalidInputError(f"in_context holds {one!r}. Give ids and texts, which are strings.")


def policy(value: object, usual: Policy) -> Policy:
    """The policy of a call, or the usual one."""
    if value is not None and not isinstance(value, Policy):
        raise PolicyError(
            f"policy is {value!r}. Give a Policy, e.g. Policy.preset('support'), or None for the memory's."
        )
    return usual if value is None else value


def questions(given: object, *, fewest: int) -> tuple[str, ...]:
    """Different questions, enough to tell a tail by."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidInputError(f"questions are {given!r}. Give a list of strings, or None for our own.")
    kept = tuple(dict.fromkeys(words(one, "question") for one in given))
    if len(kept) < fewest:
        raise InvalidInputError(
            f"There are {len(kept)} different questions. Give at least {fewest} that have nothing to do with the "
            "memory, or None for our own."
        )
    return kept


def count(value: object, what: str, most: int = LARGEST_K) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise InvalidInputError(f"{what} is {value!r}. Give a whole number from 1 to {most:,}.")
    return value


def flag(value: object, what: str) -> bool:
    """Yes or no; anything else might mean the opposite of what was meant."""
    if not isinstance(value, bool):
        raise InvalidInputError(f"{what} is {value!r}. Give True or False.")
    return value


def similarities(given: object) -> dict[str, float | None]:
    """Ids with the similarity that somebody else found, or None."""
    if not isinstance(given, Mapping):
        raise InvalidInputError(f"hits are {given!r}. Give a mapping from id to similarity, e.g. {{'note-1': 0.8}}.")
    for one, value in given.items():
        name(one, "id")
        usable = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if value is not None and not usable:
            raise InvalidInputError(
                f"The similarity of {one!r} is {value!r}. Give a finite number, or None for unknown."
            )
    return dict(given)


def moment(value: object, what: str) -> float | None:
    """POSIX seconds from a number or a datetime that knows its zone."""
    if value is None:
        return None
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.timestamp()
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LAST_MOMENT:
        raise InvalidInputError(
            f"{what} is {value!r}. Give POSIX seconds, e.g. time.time(), or a datetime with a time zone, "
            "e.g. datetime.now(timezone.utc)."
        )
    return float(value)


def share(value: object, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInputError(f"{what} is {value!r}. Give a number in [0, 1].")
    return float(value)


def where(value: object) -> Mapping[str, Any] | None:
    """A metadata filter as Chroma takes it; several keys in one mapping mean all of them."""
    if value is None:
        return None
    if not isinstance(value, Mapping) or not value or not all(isinstance(key, str) for key in value):
        raise FilterError(f'The filter is {value!r}. Give a mapping such as {{"kind": "fact"}}, or None for no filter.')
    return cast("Mapping[str, Any]", value)


def new_record(item: object, names: Fields) -> NewRecord:
    """A text, a mapping with the arguments of `remember`, a Record or a NewRecord, checked.

    >>> new_record("likes tea", Fields()).importance
    0.5
    >>> new_record({"text": "likes tea", "importance": 2}, Fields())
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.InvalidInputError: importance is 2. Give a number in [0, 1].
    """
    given = item if isinstance(item, NewRecord) else NewRecord(**_arguments(item))
    start, end = moment(given.valid_from, "valid_from"), moment(given.valid_until, "valid_until")
    if start is not None and end is not None and end <= start:
        raise InvalidInputError(f"valid_until ({end}) is not after valid_from ({start}). Give a later valid_until.")
    return NewRecord(
        text=words(given.text, "text"),
        id=None if given.id is None else new_id(given.id),
        importance=share(given.importance, "importance"),
        kind=name(given.kind, "kind"),
        created_at=moment(given.created_at, "created_at"),
        valid_from=start,
        valid_until=end,
        supersedes=None if given.supersedes is None else name(given.supersedes, "supersedes"),
        metadata=metadata({} if given.metadata is None else given.metadata, names),
    )


def _arguments(item: object) -> dict[str, Any]:
    if isinstance(item, str):
        return {"text": item}
    if isinstance(item, Record):
        known = {key: getattr(item, key) for key in _ARGUMENTS}
        known |= {"id": item.id or None, "importance": _written_importance(item)}
        return {key: value for key, value in known.items() if value is not None}
    if isinstance(item, Mapping) and "text" in item and set(item) <= set(_ARGUMENTS):
        return dict(item)
    unknown = f" with the keys {sorted(map(str, item))}" if isinstance(item, Mapping) else ""
    raise InvalidInputError(
        f"A record was given as {type(item).__name__}{unknown}. Give a text, a Record, or a mapping with 'text' and, "
        f"as needed, {', '.join(_ARGUMENTS[1:])}."
    )


def _written_importance(record: Record) -> float | None:
    """What to write of a record that was read: its verdicts are kept elsewhere and must not be written in twice."""
    written = NEUTRAL_IMPORTANCE if record.written_importance is None else record.written_importance
    as_read = record.read.boost != 0.0 and record.importance == boosted(written, record.read.boost)
    return record.written_importance if as_read else record.importance


def new_id(value: object) -> str:
    """An id that a caller may give to a record."""
    record_id = name(value, "id")
    if is_reserved(record_id):
        raise InvalidInputError(
            f"The id {record_id!r} ends like those that keep two users' records of one id apart. Give another."
        )
    return record_id


def metadata(given: object, names: Fields) -> Metadata:
    """The caller's own keys: what Chroma can hold, and none that means something to us."""
    if not isinstance(given, Mapping):
        raise InvalidInputError(f"metadata is {given!r}. Give a mapping from string keys to str, int, float or bool.")
    for key, value in given.items():
        if not isinstance(key, str) or not key or key.startswith(RESERVED):
            raise InvalidInputError(
                f"The metadata key {key!r} cannot be used: Chroma keeps keys that start with {' or '.join(RESERVED)} "
                "for itself. Give another non-empty string."
            )
        if key in names.names():
            raise InvalidInputError(
                f"The metadata key {key!r} is one of this memory's own. Use the argument of that name, another key, "
                "or rename ours with Fields(...)."
            )
        if not _storable(value):
            raise InvalidInputError(
                f"The metadata value {key}={value!r} cannot be stored. Give a str, a finite number below 2**63, a "
                "bool, or a non-empty list of one of these types; text for a date, JSON text for anything nested."
            )
        encodable(key, "metadata key")
    return dict(given)


def _storable(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and len({type(one) for one in value}) == 1 and all(_scalar(one) for one in value)
    return _scalar(value)


def _scalar(value: object) -> bool:
    """Whether Chroma keeps it as it is: NaN would delete the key, a larger int would become a float."""
    if isinstance(value, bool):
        return True
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str) and not any("\ud800" <= one <= "\udfff" for one in value)


def distinct(ids: Iterable[str], what: str) -> list[str]:
    """The ids, unless one comes twice."""
    seen: dict[str, None] = {}
    for one in ids:
        if one in seen:
            raise InvalidInputError(f"The {what} {one!r} comes twice. Give each one once.")
        seen[one] = None
    return list(seen)
