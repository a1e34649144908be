"""How is a user's memory taken along from a shell? `export` what was learned or the records, `restore` it elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from adaptive_memory_core.cli.given_text import STDIN, is_readable, json_of, text_of
from adaptive_memory_core.cli.output import json_line, show
from adaptive_memory_core.cli.session import session_of
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.store.archive import as_arguments
from adaptive_memory_core.stored_metadata import hits_of
from adaptive_memory_core.user_memory import UserMemory
from adaptive_memory_core.whole_file import write_whole


def add_to(app: typer.Typer) -> None:
    app.command("export")(export)
    app.command()(restore)


def export(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="A new file; - is stdout.")] = Path("-"),
    records: Annotated[bool, typer.Option("--records", help="The records instead, as import takes them.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """What was learned of a user's records, as JSON without their texts; or the records, as JSON lines."""
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
    """Take in what export wrote of what was learned: by id, else by document and text."""
    session = session_of(ctx)
    if str(file) != "-" and not is_readable(file):
        raise InvalidInputError(f"There is no file {str(file)!r}. Give what export wrote, or - for stdin.")
    state = json_of(text_of(file), "stdin" if str(file) == STDIN else repr(str(file)))
    with session.scope() as user:
        restored = user.restore_state(state)
    lines = [f"{restored.records} records", *(f"not here: {one}" for one in restored.missing)]
    show(lines, restored, as_json=session.as_json)


def _records(user: UserMemory) -> Iterator[str]:
    """The user's own records as JSON lines, a page at a time."""
    memory: Any = user.memory
    scope = user.scope.own
    with memory.call():
        for page in memory.ports().records.pages(scope):
            for one in hits_of(scope, page, {}, memory.fields):
                yield json_line(as_arguments(one.record))
