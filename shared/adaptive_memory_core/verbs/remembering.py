"""How does a user store records? One or many at once, as checked flows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from adaptive_memory_core import arguments as check
from adaptive_memory_core.arguments.one_of_many import each
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow import remember as flows
from adaptive_memory_core.flow.calls.drive import Flow
from adaptive_memory_core.flow.derived_records import check_sources
from adaptive_memory_core.flow.ports.judges import SaliencePort
from adaptive_memory_core.length_limits import check_texts
from adaptive_memory_core.records import Metadata, NewRecord, Record
from adaptive_memory_core.shown_in_errors import shown
from adaptive_memory_core.verbs.blocking_and_async import Moment, User
from adaptive_memory_core.verbs.judged_importance import judge_of, judged, unjudged

Item = str | Record | NewRecord | Mapping[str, Any]


def remember(
    user: User,
    text: str,
    id: str | None = None,  # noqa: A002 - the contract's name
    importance: float | SaliencePort = 0.5,
    kind: str = "event",
    created_at: Moment | None = None,
    valid_from: Moment | None = None,
    valid_until: Moment | None = None,
    supersedes: str | None = None,
    metadata: Metadata | None = None,
    derived_from: Sequence[str] = (),
) -> Flow[str]:
    """Store one text; returns its id.

    Writing over an existing id replaces text, importance, kind, times and metadata; reads and feedback stay.
    `importance` is in [0, 1], or a function that says it of the text, such as `judges.SalienceJudge` (.5 where it does
    not know). `created_at`, `valid_from` and `valid_until` are POSIX seconds or datetimes (without a zone: UTC).
    `supersedes` is the id of a record that this one replaces: the old one is no longer returned.
    `derived_from` are the ids of records that this one was made of, e.g. of a summary: once one of them is superseded,
    forgotten or says something else, this one is no longer returned either.
    """
    given = (text, id, importance, kind, created_at, valid_from, valid_until, supersedes, metadata, derived_from)
    return _only(_stored(user, [NewRecord(*given)], from_known=True))  # type: ignore[arg-type] # checked within


def remember_many(user: User, items: Iterable[Item]) -> Flow[list[str]]:
    """Store many records; returns their ids in order.

    Each item is a text, a `Record`, or a mapping with the arguments of `remember`. All are checked before any is
    written. They are written in batches as large as the database takes, each whole or not at all; if a later batch
    fails, `PartialWriteError` says which ids are stored. Those of `derived_from` need not be there, for records may
    come back without what they were made of.
    """
    if isinstance(items, str | Mapping) or not isinstance(items, Iterable):
        raise InvalidInputError(f"remember_many was given {shown(items)}. Give a list of texts, Records or mappings.")
    return _stored(user, list(items), from_known=False)


def _stored(user: User, items: Sequence[Item], *, from_known: bool) -> Flow[list[str]]:
    """Check and write records. What they were derived from must be there where it is `from_known`."""
    memory, scope = user.memory, user.scope.own
    judges = [judge_of(item) for item in items]
    plain = [one if judge is None else unjudged(one) for one, judge in zip(items, judges, strict=True)]
    given = each(plain, lambda one: check.new_record(one, memory.fields), "Item")
    check_texts(given, memory.keeping.text_characters)
    for number, judge in enumerate(judges):
        if judge is not None:
            given[number] = yield from judged(given[number], judge)
    yield from check_sources(memory.ports(), scope, given, must_exist=from_known)
    return (yield from flows.remember(memory.ports(), scope, given, now=memory.now(), new_id=memory.new_id))


def _only(flow: Flow[list[str]]) -> Flow[str]:
    ids: Sequence[str] = yield from flow
    return ids[0]
