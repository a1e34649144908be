"""Commands on a whole memory: flush, check, reembed, backup, export, restore, and the MCP server."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adaptive_memory_core.cli.session import Session, embedder_option, session_of
from adaptive_memory_core.cli.terminal import (
    NOTHING_FOUND,
    STDIN,
    is_readable,
    json_line,
    parsed_json,
    printing_to_stderr,
    progress_bar,
    show,
    text_of,
)
from adaptive_memory_core.errors import DamagedLedgerError, DamagedStoreError, InvalidInputError
from adaptive_memory_core.memory import AdaptiveMemory
from adaptive_memory_core.models.extras import require
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.record_metadata import hits_of
from adaptive_memory_core.records import EVERYONE
from adaptive_memory_core.reports import CheckReport
from adaptive_memory_core.store.output_files import as_arguments
from adaptive_memory_core.store.postgres import postgres_tables
from adaptive_memory_core.store.postgres.postgres_ledger import REACHED_SECONDS, create_ledger_tables, sql_due
from adaptive_memory_core.user_memory import UserMemory
from adaptive_memory_core.whole_file import write_whole

if TYPE_CHECKING:
    from adaptive_memory_core.mcp_server.streamable_http import ServerAddress
    from adaptive_memory_core.mcp_server.tools import ToolSettings


def flush(ctx: typer.Context) -> None:
    """Write what was learned into the collection's metadata now, for other programs to see."""
    session = session_of(ctx)
    with session.memory() as memory:
        memory.flush()
    show([], {"flushed": True}, as_json=session.as_json)


def check(
    ctx: typer.Context,
    repair: Annotated[bool, typer.Option("--repair", help="Repair what can be repaired; no read is lost.")] = False,
) -> None:
    """Check every file of the memory; exit code 1 if something is wrong and was not repaired."""
    session = session_of(ctx)
    session.check_there(create=False)
    report = _checked(session, repair=repair)
    show([str(report)], {"ok": report.ok, "findings": report.findings}, as_json=session.as_json)
    if not report.ok:
        raise typer.Exit(NOTHING_FOUND)


def reembed(
    ctx: typer.Context,
    to: Annotated[str, typer.Option(help="local, minilm, openai:MODEL, or your own function as MODULE:NAME.")],
) -> None:
    """Give every record a vector from another embedder. If interrupted, run the same command again to continue."""
    session = session_of(ctx)
    model = embedder_option(to)
    if model is None:
        from adaptive_memory_core.models.local import LocalEmbedder

        model = LocalEmbedder()
    with session.memory() as memory, progress_bar("embedding") as report:
        count = memory.reembed(model, progress=report)
    show([f"{count} records have vectors of {to}"], {"records": count, "embedder": to}, as_json=session.as_json)


def create_tables(
    ctx: typer.Context,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the SQL that would run, and change nothing.")
    ] = False,
    wait: Annotated[float, typer.Option(help="Seconds to wait for a server that does not answer.")] = REACHED_SECONDS,
) -> None:
    """Create the tables of a ledger in PostgreSQL (--ledger ADDRESS), with a role that is allowed to. Existing tables
    are left unchanged; any number of processes may run this at the same time."""
    ledger = session_of(ctx).ledger
    if ledger is None:
        raise InvalidInputError("No ledger is named. Give --ledger postgresql://owner@host/database.")
    if dry_run:
        due = sql_due(ledger, wait)
        show(due.splitlines(), {"sql": due}, as_json=session_of(ctx).as_json)
        return
    created = create_ledger_tables(ledger, wait)
    outcome = "the tables were created" if created else "the tables were there already"
    show([outcome], {"created": created}, as_json=session_of(ctx).as_json)


def row_level_security() -> None:
    """Print the SQL by which PostgreSQL shows each role its own scope; for psql, as the owner of the tables."""
    sys.stdout.write(postgres_tables.row_level_security())


