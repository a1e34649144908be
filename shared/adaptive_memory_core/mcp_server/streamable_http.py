"""The protocol over HTTP, on loopback by default, for clients that send a token."""

from __future__ import annotations

import hmac
import ipaddress
import json
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from mcp.server import Server
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl

from adaptive_memory_core.error_messages import reason
from adaptive_memory_core.errors import InvalidInputError, ScopeError
from adaptive_memory_core.mcp_server.server import InUse, Whose, new_server
from adaptive_memory_core.mcp_server.tools import ToolSettings

PATH = "/mcp"
LAST_SECONDS = 2  # that the server waits for open connections before it ends
HIGHEST_PORT = 65_535


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """The address at which the server listens, and the host names that requests may use.

    >>> ServerAddress("0.0.0.0", 80)
    Traceback (most recent call last):
    adaptive_memory_core.errors.InvalidInputError: The host '0.0.0.0' can be reached from other machines...
    """

    host: str = "127.0.0.1"
    port: int = 8_765
    allow_remote: bool = False
    names: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.port <= HIGHEST_PORT:
            raise InvalidInputError(f"The port is {self.port}. Give one from 0 (any that is free) to {HIGHEST_PORT}.")
        if is_loopback(self.host):
            return
        if not self.allow_remote:
            raise InvalidInputError(
                f"The host {self.host!r} can be reached from other machines, and tokens travel in the clear. Give "
                "127.0.0.1 and put a proxy with TLS in front, or give --allow-remote."
            )
        if not self.names:
            raise InvalidInputError(
                f"By which name do clients call the host {self.host!r}? Give it with --name, e.g. --name "
                "memory.example.com: requests for another name are refused."
            )

    def security(self) -> TransportSecuritySettings:
        """The allowed `Host` and `Origin` headers: the given names, or else the host and loopback, with any port."""
        names = [*self.names, *(() if self.names else (_in_url(self.host), "127.0.0.1", "localhost", "[::1]"))]
        hosts = [form for name in dict.fromkeys(names) for form in (name, f"{name}:*")]
        origins = [f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")]
        return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)

    def listen(self) -> socket.socket:
        try:
            family = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)[0][0]
            return socket.create_server((self.host, self.port), family=family)
        except OSError as error:
            raise InvalidInputError(
                f"{self.host}:{self.port} cannot be listened on: {reason(error)}. Give another --port, or 0 for any "
                "that is free."
            ) from error

    def url(self, port: int) -> str:
        return f"http://{_in_url(self.host)}:{port}{PATH}"


def is_loopback(host: str) -> bool:
    """Whether the host can be reached from this machine only.

    >>> [is_loopback(one) for one in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "::", "10.0.0.1", "example.com")]
    [True, True, True, False, False, False, False]
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def over_http(
    whose: Whose,
    manner: ToolSettings,
    place: ServerAddress,
    tokens: Tokens,
    idle_seconds: float | None,
    started: Callable[[str], object],
) -> None:
    """Serve any client that sends a valid token. `started` is called with the URL once the server listens."""
    in_use = InUse()
    server = new_server(whose, manner, in_use)
    anyio.run(partial(serve_http, server, place, tokens, in_use, idle_seconds, started))


async def serve_http(
    server: Server[Any],
    place: ServerAddress,
    tokens: Tokens,
    in_use: InUse,
    idle_seconds: float | None,
    started: Callable[[str], object],
) -> None:
    """Serve any client that sends a valid token, until the server is idle for `idle_seconds` or gets a signal.

    `started` is called with the URL."""
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        transport_security=place.security(),
        host=place.host,
        auth=AuthSettings(issuer_url=AnyHttpUrl("http://localhost"), resource_server_url=None),
        token_verifier=tokens,
    )
    config = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=LAST_SECONDS)
    http = uvicorn.Server(config)

    def end() -> None:
        http.should_exit = True

    with place.listen() as listening, _ended_by_signals(end):
        started(place.url(listening.getsockname()[1]))
        async with anyio.create_task_group() as group:
            group.start_soon(in_use.ended_after, idle_seconds, end)
            await http.serve(sockets=[listening])
            group.cancel_scope.cancel()


@contextmanager
def _ended_by_signals(end: Callable[[], object]) -> Iterator[None]:
    """Let a signal end the server and not the process: uvicorn raises it again at the end, when the memory must still
    be closed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {one: signal.signal(one, lambda *_: end()) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


SHORTEST = 16  # characters of a token; `secrets.token_urlsafe()` gives 43
OTHERS_MAY = 0o077  # permissions of others than the owner, which a file of tokens must not have
HOW = "Make one with: python -c 'import secrets; print(secrets.token_urlsafe())'"


class Tokens:
    """The users by the hashes of their tokens; the SDK's token verifier."""

    def __init__(self, users: Mapping[str, str]) -> None:
        if not users:
            raise InvalidInputError(f"No token was given, so nobody could use the server. {HOW}")
        for token in users:
            _check(token)
        self._users = {_hash(token): user for token, user in users.items()}

    async def verify_token(self, token: str) -> AccessToken | None:
        """The user of a token. It is compared with all tokens in constant time."""
        given, whose = _hash(token), None
        for known, user in self._users.items():
            if hmac.compare_digest(known, given):
                whose = user
        return None if whose is None else AccessToken(token="", client_id=whose, subject=whose, scopes=[])


def user_of_request() -> str:
    """The user of the current request."""
    token = get_access_token()
    if token is None or token.subject is None:
        raise ScopeError("The request has no user. Send a valid token.")
    return token.subject


def users_by_token(file: Path) -> dict[str, str]:
    """The tokens in a JSON file, `{"TOKEN": "USER", ...}`, which only its owner may read."""
    if not file.is_file():
        raise InvalidInputError(f"There is no file {str(file)!r}. Give one of JSON: {{TOKEN: USER}}. {HOW}")
    if file.stat().st_mode & OTHERS_MAY and os.name == "posix":
        raise InvalidInputError(f"Others may read {str(file)!r}, which contains tokens. Run: chmod 600 {file}")
    try:
        found = json.loads(file.read_text(encoding="utf-8"), object_pairs_hook=_each_once)
    except ValueError as error:
        raise InvalidInputError(
            f"{str(file)!r} cannot be used: {reason(error)}. Write {{TOKEN: USER}} as JSON."
        ) from error
    if not isinstance(found, dict) or not all(isinstance(one, str) and one.strip() for one in found.values()):
        raise InvalidInputError(f"{str(file)!r} does not contain users by token. Write {{TOKEN: USER}} as JSON.")
    return found


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The pairs as a dict; an error if a token is repeated.

    >>> _each_once([("a token", "ana"), ("a token", "ben")])
    Traceback (most recent call last):
    ValueError: a token is given to two users
    """
    if len({token for token, _ in pairs}) < len(pairs):
        raise ValueError("a token is given to two users")
    return dict(pairs)


def _check(token: str) -> None:
    if len(token) < SHORTEST or not token.isascii() or not token.isprintable() or " " in token:
        raise InvalidInputError(
            f"A token has {len(token)} characters, or characters not allowed in a header. Give at least {SHORTEST} "
            f"letters, digits, - and _. {HOW}"
        )


def _hash(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()
