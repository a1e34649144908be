"""Commands on records: init, remember, import, recall, explain, get, log, stats, feedback, pin, forget and prune."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer

from adaptive_memory_core import arguments as check
from adaptive_memory_core.arguments.new_records import messages as checked_messages
from adaptive_memory_core.cli.session import Session, moment_of, policy_option, session_of
from adaptive_memory_core.cli.terminal import (
    NOTHING_FOUND,
    STDIN,
    hit,
    is_readable,
    json_value,
    known,
    one_line,
    parsed_json,
    progress_bar,
    show,
    text_of,
    utc_time,
)
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.fields import DEFAULT_FIELDS
from adaptive_memory_core.policy import Policy
from adaptive_memory_core.records import Scope
from adaptive_memory_core.user_memory import UserMemory

RECORDS_PER_BATCH = 256  # records of one batch
OF_MESSAGES = {"speaker", "role", "session", "seq", "at", "content"}  # keys
Create = Annotated[bool, typer.Option("--create", help="Make the memory where there is none.")]


def init(ctx: typer.Context) -> None:
    """Create an empty memory at --path or on --server. An existing one is left unchanged."""
    session = session_of(ctx)
    with session.memory(create=True):
        told = {"path": session.place, "collection": session.collection}
    show([f"{told['path']}: collection {told['collection']!r}"], told, as_json=session.as_json)


def remember(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(help="What to remember; - reads it from stdin.")],
    id: Annotated[str | None, typer.Option(help="Your own id; an existing record is overwritten.")] = None,  # noqa: A002
    importance: Annotated[float, typer.Option(help="From 0 to 1.")] = 0.5,
    kind: Annotated[str, typer.Option(help="E.g. event, fact, lesson.")] = "event",
    created_at: Annotated[str | None, typer.Option(help="When it happened: 2026-03-02, seconds, or 7d ago.")] = None,
    valid_from: Annotated[str | None, typer.Option(help="From when on it holds.")] = None,
    valid_until: Annotated[str | None, typer.Option(help="Until when it holds.")] = None,
    supersedes: Annotated[str | None, typer.Option(help="The id of the record that this one replaces.")] = None,
    derived_from: Annotated[
        list[str] | None, typer.Option(help="The id of a record that it was made of; may be repeated.")
    ] = None,
    metadata: Annotated[str | None, typer.Option(help="A JSON object with your own keys.")] = None,
    create: Create = False,
) -> None:
    """Store one text, and print its id."""
    session = session_of(ctx)
    said = text_of(STDIN).strip() if text == STDIN else text
    more = None if metadata is None else json_object(metadata, "--metadata")
    with session.scope(create=create) as user:
        now = user.memory.now()
        record = {
            "id": user.memory.new_id() if id is None else id,
            "text": said,
            "importance": importance,
            "kind": kind,
            "at": moment_of(created_at, now=now),
            "valid_from": moment_of(valid_from, now=now),
            "valid_until": moment_of(valid_until, now=now),
            "supersedes": supersedes,
            "metadata": more,
            "derived_from": derived_from or [],
        }
        (new,) = user.observe([record])
    show([new], {"id": new}, as_json=session.as_json)


def import_records(
    ctx: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(
            help="JSON lines: texts, objects with the arguments of remember, or messages as observe has them."
        ),
    ] = None,
    from_path: Annotated[Path | None, typer.Option(help="Instead: a directory of an embedded Chroma.")] = None,
    from_collection: Annotated[str, typer.Option(help="The collection in there.")] = "memories",
    create: Create = False,
) -> None:
    """Store many records: from a file (- is stdin), or copied from an existing collection.

    All lines are checked before any is written. Records of other users in that collection are left out. Existing ids
    are overwritten, so an import can be repeated.
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
    with progress_bar("storing") as told:
        for observed, group in groupby(items, _is_message):
            store, own = user.observe if observed else user.remember_many, list(group)
            for start in range(0, len(own), RECORDS_PER_BATCH):
                ids += store(own[start : start + RECORDS_PER_BATCH])
                told(len(ids), len(items))
    return ids


