"""How is the protocol carried over HTTP? On loopback unless told otherwise, and to those alone who send a token."""

from __future__ import annotations

import ipaddress
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import uvicorn
from mcp.server import Server
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.mcp_server.idle import InUse
from adaptive_memory_core.mcp_server.tokens import Tokens
from adaptive_memory_core.shown_in_errors import reason

PATH = "/mcp"
LAST_SECONDS = 2  # how long open connections are waited for at the end
HIGHEST_PORT = 65_535


@dataclass(frozen=True, slots=True)
class Place:
    """Where the server listens, and by which names it may be called.

    >>> Place("0.0.0.0", 80)
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
                "127.0.0.1 and put a proxy with TLS in front, or say --allow-remote."
            )
        if not self.names:
            raise InvalidInputError(
                f"By which name do clients call the host {self.host!r}? Say it with --name, e.g. --name "
                "memory.example.com: requests for another name are refused."
            )

    def security(self) -> TransportSecuritySettings:
        """Which `Host` and `Origin` headers are let in: those of the names, and of loopback, with any port."""
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
    """Whether only this machine reaches it.

    >>> [is_loopback(one) for one in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "::", "10.0.0.1", "example.com")]
    [True, True, True, False, False, False, False]
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def serve(
    server: Server[Any],
    place: Place,
    tokens: Tokens,
    in_use: InUse,
    idle_seconds: float | None,
    told: Callable[[str], object],
) -> None:
    """Serve whoever has a token, until nobody says anything for so long, or the process is to end.

    `told` hears where."""
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
        told(place.url(listening.getsockname()[1]))
        async with anyio.create_task_group() as group:
            group.start_soon(in_use.ended_after, idle_seconds, end)
            await http.serve(sockets=[listening])
            group.cancel_scope.cancel()


@contextmanager
def _ended_by_signals(end: Callable[[], object]) -> Iterator[None]:
    """A signal ends the server, and not the process: uvicorn raises it once more when it is done, and the memory behind
    it is still to be closed."""
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
