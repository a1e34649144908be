"""How are records changed or let go of from a shell? `feedback`, `pin`, `unpin`, `demote`, `forget` and `prune`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from adaptive_memory_core.cli.output import show
from adaptive_memory_core.cli.session import session_of
from adaptive_memory_core.user_memory import UserMemory

Ids = Annotated[list[str], typer.Argument(help="Ids of records.", metavar="ID...")]


def add_to(app: typer.Typer) -> None:
    for command in (feedback, pin, unpin, demote, forget, prune):
        app.command()(command)


def feedback(
    ctx: typer.Context,
    recall: Annotated[str, typer.Argument(help="The id of a recall, as recall --json and log print it.")],
    helpful: Annotated[list[str] | None, typer.Option(help="A hit that helped; may be repeated.")] = None,
    unhelpful: Annotated[list[str] | None, typer.Option(help="A hit that did not; may be repeated.")] = None,
) -> None:
    """Say which hits of a recall helped, and which did not."""
    session = session_of(ctx)
    with session.scope() as user:
        new = user.feedback(recall, helpful=helpful or [], unhelpful=unhelpful or [])
    show([f"{new} verdicts"], {"verdicts": new}, as_json=session.as_json)


def pin(ctx: typer.Context, ids: Ids) -> None:
    """Protect records from decay and pruning."""
    _each(ctx, ids, UserMemory.pin, "pinned")


def unpin(ctx: typer.Context, ids: Ids) -> None:
    """Take the protection of pin back."""
    _each(ctx, ids, UserMemory.unpin, "unpinned")


def demote(ctx: typer.Context, ids: Ids) -> None:
    """Undo what records have gained: pin, remembered flag and the effect of reads go, importance is 5 % lower."""
    _each(ctx, ids, UserMemory.demote, "demoted")


def forget(ctx: typer.Context, ids: Ids) -> None:
    """Remove records for good: from the collection, the ledger and the log."""
    session = session_of(ctx)
    with session.scope() as user:
        for one in ids:
            user.get(one)
        receipts = [user.forget(one) for one in ids]
    lines = [f"{one.id}: forgotten, {one.log_entries} lines of the log, {one.verdicts} verdicts" for one in receipts]
    show(lines, receipts, as_json=session.as_json)


def prune(
    ctx: typer.Context,
    below: Annotated[float | None, typer.Option(help="Remove what has decayed below this strength.")] = None,
    unread_for: Annotated[float | None, typer.Option(help="Remove what nobody has read for so many days.")] = None,
    max_records: Annotated[int | None, typer.Option(help="Of more than these, remove the weakest.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say which ones.")] = False,
    archive: Annotated[Path | None, typer.Option(help="Append them to this file first; import takes it back.")] = None,
    limit: Annotated[int | None, typer.Option(help="Records at most.")] = None,
) -> None:
    """Remove what has decayed, is not read any more, or is too many; never a pinned or a remembered record."""
    session = session_of(ctx)
    with session.scope() as user:
        receipt = user.prune(
            below, dry_run, archive, limit, by="command line", unread_for=unread_for, max_records=max_records
        )
    show([*receipt.ids], receipt, as_json=session.as_json)


def _each(ctx: typer.Context, ids: list[str], change: Callable[..., Any], what: str) -> None:
    session = session_of(ctx)
    with session.scope() as user:
        for one in ids:
            user.get(one)
        for one in ids:
            change(user, one)
    show([f"{one}: {what}" for one in ids], {what: ids}, as_json=session.as_json)
