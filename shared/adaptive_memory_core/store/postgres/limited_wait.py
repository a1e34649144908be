"""How long does a call wait for a server that says nothing? So long, and then the connection is given up.

The kernel notices a cable that was cut, but not a proxy, or a machine, that stands still with its connections open.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator
from typing import Any, TypeVar

import psycopg
from psycopg import Connection

T = TypeVar("T")
SILENT_SECONDS = 60.0  # more than a writer waits for its turn, or any statement of ours takes
LOOK_SECONDS = 5.0  # until an idle connection has to show that it still stands


def allow(connection: Connection[Any], seconds: float) -> None:
    """Let the server say nothing for so long; a connection of the caller's waits as the caller has set it up."""
    if isinstance(connection, LimitedConnection):
        connection.silent_seconds = seconds


class LimitedConnection(Connection[Any]):
    """A connection that breaks where its server says nothing for so long."""

    silent_seconds = SILENT_SECONDS

    def wait(self, gen: Generator[Any, Any, T], *args: Any, **named: Any) -> T:
        if self.silent_seconds == math.inf:
            return super().wait(gen, *args, **named)
        return super().wait(self._limited(gen), *args, **named)

    def _limited(self, waiting: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
        """The same steps; psycopg says from time to time that there is nothing to read yet."""
        heard = time.monotonic()
        try:
            wanted = next(waiting)
            while True:
                ready = yield wanted
                now = time.monotonic()
                if ready:
                    heard = now
                elif now - heard > self.silent_seconds:
                    self.pgconn.finish()
                    raise psycopg.OperationalError(f"the server has said nothing for {self.silent_seconds:g} seconds")
                wanted = waiting.send(ready)
        except StopIteration as done:
            answer: T = done.value
            return answer
