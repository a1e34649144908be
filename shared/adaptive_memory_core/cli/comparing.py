"""How are systems compared from a shell? `compare`: an experiment file, and what each system finds on labelled data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from adaptive_memory_core.cli.output import progress, show
from adaptive_memory_core.cli.session import session_of


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
    from adaptive_memory_core.evaluate.compare import estimate_of
    from adaptive_memory_core.evaluate.comparison_tables import summary
    from adaptive_memory_core.evaluate.plan_file import read_experiment

    as_json = session_of(ctx).as_json
    plan = read_experiment(experiment)
    costs = estimate_of(plan)
    if estimate or (costs.lines and not yes):
        show(str(costs).split("\n"), {"estimate": costs, "cost": costs.cost}, as_json=as_json)
        if not estimate:
            typer.echo("nothing was asked: give --yes to go on", err=True)
        return
    if costs.lines:
        typer.echo(str(costs), err=True)
    with progress("Comparing") as told:
        found = compared(plan, progress=told)
    if out is not None:
        found.save(out)
    show(summary(found).split("\n"), json.loads(found.to_json()), as_json=as_json)
