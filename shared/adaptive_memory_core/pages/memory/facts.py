"""What does a page about a memory show? What was gathered of one scope, bounded, and how much there is in all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from adaptive_memory_core.context.themes import Themes
from adaptive_memory_core.pages.charts import Point
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Record
from adaptive_memory_core.reports import Change, LoggedRecall, Sample, Stats


@dataclass(frozen=True, slots=True)
class Fading:
    """How what is not read fades: a curve for each kind of memory over `unit` ("recalls" or "days"), and where each of
    the records stands on it. No curve where nothing fades."""

    unit: str = "recalls"
    curves: Mapping[str, Sequence[Point]] = field(default_factory=dict)
    records: Sequence[Point] = ()


@dataclass(frozen=True, slots=True)
class Names:
    """The names of the graph that most of the records drawn here mention, and which of them stand together."""

    records: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of each name, the ids that mention it
    counts: Mapping[str, int] = field(default_factory=dict)  # of each name, how many records mention it in all
    links: Mapping[tuple[str, str], int] = field(default_factory=dict)
    looked_at: int = 0  # records
    passages: int = 0  # in the whole graph


@dataclass(frozen=True, slots=True)
class Log:
    """What was asked and judged. `recalls` are the newest of those logged, `by_day` counts `counted` of them, `texts`
    are what the records say that are in all this, by id, as far as they are still there."""

    recalls: Sequence[LoggedRecall] = ()
    by_day: Sequence[tuple[str, int]] = ()
    counted: int = 0
    texts: Mapping[str, str] = field(default_factory=dict)
    changes: Sequence[Change] = ()


@dataclass(frozen=True, slots=True)
class MemoryFacts:
    """All that a page shows of one scope. `records` are the first of `total`."""

    whose: str
    now: float
    policy: Policy
    stats: Stats
    records: Sequence[Record]
    total: int
    reads: Mapping[str, int]  # how many records were read so often, by "0", "1", "2–3", ...
    kinds: Mapping[str, int]
    judged: Sequence[Record]
    log: Log
    samples: Sequence[Sample]
    themes: Themes
    fading: Fading
    names: Names
