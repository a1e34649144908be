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
from adaptive_memory_core.score.ranking import CandidateColumns, Table
from adaptive_memory_core.score.signals import COUNT_BOOST_MAX, DAY, NEUTRAL_IMPORTANCE

BY_VECTORS, BY_WORDS, BY_GRAPH, BY_OWN_CHANNEL, BY_TIME, BY_VERDICTS, READ, USEFUL, UNREFRESHED, SHARED, UNSCORED = (
    1 << bit for bit in range(11)
)  # bits of the column "via": the sources that found a candidate, its owner, and which of its times are known
MILLI, SHARE_UNIT = 1_000, 1_000_000  # units in 1
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


def state_columns(seen: CandidateColumns, basis: Basis, *, scored: int, at: float) -> Table:
    """What a replay needs of these candidates in addition to their signals: columns of whole numbers by title, which
    may still have to be rounded. The first `scored` candidates have signals. Unread candidates need hardly any columns.

    >>> from adaptive_memory_core.records import Hit, Record
    >>> from adaptive_memory_core.score.ranking import as_candidates
    >>> seen = as_candidates([Hit(Record("a", "tea"), 0.5, "a")]).columns
    >>> state_columns(seen, Basis(balance=-1.0), scored=1, at=9.0)
    {'via': [0], 'balance': [-1000000.0]}
    """
    reads, count = seen.reads, len(seen.reads)
    via = list(map(basis.via.get, seen.stored_ids, repeat(BY_VECTORS if basis.via else 0)))
    if True in seen.shared:
        via = [one | SHARED * shared for one, shared in zip(via, seen.shared, strict=True)]
    via[scored:] = map(UNSCORED.__or__, via[scored:])
    columns: dict[str, Sequence[float]] = {"via": via}
    read, fresh, useful = zip(*map(_TIMES, reads), strict=True) if reads else ((), (), ())
    if (read.count(None), fresh.count(None), useful.count(None)) != (count, count, count):
        for place, (when, begun, of_use) in enumerate(zip(read, fresh, useful, strict=True)):
            known = READ if begun is not None else 0 if when is None else READ | UNREFRESHED
            via[place] |= known if of_use is None else known | USEFUL
        columns["importance"] = [SHARE_UNIT * (NEUTRAL_IMPORTANCE if one is None else one) for one in seen.importances]
        columns |= _columns_of_reads(reads, (read, fresh), basis.policy or Policy(), at, in_signals=scored == count)
    if useful.count(None) < count:
        columns |= _columns_of_use(reads, basis.step, at)
    return columns | _columns_of_basis(seen, basis)


_TIMES = attrgetter("last_read", "refreshed_at", "useful_at")
Times = Sequence[float | None]


def _columns_of_reads(
    reads: Sequence[ReadState], times: tuple[Times, Times], policy: Policy, at: float, *, in_signals: bool
) -> dict[str, Sequence[float]]:
    """The columns with the reads of all candidates, of which these are the last reads and the starts of recency; 0 for
    a time that is unknown. Reads that the signals of all candidates contain (`in_signals`) need no columns."""
    if in_signals and ReadsInSignals.by(policy).tell_all(*times, [one.warmth for one in reads], at):
        more = [one.credit - int(one.warmth + WHOLE) for one in reads]  # what decay took of their counts
        return {"more_credit": more} if any(more) else {}
    begun = [fresh if read is None else read for read, fresh in zip(*times, strict=True)]
    return {
        "read_ago": [0 if one is None else at - one for one in begun],
        "fresh_before": [
            0 if one is None or fresh is None else one - fresh for one, fresh in zip(begun, times[1], strict=True)
        ],
        "warmth": [WARMTH_UNIT * one.warmth for one in reads],
        "credit": [one.credit for one in reads],
    }


