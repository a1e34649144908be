"""Methods that store and update records, observe conversations, and return themes; arguments are checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adaptive_memory_core import arguments as check
from adaptive_memory_core.arguments.new_records import mapping
from adaptive_memory_core.arguments.new_records import messages as checked_messages
from adaptive_memory_core.arguments.values import Moment, each, fraction
from adaptive_memory_core.context.themes import Themes
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow import remember as flows
from adaptive_memory_core.flow.calls.foreign_calls import is_coroutine
from adaptive_memory_core.flow.look_up import get as get_record
from adaptive_memory_core.flow.look_up import look_up_one
from adaptive_memory_core.flow.ports.models import JudgeSalience, Salient
from adaptive_memory_core.flow.supersede import check_sources
from adaptive_memory_core.hierarchy.nodes import Hierarchy
from adaptive_memory_core.length_limits import check_texts
from adaptive_memory_core.masked_secrets import masked_item
from adaptive_memory_core.records import Metadata, NewRecord, Record
from adaptive_memory_core.score.signals import NEUTRAL_IMPORTANCE

if TYPE_CHECKING:
    from adaptive_memory_core.user_memory import UserMemory

Item = str | Record | NewRecord | Mapping[str, Any]


def remember(
    user: UserMemory,
    text: str,
    id: str | None = None,  # noqa: A002 - the contract's name
    importance: float | JudgeSalience = 0.5,
    kind: str = "event",
    created_at: Moment | None = None,
    valid_from: Moment | None = None,
    valid_until: Moment | None = None,
    supersedes: str | None = None,
    metadata: Metadata | None = None,
    derived_from: Sequence[str] = (),
) -> str:
    """Store one text; returns the record's id.

    Overwriting an existing id replaces text, importance, kind, times and metadata; reads and feedback stay.
    `importance` is in [0, 1], or a function that derives it from the text, such as `judges.SalienceJudge` (0.5 if it
    cannot decide). `created_at`, `valid_from` and `valid_until` are POSIX seconds, or datetimes or ISO texts with a
    time zone. `supersedes` is the id of a record that this one replaces; the old record is no longer returned.
    `derived_from` lists the ids of the records that this one was made from, e.g. for a summary. Once a source is
    superseded or forgotten, or its text changes, this record is no longer returned either.
    """
    given = (text, id, importance, kind, created_at, valid_from, valid_until, supersedes, metadata, derived_from)
    return _stored(user, [NewRecord(*given)], from_known=True)[0]  # type: ignore[arg-type] # checked within


def remember_many(user: UserMemory, items: Iterable[Item]) -> list[str]:
    """Store many records; returns their ids in order.

    Each item is a text, a `Record`, or a mapping with the arguments of `remember`. All items are checked before
    anything is written. Batches are as large as the database accepts, and each is written entirely or not at all. If a
    later batch fails, `PartialWriteError` lists the stored ids. The ids in `derived_from` need not exist, because
    records may be restored without their sources.
    """
    if isinstance(items, str | Mapping) or not isinstance(items, Iterable):
        raise InvalidInputError(f"remember_many was given {shown(items)}. Give a list of texts, Records or mappings.")
    return _stored(user, list(items), from_known=False)


def update(
    user: UserMemory,
    id: str,  # noqa: A002 - the contract's name
    text: str | None = None,
    importance: float | None = None,
    kind: str | None = None,
    created_at: Moment | None = None,
    valid_from: Moment | None = None,
    valid_until: Moment | None = None,
    metadata: Metadata | None = None,
) -> Record:
    """Change the given fields of one record and keep the rest; returns the changed record.

    `metadata` contains the keys to change; None as a value removes a key. If the text changes, reads and feedback start
    again from zero; otherwise they are kept. An unknown id raises NotFoundError.
    """
    memory, scope, checked = user.memory, user.scope.own, check.name(id, "id")
    given = {"text": text, "importance": importance, "kind": kind, "created_at": created_at}
    given |= {"valid_from": valid_from, "valid_until": valid_until}
    changes = {name: value for name, value in given.items() if value is not None}
    more = {} if metadata is None else mapping(metadata)
    if not changes and not more:
        raise InvalidInputError(
            f"update({shown(checked)}) was given nothing to change. Give {', '.join(given)} or metadata."
        )
    ports, now = memory.ports(), memory.now()
    before = get_record(ports, scope, checked, regime=memory.opened.in_force.regime, now=now)
    changed = replace(before, **changes, metadata={**before.metadata, **more})  # type: ignore[arg-type] # checked within
    _stored(user, [changed], from_known=False)
    if before.superseded_by is not None:
        links = {"superseded_by": before.superseded_by}
        stored = look_up_one(ports, scope, checked, now=None)
        ports.records.annotate(scope, stored.stored_id, links)
    return get_record(ports, scope, checked, regime=memory.opened.in_force.regime, now=now)


def _stored(user: UserMemory, items: Sequence[Item], *, from_known: bool) -> list[str]:
    """Check and write records. With `from_known`, the records in `derived_from` must exist."""
    memory, scope = user.memory, user.scope.own
    items = [masked_item(item) for item in items] if memory.keeping.mask_secrets else items
    judges = [judge_of(item) for item in items]
    plain = [one if judge is None else unjudged(one) for one, judge in zip(items, judges, strict=True)]
    given = each(plain, lambda one: check.new_record(one, memory.fields), "Item")
    check_texts(given, memory.keeping.text_characters)
    for number, judge in enumerate(judges):
        if judge is not None:
            given[number] = with_judged_importance(given[number], judge)
    check_sources(memory.ports(), scope, given, must_exist=from_known)
    return flows.remember(memory.ports(), scope, given, now=memory.now(), new_id=memory.new_id)


def judge_of(item: object) -> JudgeSalience | None:
    """The function that was given instead of an importance, or None."""
    given: Any = item.get("importance") if isinstance(item, Mapping) else getattr(item, "importance", None)
    return given if callable(given) and not isinstance(given, type) else None


def unjudged(item: Any) -> Any:
    """The given record with the neutral importance, until the judge returns another."""
    return (
        {**item, "importance": NEUTRAL_IMPORTANCE}
        if isinstance(item, Mapping)
        else replace(item, importance=NEUTRAL_IMPORTANCE)
    )


def with_judged_importance(record: NewRecord, judge: JudgeSalience) -> NewRecord:
    """The record with the judge's importance, or the neutral one if the judge cannot decide."""
    if is_coroutine(judge):
        raise InvalidInputError(
            "importance is an async function. Await it before, and give the number, or give one that is not async."
        )
    judgement = judge(record.text)
    value = judgement.importance if isinstance(judgement, Salient) else judgement
    return replace(record, importance=fraction(NEUTRAL_IMPORTANCE if value is None else value, "importance"))