def _is_message(item: Any) -> bool:
    """Whether it says what only `observe` knows: who said it, when, and in which conversation."""
    return isinstance(item, Mapping) and not OF_MESSAGES.isdisjoint(item)


def _of_file(file: Path | None) -> Iterator[Any]:
    """The records of a file of JSON lines, each checked."""
    name = "stdin" if str(file) == "-" else str(file)
    if name != "stdin" and not is_readable(Path(name)):
        raise InvalidInputError(f"There is no file {shown(name)}. Give one of JSON lines, or - for stdin.")
    for number, line in enumerate(text_of(file or STDIN).split("\n"), 1):
        if not line.strip():
            continue
        try:
            item = parsed_json(line, "it")
            if _is_message(item):
                checked_messages([item], DEFAULT_FIELDS, now=0.0)
            else:
                check.new_record(item, DEFAULT_FIELDS)
        except InvalidInputError as error:
            raise InvalidInputError(
                f"Line {number} of {name} is not a record: {error} Give JSON: a text in double quotes, or an object "
                "with the arguments of remember. Nothing was stored."
            ) from error
        yield item


def _of_collection(path: Path, name: str, session: Session) -> tuple[list[dict[str, Any]], int]:
    """The records of an existing collection that are this user's or nobody's, and how many are others'."""
    from adaptive_memory_core.record_metadata import record_of
    from adaptive_memory_core.store import locations
    from adaptive_memory_core.store.output_files import as_arguments

    client = locations.open_client(locations.existing_path(path))
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
        found = parsed_json(text, what)
    except InvalidInputError as error:
        raise InvalidInputError(f"{error} {example}") from error
    if not isinstance(found, dict):
        raise InvalidInputError(f"{what} is {shown(found)}. {example}")
    return found


Cue = Annotated[str, typer.Argument(help="A question, or any text.")]
Most = Annotated[int, typer.Option("-k", help="How many hits at most.")]
By = Annotated[str | None, typer.Option(help="A preset's name or a file of JSON, instead of the memory's policy.")]
Where = Annotated[str | None, typer.Option("--filter", help="A Chroma filter on your metadata, as JSON.")]


def recall(
    ctx: typer.Context,
    cue: Cue,
    k: Most = 5,
    look: Annotated[bool, typer.Option("--look", help="Count nothing, change nothing, log nothing.")] = False,
    where: Where = None,
    policy: By = None,
    max_tokens: Annotated[int | None, typer.Option(help="Print evidence for a model instead, within a budget.")] = None,
) -> None:
    """The best memories for a cue, best first: score, id and text. They count as read."""
    session = session_of(ctx)
    with session.scope(brief=True) as user:
        found = _asked(user, cue, k, where, policy_option(policy), reinforce=not look)
    lines = [f"{one.score:.3f}  {one.id}  {one_line(one.text)}" for one in found]
    if max_tokens is not None:
        lines = [found.render(max_tokens=max_tokens)]
    told = {"id": found.id, "step": found.step, "hits": [hit(one) for one in found], "notes": found.trace}
    show(lines if found else [], told, as_json=session.as_json)
    if not found:
        typer.echo("nothing found", err=True)
        raise typer.Exit(NOTHING_FOUND)


def explain(
    ctx: typer.Context,
    cue: Cue,
    id: Annotated[str | None, typer.Option("--id", help="Why this record is, or is not, among the hits.")] = None,  # noqa: A002
    k: Most = 5,
    where: Where = None,
    policy: By = None,
) -> None:
    """Show how each score was calculated, and which candidates were dropped and why. Read-only."""
    session = session_of(ctx)
    with session.scope(brief=True) as user:
        found = _asked(user, cue, k, where, policy_option(policy), reinforce=False)
        why = None if id is None else user.why(found, id, _filter(where))
    told: dict[str, Any] = {
        "hits": [hit(one) for one in found],
        "dropped": [{"id": one.id, "score": one.score, "reason": one.reason} for one in found.dropped],
        "notes": found.trace,
    }
    told |= {} if why is None else {"id": id, "why": why}
    show([found.explain()] if why is None else [why], told, as_json=session.as_json)


