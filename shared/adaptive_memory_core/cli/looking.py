"""How is a memory read from a shell? `recall`, `explain`, `get`, `log` and `stats`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from adaptive_memory_core.cli.exit_codes import NOTHING_FOUND
from adaptive_memory_core.cli.output import date, hit, known, one_line, plain, show
from adaptive_memory_core.cli.session import moment_of, policy_of, session_of
from adaptive_memory_core.cli.writing import json_object
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.policy import Policy
from adaptive_memory_core.user_memory import UserMemory

Cue = Annotated[str, typer.Argument(help="A question, or any text.")]
Most = Annotated[int, typer.Option("-k", help="How many hits at most.")]
By = Annotated[str | None, typer.Option(help="A preset's name or a file of JSON, instead of the memory's policy.")]
Where = Annotated[str | None, typer.Option("--filter", help="A Chroma filter as JSON, over metadata of your own.")]


def add_to(app: typer.Typer) -> None:
    for command in (recall, explain, get, log, stats):
        app.command()(command)


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
    with session.scope() as user:
        found = _asked(user, cue, k, where, policy_of(policy), reinforce=not look)
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
    """Why a cue finds what it finds: every score with its parts, everyone who was dropped, and why. Changes nothing."""
    session = session_of(ctx)
    with session.scope() as user:
        found = _asked(user, cue, k, where, policy_of(policy), reinforce=False)
        why = None if id is None else user.why(found, id, _filter(where))
    told: dict[str, Any] = {
        "hits": [hit(one) for one in found],
        "dropped": [{"id": one.id, "score": one.score, "reason": one.reason} for one in found.dropped],
        "notes": found.trace,
    }
    told |= {} if why is None else {"id": id, "why": why}
    show([found.explain()] if why is None else [why], told, as_json=session.as_json)


def get(ctx: typer.Context, id: Annotated[str, typer.Argument(help="A record's id.")]) -> None:  # noqa: A002
    """One record, and what reads and verdicts made of it. Does not count as a read."""
    session = session_of(ctx)
    with session.scope() as user:
        record = user.get(id)
    told: dict[str, Any] = {"id": record.id, "text": record.text, **known(record), "read": plain(record.read)}
    lines = [record.text, *(f"{name}: {value}" for name, value in told.items() if name not in ("text", "read"))]
    read = record.read
    last = "never" if read.last_read is None else date(read.last_read)
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
    with session.scope() as user:
        now = user.memory.now()
        first, last = moment_of(since, now=now), moment_of(until, now=now)
        found = user.recalls(first, last, limit, containing)
    lines = [f"{date(one.at)}  {len(one.kept)} of {one.k}  {one.id}  {one_line(one.cue)}" for one in found]
    show(lines, found, as_json=session.as_json)
    if not found:
        raise typer.Exit(NOTHING_FOUND)


def stats(ctx: typer.Context) -> None:
    """Numbers of records, recalls, reads and verdicts, and how strong the memories are."""
    session = session_of(ctx)
    with session.scope() as user:
        found = user.stats()
    names = ("records", "recalls", "reads", "read_records", "remembered", "pinned", "verdicts", "logged_recalls")
    lines = [f"{name.replace('_', ' ')}: {getattr(found, name)}" for name in names]
    lines.append(f"mean strength: {found.strengths.mean:.3f}")
    show(lines, found, as_json=session.as_json)


def _asked(user: UserMemory, cue: str, k: int, where: str | None, policy: Policy | None, *, reinforce: bool) -> Recall:
    return user.recall(cue, k, filter=_filter(where), reinforce=reinforce, policy=policy)


def _filter(where: str | None) -> dict[str, Any] | None:
    return None if where is None else dict(json_object(where, "--filter"))
