"""ARM's Algorithm 1 as the paper prints it: O(N) after every query, on the vectors themselves. What ours must equal."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]


@dataclass
class Item:
    embedding: Vector  # E_i, which decay makes shorter
    last_access: int  # tau_i
    count: int = 0  # c_i
    remembered: bool = False
    pinned: bool = False

    @property
    def norm(self) -> float:
        return float(np.linalg.norm(self.embedding))


@dataclass
class NaiveARM:
    """One user's memory under the paper's rules; pinned items are left out of the decay as remembered ones are."""

    time: int = 0
    items: dict[str, Item] = field(default_factory=dict)

    def add(self, name: str, vector: Vector) -> None:
        self.items[name] = Item(vector / np.linalg.norm(vector), self.time)

    def scores(self, cue: Vector) -> dict[str, float]:
        """Every item's similarity times its strength; below 0 counts as 0."""
        unit = cue / np.linalg.norm(cue)
        return {name: max(0.0, float(item.embedding @ unit)) for name, item in self.items.items()}

    def query(self, returned: list[str], *, theta: int, gamma: float, alpha: float) -> None:
        """Lines 3 to 13, for the items that a query returned."""
        self.time += 1
        for name in returned:
            item = self.items[name]
            item.count += 1
            item.last_access = self.time
            if item.count >= theta:
                item.remembered = True
        for item in self.items.values():
            if not item.remembered and not item.pinned and self.time - item.last_access > gamma:
                item.embedding = alpha * item.embedding

    def demote(self, name: str) -> None:
        item = self.items[name]
        item.remembered, item.pinned, item.count = False, False, 0
