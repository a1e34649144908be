"""Candidates in columns, the gates that exclude some of them before scoring, and their ranking.

Only about five of forty candidates are returned, so all candidates are processed as columns, and a hit object is
created when it is first accessed.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, NamedTuple, TypeVar, overload

from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Dropped, Hit, Metadata, ReadState, Scored

T = TypeVar("T")
Table = Mapping[str, Sequence[float]]  # columns by name, with a number for each candidate
NO_LEADS: Table = {}
ONE_CALL_SECONDS = 0.1  # tolerance for times: records of one call are a microsecond apart and visible together
BELOW_FLOOR = "below the similarity floor"
BEYOND_K = "beyond k"
SUPERSEDED, FORGOTTEN, CHANGED = "superseded", "forgotten", "changed"  # what happened to a record's source
STALE = {
    SUPERSEDED: "derived from a record that was superseded",
    FORGOTTEN: "derived from a record that was forgotten",
    CHANGED: "derived from a record that says something else by now",
}


class CandidateColumns(NamedTuple):
    """The values that ranking needs. `gated` are the numbers of candidates that gates must check: those with a limited
    validity, superseded or refused."""

    ids: Sequence[str]
    stored_ids: Sequence[str]
    texts: Sequence[str]
    similarities: Sequence[float]
    importances: Sequence[float | None]
    created: Sequence[float | None]
    began: Sequence[float | None]  # when they became valid
    reads: Sequence[ReadState]
    stored: Sequence[Metadata]
    shared: Sequence[bool]  # whether they belong to a shared scope
    gated: Sequence[int]


class Lazily(Sequence[T], Generic[T]):
    """A sequence whose items are created on first access; a copy or pickle of it is a tuple.

    It has no reference cycle, so a recall's result is freed at once and not by the next garbage collection.
    """

    __slots__ = ("_items",)
    _items: list[T | None]

    @abstractmethod
    def _made(self, place: int) -> T: ...

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[T, ...]: ...
    def __getitem__(self, place: int | slice) -> T | tuple[T, ...]:
        places = range(len(self._items))[place]
        return self._item(places) if isinstance(places, int) else tuple(map(self._item, places))

    def _item(self, place: int) -> T:
        item = self._items[place]
        if item is None:
            item = self._items[place] = self._made(place)
        return item

    def __iter__(self) -> Iterator[T]:
        return map(self._item, range(len(self._items)))

    def __add__(self, others: Any) -> tuple[T, ...]:
        return (*self, *others)

    def __radd__(self, others: Any) -> tuple[T, ...]:
        return (*others, *self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (list(self),)


class Candidates(Lazily[Hit]):
    """The candidates' columns and hits. `leads` contains the evidence from channels besides the vectors, by name;
    `make` creates the hit with a number and its leads.

    >>> from adaptive_memory_core.records import Record
    >>> both = as_candidates([Hit(Record("a", "tea"), 0.5, "a"), Hit(Record("b", "tax"), 0.25, "b")])
    >>> both.columns.texts, both[1].record.id, len(both.only([1])), both.with_leads({"words": [0.0, 1.0]})[1].leads
    (['tea', 'tax'], 'b', 1, {'words': 1.0})
    """

    __slots__ = ("_make", "_numbers", "columns", "leads")

    def __init__(
        self,
        columns: CandidateColumns,
        make: Callable[[int, Mapping[str, float]], Hit],
        leads: Table = NO_LEADS,
        numbers: Sequence[int] | None = None,
    ) -> None:
        self._items = [None] * len(columns.ids)
        self.columns, self.leads, self._make, self._numbers = columns, leads, make, numbers

    def _made(self, place: int) -> Hit:
        leads = {name: values[place] for name, values in self.leads.items()}
        return self._make(place if self._numbers is None else self._numbers[place], leads)

    def only(self, numbers: Sequence[int]) -> Candidates:
        """The candidates with these numbers, in this order."""
        *columns, gated = self.columns
        there = frozenset(gated)
        gates = [place for place, one in enumerate(numbers) if one in there]
        some = [[values[one] for one in numbers] for values in columns]
        leads = {name: [values[one] for one in numbers] for name, values in self.leads.items()}
        own = numbers if self._numbers is None else [self._numbers[one] for one in numbers]
        return Candidates(CandidateColumns._make([*some, gates]), self._make, leads, own)

    def with_leads(self, leads: Table) -> Candidates:
        """The same candidates with these leads."""
        return Candidates(self.columns, self._make, leads, self._numbers)


def as_candidates(hits: Sequence[Hit]) -> Candidates:
    """The hits as candidates in columns; candidates are returned unchanged."""
    if isinstance(hits, Candidates):
        return hits
    hits = tuple(hits)
    records = [hit.record for hit in hits]
    columns = CandidateColumns(
        [one.id for one in records],
        [hit._stored_id for hit in hits],
        [one.text for one in records],
        [hit.similarity for hit in hits],
        [one.importance for one in records],
        [one.created_at for one in records],
        [one.created_at if one.valid_from is None else one.valid_from for one in records],
        [one.read for one in records],
        [one.stored for one in records],
        [hit.shared is not None for hit in hits],
        range(len(hits)),
    )

    def make(number: int, leads: Mapping[str, float]) -> Hit:
        return hits[number] if leads == hits[number].leads else replace(hits[number], leads=leads)

    first = hits[0].leads if hits else {}
    return Candidates(columns, make, {name: [hit.leads[name] for hit in hits] for name in first})


def stale(hit: Hit, *, now: float) -> str | None:
    """Why this record may not be used at `now`, or None: superseded, expired, not valid yet, or derived from a source
    that is no longer valid.

    >>> from adaptive_memory_core.records import Record
    >>> stale(Hit(Record("a", "text", valid_until=10.0), 0.9, "a"), now=10.0)
    'expired'
    >>> stale(Hit(Record("a", "text", valid_from=0.0), 0.9, "a"), now=10.0) is None
    True
    """
    record = hit.record
    if record.valid_until is None and record.valid_from is None and record.superseded_by is None:  # nearly always
        return None
    ends, replaced = record.valid_until, record.superseded_by is not None or record.derived_stale is not None
    over = ends is not None and now + (ONE_CALL_SECONDS if replaced else 0.0) >= ends
    if record.superseded_by is not None and (over or ends is None):
        return f"superseded by {record.superseded_by}"
    if over:
        return "expired" if record.derived_stale is None else STALE.get(record.derived_stale, "expired")
    if record.valid_from is not None and now < record.valid_from:
        return "not valid yet"
    return None


def unfit(hit: Hit, policy: Policy, *, now: float) -> str | None:
    """Why this hit is excluded before scoring, or None. The floor is absolute and does not depend on other candidates.

    >>> from adaptive_memory_core.records import Record
    >>> unfit(Hit(Record("a", "text"), 0.1, "a"), Policy(min_similarity=0.3), now=0.0)
    'below the similarity floor'
    >>> unfit(Hit(Record("a", "text"), float("nan"), "a"), Policy(), now=0.0)
    'no usable distance'
    """
    if not math.isfinite(hit.similarity):
        return "no usable distance"
    if hit.refused is not None:
        return hit.refused
    if policy.min_similarity > 0 and hit.similarity < policy.min_similarity:
        return BELOW_FLOOR
    return stale(hit, now=now)


def unfit_ones(these: Candidates, policy: Policy, *, now: float) -> dict[int, str]:
    """The numbers of the candidates that are excluded before scoring, each with the reason.

    >>> from adaptive_memory_core.records import Record
    >>> hits = as_candidates([Hit(Record("a", "text"), 0.5, "a"), Hit(Record("b", "text"), 0.1, "b")])
    >>> unfit_ones(hits, Policy(), now=0.0), unfit_ones(hits, Policy(min_similarity=0.3), now=0.0)
    ({}, {1: 'below the similarity floor'})
    """
    numbers, similarities = these.columns.gated, these.columns.similarities
    if policy.min_similarity > 0.0 or not math.isfinite(sum(similarities)):
        numbers = range(len(similarities))
    if not numbers:
        return {}
    return {one: reason for one in numbers if (reason := unfit(these[one], policy, now=now)) is not None}


class Ranking(Lazily[Scored]):
    """Candidates, best first, all or only the best. `order` has the number in the columns for each place. `older` maps
    the number of an older version of a statement to the id of the newest, and whether the match is certain. The
    candidates are private, because they contain ids in the collection."""

    __slots__ = ("_candidates", "older", "order", "parts", "scores", "signals")

    def __init__(
        self,
        candidates: Candidates,
        order: Sequence[int],
        scores: Sequence[float],
        parts: Table,
        signals: Table,
        older: Mapping[int, tuple[str, bool]] = {},
    ) -> None:
        self._items = [None] * len(order)
        self._candidates, self.order, self.scores, self.parts = candidates, order, scores, parts
        self.signals, self.older = signals, older

    def _made(self, place: int) -> Scored:
        number = self.order[place]
        hit = self._candidates[number]
        if number in self.older:
            newest, sure = self.older[number]
            hit = replace(hit, older_than=newest, older_perhaps=not sure)
        parts = {name: values[number] for name, values in self.parts.items()}
        signals = {name: values[number] for name, values in self.signals.items()}
        return Scored(hit, self.scores[number], parts, signals)

    def best(self, count: int) -> Ranking:
        """The first `count` of the ranking."""
        return Ranking(self._candidates, self.order[:count], self.scores, self.parts, self.signals, self.older)

    def in_order(self, values: Sequence[T]) -> list[T]:
        """A column's values, best first."""
        return [values[number] for number in self.order]


