"""Who may write a record now? One writer of each (user, id) at a time, across threads and processes.

Against other processes the ledger gives locks that are freed when their holder dies; one in RAM needs those of its
process alone. Ids share 256 locks: 32 groups of users with 8 locks each, so that a batch of one user's
takes 8 of them at most and leaves nearly all other users alone. No transaction is open while one is held.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol
from weakref import WeakValueDictionary

from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.let_others_run import let_go
from adaptive_memory_core.records import Scope
from adaptive_memory_core.shown_in_errors import reason

USER_GROUPS, LOCKS_OF_A_GROUP = 32, 8
PATIENCE_SECONDS = 60.0
LOOK_SECONDS = 0.1  # between two looks whether a holder is still there


class Lock(Protocol):
    """What one process at a time can have."""

    def take(self, patience_seconds: float = 0.0) -> bool:
        """Whether it is ours now; waits so long for whoever has it."""

    def give_back(self) -> None:
        """Let others have it; twice does no harm."""

    def is_kept(self) -> bool:
        """Whether what was taken is ours still; asked within a transaction of the ledger."""


class IdLocks:
    """The locks of one ledger."""

    def __init__(self, lock: Callable[[str], Lock | None]) -> None:
        self.lock = lock  # of that name against other processes, not taken yet; None where there are none
        # within this process; weak, so that a holder that an interrupt kept from releasing is none once it is gone
        self._holders: WeakValueDictionary[int, IdLock] = WeakValueDictionary()
        self._moment = threading.Lock()  # taken by itself: `with` a Condition can be interrupted with the lock taken
        self._freed = threading.Condition(self._moment)

    def of(self, scope: Scope, record_ids: Sequence[str]) -> IdLock:
        """The lock of these ids, not taken yet. It is taken in the order of numbers, so no two wait for each other.
        Whoever writes what is learned of everyone's records keeps everyone's from being forgotten meanwhile."""
        return IdLock(self, _numbers(scope, record_ids))

    def confirm(self, scope: Scope, record_ids: Sequence[str]) -> None:
        """Refuse to go on where another process has one of these locks by now, or had it since we took it."""
        holders = {self._holders.get(number) for number in _numbers(scope, record_ids)}
        if not all(one.is_kept() for one in holders if one is not None):
            raise LedgerError(
                "This process stood still while it wrote, and another one has written records of the same ids "
                "meanwhile. It is not sure whose text stands there now: look, and call again where it is not yours."
            )

    def take(self, holder: IdLock, number: int, deadline: float) -> None:
        """Wait until the lock of that number is the holder's, within this process."""
        with self._moment:
            while self._holders.setdefault(number, holder) is not holder:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise _too_late()
                let_go()
                self._freed.wait(min(left, LOOK_SECONDS))

    def free(self, holder: IdLock) -> None:
        """Take back all that is the holder's."""
        with self._moment:
            for number in [number for number, one in self._holders.items() if one is holder]:
                del self._holders[number]
            self._freed.notify_all()


class IdLock:
    """The lock of some ids. It may be released from any thread, also while another one is still waiting to take it."""

    def __init__(self, locks: IdLocks, numbers: Sequence[int]) -> None:
        self._locks, self._numbers = locks, numbers
        self._shared: list[Lock] = []
        self._over = False
        self._releasing = threading.Lock()

    def acquire(self) -> None:
        """Wait until nobody else writes these ids."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        try:
            for number in self._numbers:
                self._locks.take(self, number, deadline)
                self._take_shared(number, deadline)
                if self._over:
                    break
        except BaseException:
            self.release()
            raise
        if self._over:
            self.release()

    def release(self) -> None:
        """Let the next one in; doing it twice does no harm."""
        self._over = True
        with self._releasing:
            try:
                for lock in self._shared:
                    lock.give_back()
            finally:
                self._locks.free(self)

    def is_kept(self) -> bool:
        """Whether no other process was given what this has taken."""
        return all(lock.is_kept() for lock in self._shared)

    def _take_shared(self, number: int, deadline: float) -> None:
        try:
            lock = self._locks.lock(f"{number:03}")
            if lock is None:
                return
            self._shared.append(lock)
            if lock.take(deadline - time.monotonic()):
                return
        except OSError as error:
            raise LedgerError(
                f"A lock of the ledger cannot be taken: {reason(error)}. Nothing was written. A ledger in a file "
                "must be in a directory that may be written, one on a server within reach."
            ) from error
        raise _too_late()


def _numbers(scope: Scope, record_ids: Sequence[str]) -> list[int]:
    return sorted({_number(part, one) for part in scope.parts for one in record_ids})


def _number(scope: Scope, record_id: str) -> int:
    """The lock that an id shares with others.

    >>> _number(Scope("ana"), "a") == _number(Scope("ana"), "a")
    True
    >>> {_number(Scope("ana"), str(one)) // LOCKS_OF_A_GROUP for one in range(100)} == {_number(Scope("ana"), "") // 8}
    True
    """
    user = "everyone" if scope.user is None else f"user {scope.user}"
    return _digest(user) % USER_GROUPS * LOCKS_OF_A_GROUP + _digest(record_id) % LOCKS_OF_A_GROUP


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest(), "big")


def _too_late() -> LedgerError:
    return LedgerError(
        f"Somebody else has been writing records of these ids for more than {PATIENCE_SECONDS:g} seconds. Nothing of "
        "this call was written; call again."
    )
