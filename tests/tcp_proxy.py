"""What breaks a network for the tests? A proxy before their PostgreSQL that cuts, or goes silent, when told to."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Literal

from psycopg.conninfo import conninfo_to_dict

Fault = Literal["cut before", "cut after", "silent before", "silent after"]
Moment = Callable[[int, bytes], bool]  # of a message from a client: its number since the fault was set up, and itself


class _Line:
    """Two ends; what comes in at one goes out at the other."""

    def __init__(self, proxy: Proxy, client: socket.socket, server: socket.socket) -> None:
        self.proxy, self.client, self.server = proxy, client, server
        self.silent = False
        for pump in (self._up, self._down):
            threading.Thread(target=pump, daemon=True).start()

    def cut(self) -> None:
        for end in (self.client, self.server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _up(self) -> None:
        for message in _received(self.client):
            fault = self.proxy.fault_at(message)
            self.silent |= fault is not None and fault.startswith("silent")
            with suppress(OSError):
                if fault == "cut after":
                    self.client.shutdown(socket.SHUT_RDWR)
                if fault in {"cut after", "silent after"} or not (fault or self.silent):
                    self.server.sendall(message)
            if fault == "cut before":
                self.cut()
        if not self.silent:
            self._end(self.server)

    def _down(self) -> None:
        for message in _received(self.server):
            if not self.silent:
                with suppress(OSError):
                    self.client.sendall(message)
        self._end(self.client)

    def _end(self, other: socket.socket) -> None:
        with suppress(OSError):
            other.shutdown(socket.SHUT_WR)


class Proxy:
    """Before a server, on a loopback port."""

    def __init__(self, server_address: str) -> None:
        known = conninfo_to_dict(server_address)
        self._host, self._server_port = str(known["host"]), int(known.get("port") or 5432)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._moment = threading.Lock()
        self._when: Moment | None = None
        self._fault: Fault = "cut before"
        self._seen = 0
        self.lines: list[_Line] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def address(self, address: str) -> str:
        """The address of a database by way of the proxy."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{conninfo_to_dict(address)['dbname']}"

    def set_up(self, fault: Fault, when: Moment) -> None:
        """Once, at the first moment of which this is true."""
        with self._moment:
            self._fault, self._when, self._seen = fault, when, 0

    def has_struck(self) -> bool:
        """Whether it did; from here on it will not."""
        with self._moment:
            struck, self._when = self._when is None, None
            return struck

    def fault_at(self, message: bytes) -> Fault | None:
        with self._moment:
            self._seen += 1
            if self._when is None or not self._when(self._seen, message):
                return None
            self._when = None
            return self._fault

    def close(self) -> None:
        self._listening.close()
        for line in self.lines:
            line.cut()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                self.lines.append(_Line(self, client, self._connected()))

    def _connected(self) -> socket.socket:
        if not self._host.startswith("/"):
            return socket.create_connection((self._host, self._server_port))
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{self._host}/.s.PGSQL.{self._server_port}")
        return server


@contextmanager
def proxy(server_address: str) -> Iterator[Proxy]:
    made = Proxy(server_address)
    try:
        yield made
    finally:
        made.close()


def _received(end: socket.socket) -> Iterator[bytes]:
    with suppress(OSError):
        while message := end.recv(1 << 16):
            yield message
