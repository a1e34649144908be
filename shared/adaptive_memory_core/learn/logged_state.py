"""What must the log keep of each candidate so that a recall can be ranked again? Its state then, as whole numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from adaptive_memory_core.learn.lead_weights import NOTHING_LEARNED, LeadWeights
from adaptive_memory_core.policy.channel_names import DENSE, GRAPH, LEXICAL, is_channel_name
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Hit, ReadState
from adaptive_memory_core.score.signals import DAY, NEUTRAL_IMPORTANCE, cooled, decay

BY_VECTORS, BY_WORDS, BY_GRAPH, BY_OWN_CHANNEL, BY_TIME, BY_VERDICTS, READ, USEFUL, UNREFRESHED, SHARED, UNSCORED = (
    1 << bit for bit in range(11)
)  # what the column "via" says: who named a candidate, whose it is, and which times are known of it
MILLI, WARMTH_UNIT, SHARE_UNIT = 1_000, 1_000, 1_000_000  # parts of a second and of 1; reads are kept in whole seconds
DERIVED = frozenset(("recency", "importance", "strength", "relevance", "useful", "time", "kind"))  # signals of a policy
LEAST_LEFT, MOST_LOGS = 1e-6, 30.0  # of a retrieval count, within which the importance is asked for it
DIGITS = 6  # of signals in the log
LEAD = "lead "  # how the columns begin that say what verdicts made of a lead
_BY = {
    DENSE: BY_VECTORS,
    LEXICAL: BY_WORDS,
    GRAPH: BY_GRAPH,
    **dict.fromkeys(("asked before", "recently helpful"), BY_VERDICTS),
}


class Basis(NamedTuple):
    """What a ranking rested on besides candidates and policy: who named them, by their ids in the collection, the
    user's recalls so far, what verdicts had taught, the share of unrelated questions that find as good, and whether
    the user's own words were others than the cue's text. By
    `policy` the columns leave out what the signals tell already."""

    via: Mapping[str, int] = {}
    step: int = 0
    balance: float = 0.0
    leads: LeadWeights = NOTHING_LEARNED
    unrelated: float | None = None
    own_words: bool = False
    policy: Policy | None = None


NO_BASIS = Basis()


def named_by(source: str) -> int:
    """The bit of a source.

    >>> named_by("dense") == BY_VECTORS, named_by("sql") == BY_OWN_CHANNEL, named_by("recently helpful") == BY_VERDICTS
    (True, True, True)
    """
    return _BY.get(source) or (BY_OWN_CHANNEL if is_channel_name(source) else BY_TIME)


def columns_of(
    hits: Sequence[Hit], signals: Sequence[Mapping[str, float]], basis: Basis, *, scored: int, at: float
) -> dict[str, list[int]]:
    """The columns of these candidates, of which the first ones were scored; of those nobody has read, next to none.

    >>> from adaptive_memory_core.records import Record
    >>> columns_of([Hit(Record("a", "tea"), 0.5, "a")], [{}], Basis(balance=-1.0), scored=1, at=9.0)
    {'via': [0], 'balance': [-1000000]}
    """
    usual = BY_VECTORS if basis.via else 0
    via = [basis.via.get(hit._stored_id, usual) | (SHARED if hit.shared is not None else 0) for hit in hits]
    for place in range(scored, len(via)):
        via[place] |= UNSCORED
    columns = {"via": via}
    states = [hit.record.read for hit in hits]
    if any(one.last_read is not None or one.refreshed_at is not None or one.useful_at is not None for one in states):
        for place, one in enumerate(states):
            via[place] |= _times_known(one)
        policy = Policy() if basis.policy is None else basis.policy
        rows = [_reads(hit, signal, policy, at) for hit, signal in zip(hits, signals, strict=True)]
        columns |= {title: [row[place] for row in rows] for place, title in enumerate(_READS)}
        if any(one.useful_at is not None for one in states):
            columns |= _useful(states, basis.step, at)
    for title, value in _of_all(basis).items():
        columns[title] = [value] * len(via)
    return columns


def state_then(
    then: Mapping[str, int], signals: Mapping[str, float], policy: Policy, *, step: int, at: float
) -> ReadState:
    """The read state that the columns tell of, at the user's recall `step`; `policy` is that of the recall.

    >>> from adaptive_memory_core.records import Record
    >>> read = ReadState(last_read=4.0, refreshed_at=4.0, retrieval_count=2, credit=2, warmth=1.5)
    >>> hit, said = Hit(Record("a", "tea", read=read), 0.5, "a"), {"recency": 0.75, "importance": 0.52, "strength": 1.0}
    >>> columns = columns_of([hit], [said], NO_BASIS, scored=1, at=9.0)
    >>> then = {title: values[0] for title, values in columns.items()}
    >>> state_then(then, said, Policy(), step=7, at=9.0) == read, importance_then(then, said)
    (True, 0.5)
    """
    via, strength = then.get("via", 0), signals.get("strength", 1.0)
    if not via & (READ | USEFUL):
        return ReadState(strength=strength)
    age = then["read_ago"] + _likely_age(signals, policy)
    warmth = round(then["warmth"] / WARMTH_UNIT + _likely_warmth(signals, then["importance"], age, policy), 3)
    count = then["credit"] + round(warmth)
    return ReadState(
        last_read=at - age if via & READ else None,
        refreshed_at=at - age - then["fresh_before"] if via & (READ | UNREFRESHED) == READ else None,
        retrieval_count=count,
        credit=count,
        warmth=max(0.0, warmth),
        strength=strength,
        useful_at=at - then["useful_ago"] / MILLI if via & USEFUL else None,
        useful_step=step - then["useful_lag"] if via & USEFUL else 0,
        helpful=then.get("helpful", 0),
        unhelpful=then.get("unhelpful", 0),
    )


def importance_then(then: Mapping[str, int], signals: Mapping[str, float]) -> float:
    """The importance without what reads added to it: as it was written, and as verdicts had moved it."""
    return then["importance"] / SHARE_UNIT if "importance" in then else signals.get("importance", NEUTRAL_IMPORTANCE)


def leads_then(then: Mapping[str, int]) -> LeadWeights:
    """What verdicts had made of the leads.

    >>> leads_then({"via": 1, "lead words": 500000, "verdicts": 3000000})
    LeadWeights(octaves={'words': 0.5}, verdicts=3.0)
    """
    if "verdicts" not in then:
        return NOTHING_LEARNED
    octaves = {name.removeprefix(LEAD): value / SHARE_UNIT for name, value in then.items() if name.startswith(LEAD)}
    return LeadWeights(octaves, then["verdicts"] / SHARE_UNIT)


def _times_known(read: ReadState) -> int:
    """The bits that say which times of a state there are."""
    if read.last_read is None and read.refreshed_at is None:
        return USEFUL * (read.useful_at is not None)
    return READ | UNREFRESHED * (read.refreshed_at is None) | USEFUL * (read.useful_at is not None)


_READS = ("read_ago", "fresh_before", "warmth", "credit", "importance")


def _reads(hit: Hit, signals: Mapping[str, float], policy: Policy, at: float) -> tuple[int, ...]:
    """What the reads of a candidate were, less what its signals tell of them: mostly nothing is left."""
    read, record = hit.record.read, hit.record
    known = {name: round(signals.get(name, 0.0), DIGITS) for name in ("recency", "importance")}
    written = round(SHARE_UNIT * (NEUTRAL_IMPORTANCE if record.importance is None else record.importance))
    last_read = read.refreshed_at if read.last_read is None else read.last_read
    age = 0 if last_read is None else round(at - last_read)
    fresh = 0 if read.refreshed_at is None else round(at - read.refreshed_at) - age
    likely = _likely_age(known, policy), _likely_warmth(known, written, age, policy)
    warmth = round(WARMTH_UNIT * (read.warmth - likely[1]))
    told = round(decay(age, half_life_days=policy.half_life_days), DIGITS) == known["recency"]
    return (
        0 if told else age - likely[0],
        fresh,
        warmth,
        read.credit - round(round(warmth / WARMTH_UNIT + likely[1], 3)),
        written,
    )


def _likely_age(signals: Mapping[str, float], policy: Policy) -> int:
    """The seconds since a read that recency tells of.

    >>> _likely_age({"recency": 0.5}, Policy(half_life_days=1)), _likely_age({}, Policy())
    (86400, 0)
    """
    fresh = signals.get("recency", 0.0)
    return 0 if fresh <= 0.0 else round(-math.log2(fresh) * policy.half_life_days * DAY)


def _likely_warmth(signals: Mapping[str, float], written: int, age: int, policy: Policy) -> float:
    """The retrieval count that the importance tells of, given the one that was written.

    >>> gained = Policy().reading.count_weight * math.log1p(3.0)
    >>> round(_likely_warmth({"importance": 0.5 + gained}, 500_000, 0, Policy()), 6)
    3.0
    """
    reading, gained = policy.reading, signals.get("importance", 0.0) - written / SHARE_UNIT
    left = cooled(1.0, 0.0, policy, now=max(0.0, age))
    if not 0.0 < gained < reading.count_boost_max or left < LEAST_LEFT or gained > MOST_LOGS * reading.count_weight:
        return 0.0
    return math.expm1(gained / reading.count_weight) / left


def _useful(states: Sequence[ReadState], step: int, at: float) -> dict[str, list[int]]:
    return {
        "useful_ago": [0 if one.useful_at is None else round(MILLI * (at - one.useful_at)) for one in states],
        "useful_lag": [0 if one.useful_at is None else step - one.useful_step for one in states],
        "helpful": [one.helpful for one in states],
        "unhelpful": [one.unhelpful for one in states],
    }


def _of_all(basis: Basis) -> dict[str, int]:
    """What holds for all candidates of the recall, where it is not as usual."""
    learned = {f"{LEAD}{name}": value for name, value in basis.leads.octaves.items()}
    given = {"balance": basis.balance, "own_words": float(basis.own_words), **learned}
    if learned:
        given["verdicts"] = float(basis.leads.verdicts)
    found = {title: round(SHARE_UNIT * value) for title, value in given.items() if value != 0.0}
    return found if basis.unrelated is None else {**found, "unrelated": round(SHARE_UNIT * basis.unrelated)}
