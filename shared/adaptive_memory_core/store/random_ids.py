"""Ids that nobody can guess, made many per second: from random bytes that are read from the system in large blocks.

Each read of them lets another thread run, which a recall then waits for.
"""

from __future__ import annotations

import os
import uuid

SIZE, AT_ONCE = 16, 256


class RandomIds:
    """A source of ids for one process; a fork begins with new bytes.

    >>> ids = RandomIds()
    >>> len({ids.next() for _ in range(1_000)}), uuid.UUID(ids.next()).version
    (1000, 4)
    """

    def __init__(self) -> None:
        self._octets: list[bytes] = []
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._octets.clear)

    def next(self) -> str:
        """A random UUID."""
        while True:
            try:
                octets = self._octets.pop()  # one thread gets each of them
            except IndexError:
                many = os.urandom(SIZE * AT_ONCE)
                self._octets.extend(many[start : start + SIZE] for start in range(0, len(many), SIZE))
            else:
                return str(uuid.UUID(bytes=octets, version=4))


random_ids = RandomIds()
