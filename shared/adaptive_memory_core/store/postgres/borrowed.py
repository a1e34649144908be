"""How is a connection borrowed from a pool of the caller's, so that no interrupt costs the pool one?

Ctrl-C strikes in the main thread, between any two steps of Python code, and so between the pool's letting go of a
connection and our having it. So the pool is asked in a thread of its own, which none strikes.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from psycopg_pool import ConnectionPool

from adaptive_memory_core.store.postgres.connections import Hand


def borrow(pool: ConnectionPool[Any], hand: Hand, wait_seconds: float) -> None:
    """Put a connection of the pool into the hand."""

    def take() -> None:
        try:
            hand.held.append(pool.getconn(wait_seconds))
        finally:
            hand.asked = None
            if hand.over:  # nobody waits any more
                _return_all(pool, hand)

    hand.asked = take
    _aside(take)


def give_back(pool: ConnectionPool[Any], hand: Hand) -> None:
    """Let the pool have it again, now or as soon as it comes. Twice does no harm."""
    hand.over = True
    if hand.asked is None:
        _aside(lambda: _return_all(pool, hand))


def _return_all(pool: ConnectionPool[Any], hand: Hand) -> None:
    while True:
        try:
            one = hand.held.pop()  # two threads never get the same
        except IndexError:
            return
        pool.putconn(one)


def _aside(call: Callable[[], object]) -> None:
    """Make the call where no interrupt strikes; other threads than the main one make it themselves."""
    if threading.current_thread() is not threading.main_thread():
        call()
        return
    failed: list[BaseException] = []
    done = threading.Lock()
    done.acquire()
    _calls().put((call, failed, done))
    done.acquire()  # taken again once it was made
    if failed:
        raise failed[0]


def _calls() -> SimpleQueue[Any]:
    """What the thread is to do that makes them: one a process, since a thread for each call costs a quarter of a ms."""
    global _queue, _process
    if _process != os.getpid():
        made: SimpleQueue[Any] = SimpleQueue()
        threading.Thread(target=_make, args=(made,), name="adaptive-memory-pools", daemon=True).start()
        _queue, _process = made, os.getpid()  # last: an interrupt before that costs a thread that waits
    return _queue


def _make(calls: SimpleQueue[Any]) -> None:
    while True:
        call, failed, done = calls.get()
        try:
            call()
        except BaseException as error:  # noqa: BLE001 - it belongs to whoever waits
            failed.append(error)
        done.release()
        del call, failed, done


_queue: SimpleQueue[Any] = SimpleQueue()
_process = 0
