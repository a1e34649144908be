"""What must the log keep of each candidate so that a recall can be ranked again? Its state then, as whole numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import or_
from typing import NamedTuple

from adaptive_memory_core.learn.lead_weights import NOTHING_LEARNED, LeadWeights
from adaptive_memory_core.learn.logged_reads import (
    SHARE_UNIT,
    Signals,
    Times,
    Told,
    columns_of_told,
    columns_of_untold,
    reads_of,
)
from adaptive_memory_core.policy.channel_names import DENSE, GRAPH, LEXICAL, is_channel_name
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import ReadState
from adaptive_memory_core.reports.log import PROPENSITY
from adaptive_memory_core.score.signals import NEUTRAL_IMPORTANCE

BY_VECTORS, BY_WORDS, BY_GRAPH, BY_OWN_CHANNEL, BY_TIME, BY_VERDICTS, READ, USEFUL, UNREFRESHED, SHARED, UNSCORED = (
    1 << bit for bit in range(11)
)  # what the column "via" says: who named a candidate, whose it is, and which times are known of it
MILLI = 1_000  # parts of a second
DERIVED = frozenset(("recency", "importance", "strength", "relevance", "useful", "time", "kind"))  # signals of a policy
STRUCK_OUT = "struck out"  # how many candidates were forgotten since
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
    the user's own words were others than the cue's text. `propensities` are the chances with which candidates were to
    be returned, where places were drawn by lot. By `policy` the columns leave out what the signals tell already."""

    via: Mapping[str, int] = {}
    step: int = 0
    balance: float = 0.0
    leads: LeadWeights = NOTHING_LEARNED
    unrelated: float | None = None
    own_words: bool = False
    policy: Policy | None = None
    propensities: Mapping[str, float] = {}


NO_BASIS = Basis()


def named_by(source: str) -> int:
    """The bit of a source.

    >>> named_by("dense") == BY_VECTORS, named_by("sql") == BY_OWN_CHANNEL, named_by("recently helpful") == BY_VERDICTS
    (True, True, True)
    """
    return _BY.get(source) or (BY_OWN_CHANNEL if is_channel_name(source) else BY_TIME)


class Columns(NamedTuple):
    """What a replay needs of candidates besides their signals: titles, and under each a whole number for each."""

    titles: Sequence[str] = ()
    numbers: Sequence[Sequence[float]] = ()


NO_COLUMNS = Columns()


class StatesThen(NamedTuple):
    """What the candidates were: their ids in the collection, which are everyone's, read states and importances."""

    stored_ids: Sequence[str]
    shared: Sequence[bool]
    reads: Sequence[ReadState]
    importances: Sequence[float | None]


def columns_of(then: StatesThen, signals: Signals, basis: Basis, *, scored: int, at: float) -> Columns:
    """The columns of these candidates, of which the first ones were scored; of those nobody has read, next to none.

    >>> columns_of(StatesThen(["a"], [False], [ReadState()], [None]), {}, Basis(balance=-1.0), scored=1, at=9.0)
    Columns(titles=['via', 'balance'], numbers=[[0], [-1000000]])
    """
    reads = then.reads
    times = Times([one.last_read for one in reads], [one.refreshed_at for one in reads])
    useful = [one.useful_at for one in reads]
    known = _times_known(times, useful)
    via = list(map(or_, _via(then, basis, scored), known))
    titles: list[str] = ["via"]
    numbers: list[Sequence[float]] = [via]
    if any(known):
        policy = Policy() if basis.policy is None else basis.policy
        told = Told.by(policy)
        found = (
            columns_of_told(reads, then.importances)
            if scored == len(reads) and told.tell_all(reads, times, at)
            else columns_of_untold(reads, then.importances, signals, told, at)
        )
        titles += found
        numbers += found.values()
    if any(map(USEFUL.__and__, known)):
        titles += _USEFUL
        numbers += zip(*[_useful(one, basis.step, at) for one in reads], strict=True)
    if basis.propensities:
        titles.append(PROPENSITY)
        numbers.append([round(SHARE_UNIT * basis.propensities.get(one, 0.0)) for one in then.stored_ids])
    if of_all := _of_all(basis):
        titles += of_all
        numbers += [[value] * len(via) for value in of_all.values()]
    return Columns(titles, numbers)


def _via(then: StatesThen, basis: Basis, scored: int) -> list[int]:
    """Who named each candidate, whose it is, and whether it was scored."""
    usual, known = BY_VECTORS if basis.via else 0, basis.via.get
    via = [known(one, usual) for one in then.stored_ids]
    if any(then.shared):
        via = [one | SHARED * shared for one, shared in zip(via, then.shared, strict=True)]
    via[scored:] = [one | UNSCORED for one in via[scored:]]
    return via


def state_then(
    then: Mapping[str, int], signals: Mapping[str, float], policy: Policy, *, step: int, at: float
) -> ReadState:
    """The read state that the columns and signals tell of, at the user's recall `step`; `policy` is that of the recall.

    >>> read = ReadState(last_read=4.0, refreshed_at=4.0, retrieval_count=2, credit=2, warmth=1.5)
    >>> said = {"recency": 0.999997, "importance": 0.545815, "strength": 1.0}
    >>> signals = {name: [value] for name, value in said.items()}
    >>> columns = columns_of(StatesThen(["a"], [False], [read], [None]), signals, NO_BASIS, scored=1, at=9.0)
    >>> then = {title: int(numbers[0]) for title, numbers in zip(columns.titles, columns.numbers)}
    >>> state_then(then, said, Policy(), step=7, at=9.0) == read, importance_then(then, said)
    (True, 0.5)
    """
    via, strength = then.get("via", 0), signals.get("strength", 1.0)
    if not via & (READ | USEFUL):
        return ReadState(strength=strength)
    reads = reads_of(then, signals, policy)
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


def _times_known(times: Times, useful: Sequence[float | None]) -> list[int]:
    """The bits that say which times of each state there are."""
    return [
        (_REFRESHED if fresh is not None else _NEVER_READ if read is None else _NOT_REFRESHED)
        | (0 if of_use is None else USEFUL)
        for read, fresh, of_use in zip(*times, useful, strict=True)
    ]


_NEVER_READ, _REFRESHED, _NOT_REFRESHED = 0, READ, READ | UNREFRESHED
_USEFUL = ("useful_ago", "useful_lag", "helpful", "unhelpful")


def _useful(read: ReadState, step: int, at: float) -> tuple[int, int, int, int]:
    if read.useful_at is None:
        return 0, 0, read.helpful, read.unhelpful
    return round(MILLI * (at - read.useful_at)), step - read.useful_step, read.helpful, read.unhelpful


def _of_all(basis: Basis) -> dict[str, int]:
    """What holds for all candidates of the recall, where it is not as usual."""
    learned = {f"{LEAD}{name}": value for name, value in basis.leads.octaves.items()}
    given = {"balance": basis.balance, "own_words": float(basis.own_words), **learned}
    if learned:
        given["verdicts"] = float(basis.leads.verdicts)
    found = {title: round(SHARE_UNIT * value) for title, value in given.items() if value != 0.0}
    return found if basis.unrelated is None else {**found, "unrelated": round(SHARE_UNIT * basis.unrelated)}
