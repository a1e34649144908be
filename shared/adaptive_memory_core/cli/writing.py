"""How are records written from a shell? `init`, `remember` and `import`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from adaptive_memory_core import arguments as check
from adaptive_memory_core.cli.given_text import STDIN, is_readable, json_of, text_of
from adaptive_memory_core.cli.output import progress, show
from adaptive_memory_core.cli.session import Session, moment_of, session_of
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.fields import DEFAULT_FIELDS
from adaptive_memory_core.records import Scope
from adaptive_memory_core.shown_in_errors import shown
from adaptive_memory_core.user_memory import UserMemory

AT_ONCE = 256  # records of one batch
Create = Annotated[bool, typer.Option("--create", help="Make the memory where there is none.")]


def add_to(app: typer.Typer) -> None:
    app.command()(init)
    app.command()(remember)
    app.command("import")(import_records)


def init(ctx: typer.Context) -> None:
    """Make an empty memory in --path or on --server; one that is there stays as it is."""
    session = session_of(ctx)
    with session.memory(create=True):
        told = {"path": session.place, "collection": session.collection}
    show([f"{told['path']}: collection {told['collection']!r}"], told, as_json=session.as_json)


def remember(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(help="What to remember; - reads it from stdin.")],
    id: Annotated[str | None, typer.Option(help="An id of your own; one that is there is written over.")] = None,  # noqa: A002
    importance: Annotated[float, typer.Option(help="From 0 to 1.")] = 0.5,
    kind: Annotated[str, typer.Option(help="E.g. event, fact, lesson.")] = "event",
    created_at: Annotated[str | None, typer.Option(help="When it happened: 2026-03-02, seconds, or 7d ago.")] = None,
    valid_from: Annotated[str | None, typer.Option(help="From when on it holds.")] = None,
    valid_until: Annotated[str | None, typer.Option(help="Until when it holds.")] = None,
    supersedes: Annotated[str | None, typer.Option(help="The id of the record that this one replaces.")] = None,
    derived_from: Annotated[
        list[str] | None, typer.Option(help="The id of a record that it was made of; may be repeated.")
    ] = None,
    metadata: Annotated[str | None, typer.Option(help="A JSON object with keys of your own.")] = None,
    create: Create = False,
) -> None:
    """Store one text, and print its id."""
    session = session_of(ctx)
    said = text_of(STDIN).strip() if text == STDIN else text
    more = None if metadata is None else json_object(metadata, "--metadata")
    with session.scope(create=create) as user:
        now = user.memory.now()
        new = user.remember(
            said,
            id=id,
            importance=importance,
            kind=kind,
            created_at=moment_of(created_at, now=now),
            valid_from=moment_of(valid_from, now=now),
            valid_until=moment_of(valid_until, now=now),
            supersedes=supersedes,
            metadata=more,
            derived_from=derived_from or [],
        )
    show([new], {"id": new}, as_json=session.as_json)


def import_records(
    ctx: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(help="JSON lines: texts, or objects with the arguments of remember.")
    ] = None,
    from_path: Annotated[Path | None, typer.Option(help="Instead: a directory of an embedded Chroma.")] = None,
    from_collection: Annotated[str, typer.Option(help="The collection in there.")] = "memories",
    create: Create = False,
) -> None:
    """Store many records: of a file (- is stdin), or copied from an existing collection.

    All lines are checked before one is written. What belongs to another user in that collection is left out.
    Records with ids that are there are written over, so an import may be repeated.
    """
    if (file is None) == (from_path is None):
        raise InvalidInputError("Nothing is named to import, or two things. Give a FILE, or --from-path DIR.")
    session = session_of(ctx)
    session.check_scope()
    left_out = 0
    if from_path is not None:
        items, left_out = _of_collection(from_path, from_collection, session)
    else:
        items = list(_of_file(file))
    with session.scope(create=create) as user:
        ids = _stored(user, items)
    lines = [f"{len(ids)} records"] + ([f"{left_out} of other users left out"] if left_out else [])
    show(lines, {"ids": ids, "left_out": left_out}, as_json=session.as_json)


def _stored(user: UserMemory, items: Sequence[Any]) -> list[str]:
    ids: list[str] = []
    with progress("storing") as told:
        for start in range(0, len(items), AT_ONCE):
            ids += user.remember_many(items[start : start + AT_ONCE])
            told(len(ids), len(items))
    return ids


def _of_file(file: Path | None) -> Iterator[Any]:
    """The records of a file of JSON lines, each checked."""
    name = "stdin" if str(file) == "-" else str(file)
    if name != "stdin" and not is_readable(Path(name)):
        raise InvalidInputError(f"There is no file {shown(name)}. Give one of JSON lines, or - for stdin.")
    for number, line in enumerate(text_of(file or STDIN).split("\n"), 1):
        if not line.strip():
            continue
        try:
            item = json_of(line, "it")
            check.new_record(item, DEFAULT_FIELDS)
        except InvalidInputError as error:
            raise InvalidInputError(
                f"Line {number} of {name} is no record: {error} Give JSON: a text in double quotes, or an object with "
                "the arguments of remember. Nothing was stored."
            ) from error
        yield item


def _of_collection(path: Path, name: str, session: Session) -> tuple[list[dict[str, Any]], int]:
    """The records of an existing collection that are this user's or nobody's, and how many are others'."""
    from adaptive_memory_core.store import locations
    from adaptive_memory_core.store.archive import as_arguments
    from adaptive_memory_core.stored_metadata import record_of

    client = locations.open_client(locations.there(path))
    try:
        known = {one.name: one for one in client.list_collections()}
        if name not in known:
            raise InvalidInputError(f"There is no collection {shown(name)} in {str(path)!r}: there is {sorted(known)}.")
        found: Any = known[name].get(include=["documents", "metadatas"])
    finally:
        locations.close_client(client)
    rows = list(zip(found["ids"], found["documents"], found["metadatas"], strict=True))
    scope, key = Scope(session.user), DEFAULT_FIELDS.user_id
    own = [row for row in rows if (row[2] or {}).get(key) in (None, session.user) and row[1]]
    records = [as_arguments(record_of(scope, *row, DEFAULT_FIELDS)) for row in own]
    return records, len(rows) - len(own)


def json_object(text: str, what: str) -> Mapping[str, Any]:
    """A JSON object that was given as an option."""
    example = 'Give a JSON object, e.g. \'{"project": "apollo"}\'.'
    try:
        found = json_of(text, what)
    except InvalidInputError as error:
        raise InvalidInputError(f"{error} {example}") from error
    if not isinstance(found, dict):
        raise InvalidInputError(f"{what} is {shown(found)}. {example}")
    return found