def get(ctx: typer.Context, id: Annotated[str, typer.Argument(help="A record's id.")]) -> None:  # noqa: A002
    """Show one record, and what reads and feedback have changed. Does not count as a read."""
    session = session_of(ctx)
    with session.scope(brief=True) as user:
        record = user.get(id)
    told: dict[str, Any] = {"id": record.id, "text": record.text, **known(record), "read": json_value(record.read)}
    lines = [record.text, *(f"{name}: {value}" for name, value in told.items() if name not in ("text", "read"))]
    read = record.read
    last = "never" if read.last_read is None else utc_time(read.last_read)
    lines.append(f"read: {read.retrieval_count} times, last {last}, strength {read.strength:.3f}, pinned {read.pinned}")
    show(lines, told, as_json=session.as_json)


def log(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option(help="Recalls at most, the newest first.")] = 20,
    since: Annotated[str | None, typer.Option(help="2026-03-02, seconds, or 7d for a week ago.")] = None,
    until: Annotated[str | None, typer.Option(help="Up to then.")] = None,
    containing: Annotated[str | None, typer.Option(help="Those that returned this record.")] = None,
) -> None:
    """Past recalls: when, how many hits, id and cue; as JSON with every candidate, its score and the reason."""
    session = session_of(ctx)
    with session.scope(brief=True) as user:
        now = user.memory.now()
        first, last = moment_of(since, now=now), moment_of(until, now=now)
        found = user.recalls(first, last, limit, containing)
    lines = [f"{utc_time(one.at)}  {len(one.kept)} of {one.k}  {one.id}  {one_line(one.cue)}" for one in found]
    show(lines, found, as_json=session.as_json)
    if not found:
        raise typer.Exit(NOTHING_FOUND)


def stats(ctx: typer.Context) -> None:
    """Show the numbers of records, recalls, reads and verdicts, and how strong the memories are."""
    session = session_of(ctx)
    with session.scope(brief=True) as user:
        found = user.stats()
    names = ("records", "recalls", "reads", "read_records", "remembered", "pinned", "verdicts", "logged_recalls")
    lines = [f"{name.replace('_', ' ')}: {getattr(found, name)}" for name in names]
    lines.append(f"mean strength: {found.strengths.mean:.3f}")
    show(lines, found, as_json=session.as_json)


def themes(ctx: typer.Context) -> None:
    """Show what is known about each subject of the conversations, the largest first. Processes waiting messages
    first."""
    session = session_of(ctx)
    with session.scope() as user, progress_bar("growing") as told:
        found = user.themes(progress=told)
    known = [
        {"name": one.name, "ids": one.ids, "known": [{"text": each.text, "at": each.at} for each in one.known]}
        for one in found
    ]
    show(str(found).splitlines(), known, as_json=session.as_json)
    if not found:
        raise typer.Exit(NOTHING_FOUND)


def _asked(user: UserMemory, cue: str, k: int, where: str | None, policy: Policy | None, *, reinforce: bool) -> Recall:
    return user.recall(cue, k, filter=_filter(where), reinforce=reinforce, policy=policy)


def _filter(where: str | None) -> dict[str, Any] | None:
    return None if where is None else dict(json_object(where, "--filter"))


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
    below: Annotated[float | None, typer.Option(help="Remove what has decayed below this strength.")] = None,
    unread_for: Annotated[float | None, typer.Option(help="Remove what nobody has read for so many days.")] = None,
    max_records: Annotated[int | None, typer.Option(help="Of more than these, remove the weakest.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say which ones.")] = False,
    archive: Annotated[Path | None, typer.Option(help="Append them to this file first; import takes it back.")] = None,
    limit: Annotated[int | None, typer.Option(help="Records at most.")] = None,
) -> None:
    """Remove records that have decayed, are no longer read, or exceed a maximum; never a pinned or a remembered one."""
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
