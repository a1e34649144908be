"""Who asks a server whether others have written, so that no recall waits for the answer? The background, in good time.

An answer serves recalls for a while (`SizeAndLast`). While recalls go on, and for some such whiles after the last
one, the next answer is asked for before the latest one is too old: an agent that thinks for some seconds between its
steps does not wait either. Who recalls after a longer pause waits for the answer. While nobody recalls, nobody asks.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from adaptive_memory_core.store.background import Going
from adaptive_memory_core.store.mirror.collection_state import SizeAndLast

IN_TIME = 0.6  # of the time for which an answer serves, after which the next one is asked for
AFTERWARDS = 5.0  # times as long the background goes on to ask after the last recall


class AskedAhead:
    """A chore: it asks for the collection's state while recalls need it."""

    name = "looking for what others wrote"

    def __init__(self, state: SizeAndLast, wake: Callable[[], object], *, seen_seconds: float) -> None:
        self._state, self._wake, self._seen_seconds = state, wake, seen_seconds
        self._recalled_at = 0.0
        self._goes_on = False

    def recalled(self) -> None:
        """A recall needs the state, and more of them may."""
        self._recalled_at = time.monotonic()
        if not self._goes_on:
            self._goes_on = True
            self._wake()

    def wait(self) -> float | None:
        if not self._goes_on:
            return None
        if time.monotonic() - self._recalled_at > AFTERWARDS * self._seen_seconds:
            self._goes_on = False
            return None
        return max(0.0, IN_TIME * self._seen_seconds - self._state.age())

    def work(self, _going: Going) -> None:
        """Ask once."""
        self._state.renew()
