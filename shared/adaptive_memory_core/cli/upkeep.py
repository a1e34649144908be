"""How is a memory looked after from a shell? `flush`, `check`, `reembed` and `backup`: of the whole directory."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from adaptive_memory_core.cli.exit_codes import NOTHING_FOUND
from adaptive_memory_core.cli.output import printing_to_stderr, progress, show
from adaptive_memory_core.cli.session import Session, embedder_of, session_of
from adaptive_memory_core.errors import DamagedLedgerError, DamagedStoreError, InvalidInputError
from adaptive_memory_core.memory import AdaptiveMemory
from adaptive_memory_core.reports import CheckReport
from adaptive_memory_core.store.postgres import one_scope
from adaptive_memory_core.store.postgres.ledger import REACHED_SECONDS, migrate_ledger, steps_due


def add_to(app: typer.Typer) -> None:
    for command in (flush, check, reembed, backup, migrate, row_level_security, move_ledger):
        app.command()(command)


def flush(ctx: typer.Context) -> None:
    """Write what was learned into the collection's metadata now, for other programs to see."""
    session = session_of(ctx)
    with session.memory() as memory:
        memory.flush()
    show([], {"flushed": True}, as_json=session.as_json)


def check(
    ctx: typer.Context,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what can be mended; no read is lost.")] = False,
) -> None:
    """Look at every file of the memory; exit code 1 where something is wrong, and is not mended."""
    session = session_of(ctx)
    session.check_there(create=False)
    report = _checked(session, repair=repair)
    show([str(report)], {"ok": report.ok, "findings": report.findings}, as_json=session.as_json)
    if not report.ok:
        raise typer.Exit(NOTHING_FOUND)


def reembed(
    ctx: typer.Context,
    to: Annotated[str, typer.Option(help="local, minilm, openai:MODEL, or MODULE:NAME of a function of your own.")],
) -> None:
    """Give every record a vector of another embedder; interrupted, the same command goes on."""
    session = session_of(ctx)
    model = embedder_of(to)
    if model is None:
        from adaptive_memory_core.models.local import LocalEmbedder

        model = LocalEmbedder()
    with session.memory() as memory, progress("embedding") as told:
        count = memory.reembed(model, progress=told)
    show([f"{count} records have vectors of {to}"], {"records": count, "embedder": to}, as_json=session.as_json)


def migrate(
    ctx: typer.Context,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the SQL that is due, and do nothing.")] = False,
    wait: Annotated[
        float, typer.Option(help="Seconds until a server that is not there is given up.")
    ] = REACHED_SECONDS,
) -> None:
    """Bring the ledger in PostgreSQL (--ledger ADDRESS, of a role that may make tables) to the tables of this version;
    any number may call it at once."""
    ledger = session_of(ctx).ledger
    if ledger is None:
        raise InvalidInputError("No ledger is named. Give --ledger postgresql://owner@host/database.")
    if dry_run:
        due = steps_due(ledger, wait)
        show(due, {"steps": len(due), "sql": due}, as_json=session_of(ctx).as_json)
        return
    steps = migrate_ledger(ledger, wait)
    show([f"{steps} steps were done"], {"steps": steps}, as_json=session_of(ctx).as_json)


def row_level_security() -> None:
    """Print the SQL by which PostgreSQL shows each role its own scope; for psql, as the owner of the tables."""
    sys.stdout.write(one_scope.row_level_security())


def move_ledger(
    ctx: typer.Context,
    source: Annotated[str, typer.Option("--from", help="The ledger's file, or postgresql://user@host/database.")],
    target: Annotated[str, typer.Option("--to", help="The other one; it must be empty.")],
    source_stays: Annotated[bool, typer.Option("--source-stays", help="Copy only: the source goes on in use.")] = False,
) -> None:
    """Move a ledger from SQLite to PostgreSQL, or back, while it is in use; interrupted, the same command goes on."""
    with progress("rows") as told:
        rows = AdaptiveMemory.move_ledger(source, target, progress=told, source_stays=source_stays)
    show([f"{rows} rows"], {"rows": rows}, as_json=session_of(ctx).as_json)


def backup(ctx: typer.Context, to: Annotated[Path, typer.Argument(help="A new directory.")]) -> None:
    """Copy the memory, while it is in use, to a new directory, which may be opened like this one."""
    session = session_of(ctx)
    with session.memory() as memory, progress("copying") as told:
        made = memory.backup(to, progress=told)
    show([str(made)], {"path": str(made)}, as_json=session.as_json)


def _checked(session: Session, *, repair: bool) -> CheckReport:
    """What is wrong; what cannot be opened is repaired as a directory."""
    try:
        with session.memory() as memory:
            return memory.check(repair=repair)
    except (DamagedStoreError, DamagedLedgerError):
        if not repair:
            raise
    with printing_to_stderr(), progress("repairing") as told:
        model = embedder_of(session.embedder)
        return AdaptiveMemory.repair(session.directory, session.collection, embedder=model, progress=told)
