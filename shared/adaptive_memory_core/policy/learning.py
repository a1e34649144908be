"""Settings of learning from reads and feedback, and of the decay of records that are not read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from adaptive_memory_core.error_messages import tells_unknown_names
from adaptive_memory_core.frozen import HashedOnce, computed_once
from adaptive_memory_core.ranges import SHARE, Range, by_kind, check_choices, check_ranges, check_switches

DecayUnit = Literal["recalls", "days"]
MOST_PHASES = 100


@dataclass(frozen=True, slots=True)
class DecayCurve:
    """The decay of an unread record: each unit beyond `grace` leaves `rate` of the strength, down to `floor`."""

    grace: float = 5.0
    rate: float = 1.0
    floor: float = 0.0


@dataclass(frozen=True, slots=True)
class Remembrance:
    """When a record is remembered for good, and how it decays until then: ARM's numbers for one kind of memory.

    >>> Remembrance(rate=0.99).curve
    DecayCurve(grace=5.0, rate=0.99, floor=0.0)
    """

    remembrance_threshold: int = 3  # theta: counted reads after which a record no longer decays; ARM, "balanced"
    grace: float = 5.0  # gamma: units after the last read before strength decays; ARM, "balanced"
    rate: float = 1.0  # alpha: share of the strength left after a unit beyond the grace; 1: off; ARM: 0.80 to 0.99
    strength_floor: float = (
        0.0  # lowest strength that decay leaves; ARM: 0; a high one is harmless: docs/background/ranking.md
    )
    restore_on_read: float = (
        0.0  # share of the lost strength that a read restores; ARM: 0; 1 changes little: docs/background/ranking.md
    )

    RANGES: ClassVar[dict[str, Range]] = {
        "remembrance_threshold": Range(1, 1_000_000, whole=True),
        "grace": Range(0, 1_000_000),
        "rate": Range(0, 1, above=True),
        "strength_floor": SHARE,
        "restore_on_read": SHARE,
    }

    def __post_init__(self) -> None:
        check_ranges(self, self.RANGES)

    @property
    def curve(self) -> DecayCurve:
        return DecayCurve(self.grace, self.rate, self.strength_floor)


@dataclass(frozen=True, slots=True)
class Decay(Remembrance):
    """How records that are not read lose strength: ARM's numbers for all kinds without their own.

    >>> Decay(rate=0.95, by_kind={"fact": Remembrance(rate=0.99)}).of("fact").rate
    0.99
    """

    unit: DecayUnit = "recalls"  # what grace and rate count: the user's "recalls", as in ARM, or "days"
    strength_weight: float = 1.0  # share of the similarity that a lack of strength may take away; ARM: 1; 0: none
    by_kind: (
        Mapping[str, Remembrance] | tuple[tuple[str, Remembrance], ...]
    ) = ()  # numbers for some kinds of records, as {"fact": Remembrance(rate=0.99)}; docs/background/ranking.md

    RANGES: ClassVar[dict[str, Range]] = {**Remembrance.RANGES, "strength_weight": SHARE}
    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"unit": ("recalls", "days")}

    def __post_init__(self) -> None:
        check_ranges(self, self.RANGES)
        check_choices(self, self.CHOICES)
        object.__setattr__(self, "by_kind", kinds_of(self.by_kind))

    def of(self, kind: str | None) -> Remembrance:
        """The numbers for a kind of memory: its own, or else those for all kinds."""
        return (dict(self.by_kind).get(kind or "") if self.by_kind else None) or self

    @property
    def pace(self) -> DecayPace:
        """The decay of all kinds, without the other numbers."""
        return DecayPace(self.unit, self.curve, tuple((kind, own.curve) for kind, own in dict(self.by_kind).items()))


@dataclass(frozen=True, slots=True)
class DecayPace(HashedOnce):
    """The decay of every kind, and its unit: the user's recalls, or days."""

    unit: DecayUnit = "recalls"
    decay: DecayCurve = DecayCurve()
    by_kind: tuple[tuple[str, DecayCurve], ...] = ()

    __hash__ = HashedOnce.__hash__

    def of(self, kind: str | None) -> DecayCurve:
        """The decay of one kind.

        >>> DecayPace("recalls", DecayCurve(), (("fact", DecayCurve(rate=0.9)),)).of("fact").rate
        0.9
        """
        for name, own in self.by_kind:
            if name == kind:
                return own
        return self.decay

    def kinds(self) -> list[str | None]:
        """The kinds with a separate decay, and None for all others."""
        return [None, *(name for name, _ in self.by_kind)]

    @computed_once
    def still(self) -> bool:
        """Whether no record decays at this pace."""
        return self.decay.rate == 1.0 and all(own.rate == 1.0 for _, own in self.by_kind)


class Phase(NamedTuple):
    """A pace, and the time (POSIX seconds) from which it applies."""

    pace: DecayPace
    since: float


@dataclass(frozen=True, slots=True)
class Regime:
    """The successive paces of a memory's own policy; each applies to the time between its start and the next one.

    >>> Regime((Phase(DecayPace("days"), 0.0),)).followed_by(DecayPace("days"), at=5.0).phases
    (Phase(pace=DecayPace(unit='days', ...), since=0.0),)
    """

    phases: tuple[Phase, ...]

    def followed_by(self, pace: DecayPace, *, at: float) -> Regime:
        """The regime with another pace from time `at` on."""
        return self if self.phases[-1].pace == pace else Regime((*self.phases, Phase(pace, at))[-MOST_PHASES:])


def kinds_of(given: object) -> tuple[tuple[str, Remembrance], ...]:
    """The value of `by_kind` in a Decay, checked, in the order of the names.

    >>> kinds_of({"fact": Remembrance(), "chat": Remembrance(rate=0.9)})[0][0]
    'chat'
    """
    example = 'from kinds, each once, to numbers, e.g. {"fact": Remembrance(rate=0.99)}'
    return by_kind(given, Remembrance, "Decay(by_kind", example)


NEAR, TRUSTED, AGAINST = "asked_near", "asked_trusted", "asked_against"  # leads from which the score part is calculated
AHEAD = "asked_ahead"
PART = "asked_before"


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class Learning:
    """The effects of feedback and reads. A weight of 0 turns that way of learning off.

    >>> Learning(similar_questions=0).similar_questions
    0.0
    """

    usefulness: float = 3.0  # weight of feedback, as evidence for a helpful memory; benchmarks/bursts.py
    earned: bool = True  # whether that weight grows with each user's feedback; False: it counts in full at once
    similar_questions: float = (
        1.0  # share of the feedback on similar questions that counts; benchmarks/similar_questions.py
    )
    importance_step: float = 0.05  # share by which feedback changes a memory's importance; the article: at most 0.05
    common_share: float = 0.0  # share of feedback on a shared memory that counts for all users; 0: each learns alone
    count_weight: float = 0.05  # importance added per log1p(decayed number of reads); the article's delta
    count_decay_per_day: float = 0.99  # share of the number of reads that remains after a day; the article
    half_life_growth: float = (
        0.0  # share by which each counted read lengthens the half-life (MemoryBank); 0: off, as in the article
    )

    RANGES: ClassVar[dict[str, Range]] = {
        "usefulness": Range(0, 10),
        "similar_questions": SHARE,
        "importance_step": Range(0, 0.05),
        "common_share": SHARE,
        "count_weight": SHARE,
        "count_decay_per_day": SHARE,
        "half_life_growth": Range(0, 10),
    }

    def __post_init__(self) -> None:
        check_ranges(self, self.RANGES)
        check_switches(self, ("earned",))
