"""The state of each candidate in the log, as whole numbers, so that a recall can be ranked again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import repeat
from operator import attrgetter
from typing import NamedTuple

from adaptive_memory_core.policy.advanced import DENSE, GRAPH, LEXICAL, is_channel_name
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import ReadState
from adaptive_memory_core.reports import PROPENSITY
from adaptive_memory_core.score.signals import COUNT_BOOST_MAX, DAY, NEUTRAL_IMPORTANCE

BY_VECTORS, BY_WORDS, BY_GRAPH, BY_OWN_CHANNEL, BY_TIME, BY_VERDICTS, READ, USEFUL, UNREFRESHED, SHARED, UNSCORED = (
    1 << bit for bit in range(11)
)  # bits of the column "via": the sources that found a candidate, its owner, and which of its times are known
MILLI = 1_000  # milliseconds in a second
DERIVED = frozenset(("recency", "importance", "strength", "relevance", "useful", "time", "kind"))  # signals of a policy
STRUCK_OUT = "struck out"  # number of candidates that were forgotten since
_BY = {
    DENSE: BY_VECTORS,
    LEXICAL: BY_WORDS,
    GRAPH: BY_GRAPH,
    **dict.fromkeys(("asked before", "recently helpful"), BY_VERDICTS),
}


class Basis(NamedTuple):
    """The basis of a ranking in addition to candidates and policy. `via` contains the bits of the sources by ID in the
    collection, `step` the user's recalls so far, and `balance` what usefulness has earned. `unrelated` is the share of
    unrelated questions with equally good results. `own_words` is true if the user's words differ from the query's text.
    `propensities` are the probabilities of random places. With `policy`, columns omit what the signals contain."""

    via: Mapping[str, int] = {}
    step: int = 0
    balance: float = 0.0
    unrelated: float | None = None
    own_words: bool = False
    policy: Policy | None = None
    propensities: Mapping[str, float] = {}


NO_BASIS = Basis()


def named_by(source: str) -> int:
    """The bit for a source in the column "via".

    >>> named_by("dense") == BY_VECTORS, named_by("sql") == BY_OWN_CHANNEL, named_by("recently helpful") == BY_VERDICTS
    (True, True, True)
    """
    return _BY.get(source) or (BY_OWN_CHANNEL if is_channel_name(source) else BY_TIME)


class StateColumns(NamedTuple):
    """The data of candidates that a replay needs in addition to their signals: titles, and a column of whole numbers
    for each title."""

    titles: Sequence[str] = ()
    numbers: Sequence[Sequence[float]] = ()


NO_COLUMNS = StateColumns()


class StatesThen(NamedTuple):
    """The candidates' IDs in the collection, whether they are everyone's, their read states and their importances."""

    stored_ids: Sequence[str]
    shared: Sequence[bool]
    reads: Sequence[ReadState]
    importances: Sequence[float | None]


def state_columns(then: StatesThen, signals: Signals, basis: Basis, *, scored: int, at: float) -> StateColumns:
    """The columns of these candidates, of which the first `scored` have signals. Unread candidates need hardly any.

    >>> state_columns(StatesThen(["a"], [False], [ReadState()], [None]), {}, Basis(balance=-1.0), scored=1, at=9.0)
    StateColumns(titles=['via', 'balance'], numbers=[[0], [-1000000]])
    """
    read, refreshed, useful, warmth, credit = zip(*map(_OF_READS, then.reads), strict=True) if then.reads else [()] * 5
    count = len(read)
    via = list(map(basis.via.get, then.stored_ids, repeat(BY_VECTORS if basis.via else 0)))
    if True in then.shared:
        via = [one | SHARED * shared for one, shared in zip(via, then.shared, strict=True)]
    via[scored:] = map(UNSCORED.__or__, via[scored:])
    titles: list[str] = ["via"]
    numbers: list[Sequence[float]] = [via]
    if read.count(None) < count or refreshed.count(None) < count or useful.count(None) < count:
        for place, (when, fresh, of_use) in enumerate(zip(read, refreshed, useful, strict=True)):
            known = READ if fresh is not None else 0 if when is None else READ | UNREFRESHED
            via[place] |= known if of_use is None else known | USEFUL
        titles.append("importance")
        numbers.append([SHARE_UNIT * (NEUTRAL_IMPORTANCE if one is None else one) for one in then.importances])
        told = ReadsInSignals.by(Policy() if basis.policy is None else basis.policy)
        all_told = scored == count and told.tell_all(read, refreshed, warmth, at)  # but for what decay took of a count
        more = [counted - int(warm + WHOLE) for counted, warm in zip(credit, warmth, strict=True)] if all_told else []
        untold = {"credit": more} if any(more) else {}
        if not all_told:
            untold = columns_of_untold(then.reads, numbers[1], signals, told, at)
        titles += untold
        numbers += untold.values()
    if useful.count(None) < count:
        titles += _USEFUL
        numbers += zip(*[_useful(one, basis.step, at) for one in then.reads], strict=True)
    if basis.propensities:
        titles.append(PROPENSITY)
        numbers.append([round(SHARE_UNIT * basis.propensities.get(one, 0.0)) for one in then.stored_ids])
    of_all = {
        "balance": basis.balance or None,
        "own_words": float(basis.own_words) or None,
        "unrelated": basis.unrelated,
    }
    unusual = {title: value for title, value in of_all.items() if value is not None}
    titles += unusual
    numbers += [[round(SHARE_UNIT * value)] * count for value in unusual.values()]
    return StateColumns(titles, numbers)


_OF_READS = attrgetter("last_read", "refreshed_at", "useful_at", "warmth", "credit")
_USEFUL = ("useful_ago", "useful_lag", "helpful", "unhelpful")


def logged_state(
    then: Mapping[str, int], signals: Mapping[str, float], policy: Policy, *, step: int, at: float
) -> ReadState:
    """The read state restored from the columns and signals, at the user's recall `step` and with the recall's `policy`.

    >>> read = ReadState(last_read=4.0, refreshed_at=4.0, retrieval_count=2, credit=2, warmth=1.5)
    >>> said = {"recency": 0.999997, "importance": 0.545815, "strength": 1.0}
    >>> signals = {name: [value] for name, value in said.items()}
    >>> columns = state_columns(StatesThen(["a"], [False], [read], [None]), signals, NO_BASIS, scored=1, at=9.0)
    >>> then = {title: int(numbers[0]) for title, numbers in zip(columns.titles, columns.numbers)}
    >>> logged_state(then, said, Policy(), step=7, at=9.0) == read, importance_then(then, said)
    (True, 0.5)
    """
    via, strength = then.get("via", 0), signals.get("strength", 1.0)
    if not via & (READ | USEFUL):
        return ReadState(strength=strength)
    reads = logged_reads(then, signals, policy)
    return ReadState(
        last_read=at - reads.age if via & READ else None,
        refreshed_at=at - reads.age - reads.fresh_before if via & (READ | UNREFRESHED) == READ else None,
        retrieval_count=reads.credit,
        credit=reads.credit,
        warmth=reads.warmth,
        strength=strength,
        useful_at=at - then["useful_ago"] / MILLI if via & USEFUL else None,
        useful_step=step - then["useful_lag"] if via & USEFUL else 0,
        helpful=then.get("helpful", 0),
        unhelpful=then.get("unhelpful", 0),
    )


def importance_then(then: Mapping[str, int], signals: Mapping[str, float]) -> float:
    """The importance as written and as changed by feedback, without the contribution of reads."""
    return then["importance"] / SHARE_UNIT if "importance" in then else signals.get("importance", NEUTRAL_IMPORTANCE)


def _useful(read: ReadState, step: int, at: float) -> tuple[int, int, int, int]:
    if read.useful_at is None:
        return 0, 0, read.helpful, read.unhelpful
    return round(MILLI * (at - read.useful_at)), step - read.useful_step, read.helpful, read.unhelpful


Signals = Mapping[str, Sequence[float]]  # by name, a value for each candidate
TITLES = ("read_ago", "fresh_before", "warmth", "credit")  # 0 where a line has none of that title
UNREAD = (0, 0, 0, 0)
WARMTH_UNIT, SHARE_UNIT = 1_000, 1_000_000  # units in 1
LAST_DIGIT = 1e-6  # of signals in the log
LEAST_LEFT, MOST_LOGS = 1e-6, 30.0  # limits of a retrieval count that is restored from the importance
MOST_HALF_LIVES, MOST_WARMTH, LEAST_TOLD = 10, 20.0, 0.1  # limits of ages and counts that six digits can restore
WHOLE = 0.37  # added to a retrieval count before it is truncated to a whole number


class LoggedReads(NamedTuple):
    """The seconds since a record's last read before a recall, how much earlier recency began, and the read counts."""

    age: int
    fresh_before: int
    warmth: float
    credit: int


