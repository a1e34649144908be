"""The command `adaptive-memory`: all its commands in the groups of `--help`, their common options, and `demo`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

import typer
from typer.core import TyperGroup

from adaptive_memory_core.cli.agent_settings import agents
from adaptive_memory_core.cli.hooks import hook
from adaptive_memory_core.cli.learning import demote, feedback, forget, pin, prune, unpin
from adaptive_memory_core.cli.maintenance import (
    backup,
    check,
    create_tables,
    export,
    flush,
    mcp,
    move_ledger,
    reembed,
    restore,
    row_level_security,
)
from adaptive_memory_core.cli.measurement import bench, compare, evaluate, replay, report, tune
from adaptive_memory_core.cli.records import (
    explain,
    get,
    import_records,
    init,
    log,
    recall,
    remember,
    stats,
    themes,
)
from adaptive_memory_core.cli.session import Session, embedder_option, session_of
from adaptive_memory_core.cli.terminal import ending, printing_to_stderr, show
from adaptive_memory_core.memory import AdaptiveMemory
from adaptive_memory_core.models.extras import PACKAGE, installed_version
from adaptive_memory_core.whole_file import expanded

Command = TypeVar("Command", bound=Callable[..., Any])
SWITCHES = {"--json", "--everyone", "--over-everyone"}
VALUED = {"--path", "--user", "--collection", "--embedder", "--ledger", "--server"}


class Commands(TyperGroup):
    """All commands; the common options can be given anywhere."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, in_front(args))

    def invoke(self, ctx: Any) -> Any:
        with ending():
            return super().invoke(ctx)


def in_front(args: Sequence[str]) -> list[str]:
    """The arguments with the common options first; anything after `--` stays in place.

    >>> in_front(["recall", "tea", "--user", "ana", "--json", "--", "--path"])
    ['--user', 'ana', '--json', 'recall', 'tea', '--', '--path']
    """
    front: list[str] = []
    rest: list[str] = []
    given = iter(args)
    for one in given:
        if one == "--":
            rest += [one, *given]
        elif one in SWITCHES or (one.partition("=")[0] in VALUED and "=" in one):
            front.append(one)
        elif one in VALUED:
            front += [one, *(value for value in [next(given, None)] if value is not None)]
        else:
            rest.append(one)
    return [*front, *rest]


class App(typer.Typer):
    """An application whose commands expand `~` in paths, even if the shell does not."""

    def command(self, *args: Any, **named: Any) -> Callable[[Command], Command]:
        added = super().command(*args, **named)
        return lambda command: added(_with_home(command))


def _with_home(command: Command) -> Command:
    @wraps(command)
    def call(*args: Any, **given: Any) -> Any:
        paths = {name: expanded(value) for name, value in given.items() if isinstance(value, Path)}
        return command(*args, **{**given, **paths})

    return cast("Command", call)


