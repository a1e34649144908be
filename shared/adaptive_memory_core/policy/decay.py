"""At what pace does a memory lose what nobody reads? ARM's numbers, for all records or for one kind of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.policy.ranges import SHARE, Range, check_ranges

Unit = Literal["recalls", "days"]
MOST_PHASES = 100
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
        return self.decay.rate == 1.0 and all(own.rate == 1.0 for _, own in self.by_kind)


class Phase(NamedTuple):
    """A pace, and since when (POSIX seconds) it held."""

    pace: Pace
    since: float


@dataclass(frozen=True, slots=True)
class Regime:
    """The paces of a memory's own policy, one after the other: the time that goes by goes by at them.

    >>> Regime((Phase(Pace("days"), 0.0),)).followed_by(Pace("days"), at=5.0).phases
    (Phase(pace=Pace(unit='days', ...), since=0.0),)
    """

    phases: tuple[Phase, ...]

    def followed_by(self, pace: Pace, *, at: float) -> Regime:
        """With another pace from now on."""
        return self if self.phases[-1].pace == pace else Regime((*self.phases, Phase(pace, at))[-MOST_PHASES:])


def kinds_of(given: object) -> tuple[tuple[str, Remembrance], ...]:
    """What a policy was given as `by_kind`, checked, in the order of the names.

    >>> kinds_of({"fact": Remembrance(), "chat": Remembrance(decay_rate=0.9)})[0][0]
    'chat'
    """
    pairs = list(given.items()) if isinstance(given, Mapping) else given
    usable = isinstance(pairs, list | tuple) and all(
        isinstance(pair, tuple) and len(pair) == 2 and _is_kind(pair[0]) and isinstance(pair[1], Remembrance)
        for pair in pairs
    )
    if not usable or not isinstance(pairs, list | tuple):
        raise PolicyError(
            f"Policy(by_kind={given!r}) is not allowed. Give a mapping from kind to numbers, "
            'e.g. {"fact": Remembrance(decay_rate=0.99)}.'
        )
    if len(dict(pairs)) < len(pairs):
        raise PolicyError(f"Policy(by_kind={given!r}) names a kind twice. Give each kind once.")
    return tuple(sorted(dict(pairs).items()))


def _is_kind(name: object) -> bool:
    return isinstance(name, str) and bool(name.strip())