class ReadsInSignals(NamedTuple):
    """Restores reads from the signals of a policy."""

    half_life_seconds: float
    half_life_grows: bool
    left_per_day: float
    count_weight: float
    most_gained: float

    @classmethod
    def by(cls, policy: Policy) -> ReadsInSignals:
        learning = policy.learning
        most = min(COUNT_BOOST_MAX, MOST_LOGS * learning.count_weight)
        grows = learning.half_life_growth != 0
        return cls(policy.half_life_days * DAY, grows, learning.count_decay_per_day, learning.count_weight, most)

    def tell_all(
        self, read: Sequence[float | None], refreshed: Sequence[float | None], warmth: Sequence[float], at: float
    ) -> bool:
        """Whether the signals of this policy contain all records' last reads and retrieval counts, so that no columns
        are needed.

        >>> told = ReadsInSignals.by(Policy())
        >>> [told.tell_all([4.0], [begun], [1.5], 9.0) for begun in (4.0, 1.0)]
        [True, False]
        """
        if self.half_life_grows or read != refreshed:
            return False
        known = [one for one in read if one is not None]
        longest, warmest = at - min(known, default=at), max(warmth, default=0.0)
        return (
            max(known, default=at) <= at
            and longest <= MOST_HALF_LIVES * self.half_life_seconds
            and warmest <= MOST_WARMTH
            and self.count_weight * math.log1p(warmest) < self.most_gained
            and math.pow(self.left_per_day, longest / DAY) >= LEAST_TOLD
        )

    def age(self, fresh: float) -> int:
        """The seconds since a read of this recency.

        >>> ReadsInSignals.by(Policy(half_life_days=1)).age(0.5), ReadsInSignals.by(Policy()).age(0.0)
        (86400, 0)
        """
        return round(-self.half_life_seconds * math.log2(fresh)) if fresh > 0.0 else 0

    def reads(self, gained: float, age: int) -> float:
        """The retrieval count that has added `gained` to the importance.

        >>> round(ReadsInSignals.by(Policy()).reads(Policy().learning.count_weight * math.log1p(3.0), 0), 6)
        3.0
        """
        if not 0.0 < gained < self.most_gained:
            return 0.0
        left = math.pow(self.left_per_day, max(0, age) / DAY)
        return math.expm1(gained / self.count_weight) / left if left >= LEAST_LEFT else 0.0


