"""How are the options of all commands read? Before a command's name or behind it, and errors end as exit codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from adaptive_memory_core.cli.exit_codes import ending

SWITCHES = {"--json", "--everyone", "--over-everyone"}
VALUED = {"--path", "--user", "--collection", "--embedder", "--ledger", "--server"}


class Commands(TyperGroup):
    """All commands; what holds for any of them may stand anywhere."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, in_front(args))

    def invoke(self, ctx: Any) -> Any:
        with ending():
            return super().invoke(ctx)


def in_front(args: Sequence[str]) -> list[str]:
    """The arguments with those that hold for any command first; what follows `--` stays where it is.

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


def new_app() -> typer.Typer:
    return typer.Typer(
        cls=Commands,
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
