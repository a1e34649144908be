"""How is a past recall ranked again from a shell? `replay`, under a preset or a policy of a file."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from adaptive_memory_core.cli.exit_codes import NOTHING_FOUND
from adaptive_memory_core.cli.output import date, one_line, show
from adaptive_memory_core.cli.session import moment_of, policy_of, session_of
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.replay import ReplayedRecall


def add_to(app: typer.Typer) -> None:
    app.command()(replay)


def replay(
    ctx: typer.Context,
    policy: Annotated[str | None, typer.Option(help="A preset's name or a file of JSON; omitted, the default.")] = None,
    since: Annotated[str | None, typer.Option(help="2026-03-02, seconds, or 7d for a week ago.")] = None,
    until: Annotated[str | None, typer.Option(help="Up to then.")] = None,
    all_users: Annotated[bool, typer.Option("--all-users", help="The recalls of all; nobody is named.")] = False,
    changed: Annotated[bool, typer.Option("--changed", help="Also each recall that would differ.")] = False,
) -> None:
    """What another policy would have retrieved: dropped, promoted, and what that is worth by the verdicts there are."""
    session = session_of(ctx)
    if not all_users:
        session.check_scope()
    elif session.user is not None or session.everyone:
        raise InvalidInputError("--all-users stands for --user NAME or --everyone. Give one of the three.")
    with session.memory() as memory:
        first, last = moment_of(since, now=memory.now()), moment_of(until, now=memory.now())
        by = policy_of(policy)
        found = memory.replay(by, first, last) if all_users else session.scope_in(memory).replay(by, first, last)
    lines = [found.summary(), *(line for one in found.changed if changed for line in _told(one))]
    show(lines, json.loads(found.to_json()), as_json=session.as_json)
    if not len(found):
        raise typer.Exit(NOTHING_FOUND)


def _told(one: ReplayedRecall) -> list[str]:
    return [
        f"{date(one.at)}  {one_line(one.cue)}",
        *(f"  - {name}: {one.reasons.get(name, 'not looked at')}" for name in one.dropped),
        *(f"  + {name}" for name in one.promoted),
        f"  {' '.join(one.after)}",
    ]