def new_app() -> typer.Typer:
    return App(
        cls=Commands,
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


app = new_app()
EPILOG = (
    "Exit codes: 0 done, 1 nothing found, 2 wrong usage, 3 the store failed, 130 interrupted, 141 the reader of the "
    "output went away. Options may stand before or behind the command's name."
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(installed_version(PACKAGE) or "unknown: not installed as a package")
        raise typer.Exit


@app.callback(epilog=EPILOG)
def options(
    ctx: typer.Context,
    path: Annotated[
        Path | None,
        typer.Option(help="The directory that holds the memory.", metavar="DIR", envvar="ADAPTIVE_MEMORY_PATH"),
    ] = None,
    user: Annotated[
        str | None,
        typer.Option(
            help="The user whose memory is meant. Every command needs one.",
            metavar="NAME",
            envvar="ADAPTIVE_MEMORY_USER",
        ),
    ] = None,
    everyone: Annotated[bool, typer.Option("--everyone", help="Use the records that belong to no user.")] = False,
    over_everyone: Annotated[
        bool, typer.Option("--over-everyone", help="With --user: also search the records that belong to no user.")
    ] = False,
    collection: Annotated[str, typer.Option(help="The collection within the directory.")] = "memories",
    embedder: Annotated[
        str, typer.Option(help="local, minilm, openai:MODEL, or your own function as MODULE:NAME.")
    ] = "local",
    server: Annotated[
        str | None,
        typer.Option(help="A Chroma server instead of --path.", metavar="HOST:PORT", envvar="ADAPTIVE_MEMORY_SERVER"),
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(
            help="The ledger, if it is not next to the records. If it has a password, set the variable instead.",
            metavar="ADDRESS",
            envvar="ADAPTIVE_MEMORY_LEDGER",
            show_envvar=True,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")] = False,
) -> None:
    """Memory that learns from being read, from a shell.

    adaptive-memory --path ./memory --user ana remember "Ana likes green tea."

    adaptive-memory --path ./memory --user ana recall "what does Ana drink?"
    """
    usual_user = _of_environment(ctx, "user") and not everyone
    if server is not None and path is not None and _of_environment(ctx, "path") != _of_environment(ctx, "server"):
        path, server = (None, server) if _of_environment(ctx, "path") else (path, None)  # typed options take precedence
    ctx.obj = Session(
        path=None if path is None else expanded(path),
        collection=collection,
        user=None if everyone and _of_environment(ctx, "user") else user,
        everyone=everyone,
        over_everyone=over_everyone,
        embedder=embedder,
        as_json=as_json,
        ledger=ledger,
        server=server,
        usual_user=usual_user,
    )


def _of_environment(ctx: typer.Context, name: str) -> bool:
    """Whether an option's value comes from the environment and was not typed."""
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "ENVIRONMENT"


ANA = (
    {"id": "postgres", "text": "When checkout is slow, check the Postgres pool first.", "kind": "lesson"},
    {"id": "redis", "text": "When checkout is slow, check the Redis pool first.", "kind": "lesson"},
    {"id": "standup", "text": "The team standup is at 9:30 in the blue room."},
)
BOB = ({"id": "canteen", "text": "The canteen's checkout line is shortest at 11:40."},)
QUESTION = "checkout is slow, where do I look first?"


def demo(ctx: typer.Context) -> None:
    """Two users, a question, a verdict, and what it changed: in a directory that is removed at the end."""
    session = session_of(ctx)
    with (
        printing_to_stderr(),
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        AdaptiveMemory.open(folder, embedder=embedder_option(session.embedder)) as memory,
    ):
        ana, bob = memory.for_user("ana"), memory.for_user("bob")
        ana.remember_many(ANA)
        bob.remember_many(BOB)
        first = ana.recall(QUESTION, k=2)
        ana.feedback(first, helpful=["redis"])
        second = ana.recall("checkout is slow again", k=2)
        lines = [
            *("Ana asks, and nothing was learned yet:", first.explain(), ""),
            *("She says that 'redis' helped, and asks again:", second.explain(), ""),
            *("Bob asks the same, and finds his own alone:", bob.recall(QUESTION).explain()),
        ]
    answer = {"before": first.ids, "after": second.ids}
    show("\n".join(lines).split("\n"), answer, as_json=session.as_json)


GROUPS = {  # in the order of `--help`
    "Records": (init, remember, import_records, recall, explain, get, log, stats, themes),
    "Learning and removing": (feedback, pin, unpin, demote, forget, prune),
    "Measuring": (evaluate, tune, replay, compare, bench, report),
    "Agents, and a first look": (mcp, hook, agents, demo),
    "For operators": (
        *(flush, check, backup, export, restore, reembed),
        *(move_ledger, create_tables, row_level_security),
    ),
}
NAMES = {import_records: "import", evaluate: "eval"}  # reserved or used in Python
for group, commands in GROUPS.items():
    for command in commands:
        app.command(NAMES.get(command), rich_help_panel=group)(command)
