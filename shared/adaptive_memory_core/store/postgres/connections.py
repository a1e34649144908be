"""Where do connections of our own come from? A few are kept, each made when it is needed; none is lost to an interrupt.

Whoever takes one holds a `Hand`, which the list of those who have one knows weakly: a hand that an interrupt kept from
giving back is forgotten with its frame. What a parent process opened is left alone in its child.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import time
import weakref
from collections.abc import Callable
from itertools import islice
from typing import Any

import psycopg
from psycopg import Connection
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus

from adaptive_memory_core.errors import ClosedError
from adaptive_memory_core.store.fork_guard import await_before_forks
from adaptive_memory_core.store.postgres import limited_wait
from adaptive_memory_core.store.postgres.limited_wait import LimitedConnection, allow

MOST, MOST_WRITING, IDLE_SECONDS = 4, 3, 300.0  # those who wait for their turn to write leave one to those who read
CHECKED_SECONDS = 1.0  # a connection that nobody used for longer is asked whether it still stands
LOOK_SECONDS, PAUSE_SECONDS = 0.1, 0.1  # between two looks for a free place; between two tries to connect
FINAL = re.compile("authentication failed|does not exist|pg_hba|no password|permission denied")
_USUAL = {
    "application_name": "adaptive-memory",
    "client_encoding": "UTF8",
    "keepalives_idle": "10",  # a network that was cut is noticed after about 25 seconds
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "25000",  # and as soon where something was sent
}


class Hand:
    """What holds a connection, or is about to."""

    def __init__(self, *, writing: bool = False) -> None:
        self.writing = writing
        self.held: list[Connection[Any]] = []
        self.over = False  # nobody wants what may still come
        self.asked: object = None  # what is about to put one in


class OwnConnections:
    """Connections to one address, at most so many for those who can wait; `settings` are asked for with each one."""

    def __init__(self, address: str, settings: Callable[[], dict[str, Any]] = dict, most: int = MOST) -> None:
        self._given = {**_USUAL, **conninfo_to_dict(address)}
        self._settings, self._most = settings, most
        self._moment = threading.RLock()
        await_before_forks(self._moment)
        self._begin()

    def _begin(self) -> None:
        self._idle: list[Connection[Any]] = []
        self._used: weakref.WeakKeyDictionary[Connection[Any], float] = weakref.WeakKeyDictionary()
        self._hands: weakref.WeakSet[Hand] = weakref.WeakSet()
        self._freed = threading.Condition(self._moment)
        self._process, self._closed = os.getpid(), False

    def take(self, hand: Hand, wait_seconds: float, *, urgent: bool = False) -> None:
        """Put a connection into the hand, once fewer than allowed are in use; at once for what is `urgent`."""
        deadline = time.monotonic() + wait_seconds
        self._admit(hand, deadline, sys.maxsize if urgent else self._most)
        while True:
            with self._moment:
                hand.held.extend(islice(iter(self._popped, None), 1))  # in C: no interrupt comes in between
            if not hand.held:
                hand.held.extend(map(self._connected, [deadline]))
            if self._stands(hand.held[0]):
                allow(hand.held[0], limited_wait.SILENT_SECONDS)
                return
            hand.held.pop().close()
            self._drop_idle()  # the others were cut off with it

    def give_back(self, hand: Hand) -> None:
        """Keep what the hand has, for the next one, where it can be used."""
        with self._moment:
            while hand.held:
                one = hand.held[-1]
                usable = not one.closed and one.info.transaction_status == TransactionStatus.IDLE
                if usable and not self._closed and len(self._idle) < MOST:
                    self._used[one] = time.monotonic()
                    self._idle.extend(map(hand.held.pop, [-1]))  # in C: no interrupt leaves it with both
                else:
                    one.close()
                    hand.held.pop()
            self._hands.discard(hand)
            self._freed.notify_all()
            self._close_idle(time.monotonic() - IDLE_SECONDS)

    def close(self) -> None:
        with self._moment:
            self._closed = True
            if self._process == os.getpid():
                self._close_idle(time.monotonic() + 1)
            self._freed.notify_all()

    def _admit(self, hand: Hand, deadline: float, most: int) -> None:
        with self._moment:
            if self._process != os.getpid():
                self._begin()
            while not self._closed and not self._has_room(hand, most):
                left = deadline - time.monotonic()
                if left <= 0:
                    raise psycopg.OperationalError(f"all {self._most} connections of this process are in use")
                self._freed.wait(min(left, LOOK_SECONDS))
            if self._closed:
                raise ClosedError("The ledger of this memory was closed. Open the memory again: AdaptiveMemory(...).")
            self._hands.add(hand)

    def _has_room(self, hand: Hand, most: int) -> bool:
        hands = list(self._hands)
        return len(hands) < most and not (hand.writing and sum(one.writing for one in hands) >= MOST_WRITING)

    def _popped(self) -> Connection[Any] | None:
        return self._idle.pop() if self._idle else None

    def _connected(self, deadline: float) -> LimitedConnection:
        while True:
            left = deadline - time.monotonic()
            given: dict[str, Any] = {"connect_timeout": max(2, int(left)), **self._given, **self._settings()}
            try:
                return LimitedConnection.connect(autocommit=True, prepare_threshold=None, **given)
            except psycopg.OperationalError as error:
                if left <= PAUSE_SECONDS or FINAL.search(str(error)):
                    raise
            time.sleep(PAUSE_SECONDS)

    def _stands(self, connection: Connection[Any]) -> bool:
        if time.monotonic() - self._used.get(connection, time.monotonic()) <= CHECKED_SECONDS:
            return not connection.closed
        allow(connection, limited_wait.LOOK_SECONDS)
        try:
            connection.execute("")
        except psycopg.Error:
            return False
        return True

    def _drop_idle(self) -> None:
        with self._moment:
            self._close_idle(time.monotonic() + 1)

    def _close_idle(self, before: float) -> None:
        for one in [one for one in self._idle if self._used[one] < before]:
            self._idle.remove(one)
            one.close()
