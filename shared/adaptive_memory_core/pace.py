"""At what pace does a memory lose what nobody reads? ARM's numbers, for all records or for one kind of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.ranges import SHARE, Range, check_ranges

Unit = Literal["recalls", "days"]
REMEMBRANCE_RANGES: dict[str, Range] = {
    "remembrance_threshold": Range(1, 1_000_000, whole=True),
    "decay_grace": Range(0, 1_000_000),
    "decay_rate": Range(0, 1, above=True),
    "strength_floor": SHARE,
    "restore_on_read": SHARE,
}


@dataclass(frozen=True, slots=True)
class Decay:
    """What a unit of not being read does: beyond `grace` each leaves `rate` of the strength, down to `floor`."""

    grace: float = 5.0
    rate: float = 1.0
    floor: float = 0.0


@dataclass(frozen=True, slots=True)
class Remembrance:
    """The numbers of remembrance for one kind of memory; the fields are those of Policy.

    >>> Remembrance(decay_rate=0.99).decay
    Decay(grace=5.0, rate=0.99, floor=0.0)
    """

    remembrance_threshold: int = 3
    decay_grace: float = 5.0
    decay_rate: float = 1.0
    strength_floor: float = 0.0
    restore_on_read: float = 0.0

    def __post_init__(self) -> None:
        check_ranges(self, REMEMBRANCE_RANGES)

    @property
    def decay(self) -> Decay:
        return Decay(self.decay_grace, self.decay_rate, self.strength_floor)


@dataclass(frozen=True, slots=True)
class Pace:
    """The decay of every kind, and what it counts: the user's recalls, or days."""

    unit: Unit = "recalls"
    decay: Decay = Decay()
    by_kind: tuple[tuple[str, Decay], ...] = ()

    def of(self, kind: str | None) -> Decay:
        """The decay of one kind.

        >>> Pace("recalls", Decay(), (("fact", Decay(rate=0.9)),)).of("fact").rate
        0.9
        """
        for name, own in self.by_kind:
            if name == kind:
                return own
        return self.decay

    def kinds(self) -> list[str | None]:
        """The kinds with a decay of their own, and None for all others."""
        return [None, *(name for name, _ in self.by_kind)]

    @property
    def still(self) -> bool:
        """Whether nothing decays at this pace."""
        return all(self.of(kind).rate == 1.0 for kind in self.kinds())


def kinds_of(given: object) -> tuple[tuple[str, Remembrance], ...]:
    """What a policy was given as `by_kind`, checked, in the order of the names.

    >>> kinds_of({"fact": Remembrance(), "chat": Remembrance(decay_rate=0.9)})[0][0]
    'chat'
    """
    pairs = list(given.items()) if isinstance(given, Mapping) else given
    usable = isinstance(pairs, list | tuple) and all(
        isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str) and isinstance(pair[1], Remembrance)
        for pair in pairs
    )
    if not usable or not isinstance(pairs, list | tuple):
        raise PolicyError(
            f"Policy(by_kind={given!r}) is not allowed. Give a mapping from kind to numbers, "
            'e.g. {"fact": Remembrance(decay_rate=0.99)}.'
        )
    return tuple(sorted(dict(pairs).items()))