def move_ledger(
    ctx: typer.Context,
    source: Annotated[str, typer.Option("--from", help="The ledger's file, or postgresql://user@host/database.")],
    target: Annotated[str, typer.Option("--to", help="The file or address of the new ledger, which must be empty.")],
    source_stays: Annotated[
        bool, typer.Option("--source-stays", help="Only copy the ledger; the source stays in use.")
    ] = False,
) -> None:
    """Move a ledger from SQLite to PostgreSQL, or back, while it is in use. If interrupted, run the same command
    again."""
    with progress_bar("rows") as report:
        rows = AdaptiveMemory.move_ledger(source, target, progress=report, source_stays=source_stays)
    show([f"{rows} rows"], {"rows": rows}, as_json=session_of(ctx).as_json)


def backup(ctx: typer.Context, to: Annotated[Path, typer.Argument(help="A new directory.")]) -> None:
    """Copy the memory, while it is in use, to a new directory, which may be opened like this one."""
    session = session_of(ctx)
    with session.memory() as memory, progress_bar("copying") as report:
        made = memory.backup(to, progress=report)
    show([str(made)], {"path": str(made)}, as_json=session.as_json)


def _checked(session: Session, *, repair: bool) -> CheckReport:
    """The findings of a check. With `repair`, a memory that cannot be opened is repaired as a directory."""
    try:
        with session.memory() as memory:
            return memory.check(repair=repair)
    except (DamagedStoreError, DamagedLedgerError):
        if not repair:
            raise
    with printing_to_stderr(), progress_bar("repairing") as report:
        model = embedder_option(session.embedder)
        return AdaptiveMemory.repair(session.directory, session.collection, embedder=model, progress=report)


