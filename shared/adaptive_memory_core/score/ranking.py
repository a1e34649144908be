"""How are scored candidates kept? As columns in the order of their scores; a Scored is made where somebody looks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from operator import is_
from typing import Any, Generic, TypeVar, overload

from adaptive_memory_core.records import Dropped, Scored
from adaptive_memory_core.score.candidates import Candidates

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
