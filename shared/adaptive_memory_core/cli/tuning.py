"""How good are recalls, and which policy would serve better? `eval` and `tune`, over labelled questions or the log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from adaptive_memory_core.arguments.labelled_questions import labelled_questions
from adaptive_memory_core.cli.exit_codes import NOTHING_FOUND
from adaptive_memory_core.cli.given_text import is_readable, json_of, text_of
from adaptive_memory_core.cli.output import show
from adaptive_memory_core.cli.session import Session, moment_of, policy_of, session_of
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.tune import PRIOR, Tuning
from adaptive_memory_core.memory import AdaptiveMemory
from adaptive_memory_core.shown_in_errors import shown

LINE = '{"question": "which tea?", "answers": ["id or text of a record"]}'
By = Annotated[str | None, typer.Option("--policy", help="A preset's name or a file of JSON; omitted, the usual one.")]
Most = Annotated[int, typer.Option("-k", help="How many hits count.")]


def add_to(app: typer.Typer) -> None:
    app.command()(tune)
    app.command("eval")(evaluate)


def evaluate(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help=f"JSON lines: {LINE}; - is stdin.")],
    k: Most = 10,
    policy: By = None,
) -> None:
    """How much of what answers questions recalls find: recall@k, NDCG@k and hit@1, each with its interval.

    Nothing counts as read. A line may say when its question is asked: "now".
    """
    session = session_of(ctx)
    session.check_scope()
    pairs = list(pairs_of(file))
    with session.scope() as user:
        found = user.evaluate(pairs, k=k, policy=policy_of(policy))
    show(found.summary().splitlines(), json.loads(found.to_json()), as_json=session.as_json)


def tune(
    ctx: typer.Context,
    file: Annotated[Path | None, typer.Argument(help=f"JSON lines: {LINE}; omitted, the verdicts of the log.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the tuned policy here, if there is one.")] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep it for the user, if there is one.")] = False,
    k: Most = 10,
    policy: By = None,
    since: Annotated[str | None, typer.Option(help="Of the log: 2026-03-02, seconds, or 7d for a week ago.")] = None,
    until: Annotated[str | None, typer.Option(help="Of the log: up to then.")] = None,
    all_users: Annotated[bool, typer.Option("--all-users", help="One policy, by the verdicts of all users.")] = False,
    held_out: Annotated[float, typer.Option(help="Share of the questions that judge and do not tune.")] = 0.5,
    prior: Annotated[float, typer.Option(help="Questions at which half of what they say counts.")] = PRIOR,
    seed: Annotated[int, typer.Option(help="Which questions tune, and which judge.")] = 0,
) -> None:
    """The policy that ranks a user's questions better, or why there is none: too few questions, or a gain within noise.

    Exit code 1 where it is refused; then nothing is written.
    """
    session = session_of(ctx)
    _check(session, all_users=all_users, keep=keep, file=file)
    if out is not None and (out.is_dir() or not out.parent.is_dir()):
        raise InvalidInputError(f"No policy can be written to {str(out)!r}. Give a file in a directory that is there.")
    given: dict[str, Any] = {"k": k, "held_out": held_out, "prior": prior, "seed": seed, "policy": policy_of(policy)}
    pairs = None if file is None else list(pairs_of(file))
    with session.memory() as memory:
        given |= {"since": moment_of(since, now=memory.now()), "until": moment_of(until, now=memory.now())}
        found = memory.tune(**given) if all_users else session.scope_in(memory).tune(pairs, **given)
        if keep and found.refused is None:
            _keep(memory, session, found)
    if out is not None and found.refused is None:
        found.policy.save(out)
    show(found.summary().splitlines(), json.loads(found.to_json()), as_json=session.as_json)
    if found.refused is not None:
        raise typer.Exit(NOTHING_FOUND)


def _check(session: Session, *, all_users: bool, keep: bool, file: Path | None) -> None:
    if not all_users:
        session.check_scope()
    elif session.user is not None or session.everyone:
        raise InvalidInputError("--all-users stands for --user NAME or --everyone. Give one of the three.")
    if all_users and file is not None:
        raise InvalidInputError("--all-users takes the verdicts of the log. Leave the file out, or give --user NAME.")
    if keep and session.user is None:
        raise InvalidInputError("--keep keeps the policy for one user. Give --user NAME, or --out FILE instead.")


def _keep(memory: AdaptiveMemory, session: Session, found: Tuning) -> None:
    if session.user is not None:
        memory.for_user(session.user, policy=found.policy)


def pairs_of(file: Path) -> Iterator[Any]:
    """The labelled questions of a file of JSON lines, each checked."""
    name = "stdin" if str(file) == "-" else str(file)
    if name != "stdin" and not is_readable(file):
        raise InvalidInputError(f"There is no file {shown(name)}. Give one of JSON lines, or - for stdin.")
    count = 0
    for number, line in enumerate(text_of(file).split("\n"), 1):
        if line.strip():
            count += 1
            try:
                yield from labelled_questions([json_of(line, "it")])
            except InvalidInputError as error:
                raise InvalidInputError(f"Line {number} of {name}: {error} A line is e.g. {LINE}") from error
    if not count:
        raise InvalidInputError(f"{name} holds no line. Give JSON lines, e.g. {LINE}")
