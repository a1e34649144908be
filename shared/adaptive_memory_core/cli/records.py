"""Commands on records: init, remember, import, recall, explain, get, log, stats and themes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    Table,
    date_of,
    hit,
    is_readable,
    json_value,
    known,
    one_line,
    parsed_json,
    progress_bar,
    records_in_words,
    show,
    text_of,
)
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.fields import DEFAULT_FIELDS
from adaptive_memory_core.in_force import usual_policy
from adaptive_memory_core.models.local import letters_per_token
from adaptive_memory_core.policy import Policy
from adaptive_memory_core.records import Scope
from adaptive_memory_core.user_memory import UserMemory

RECORDS_PER_BATCH = 256  # records of one batch
TIMES = ("created_at", "valid_from", "valid_until")
OF_MESSAGES = {"speaker", "role", "session", "seq", "at", "content"}  # keys
Create = Annotated[bool, typer.Option("--create", help="Create the memory if it does not exist.")]


def init(ctx: typer.Context) -> None:
    """Create an empty memory at --path or on --server. An existing one is left unchanged."""
    session = session_of(ctx)
    with session.memory(create=True):
        answer = {"path": session.place, "collection": session.collection}
    show([f"{answer['path']}: collection {answer['collection']!r}"], answer, as_json=session.as_json)


def remember(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(help="The text to store; - reads it from stdin.")],
    id: Annotated[str | None, typer.Option(help="Your own id; an existing record is replaced.")] = None,  # noqa: A002
    importance: Annotated[float, typer.Option(help="From 0 to 1.")] = 0.5,
    kind: Annotated[str, typer.Option(help="E.g. event, fact, lesson.")] = "event",
    created_at: Annotated[str | None, typer.Option(help="When it happened: 2026-03-02, seconds, or 7d ago.")] = None,
    valid_from: Annotated[str | None, typer.Option(help="The time from which it is true.")] = None,
    valid_until: Annotated[str | None, typer.Option(help="The time until which it is true.")] = None,
    supersedes: Annotated[str | None, typer.Option(help="The id of the record that this one replaces.")] = None,
    derived_from: Annotated[
        list[str] | None, typer.Option(help="The id of a record from which it was derived; may be repeated.")
    ] = None,
    metadata: Annotated[str | None, typer.Option(help="A JSON object with your own keys.")] = None,
    create: Create = False,
) -> None:
    """Store one text, and print its id."""
    session = session_of(ctx)
    content = text_of(STDIN).strip() if text == STDIN else text
    more = None if metadata is None else json_object(metadata, "--metadata")
    with session.scope(create=create) as user:
        now = user.memory.now()
        record = {
            "id": user.memory.new_id() if id is None else id,
            "text": content,
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
    from_path: Annotated[
        Path | None, typer.Option(help="Instead of a file: the directory of an embedded Chroma database.")
    ] = None,
    from_collection: Annotated[str, typer.Option(help="The collection in that database.")] = "memories",
    lines_of: Annotated[
        Path | None,
        typer.Option(
            "--lines", help="Instead of JSON: a plain text file; each line that is not blank becomes a record."
        ),
    ] = None,
    create: Create = False,
) -> None:
    """Store many records: from a file (- is stdin), or copied from an existing collection.

    All lines are checked before any is written. Records of other users in that collection are left out. Existing ids
    are overwritten, so an import can be repeated.
    """
    if [file, from_path, lines_of].count(None) != 2:
        raise InvalidInputError(
            "Nothing is named to import, or several things. Give FILE (JSON lines), --lines FILE, or --from-path DIR."
        )
    session = session_of(ctx)
    session.check_scope()
    items: list[Any]
    left_out = 0
    if from_path is not None:
        items, left_out = _of_collection(from_path, from_collection, session)
    elif lines_of is not None:
        items = [line.strip() for line in _lines_of(lines_of) if line.strip()]
    else:
        items = list(_of_file(file or Path(STDIN)))
    with session.scope(create=create) as user:
        ids = _stored(user, items)
    lines = [records_in_words(len(ids))] + ([f"{left_out} of other users left out"] if left_out else [])
    show(lines, {"ids": ids, "left_out": left_out}, as_json=session.as_json)


def _stored(user: UserMemory, items: Sequence[Any]) -> list[str]:
    ids: list[str] = []
    with progress_bar("storing") as report:
        for observed, group in groupby(items, _is_message):
            store, own = user.observe if observed else user.remember_many, list(group)
            for start in range(0, len(own), RECORDS_PER_BATCH):
                ids += store(own[start : start + RECORDS_PER_BATCH])
                report(len(ids), len(items))
    return ids


def _is_message(item: Any) -> bool:
    """Whether an item has keys that only `observe` takes: speaker, time, conversation and others."""
    return isinstance(item, Mapping) and not OF_MESSAGES.isdisjoint(item)


def _lines_of(file: Path) -> list[str]:
    if str(file) != STDIN and not is_readable(file):
        raise InvalidInputError(f"There is no file {shown(str(file))}. Give a file, or - for stdin.")
    return text_of(file).split("\n")


def _of_file(file: Path) -> Iterator[Any]:
    """The records of a file of JSON lines, each checked."""
    name = "stdin" if str(file) == STDIN else str(file)
    for number, line in enumerate(_lines_of(file), 1):
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
                "with the arguments of remember; or --lines FILE, if each line is a text. Nothing was stored."
            ) from error
        yield item


def _of_collection(path: Path, name: str, session: Session) -> tuple[list[dict[str, Any]], int]:
    """The records of an existing collection that belong to this user or nobody, and the number of other records."""
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
Most = Annotated[int, typer.Option("-k", help="The maximum number of hits.")]
By = Annotated[str | None, typer.Option(help="A preset's name or a file of JSON, instead of the memory's policy.")]
Least = Annotated[
    float | None,
    typer.Option(
        help="The lowest score of a hit; 0 shows all. Default: with the bundled embedder, a score better than chance."
    ),
]
Where = Annotated[str | None, typer.Option("--filter", help="A Chroma filter on your metadata, as JSON.")]


def recall(
    ctx: typer.Context,
    cue: Cue,
    k: Most = 5,
    look: Annotated[
        bool, typer.Option("--look", help="Do not count this recall as a read, and do not log it.")
    ] = False,
    where: Where = None,
    policy: By = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="Print the evidence for a model instead, in at most this many tokens.")
    ] = None,
    min_score: Least = None,
) -> None:
    """The best memories for a cue, best first: score, id and text. They count as read."""
    session = session_of(ctx)
    with session.scope(brief=True) as user:
        floor = _floor(session, user, cue, min_score, by := policy_option(policy))
        found = user.recall(cue, k, filter=_filter(where), reinforce=not look, policy=by, min_score=floor)
    lines = [f"{one.score:.3f}  {one.id}  {one_line(one.text)}" for one in found]
    rows = [(f"{one.score:.3f}", one.id, _when(one.created_at), one_line(one.text)) for one in found]
    table = Table(("score", "id", "when", "text"), rows) if max_tokens is None else None
    if max_tokens is not None:
        lines = [found.render(max_tokens=max_tokens)]
    answer = {"id": found.id, "step": found.step, "hits": [hit(one) for one in found], "notes": found.trace}
    show(lines if found else [], answer, as_json=session.as_json, table=table)
    if not found:
        typer.echo(f"nothing found{FAINT_ONES if found.dropped and min_score is None and floor else ''}", err=True)
        raise typer.Exit(NOTHING_FOUND)


def explain(
    ctx: typer.Context,
    cue: Cue,
    id: Annotated[str | None, typer.Option("--id", help="Explain why this record is or is not among the hits.")] = None,  # noqa: A002
    k: Most = 5,
    where: Where = None,
    policy: By = None,
    min_score: Least = None,
) -> None:
    """Show how each score was calculated, and which candidates were dropped and why. Read-only."""
    session = session_of(ctx)
    with session.scope(brief=True) as user:
        floor = _floor(session, user, cue, min_score, by := policy_option(policy))
        found = user.recall(cue, k, filter=_filter(where), reinforce=False, policy=by, min_score=floor)
        why = None if id is None else user.why(found, id, _filter(where))
    answer: dict[str, Any] = {
        "hits": [hit(one) for one in found],
        "dropped": [{"id": one.id, "score": one.score, "reason": one.reason} for one in found.dropped],
        "notes": found.trace,
    }
    answer |= {} if why is None else {"id": id, "why": why}
    show([found.explain()] if why is None else [why], answer, as_json=session.as_json)


def get(ctx: typer.Context, id: Annotated[str, typer.Argument(help="A record's id.")]) -> None:  # noqa: A002
    """Show one record, and what reads and feedback have changed. Does not count as a read."""
    session = session_of(ctx)
    with session.scope(brief=True) as user:
        record = user.get(id)
    answer: dict[str, Any] = {"id": record.id, "text": record.text, **known(record), "read": json_value(record.read)}
    rows = [(name, _readable(name, value)) for name, value in answer.items() if name not in ("text", "read")]
    read = record.read
    last = "never" if read.last_read is None else date_of(read.last_read)
    reads = f"{read.retrieval_count} times, last {last}, strength {read.strength:.3f}, pinned {read.pinned}"
    rows.append(("read", reads))
    lines = [record.text, *(f"{name}: {value}" for name, value in rows)]
    show(lines, answer, as_json=session.as_json, table=Table(("name", "value"), [("text", record.text), *rows]))


def _readable(name: str, value: object) -> str:
    return date_of(value) if name in TIMES and isinstance(value, float) else str(value)


def _when(at: float | None) -> str:
    return "" if at is None else date_of(at)


def log(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option(help="The maximum number of recalls, newest first.")] = 20,
    since: Annotated[str | None, typer.Option(help="2026-03-02, seconds, or 7d for a week ago.")] = None,
    until: Annotated[str | None, typer.Option(help="The end of the period, in the same forms.")] = None,
    containing: Annotated[str | None, typer.Option(help="Only recalls that returned this record.")] = None,
) -> None:
    """Past recalls: when, how many hits, id and cue; as JSON with every candidate, its score and the reason."""
    session = session_of(ctx)
    with session.scope(brief=True) as user:
        now = user.memory.now()
        first, last = moment_of(since, now=now), moment_of(until, now=now)
        found = user.recalls(first, last, limit, containing)
    rows = [(date_of(one.at), f"{len(one.kept)} of {one.k}", one.id, one_line(one.cue)) for one in found]
    lines = ["  ".join(row) for row in rows]
    show(lines, found, as_json=session.as_json, table=Table(("when", "hits", "id", "query"), rows))
    if not found:
        raise typer.Exit(NOTHING_FOUND)


def stats(ctx: typer.Context) -> None:
    """Show the numbers of records, recalls, reads and verdicts, and how strong the memories are."""
    session = session_of(ctx)
    with session.scope(brief=True) as user:
        found = user.stats()
    names = ("records", "recalls", "reads", "read_records", "remembered", "pinned", "verdicts", "logged_recalls")
    rows = [(name.replace("_", " "), f"{getattr(found, name):,}") for name in names]
    rows.append(("mean strength", f"{found.strengths.mean:.3f}"))
    lines = [f"{name}: {value.replace(',', '')}" for name, value in rows]
    show(lines, found, as_json=session.as_json, table=Table(("name", "value"), rows))


def themes(ctx: typer.Context) -> None:
    """Show what is known about each subject of the conversations, the largest first. Processes waiting messages
    first."""
    session = session_of(ctx)
    with session.scope() as user, progress_bar("growing") as report:
        found = user.themes(progress=report)
    known = [
        {"name": one.name, "ids": one.ids, "known": [{"text": each.text, "at": each.at} for each in one.known]}
        for one in found
    ]
    show(str(found).splitlines(), known, as_json=session.as_json)
    if not found:
        raise typer.Exit(NOTHING_FOUND)


FAINT_ONES = " that is better than chance; --min-score 0 shows the nearest"
FAINT = 0.08  # unrelated records reach this score with the bundled embedder; measured, docs/reference/command_line.md
LETTERS_PER_TOKEN = 2.2  # the least for text in words; random keystrokes have fewer
UNWORDED = 0.3  # a score that records reach if their vector is near that of a few letters by chance


def _floor(session: Session, user: UserMemory, cue: str, given: float | None, policy: Policy | None) -> float | None:
    """The least score of a hit: the given score, or else the score by chance with the bundled embedder, unless the
    policy has a minimum."""
    by = policy or usual_policy(user)
    if given is not None or session.embedder != "local" or by.min_score or by.min_similarity:
        return given
    if by.advanced.unrelated_answered or letters_per_token(cue) >= LETTERS_PER_TOKEN:
        return FAINT
    looked = user.recall(cue, reinforce=False, policy=policy)
    return FAINT if any(one.parts.get("words", 0.0) > 0.0 for one in looked) else UNWORDED


def _filter(where: str | None) -> dict[str, Any] | None:
    return None if where is None else dict(json_object(where, "--filter"))
