"""How does a memory in use take over a collection? Its parts are made anew over Chroma, in the place of the old."""

from __future__ import annotations

from functools import partial

from adaptive_memory_core.opened import Opened
from adaptive_memory_core.store import locations, process_lock
from adaptive_memory_core.store.background import Chore
from adaptive_memory_core.store.chroma.damage import refuse_damaged
from adaptive_memory_core.store.guest.arrival import Elsewhere
from adaptive_memory_core.store.guest.visits import Visits
from adaptive_memory_core.store.takeover import Takeover
from adaptive_memory_core.wiring.common import Common
from adaptive_memory_core.wiring.holder import holder_parts


class TakingOver:
    """A guest's way to become the holder: by a chore, or when it is closed and nobody else is there."""

    opened: Opened

    def __init__(self, common: Common, place: Elsewhere) -> None:
        self._common, self._place = common, place
        self._takeover = Takeover(
            partial(process_lock.claimed, place.directory),
            self._take_over,
            partial(process_lock.release, place.directory),
            prepare=locations.import_chroma,
        )
        self.chores: tuple[Chore, ...] = (self._takeover, Visits(common.ledger))

    def finish(self) -> None:
        """At the end: what is due is written by the holder; where there is none, by this process, if it can, or else by
        whoever opens the memory next."""
        ledger = self._common.ledger
        is_due = ledger.due_records.waiting() or ledger.outbox.waiting()
        if is_due and locations.can_open_chroma() and self._takeover.try_once():
            self.opened.parts.finish()

    def _take_over(self) -> None:
        """Open Chroma, put into it what others left, and go on with it. The lock on the directory is ours by now."""
        place, handles = self._place, self.opened.handles
        refuse_damaged(place.directory, place.uuid, place.name)
        with place.opened() as (collection, close):
            parts = holder_parts(self._common, collection)
            handles.callback(process_lock.release, place.directory)
            handles.callback(close)
        self.opened.change_parts(parts)
