"""Methods that remove a user's records: by id, by filter, or by rules such as unread for 90 days."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adaptive_memory_core import arguments as check
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError, NotFoundError, ScopeError
from adaptive_memory_core.flow import forget as forgetting
from adaptive_memory_core.flow import prune as pruning
from adaptive_memory_core.flow.look_up import ids_where
from adaptive_memory_core.records import Record, Scored
from adaptive_memory_core.reports import PruneReceipt, Receipt
from adaptive_memory_core.score.signals import DAY
from adaptive_memory_core.store.locations import can_name_a_file
from adaptive_memory_core.store.output_files import JSONLines
from adaptive_memory_core.verbs.verdicts import id_of
from adaptive_memory_core.whole_file import expanded

if TYPE_CHECKING:
    from adaptive_memory_core.user_memory import UserMemory

Forgotten = str | Iterable[str | Scored | Record] | None
ForgetOne = Callable[[str], Receipt]
MOST_DAYS = 10_000_000_000  # above this, a float of seconds has no fraction
MOST_PRUNED = 1_000_000_000  # records per call


def forget(
    user: UserMemory,
    ids: Forgotten = None,
    replaced: bool = False,
    *,
    filter: Mapping[str, Any] | None = None,  # noqa: A002 - the contract's name
) -> Receipt | list[Receipt]:
    """Remove records from the collection, the ledger and the log; returns a receipt for each.

    `ids` is one id, or a list of ids, hits or records; missing ones in a list are skipped, unless all are missing
    (NotFoundError). With `filter`, a Chroma `where` mapping, all of the user's own records that pass it are removed.
    A single id returns one receipt, everything else a list.

    The receipt lists what was removed and what remains elsewhere (Chroma's own files, past cues, backups). A record
    that the forgotten record had superseded is valid again. After an error, call `forget` again to remove the rest.

    `replaced=True` is for programs that update an index and write a text again before they delete its old record: the
    learned state passes to the record of the same source with the same words, if there is one.
    """
    memory, rewritten = user.memory, check.flag(replaced, "replaced")
    if (ids is None) == (filter is None):
        raise InvalidInputError(
            "forget() takes ids or a filter, one of the two. Give an id, a list of ids, or filter={...}; a whole user "
            "goes with memory.forget_user(user)."
        )
    forget_one = partial(forgetting.forget, memory.ports(), user.scope, replaced=rewritten, now=memory.now())
    if isinstance(ids, str):
        return forget_one(check.name(ids, "id"))
    if filter is not None:
        return _matching(user, forget_one, check.where(filter))
    if not isinstance(ids, Iterable):
        raise InvalidInputError(f"The ids are {shown(ids)}. Give an id, or a list of ids.")
    return _each(forget_one, list(dict.fromkeys(id_of(one) for one in ids)))


def _matching(user: UserMemory, forget_one: ForgetOne, where: Mapping[str, Any] | None) -> list[Receipt]:
    memory = user.memory
    ids = ids_where(memory.ports(), user.scope.own, where, memory.now())
    return _each(forget_one, ids, raises=False)


def _each(forget_one: ForgetOne, ids: Sequence[str], *, raises: bool = True) -> list[Receipt]:
    """Forget the records one by one; return a receipt for each record that existed."""
    receipts: list[Receipt] = []
    missing: NotFoundError | ScopeError | None = None
    for one in ids:
        try:
            receipts.append(forget_one(one))
        except (NotFoundError, ScopeError) as error:
            missing = error
    if missing is not None and not receipts and raises:
        raise missing
    return receipts


def forget_learned(user: UserMemory, id: str | None = None) -> int:  # noqa: A002 - as everywhere
    """Remove what this user's reads and feedback taught about everyone's records: about one record, or about all.

    The records stay, as if this user had never read them, and the user's log no longer names them. For all records, the
    log loses every recall over everyone's records. Returns for how many records something was removed.
    """
    checked = None if id is None else check.name(id, "id")
    return forgetting.forget_learned(user.memory.ports(), user.scope, checked)


def prune(
    user: UserMemory,
    below: float | None = None,
    dry_run: bool = False,
    archive: str | Path | None = None,
    limit: int | None = None,
    by: str = "caller",
    unread_for: float | timedelta | None = None,
    max_records: int | None = None,
) -> PruneReceipt:
    """Remove the user's own records that are no longer useful. Pinned and remembered records always stay.

    A record is removed if one of these applies. Its strength has decayed below `below`. It was neither read nor called
    helpful for `unread_for` days (or a timedelta); a record that was never read counts from when the memory first saw
    it. There are more than `max_records`: the weakest records are removed, and of equally strong ones those unread for
    longest.

    `dry_run=True` only lists the records. With `archive`, they are first appended to that file as JSON lines that
    `remember_many` accepts. Each batch is removed entirely or not at all. After a crash, or if `limit` was reached,
    call `prune` again.
    """
    memory = user.memory
    if archive is not None and not _is_file(archive):
        raise InvalidInputError(
            f"archive is {shown(archive)}. Give the path of a file to append to, in a directory that exists, or None."
        )
    if below is None and unread_for is None and max_records is None:
        raise InvalidInputError("prune needs a rule. Give below=, unread_for= or max_records=, e.g. unread_for=90.")
    call = pruning.Pruning(
        scope=user.scope.own,
        below=None if below is None else check.fraction(below, "below"),
        unread_since=None if unread_for is None else memory.now() - _seconds(unread_for),
        most=None if max_records is None else check.count(max_records, "max_records", most=MOST_PRUNED),
        limit=MOST_PRUNED if limit is None else check.count(limit, "limit", most=MOST_PRUNED),
        dry_run=check.flag(dry_run, "dry_run"),
        archive=None if archive is None else JSONLines(archive),
        by=check.name(by, "name of who does it (by)"),
        regime=memory.opened.in_force.regime,
        now=memory.now(),
    )
    return pruning.prune(memory.ports(), call)


def _seconds(unread_for: object) -> float:
    """A number of days, or a timedelta, in seconds.

    >>> _seconds(2), _seconds(timedelta(hours=1))
    (172800.0, 3600.0)
    """
    days = unread_for / timedelta(days=1) if isinstance(unread_for, timedelta) else unread_for
    if isinstance(days, bool) or not isinstance(days, int | float) or not 0.0 < days <= MOST_DAYS:
        raise InvalidInputError(
            f"unread_for is {shown(unread_for)}. Give days above 0 and up to {MOST_DAYS:,}, e.g. 90, or a timedelta."
        )
    return days * DAY


def _is_file(path: object) -> bool:
    """Whether the path names an existing file, or one that could be created."""
    usable = isinstance(path, str | Path) and can_name_a_file(path)
    file = expanded(str(path))
    return usable and file.parent.is_dir() and not file.is_dir()
