"""Which users' posting lists are in RAM? Those used last, within a limit of bytes; each with its own lock.

So a user who has to wait while lists are made waits for their own, and for nobody else's.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from adaptive_memory_core.flow.ports.user_files import UserFile
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.user_files.arrays_file import Arrays
from adaptive_memory_core.store.user_files.kept_copies import Taken
from adaptive_memory_core.store.words.posting_lists import PostingLists

MOST_BYTES = 400_000_000  # of all users' lists together; about 500,000 records of 20 words


class Held:
    """One user's lists, if they were made; `turn` is taken to use them."""

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self.lists: PostingLists | None = None
        self.size = 0

    def taken(self) -> Taken | None:
        """What a file is to have."""
        with self.turn:
            return None if self.lists is None else self.lists.taken()

    def adopt(self, file: UserFile, arrays: Arrays) -> None:
        """A file has them: as many as it says."""
        with self.turn:
            if self.lists is not None and self.lists.seen == file[2:]:
                self.lists.in_file = len(arrays["rows"])


class ListsInRam:
    """The lists of users by scope. Its own lock is held for a moment only, and never while another one is taken.

    >>> kept, alice = ListsInRam(), Scope("alice")
    >>> kept.of(alice) is kept.of(alice)
    True
    >>> kept.used(alice, kept.of(alice)); len(kept)      # of somebody who has nothing, nothing is kept
    0
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most, self._total = most_bytes, 0
        self._users: OrderedDict[Scope, Held] = OrderedDict()
        self._moment = threading.Lock()

    def __len__(self) -> int:
        return len(self._users)

    def of(self, scope: Scope) -> Held:
        """The user's own, to be handed to `used` afterwards."""
        with self._moment:
            held = self._users.setdefault(scope, Held())
            self._users.move_to_end(scope)
            return held

    def used(self, scope: Scope, held: Held) -> None:
        """Keep what has come of the user's lists, and let go of others' where all are too many."""
        size = held.lists.nbytes if held.lists is not None and len(held.lists) else 0
        with self._moment:
            if self._users.get(scope) is not held:  # let go of meanwhile
                return
            self._total += size - held.size
            held.size = size
            if not size:
                del self._users[scope]
            while self._total > self._most and len(self._users) > 1:
                self._total -= self._users.popitem(last=False)[1].size

    def clear(self) -> None:
        with self._moment:
            self._users.clear()
            self._total = 0
