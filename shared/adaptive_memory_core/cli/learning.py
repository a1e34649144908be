"""Commands that change what a memory retains: feedback, pin, unpin, demote, forget and prune."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from adaptive_memory_core.cli.session import session_of
from adaptive_memory_core.cli.terminal import NOTHING_FOUND, confirmed, harmless, one_line, records_in_words, show
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.reports import PruneReceipt
from adaptive_memory_core.user_memory import UserMemory

Ids = Annotated[list[str], typer.Argument(help="Ids of records.", metavar="ID...")]


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
    """Remove the protection that pin gave."""
    _each(ctx, ids, UserMemory.unpin, "unpinned")


def demote(ctx: typer.Context, ids: Ids) -> None:
    """Undo what records have gained: removes the pin, the remembered flag and the effect of reads, and lowers
    importance by 5 %."""
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
    below: Annotated[
        float | None, typer.Option(help="Remove records whose strength has decayed below this value.")
    ] = None,
    unread_for: Annotated[
        float | None, typer.Option(help="Remove records that were not read for this many days.")
    ] = None,
    max_records: Annotated[
        int | None, typer.Option(help="Keep at most this many records; the weakest are removed.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show which records would be removed, and remove nothing.")
    ] = False,
    archive: Annotated[
        Path | None, typer.Option(help="Append the records to this file first; import reads it.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Remove at most this many records.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Remove the records without asking for confirmation.")] = False,
) -> None:
    """Remove records that have decayed, are no longer read, or exceed a maximum; never a pinned or a remembered one.

    It says how many there are, shows up to ten of them, and asks.
    """
    if below is None and unread_for is None and max_records is None:
        raise InvalidInputError("prune needs a rule: --below, --unread-for or --max-records, e.g. --unread-for 90.")
    session = session_of(ctx)
    rules: dict[str, Any] = {"limit": limit, "unread_for": unread_for, "max_records": max_records}
    with session.scope() as user:
        due = user.prune(below, True, **rules)
        texts = {one: one_line(user.get(one).text) for one in due.ids[:SHOWN]}
        if due.ids and not (dry_run or yes):
            _ask_to_prune(due.ids, texts)
        receipt = due if dry_run else user.prune(below, False, archive, by="command line", **rules)
    if dry_run or yes:
        _show_pruned(receipt, texts, as_json=session.as_json)
    else:
        show([_removed(receipt)], receipt, as_json=session.as_json)


SHOWN = 10  # records that prune shows before it removes them


def _removed(receipt: PruneReceipt) -> str:
    done = "would be removed" if receipt.dry_run else "removed"
    return f"{records_in_words(len(receipt.ids))} {done}, {receipt.kept:,} kept"


def _show_pruned(receipt: PruneReceipt, texts: Mapping[str, str], *, as_json: bool) -> None:
    more = len(receipt.ids) - len(texts)
    lines = [_removed(receipt), *(f"{one}  {text}" for one, text in texts.items())]
    show([*lines, *([f"and {more:,} more"] if more > 0 else [])], receipt, as_json=as_json)


def _ask_to_prune(ids: Sequence[str], texts: Mapping[str, str]) -> None:
    """Ask for confirmation at the terminal; raise if it is refused or nobody can be asked."""
    count = records_in_words(len(ids))
    lines = [f"{count} would be removed:", *(f"{one}  {text}" for one, text in texts.items())]
    for line in [*lines, *([f"and {len(ids) - len(texts):,} more"] if len(ids) > len(texts) else [])]:
        typer.echo(harmless(line), err=True)
    refused = (
        f"{count} would be removed, but nobody can be asked, so none was. Give --yes to remove them, or --dry-run to "
        "see them."
    )
    if not confirmed("Remove them?", refused):
        typer.echo("nothing was removed", err=True)
        raise typer.Exit(NOTHING_FOUND)


def _each(ctx: typer.Context, ids: list[str], change: Callable[..., Any], what: str) -> None:
    session = session_of(ctx)
    with session.scope() as user:
        for one in ids:
            user.get(one)
        for one in ids:
            change(user, one)
    show([f"{one}: {what}" for one in ids], {what: ids}, as_json=session.as_json)
