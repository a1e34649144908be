"""Which commands are there? All of `adaptive-memory`, in the order in which `--help` shows them."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer

from adaptive_memory_core.cli import (
    benching,
    changing,
    comparing,
    demo,
    looking,
    moving,
    replaying,
    reporting,
    serving,
    tuning,
    upkeep,
    writing,
)
from adaptive_memory_core.cli.group import new_app
from adaptive_memory_core.cli.session import Session

app = new_app()
EPILOG = (
    "Exit codes: 0 done, 1 nothing found, 2 wrong usage, 3 the store failed, 130 interrupted, 141 the reader of the "
    "output went away. Options may stand before or behind the command's name."
)


def _version(asked: bool) -> None:
    if asked:
        try:
            typer.echo(version("adaptive-memory-retrieval"))
        except PackageNotFoundError:
            typer.echo("unknown: not installed as a package")
        raise typer.Exit


@app.callback(epilog=EPILOG)
def options(
    ctx: typer.Context,
    path: Annotated[Path | None, typer.Option(help="The directory that holds the memory.", metavar="DIR")] = None,
    user: Annotated[str | None, typer.Option(help="Whose memory: every command names one.", metavar="NAME")] = None,
    everyone: Annotated[bool, typer.Option("--everyone", help="The records that belong to nobody.")] = False,
    over_everyone: Annotated[
        bool, typer.Option("--over-everyone", help="With --user: everyone's records are found beside the user's own.")
    ] = False,
    collection: Annotated[str, typer.Option(help="The collection within the directory.")] = "memories",
    embedder: Annotated[
        str, typer.Option(help="local, minilm, openai:MODEL, or MODULE:NAME of a function of your own.")
    ] = "local",
    server: Annotated[
        str | None,
        typer.Option(help="A Chroma server instead of --path.", metavar="HOST:PORT", envvar="ADAPTIVE_MEMORY_SERVER"),
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(
            help="The ledger, where it is not beside the records; with a password, better in the variable.",
            metavar="ADDRESS",
            envvar="ADAPTIVE_MEMORY_LEDGER",
            show_envvar=True,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Answer in JSON, for programs.")] = False,
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")] = False,
) -> None:
    """Memory that learns from being read, from a shell.

    adaptive-memory --path ./memory --user ana remember "Ana likes green tea."

    adaptive-memory --path ./memory --user ana recall "what does Ana drink?"
    """
    ctx.obj = Session(path, collection, user, everyone, over_everyone, embedder, as_json, ledger, server)


for part in (
    writing,
    looking,
    changing,
    upkeep,
    moving,
    replaying,
    tuning,
    benching,
    comparing,
    reporting,
    serving,
    demo,
):
    part.add_to(app)
