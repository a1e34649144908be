"""How does a user remove or export memories? Forgetting, pruning, and what was learned as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adaptive_memory_core import arguments as check
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow import export_import as moving
from adaptive_memory_core.flow import forget as forgetting
from adaptive_memory_core.flow import prune as pruning
from adaptive_memory_core.flow.calls.drive import Flow
from adaptive_memory_core.reports import PruneReceipt, Receipt, Restored
from adaptive_memory_core.store.archive import JSONLines
from adaptive_memory_core.verbs.both_ways import User

MOST_PRUNED = 1_000_000_000  # records of one call


def forget(user: User, id: str) -> Flow[Receipt]:  # noqa: A002 - the contract's name
    """Remove a record's text and traces from collection, ledger and log; gives a receipt."""
    memory, checked = user.memory, check.name(id, "id")
    return forgetting.forget(memory.ports(), user.scope, checked, now=memory.now())


def prune(
    user: User,
    below: float,
    dry_run: bool = False,
    archive: str | Path | None = None,
    limit: int | None = None,
    by: str = "caller",
) -> Flow[PruneReceipt]:
    """Remove the records whose strength fell below a bound; never a pinned or a remembered one.

    With `archive` they are appended to that file first, as JSON lines that `remember_many` takes back. Each batch
    goes whole or not at all; after a crash, or where `limit` ended the work, call again.
    """
    memory = user.memory
    if archive is not None and not _is_file(archive):
        raise InvalidInputError(
            f"archive is {archive!r}. Give the path of a file to append to, in a directory that exists, or None."
        )
    call = pruning.Pruning(
        scope=user.scope,
        below=check.share(below, "below"),
        limit=MOST_PRUNED if limit is None else check.count(limit, "limit", most=MOST_PRUNED),
        dry_run=check.flag(dry_run, "dry_run"),
        archive=None if archive is None else JSONLines(archive),
        by=check.name(by, "name of who does it (by)"),
        regime=memory.regime,
        now=memory.now(),
    )
    return pruning.prune(memory.ports(), call)


def export_state(user: User) -> Flow[dict[str, Any]]:
    """All that this scope's records have learned, as plain values for `json.dumps`; no text, only digests."""
    memory = user.memory
    return moving.export_state(memory.ports(), user.scope, regime=memory.regime, now=memory.now())


def restore_state(user: User, state: Mapping[str, Any]) -> Flow[Restored]:
    """Take in what `export_state` gave, here or in another collection: by id, else where document and text are the
    same. A record that was read later here keeps its own state."""
    memory = user.memory
    return moving.restore_state(memory.ports(), user.scope, state, policy=memory.policy, now=memory.now())


def _is_file(path: object) -> bool:
    """Whether it names a file that is there or could be."""
    return isinstance(path, str | Path) and str(path) != "" and Path(path).parent.is_dir() and not Path(path).is_dir()