def columns_of_untold(
    reads: Sequence[ReadState], written: Sequence[float], signals: Signals, told: ReadsInSignals, at: float
) -> dict[str, list[int]]:
    """Columns with the part of each candidate's reads that cannot be restored from its signals and its importance as
    written.

    >>> read = ReadState(last_read=4.0, refreshed_at=4.0, credit=2, warmth=1.5)
    >>> signals = {"recency": [0.75], "importance": [0.52]}
    >>> columns_of_untold([read], [500_000.0], signals, ReadsInSignals.by(Policy()), 9.0)
    {'read_ago': [-502024], 'fresh_before': [0], 'warmth': [1008], 'credit': [1]}
    """
    nothing = [0.0] * len(reads)
    rows = [
        UNREAD
        if one.last_read is None and one.refreshed_at is None
        else _untold(one, fresh, worth, round(own), told, at)
        for one, fresh, worth, own in zip(
            reads, signals.get("recency", nothing), signals.get("importance", nothing), written, strict=True
        )
    ]
    return dict(zip(TITLES, map(list, zip(*rows, strict=True)), strict=True))


def _untold(
    read: ReadState, fresh: float, worth: float, written: int, told: ReadsInSignals, at: float
) -> tuple[int, ...]:
    """The part of a record's reads that cannot be restored from the signals, in the order of TITLES."""
    begun = read.refreshed_at
    age = round(at - (read.last_read if read.last_read is not None else begun or 0.0))
    before = 0 if begun is None else round(at - begun) - age
    fresh, worth = _in_log(fresh), _in_log(worth)
    exactly = math.pow(0.5, max(0, age) / told.half_life_seconds)
    beyond = 0 if fresh > 0.0 and abs(exactly - fresh) < LAST_DIGIT / 2 else age - told.age(fresh)
    likely = told.reads(worth - written / SHARE_UNIT, age)
    more = round(WARMTH_UNIT * (read.warmth - likely))
    return beyond, before, more, read.credit - math.trunc(likely + more / WARMTH_UNIT + WHOLE)


def _in_log(value: float) -> float:
    """A signal, rounded as in the log."""
    return round(SHARE_UNIT * value) / SHARE_UNIT


def logged_reads(then: Mapping[str, int], signals: Mapping[str, float], policy: Policy) -> LoggedReads:
    """The reads restored from a row and the signals.

    >>> then = {"credit": 1, "importance": 750_000}
    >>> logged_reads(then, {"recency": 0.999997, "importance": 0.795815}, Policy())
    LoggedReads(age=5, fresh_before=0, warmth=1.5, credit=2)
    """
    told, beyond = ReadsInSignals.by(policy), then.get
    age = beyond("read_ago", 0) + told.age(signals.get("recency", 0.0))
    likely = told.reads(signals.get("importance", 0.0) - then["importance"] / SHARE_UNIT, age)
    warmth = likely + beyond("warmth", 0) / WARMTH_UNIT
    whole = beyond("credit", 0) + int(warmth + WHOLE)
    return LoggedReads(age, beyond("fresh_before", 0), max(0.0, round(warmth, 3)), whole)