Progress = Callable[[int, int], object]


def observe(user: UserMemory, messages: Iterable[Mapping[str, Any]], progress: Progress | None = None) -> list[str]:
    """Store messages of conversations, one or many; returns their ids in order.

    A message is a mapping with `text` and, if known, `speaker` or `role`, `at` (a time as for `remember`), `session`
    and `seq` (its place in the session). `id`, `metadata`, `importance`, `kind` (default: "message"), `valid_from`,
    `valid_until`, `supersedes` and `derived_from` are as for `remember`. Each message becomes a record immediately.
    Episodes, the facts worth keeping from them, and themes are built in the background (see `themes`). A message that
    was observed before changes nothing, so an interrupted call can be repeated. Two messages are the same if they have
    the same `id`, or without ids the same session, speaker, text and `seq` or `at`. A message with neither `seq` nor
    `at` gets the present time and is always new. `progress` is called with the number stored and the total.
    """
    memory, now, heard = user.memory, user.memory.now(), check.progress(progress)
    if memory.keeping.mask_secrets and isinstance(messages, Iterable) and not isinstance(messages, str | Mapping):
        messages = [masked_item(one) for one in messages]
    given = checked_messages(messages, memory.fields, now=now)
    check_texts(given, memory.keeping.text_characters)
    return flows.observe(memory.ports(), user.scope.own, given, now=now, new_id=memory.new_id, progress=heard)


def themes(user: UserMemory, settle: bool = True, progress: Progress | None = None) -> Themes:
    """The themes of observed conversations, each with its name and messages.

    With `settle`, all pending messages are processed first, and `progress` is called with the number done and the
    total. Without it, the themes are returned as they are now.
    """
    wanted, heard = check.flag(settle, "settle"), check.progress(progress)
    memory = user.memory
    return flows.themes(memory.ports(), user.scope.own, now=memory.now(), settle=wanted, progress=heard)


def hierarchy(user: UserMemory, settle: bool = True, progress: Progress | None = None) -> Hierarchy:
    """Everything built from observed conversations: `episodes`, `semantics` and `themes` by their keys.

    Each entry has the ids of its messages, its nearest neighbours of the same kind (`neighbours`: keys and
    similarities), and the keys of the entries above and below it. `settle` and `progress` are as for `themes`. Unlike
    `themes`, the result includes entries that were replaced or have ended.
    """
    wanted, heard = check.flag(settle, "settle"), check.progress(progress)
    return flows.hierarchy(user.memory.ports(), user.scope.own, settle=wanted, progress=heard)
