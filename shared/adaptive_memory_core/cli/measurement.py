"""Commands that measure: eval, tune, compare, replay, report and bench."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adaptive_memory_core.arguments.recalls import labelled_questions
from adaptive_memory_core.cli.session import Session, embedder_option, moment_of, policy_option, session_of
from adaptive_memory_core.cli.terminal import (
    NOTHING_FOUND,
    date_of,
    is_readable,
    one_line,
    parsed_json,
    printing_to_stderr,
    progress_bar,
    show,
    text_of,
)
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.models.embedder import bundled_unless
from adaptive_memory_core.store.output_files import check_page_file, write_page
from adaptive_memory_core.verbs.tuning import PRIOR

if TYPE_CHECKING:  # otherwise imported by the command that needs it
    from adaptive_memory_core.evaluate.intervals import Spread
    from adaptive_memory_core.evaluate.latency import LatencyComparison
    from adaptive_memory_core.evaluate.plan import Experiment
    from adaptive_memory_core.evaluate.replay import ReplayedRecall

LINE = '{"question": "which tea?", "answers": ["id or text of a record"]}'
By = Annotated[str | None, typer.Option("--policy", help="A preset's name or a file of JSON; omitted, the usual one.")]
Most = Annotated[int, typer.Option("-k", help="The number of hits that are evaluated.")]


def evaluate(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help=f"JSON lines: {LINE}; - is stdin.")],
    k: Most = 10,
    policy: By = None,
) -> None:
    """How many of the records that answer questions are found: recall@k, NDCG@k and hit@1, each with its interval.

    Nothing counts as read. A line may say when its question is asked: "now".
    """
    session = session_of(ctx)
    session.check_scope()
    pairs = list(pairs_of(file))
    with session.scope() as user:
        found = user.evaluate(pairs, k=k, policy=policy_option(policy))
    show(found.summary().splitlines(), json.loads(found.to_json()), as_json=session.as_json)


def tune(
    ctx: typer.Context,
    file: Annotated[Path | None, typer.Argument(help=f"JSON lines: {LINE}; omitted, the verdicts of the log.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the tuned policy to this file, if one was found.")] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Store the tuned policy for the user, if one was found.")
    ] = False,
    k: Most = 10,
    policy: By = None,
    since: Annotated[
        str | None, typer.Option(help="The start of the period of the log: 2026-03-02, seconds, or 7d for a week ago.")
    ] = None,
    until: Annotated[str | None, typer.Option(help="The end of the period of the log, in the same forms.")] = None,
    all_users: Annotated[
        bool, typer.Option("--all-users", help="Tune one policy on the verdicts of all users.")
    ] = False,
    held_out: Annotated[
        float, typer.Option(help="The share of the questions that are used for the evaluation only.")
    ] = 0.5,
    prior: Annotated[
        float, typer.Option(help="The number of questions at which the result has half of its full weight.")
    ] = PRIOR,
    seed: Annotated[int, typer.Option(help="The seed by which questions are split into tuning and evaluation.")] = 0,
) -> None:
    """Find a policy that ranks a user's questions better, or say why there is none: too few questions, or a gain within
    noise.

    Exit code 1 if no better policy was found; then nothing is written.
    """
    session = session_of(ctx)
    _check(session, all_users=all_users, keep=keep, file=file)
    if out is not None and (out.is_dir() or not out.parent.is_dir()):
        raise InvalidInputError(f"No policy can be written to {str(out)!r}. Give a file in an existing directory.")
    given: dict[str, Any] = {
        "k": k,
        "held_out": held_out,
        "prior": prior,
        "seed": seed,
        "policy": policy_option(policy),
    }
    pairs = None if file is None else list(pairs_of(file))
    with session.memory() as memory:
        given |= {"since": moment_of(since, now=memory.now()), "until": moment_of(until, now=memory.now())}
        found = memory.tune(**given) if all_users else session.scope_in(memory).tune(pairs, **given)
        if keep and found.refused is None and session.user is not None:
            memory.for_user(session.user, policy=found.policy)
    if out is not None and found.refused is None:
        found.policy.save(out)
    show(found.summary().splitlines(), json.loads(found.to_json()), as_json=session.as_json)
    if found.refused is not None:
        raise typer.Exit(NOTHING_FOUND)


def _check(session: Session, *, all_users: bool, keep: bool, file: Path | None) -> None:
    session.check_users(all_users=all_users)
    if all_users and file is not None:
        raise InvalidInputError("--all-users takes the verdicts of the log. Leave the file out, or give --user NAME.")
    if keep and session.user is None:
        raise InvalidInputError("--keep keeps the policy for one user. Give --user NAME, or --out FILE instead.")


def pairs_of(file: Path) -> Iterator[Any]:
    """The labelled questions of a file of JSON lines, each checked."""
    name = "stdin" if str(file) == "-" else str(file)
    if name != "stdin" and not is_readable(file):
        raise InvalidInputError(f"There is no file {shown(name)}. Give a file of JSON lines, or - for stdin.")
    count = 0
    for number, line in enumerate(text_of(file).split("\n"), 1):
        if line.strip():
            count += 1
            try:
                yield from labelled_questions([parsed_json(line, "it")])
            except InvalidInputError as error:
                raise InvalidInputError(f"Line {number} of {name}: {error} A line is e.g. {LINE}") from error
    if not count:
        raise InvalidInputError(f"{name} is empty. Give JSON lines, e.g. {LINE}")


def compare(
    ctx: typer.Context,
    experiment: Annotated[Path, typer.Argument(help="Data and systems, as TOML or JSON.", metavar="FILE")],
    out: Annotated[Path | None, typer.Option(help="Also write the result to this file, as JSON.")] = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only show the possible cost, and call no model.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Call the chat models and servers that the experiment names.")
    ] = False,
) -> None:
    """What each system of an experiment finds on labelled data, with intervals and paired differences.

    If the experiment names chat models or a server's embedder, their possible cost is shown first, and they are called
    only with --yes.
    """
    from adaptive_memory_core.evaluate.compare import compare as compared
    from adaptive_memory_core.evaluate.comparison import check_result_file, comparison_text
    from adaptive_memory_core.evaluate.plan import read_experiment

    plan, as_json = read_experiment(experiment), session_of(ctx).as_json
    if out is not None:
        check_result_file(out)
    if not _may_go_on(plan, estimate_only=estimate, yes=yes, as_json=as_json):
        return
    with printing_to_stderr(), progress_bar("Comparing") as report:
        found = replace(compared(plan, progress=report), command=f"adaptive-memory compare {experiment.name}")
    if out is not None:
        found.save(out)
    show(comparison_text(found).split("\n"), json.loads(found.to_json()), as_json=as_json)


def _may_go_on(plan: Experiment, *, estimate_only: bool, yes: bool, as_json: bool) -> bool:
    """Show the possible requests to others and their cost, on stdout if none is to be sent, otherwise on stderr. Return
    whether to continue."""
    from adaptive_memory_core.evaluate.compare import estimate_of

    costs = estimate_of(plan)
    if estimate_only or (costs.lines and not yes):
        show(str(costs).split("\n"), {"estimate": costs, "cost": costs.cost}, as_json=as_json)
        if not estimate_only:
            typer.echo("no request was sent: give --yes to continue", err=True)
        return False
    if costs.lines:
        typer.echo(str(costs), err=True)
    return True


def replay(
    ctx: typer.Context,
    policy: Annotated[str | None, typer.Option(help="A preset's name or a file of JSON; omitted, the default.")] = None,
    since: Annotated[str | None, typer.Option(help="2026-03-02, seconds, or 7d for a week ago.")] = None,
    until: Annotated[str | None, typer.Option(help="The end of the period, in the same forms.")] = None,
    all_users: Annotated[
        bool, typer.Option("--all-users", help="Use the recalls of all users; no user is named.")
    ] = False,
    changed: Annotated[bool, typer.Option("--changed", help="Also show each recall that would differ.")] = False,
) -> None:
    """What another policy would have retrieved: dropped, promoted, and the value of that according to the existing
    feedback."""
    session = session_of(ctx)
    session.check_users(all_users=all_users)
    with session.memory() as memory:
        first, last = moment_of(since, now=memory.now()), moment_of(until, now=memory.now())
        by = policy_option(policy)
        found = memory.replay(by, first, last) if all_users else session.scope_in(memory).replay(by, first, last)
    lines = [found.summary(), *(line for one in found.changed if changed for line in _replay_text(one))]
    show(lines, json.loads(found.to_json()), as_json=session.as_json)
    if not len(found):
        raise typer.Exit(NOTHING_FOUND)


def _replay_text(one: ReplayedRecall) -> list[str]:
    return [
        f"{date_of(one.at)}  {one_line(one.cue)}",
        *(f"  - {name}: {one.reasons.get(name, 'not looked at')}" for name in one.dropped),
        *(f"  + {name}" for name in one.promoted),
        f"  {' '.join(one.after)}",
    ]


def report(
    ctx: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            help="The file to write: a new file, or an earlier page, which is replaced.", metavar="OUT.html"
        ),
    ],
    experiment: Annotated[
        Path | None, typer.Option(help="Draw what `compare --out` wrote; no memory is needed.", metavar="FILE")
    ] = None,
    all_users: Annotated[
        bool, typer.Option("--all-users", help="Show the numbers of all users, without any texts.")
    ] = False,
    records: Annotated[int | None, typer.Option(help="The maximum number of a user's records. Default: 500.")] = None,
    recalls: Annotated[int | None, typer.Option(help="The maximum number of a user's recalls. Default: 50.")] = None,
    title: Annotated[str | None, typer.Option(help="The page's title.")] = None,
) -> None:
    """Write a page of HTML: one file that loads nothing.

    It shows the records, their strength and decay, past queries and the reasons for their results, changes by feedback,
    themes and names. Making it does not count as a read. Protect the file as you protect the memory: it contains its
    texts.
    """
    session = session_of(ctx)
    check_page_file(file)
    limits = {name: given for name, given in (("records", records), ("recalls", recalls)) if given is not None}
    _check_fit(limits, experiment, all_users=all_users, title=title)
    page = (
        _comparison(file, experiment)
        if experiment is not None
        else _memory(session, file, limits, all_users=all_users, title=title)
    )
    show([str(file)], {"path": str(file), "characters": len(page)}, as_json=session.as_json)


def _comparison(file: Path, experiment: Path) -> str:
    from adaptive_memory_core.evaluate.comparison import Comparison

    if not is_readable(experiment):
        raise InvalidInputError(f"There is no file {str(experiment)!r}. Give what compare --out wrote.")
    page = Comparison.from_json(text_of(experiment)).html()
    write_page(file, page)
    return page


def _memory(session: Session, file: Path, limits: dict[str, int], *, all_users: bool, title: str | None) -> str:
    session.check_users(all_users=all_users)
    with session.memory() as memory:
        if all_users:
            return memory.report(file, title=title)
        return session.scope_in(memory).report(file, title=title, **limits)


def _check_fit(limits: dict[str, int], experiment: Path | None, *, all_users: bool, title: str | None) -> None:
    """Raise InvalidInputError for options that would have no effect."""
    given = [f"--{name}" for name in limits]
    if experiment is None:
        page = "--all-users" if all_users else ""
    else:
        page = "--experiment"
        given += [*(["--title"] if title is not None else []), *(["--all-users"] if all_users else [])]
    if given and page:
        raise InvalidInputError(f"{' and '.join(given)} cannot be given with {page}. Leave out one or the other.")


def bench(
    ctx: typer.Context,
    k: Annotated[int, typer.Option("-k", min=1, help="The number of hits of each recall.")] = 10,
    questions: Annotated[
        int, typer.Option(min=1, help="The maximum number of questions, drawn from the records.")
    ] = 100,
    seed: Annotated[int, typer.Option(help="The seed by which records are drawn.")] = 0,
) -> None:
    """How long recalls take, compared with Chroma's own query filtered by the same user, over the same records.

    The questions are the first words of the user's records, so this measures speed and not quality. To measure quality,
    use `eval` with your own questions. Nothing counts as read.
    """
    from adaptive_memory_core.evaluate.latency import compare_latency, machine, package_versions

    session = session_of(ctx)
    session.check_scope()
    embedder = bundled_unless(embedder_option(session.embedder))
    with session.scope() as user:
        found = compare_latency(user, embedder, k=k, questions=questions, seed=seed)
    about = {"machine": machine(), "versions": package_versions()}
    answer = {"records": found.records, "k": found.k, "recall_ms": found.recall, "chroma_ms": found.chroma, **about}
    show(_lines(found), answer, as_json=session.as_json)


def _lines(found: LatencyComparison) -> list[str]:
    times = found.recall.median / found.chroma.median if found.chroma.median else float("inf")
    return [
        f"{found.recall.count} questions over {found.records} records, k={found.k}, embedding included",
        f"recall: {_latency_values(found.recall)}",
        f"Chroma's query: {_latency_values(found.chroma)}",
        f"a recall takes {times:.1f} times as long (medians)",
    ]


def _latency_values(one: Spread) -> str:
    return f"median {one.median:.1f} ms, 95th percentile {one.p95:.1f} ms"
