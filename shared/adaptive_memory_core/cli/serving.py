"""How do agents with a client of their own use a memory? `mcp`: a server over stdin and stdout, or over HTTP."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adaptive_memory_core.cli.session import Session, session_of
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.models.extras import require
from adaptive_memory_core.records import EVERYONE
from adaptive_memory_core.user_memory import UserMemory

if TYPE_CHECKING:
    from adaptive_memory_core.mcp_server.calls import Manner
    from adaptive_memory_core.mcp_server.streamable_http import Place

TOKEN = "ADAPTIVE_MEMORY_TOKEN"  # noqa: S105 - the name of a variable
MINUTE = 60.0


def add_to(app: typer.Typer) -> None:
    app.command()(mcp)


def mcp(
    ctx: typer.Context,
    create: Annotated[bool, typer.Option("--create", help="Make the memory where there is none.")] = False,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer nothing that changes or counts.")] = False,
    k: Annotated[int, typer.Option("-k", help="How many hits a recall has at most.")] = 5,
    max_tokens: Annotated[int, typer.Option(help="How long an answer is at most.")] = 2_000,
    kind: Annotated[str, typer.Option(help="The kind of what is remembered.")] = "fact",
    idle_exit: Annotated[float | None, typer.Option(help="End after so many minutes without a message.")] = None,
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP, not over stdin and stdout.")] = False,
    host: Annotated[str, typer.Option(help="With --http: where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="With --http: where to listen; 0 is any that is free.")] = 8_765,
    tokens: Annotated[
        Path | None, typer.Option(help=f"With --http: JSON, {{TOKEN: USER}}; else {TOKEN} is the token of --user.")
    ] = None,
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="With --http: other machines may reach it.")
    ] = False,
    name: Annotated[list[str] | None, typer.Option(help="With --http: a name that clients call it by.")] = None,
) -> None:
    """Serve the memory to agents over the Model Context Protocol (docs/mcp.md).

    Whose memory it is stands here, and not in what a model says: --user, or the user of a token.
    """
    require(["mcp"], extra="mcp")
    from adaptive_memory_core.mcp_server.calls import Manner
    from adaptive_memory_core.mcp_server.streamable_http import Place

    session = session_of(ctx)
    manner = Manner(k=k, max_tokens=max_tokens, kind=kind, read_only=read_only)
    idle_seconds = _seconds(idle_exit)
    if http:
        _over_http(session, manner, Place(host, port, allow_remote, tuple(name or ())), tokens, idle_seconds, create)
    elif tokens is not None or allow_remote or name:
        raise InvalidInputError("--tokens, --allow-remote and --name are for --http. Add it, or leave them out.")
    else:
        _over_stdio(session, manner, idle_seconds, create)


def _over_stdio(session: Session, manner: Manner, idle_seconds: float | None, create: bool) -> None:
    from adaptive_memory_core.mcp_server.run import over_stdio
    from adaptive_memory_core.mcp_server.stdio import protocol_alone

    session.check_scope()
    with protocol_alone() as wire, session.scope(create=create) as user:
        over_stdio(lambda: user, manner, wire, idle_seconds)


def _over_http(
    session: Session, manner: Manner, place: Place, tokens: Path | None, idle_seconds: float | None, create: bool
) -> None:
    from adaptive_memory_core.mcp_server.run import over_http
    from adaptive_memory_core.mcp_server.tokens import Tokens, user_of_request, users_by_token

    given = _only_token(session) if tokens is None else users_by_token(_without_user(session, tokens))
    known = Tokens(given)
    with session.memory(create=create) as memory:

        def whose() -> UserMemory:
            named = user_of_request()
            return session.scope_in(memory) if tokens is None else replace(session, user=named).scope_in(memory)

        over_http(whose, manner, place, known, idle_seconds, lambda url: typer.echo(f"serving {url}", err=True))


def _only_token(session: Session) -> dict[str, str]:
    """The token of a server for one user, or for everyone's records."""
    session.check_scope()
    token = os.environ.get(TOKEN)
    if not token:
        raise InvalidInputError(
            f"No token is given. Set the variable {TOKEN}, or give --tokens FILE with the users of several."
        )
    return {token: session.user or EVERYONE}


def _without_user(session: Session, tokens: Path) -> Path:
    if session.user is not None or session.everyone:
        raise InvalidInputError("--tokens says whose memory each token opens. Leave --user and --everyone out.")
    return tokens


def _seconds(minutes: float | None) -> float | None:
    if minutes is not None and not 0 < minutes < math.inf:
        raise InvalidInputError(f"--idle-exit is {minutes}. Give minutes above 0, or leave it out for never.")
    return None if minutes is None else minutes * MINUTE
