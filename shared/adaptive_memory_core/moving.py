"""How does a user take along what was learned? Out as plain values, and in again - blocking and async."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adaptive_memory_core.flow import export_import as moving
from adaptive_memory_core.flow.calls.drive import Flow
from adaptive_memory_core.reports import Restored
from adaptive_memory_core.upkeep import Upkeep


class Moving(Upkeep):
    """The part of a user's memory that moves house."""

    def export_state(self) -> dict[str, Any]:
        """All that this scope's records have learned, as plain values for `json.dumps`; no text, only digests."""
        return self._run(self._export())

    async def aexport_state(self) -> dict[str, Any]:
        """`export_state`, async."""
        return await self._arun(self._export())

    def restore_state(self, state: Mapping[str, Any]) -> Restored:
        """Take in what `export_state` gave, here or in another collection: by id, else where document and text are the
        same. A record that was read later here keeps its own state."""
        return self._run(self._restore(state))

    async def arestore_state(self, state: Mapping[str, Any]) -> Restored:
        """`restore_state`, async."""
        return await self._arun(self._restore(state))

    def _export(self) -> Flow[dict[str, Any]]:
        memory = self._memory
        return moving.export_state(memory.ports(), self.scope, regime=memory.regime, now=memory.now())

    def _restore(self, state: object) -> Flow[Restored]:
        memory = self._memory
        return moving.restore_state(memory.ports(), self.scope, state, policy=memory.policy, now=memory.now())