class LeftOut(Lazily[Dropped]):
    """The candidates after the first `begin` of a ranking, dropped for one reason. The ranking is private, because it
    contains ids in the collection."""

    __slots__ = ("_ranking", "begin", "reason")

    def __init__(self, ranking: Ranking, begin: int, reason: str) -> None:
        self._ranking, self.begin, self.reason = ranking, min(begin, len(ranking.order)), reason
        self._items = [None] * (len(ranking.order) - self.begin)

    def _made(self, place: int) -> Dropped:
        scored = self._ranking[self.begin + place]
        return Dropped(scored.id, self.reason, scored)

    def follows(self, kept: Sequence[Scored]) -> bool:
        """Whether `kept` is the part of the ranking before these."""
        ranking = self._ranking
        return isinstance(kept, Ranking) and kept.scores is ranking.scores and kept.order == ranking.order[: self.begin]


def best_first(candidates: Candidates, scores: Sequence[float], close: Sequence[float]) -> list[int]:
    """The numbers of the candidates by score; ties are broken by relevance, similarity, the newer record, then id."""
    numbers = range(len(scores))
    if len(set(scores)) == len(scores):
        return sorted(numbers, key=scores.__getitem__, reverse=True)
    columns = candidates.columns
    keys = zip(
        [-one for one in scores],
        [-one for one in close],
        [-one for one in columns.similarities],
        [float("inf") if one is None else -one for one in columns.created],
        columns.ids,
        numbers,
        strict=True,
    )
    return [number for *_, number in sorted(keys)]
