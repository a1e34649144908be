"""How are systems compared from a shell? `compare`: an experiment file, and what each system finds on labelled data."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from adaptive_memory_core.cli.output import printing_to_stderr, progress, show
from adaptive_memory_core.cli.session import session_of
from adaptive_memory_core.evaluate.plan import Experiment


def add_to(app: typer.Typer) -> None:
    app.command()(compare)


def compare(
    ctx: typer.Context,
    experiment: Annotated[Path, typer.Argument(help="Data and systems, as TOML or JSON.", metavar="FILE")],
    out: Annotated[Path | None, typer.Option(help="Also write the result to this file, as JSON.")] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Only say what it may cost, and ask nobody.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Ask the chat models and servers that it names.")] = False,
) -> None:
    """What each system of an experiment finds on labelled data, with intervals and paired differences.

    Where it names chat models or a server's embedder, it says first what they may cost, and asks them with --yes only.
    """
    from adaptive_memory_core.evaluate.compare import compare as compared
    from adaptive_memory_core.evaluate.comparison_file import check_result_file
    from adaptive_memory_core.evaluate.comparison_tables import summary
    from adaptive_memory_core.evaluate.plan_file import read_experiment

    plan, as_json = read_experiment(experiment), session_of(ctx).as_json
    if out is not None:
        check_result_file(out)
    if not _may_go_on(plan, only_told=estimate, yes=yes, as_json=as_json):
        return
    with printing_to_stderr(), progress("Comparing") as told:
        found = replace(compared(plan, progress=told), command=f"adaptive-memory compare {experiment.name}")
    if out is not None:
        found.save(out)
    show(summary(found).split("\n"), json.loads(found.to_json()), as_json=as_json)


def _may_go_on(plan: Experiment, *, only_told: bool, yes: bool, as_json: bool) -> bool:
    """Say what others may be asked and what that costs: as the answer where nobody is to be asked, else on stderr."""
    from adaptive_memory_core.evaluate.compare import estimate_of

    costs = estimate_of(plan)
    if only_told or (costs.lines and not yes):
        show(str(costs).split("\n"), {"estimate": costs, "cost": costs.cost}, as_json=as_json)
        if not only_told:
            typer.echo("nothing was asked: give --yes to go on", err=True)
        return False
    if costs.lines:
        typer.echo(str(costs), err=True)
    return True
