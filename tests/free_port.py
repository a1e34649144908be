"""Which port may a server of a test's have, also after it was stopped? One that the system gives to nobody by itself.

A port of those that it gives to connections that go out may be somebody's by the time the server is started, or started
again: of any process of the machine, or even of whoever tries whether the server is there.
"""

from __future__ import annotations

import random
import socket
from contextlib import suppress

PORTS = range(20_000, 32_000)  # below those of Linux, macOS and Windows


def free_port() -> int:
    """A port of the loopback address that nobody listens on."""
    while True:
        port = random.SystemRandom().choice(PORTS)  # another one in each process of a run
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
