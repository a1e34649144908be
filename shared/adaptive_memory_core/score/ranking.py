"""Candidates as columns, and their ranking.

Of forty candidates five are returned, so what is done to all of them is done a column at a time.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import is_
from typing import Any, Generic, NamedTuple, TypeVar, overload

from adaptive_memory_core.records import Dropped, Hit, Metadata, ReadState, Scored

Leads = Mapping[str, Sequence[float]]
NO_LEADS: Leads = {}


class CandidateColumns(NamedTuple):
    """What ranking looks at. `gated` are the numbers of those that gates have to look at closely: that are valid only
    for a time, were superseded or refused."""

    ids: Sequence[str]
    stored_ids: Sequence[str]
    texts: Sequence[str]
    similarities: Sequence[float]
    importances: Sequence[float | None]
    created: Sequence[float | None]
    began: Sequence[float | None]  # when what they say began to hold
    reads: Sequence[ReadState]
    stored: Sequence[Metadata]
    shared: Sequence[bool]  # whether they are of a scope that is shared
    gated: Sequence[int]


class Candidates(Sequence[Hit]):
    """The candidates, each a Hit once it is looked at, and their columns. `leads` are what channels besides the vectors
    said, by name.

    >>> from adaptive_memory_core.records import Record
    >>> both = as_candidates([Hit(Record("a", "tea"), 0.5, "a"), Hit(Record("b", "tax"), 0.25, "b")])
    >>> both.columns.texts, both[1].record.id, len(both.only([1])), both.with_leads({"words": [0.0, 1.0]})[1].leads
    (['tea', 'tax'], 'b', 1, {'words': 1.0})
    """

    __slots__ = ("_hits", "_make", "columns", "leads")

    def __init__(self, columns: CandidateColumns, make: Callable[[int], Hit], leads: Leads = NO_LEADS) -> None:
        self.columns, self.leads, self._make = columns, leads, make
        self._hits: list[Hit | None] = [None] * len(columns.stored_ids)

    def __len__(self) -> int:
        return len(self._hits)

    @overload
    def __getitem__(self, place: int) -> Hit: ...
    @overload
    def __getitem__(self, place: slice) -> Candidates: ...
    def __getitem__(self, place: int | slice) -> Hit | Candidates:
        if isinstance(place, slice):
            return self._slice(range(len(self))[place])
        hit = self._hits[place]
        if hit is None:
            hit = self._hits[place] = self._make(range(len(self._hits))[place])
        return hit

    def __iter__(self) -> Iterator[Hit]:
        return map(self.__getitem__, range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment] # as of a list

    def only(self, numbers: Sequence[int]) -> Candidates:
        """Those of these numbers, in that order."""
        return self._of(numbers, lambda values: [values[one] for one in numbers])

    def _slice(self, numbers: range) -> Candidates:
        if len(numbers) == len(self):
            return self
        part = slice(numbers.start, numbers.stop)
        return self._of(numbers, lambda values: values[part])

    def _of(self, numbers: Sequence[int], taken: Callable[[Sequence[Any]], Sequence[Any]]) -> Candidates:
        *columns, gated = self.columns
        there = frozenset(gated)
        gates = [place for place, one in enumerate(numbers) if one in there] if there else []
        leads = {name: taken(values) for name, values in self.leads.items()}
        return Candidates(
            CandidateColumns._make([*map(taken, columns), gates]), lambda place: self[numbers[place]], leads
        )

    def with_leads(self, leads: Leads) -> Candidates:
        """The same with what channels said of them."""

        def make(place: int) -> Hit:
            return replace(self[place], leads={name: values[place] for name, values in leads.items()})

        return Candidates(self.columns, make, leads) if leads else self


def as_candidates(hits: Sequence[Hit]) -> Candidates:
    """Hits as candidates in columns; those that are stay as they are."""
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
    first = hits[0].leads if hits else {}
    return Candidates(columns, hits.__getitem__, {name: [hit.leads[name] for hit in hits] for name in first})


T = TypeVar("T")
Table = Mapping[str, Sequence[float]]  # columns by name, with a number for each candidate


class Lazily(Sequence[T], Generic[T]):
    """A sequence whose items are made when they are looked at; copied or pickled, it is a tuple.

    It holds no reference to itself, so that a recall's result goes at once and not with the next garbage collection.
    """

    __slots__ = ("_items",)

    def __init__(self, count: int) -> None:
        self._items: list[T | None] = [None] * count

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


class Ranking(Lazily[Scored]):
    """The candidates best first: `order` says which number each place has in the columns."""

    __slots__ = ("candidates", "order", "parts", "scores", "signals")

    def __init__(self, candidates: Candidates, scores: Sequence[float], parts: Table, signals: Table) -> None:
        super().__init__(len(candidates))
        self.candidates, self.scores, self.parts, self.signals = candidates, scores, parts, signals
        self.order = _best_first(candidates, scores, signals)

    def _made(self, place: int) -> Scored:
        number = self.order[place]
        parts = {name: values[number] for name, values in self.parts.items()}
        signals = {name: values[number] for name, values in self.signals.items()}
        return Scored(self.candidates[number], self.scores[number], parts, signals)

    def in_order(self, values: Sequence[T]) -> list[T]:
        """A column's values, best first."""
        return [values[number] for number in self.order]


class LeftOut(Lazily[Dropped]):
    """What came behind the first `begin` of a ranking, all for one reason. The ranking itself, with the ids in the
    collection, is not for users' eyes."""

    __slots__ = ("_ranking", "begin", "reason")

    def __init__(self, ranking: Ranking, begin: int, reason: str) -> None:
        super().__init__(max(0, len(ranking) - begin))
        self._ranking, self.begin, self.reason = ranking, min(begin, len(ranking)), reason

    def _made(self, place: int) -> Dropped:
        scored = self._ranking[self.begin + place]
        return Dropped(scored.id, self.reason, scored)

    def follows(self, kept: Sequence[Scored]) -> bool:
        """Whether these are what stands before it."""
        return len(kept) == self.begin and all(map(is_, kept, self._ranking))


def texts_of(ranked: Sequence[Scored]) -> list[str]:
    """What they say."""
    return (
        ranked.in_order(ranked.candidates.columns.texts)
        if isinstance(ranked, Ranking)
        else [one.text for one in ranked]
    )


def times_of(ranked: Sequence[Scored]) -> list[float | None]:
    """When what they say began to hold, as far as that is known."""
    if isinstance(ranked, Ranking):
        return ranked.in_order(ranked.candidates.columns.began)
    return [one.record.created_at if one.record.valid_from is None else one.record.valid_from for one in ranked]


def _best_first(candidates: Candidates, scores: Sequence[float], signals: Table) -> list[int]:
    """By score; ties are broken by relevance, then by the newer record, then by id."""
    numbers = range(len(scores))
    if len(set(scores)) == len(scores):
        return sorted(numbers, key=scores.__getitem__, reverse=True)
    columns, close = candidates.columns, signals["relevance"]
    created, similarities = columns.created, columns.similarities

    def rank(number: int) -> tuple[float, float, float, float, str]:
        began = created[number]
        newest_first = float("inf") if began is None else -began
        return -scores[number], -close[number], -similarities[number], newest_first, columns.ids[number]

    return sorted(numbers, key=rank)