def export(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="A new file; - is stdout.")] = Path("-"),
    records: Annotated[
        bool, typer.Option("--records", help="Write the records instead, in the form that import reads.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write what was learned about a user's records, as JSON without their texts; or the records, as JSON lines."""
    session = session_of(ctx)
    if str(file) != "-" and file.exists() and not force:
        raise InvalidInputError(f"{str(file)!r} is there already. Name a new file, or give --force.")
    with session.scope() as user:
        lines = list(_records(user)) if records else [json_line(user.export_state())]
    text = "".join(f"{line}\n" for line in lines)
    if str(file) == "-":
        sys.stdout.write(text)
        return
    write_whole(file, text)
    show([str(file)], {"path": str(file), "lines": len(lines)}, as_json=session.as_json)


def restore(ctx: typer.Context, file: Annotated[Path, typer.Argument(help="What export wrote; - is stdin.")]) -> None:
    """Import the learned state that export wrote: by id, else by document and text."""
    session = session_of(ctx)
    if str(file) != "-" and not is_readable(file):
        raise InvalidInputError(f"There is no file {str(file)!r}. Give what export wrote, or - for stdin.")
    state = parsed_json(text_of(file), "stdin" if str(file) == STDIN else repr(str(file)))
    with session.scope() as user:
        restored = user.restore_state(state)
    lines = [f"{restored.records} records", *(f"not here: {one}" for one in restored.missing)]
    show(lines, restored, as_json=session.as_json)


def _records(user: UserMemory) -> Iterator[str]:
    """The user's own records as JSON lines, a page at a time."""
    memory: Any = user.memory
    scope = user.scope.own
    with memory.opened.call():
        for page in memory.ports().records.pages(scope):
            for one in hits_of(scope, page, {}, memory.fields):
                yield json_line(as_arguments(one.record))


TOKEN = "ADAPTIVE_MEMORY_TOKEN"  # noqa: S105 - the name of a variable
MINUTE = 60.0


def mcp(
    ctx: typer.Context,
    create: Annotated[bool, typer.Option("--create", help="Create the memory if it does not exist.")] = False,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Offer only tools that change and count nothing.")
    ] = False,
    k: Annotated[int, typer.Option("-k", help="The maximum number of hits of a recall.")] = 5,
    max_tokens: Annotated[int, typer.Option(help="The maximum length of an answer, in tokens.")] = 2_000,
    kind: Annotated[str, typer.Option(help="The kind of the stored records.")] = "fact",
    mask_secrets: Annotated[
        bool, typer.Option("--mask-secrets", help="Mask keys, tokens and passwords in stored texts.")
    ] = False,
    idle_exit: Annotated[float | None, typer.Option(help="Stop after this many minutes without a message.")] = None,
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP, not over stdin and stdout.")] = False,
    host: Annotated[str, typer.Option(help="With --http: the address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="With --http: the port to listen on; 0 chooses a free one.")] = 8_765,
    tokens: Annotated[
        Path | None, typer.Option(help=f"With --http: JSON, {{TOKEN: USER}}; else {TOKEN} is the token of --user.")
    ] = None,
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="With --http: allow connections from other machines.")
    ] = False,
    name: Annotated[
        list[str] | None,
        typer.Option(help="With --http: a host name under which clients reach the server; may be repeated."),
    ] = None,
) -> None:
    """Serve the memory to agents over the Model Context Protocol (docs/guides/mcp.md).

    The user is set here, by --user or by the access token, never by the model.
    """
    require(["mcp"], extra="mcp")
    from adaptive_memory_core.mcp_server.streamable_http import ServerAddress
    from adaptive_memory_core.mcp_server.tools import ToolSettings

    session = replace(session_of(ctx), keeping=Keeping(mask_secrets=mask_secrets))
    manner = ToolSettings(k=k, max_tokens=max_tokens, kind=kind, read_only=read_only)
    idle_seconds = _seconds(idle_exit)
    if http:
        _over_http(
            session, manner, ServerAddress(host, port, allow_remote, tuple(name or ())), tokens, idle_seconds, create
        )
    elif tokens is not None or allow_remote or name:
        raise InvalidInputError("--tokens, --allow-remote and --name are for --http. Add it, or leave them out.")
    else:
        _over_stdio(session, manner, idle_seconds, create)


def _over_stdio(session: Session, manner: ToolSettings, idle_seconds: float | None, create: bool) -> None:
    from adaptive_memory_core.mcp_server.stdio import over_stdio, protocol_alone

    session.check_scope()
    with protocol_alone() as wire, session.scope(create=create) as user:
        over_stdio(lambda: user, manner, wire, idle_seconds)


def _over_http(
    session: Session,
    manner: ToolSettings,
    place: ServerAddress,
    tokens: Path | None,
    idle_seconds: float | None,
    create: bool,
) -> None:
    from adaptive_memory_core.mcp_server.streamable_http import Tokens, over_http, user_of_request, users_by_token

    given = _only_token(session) if tokens is None else users_by_token(_without_user(session, tokens))
    known = Tokens(given)
    with session.memory(create=create) as memory:

        def whose() -> UserMemory:
            named = user_of_request()
            return session.scope_in(memory) if tokens is None else replace(session, user=named).scope_in(memory)

        over_http(whose, manner, place, known, idle_seconds, lambda url: typer.echo(f"serving {url}", err=True))


def _only_token(session: Session) -> dict[str, str]:
    """The token of a server for one user, or for everyone's records."""
    session.check_scope()
    token = os.environ.get(TOKEN)
    if not token:
        raise InvalidInputError(
            f"No token is given. Set the variable {TOKEN}, or give --tokens FILE with the users of several."
        )
    return {token: session.user or EVERYONE}


def _without_user(session: Session, tokens: Path) -> Path:
    if session.names_scope:
        raise InvalidInputError("--tokens says whose memory each token opens. Leave --user and --everyone out.")
    return tokens


def _seconds(minutes: float | None) -> float | None:
    if minutes is not None and not 0 < minutes < math.inf:
        raise InvalidInputError(f"--idle-exit is {minutes}. Give minutes above 0, or leave it out for never.")
    return None if minutes is None else minutes * MINUTE