def _columns_of_basis(seen: CandidateColumns, basis: Basis) -> dict[str, Sequence[float]]:
    """The columns with the chances of random places, and with what is the same for all candidates."""
    count, columns = len(seen.stored_ids), dict[str, Sequence[float]]()
    if basis.propensities:
        columns[PROPENSITY] = [SHARE_UNIT * basis.propensities.get(one, 0.0) for one in seen.stored_ids]
    if basis.balance:
        columns["balance"] = [SHARE_UNIT * basis.balance] * count
    if basis.own_words:
        columns["own_words"] = [SHARE_UNIT] * count
    if basis.unrelated is not None:
        columns["unrelated"] = [SHARE_UNIT * basis.unrelated] * count
    return columns


def _columns_of_use(reads: Sequence[ReadState], step: int, at: float) -> dict[str, Sequence[float]]:
    """The columns with the last useful read and the feedback of all candidates."""
    return {
        "useful_ago": [0 if one.useful_at is None else MILLI * (at - one.useful_at) for one in reads],
        "useful_lag": [0 if one.useful_at is None else step - one.useful_step for one in reads],
        "helpful": [one.helpful for one in reads],
        "unhelpful": [one.unhelpful for one in reads],
    }


def logged_state(
    then: Mapping[str, int], signals: Mapping[str, float], policy: Policy, *, step: int, at: float
) -> ReadState:
    """The read state restored from the columns and signals, at the user's recall `step` and with the recall's `policy`.

    >>> from adaptive_memory_core.records import Hit, Record
    >>> from adaptive_memory_core.score.ranking import as_candidates
    >>> read = ReadState(last_read=4.0, refreshed_at=4.0, retrieval_count=2, credit=2, warmth=1.5)
    >>> seen = as_candidates([Hit(Record("a", "tea", read=read), 0.5, "a")]).columns
    >>> then = {title: int(one) for title, (one,) in state_columns(seen, NO_BASIS, scored=1, at=9.0).items()}
    >>> signals = {"recency": 0.999997, "importance": 0.545815, "strength": 1.0}
    >>> logged_state(then, signals, Policy(), step=7, at=9.0) == read, importance_then(then, signals)
    (True, 0.5)
    """
    via, strength = then.get("via", 0), signals.get("strength", 1.0)
    if not via & (READ | USEFUL):
        return ReadState(strength=strength)
    of_signals = ReadsInSignals.by(policy)
    if "read_ago" in then:
        age, warmth, credit = then["read_ago"], then["warmth"] / WARMTH_UNIT, then["credit"]
    else:
        age = of_signals.age(signals.get("recency", 0.0))
        warmth = round(of_signals.reads(signals.get("importance", 0.0) - then["importance"] / SHARE_UNIT, age), 3)
        credit = then.get("more_credit", 0) + int(warmth + WHOLE)
    begun = at - age - then.get("fresh_before", 0)
    return ReadState(
        last_read=at - age if via & READ else None,
        refreshed_at=begun if via & (READ | UNREFRESHED) == READ else None,
        retrieval_count=credit,
        credit=credit,
        warmth=warmth,
        strength=strength,
        useful_at=at - then["useful_ago"] / MILLI if via & USEFUL else None,
        useful_step=step - then["useful_lag"] if via & USEFUL else 0,
        helpful=then.get("helpful", 0),
        unhelpful=then.get("unhelpful", 0),
    )


def importance_then(then: Mapping[str, int], signals: Mapping[str, float]) -> float:
    """The importance as written and as changed by feedback, without the contribution of reads."""
    return then["importance"] / SHARE_UNIT if "importance" in then else signals.get("importance", NEUTRAL_IMPORTANCE)


WARMTH_UNIT = 1_000  # units in 1
LEAST_LEFT, MOST_LOGS = 1e-6, 30.0  # limits of a retrieval count that is restored from the importance
MOST_HALF_LIVES, MOST_WARMTH, LEAST_TOLD = 10, 20.0, 0.1  # limits of ages and counts that six digits can restore
WHOLE = 0.37  # added to a retrieval count before it is truncated to a whole number


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

        >>> one = ReadsInSignals.by(Policy())
        >>> [one.tell_all([4.0], [begun], [1.5], 9.0) for begun in (4.0, 1.0)]
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
