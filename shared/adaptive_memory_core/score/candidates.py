"""What are the candidates of a recall, as columns? A value a list, and a Hit made where somebody looks at one.

Of forty candidates five are returned, so what is done to all of them is done a column at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, overload

from adaptive_memory_core.frozen import changed
from adaptive_memory_core.records import Hit, Metadata, ReadState

Leads = Mapping[str, Sequence[float]]
NO_LEADS: Leads = {}


class Columns(NamedTuple):
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
    >>> both = columns_of([Hit(Record("a", "tea"), 0.5, "a"), Hit(Record("b", "tax"), 0.25, "b")])
    >>> both.columns.texts, both[1].record.id, len(both.only([1])), both.with_leads({"words": [0.0, 1.0]})[1].leads
    (['tea', 'tax'], 'b', 1, {'words': 1.0})
    """

    __slots__ = ("_hits", "_make", "columns", "leads")

    def __init__(self, columns: Columns, make: Callable[[int], Hit], leads: Leads = NO_LEADS) -> None:
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
        return Candidates(Columns._make([*map(taken, columns), gates]), lambda place: self[numbers[place]], leads)

    def with_leads(self, leads: Leads) -> Candidates:
        """The same with what channels said of them."""

        def make(place: int) -> Hit:
            return changed(self[place], leads={name: values[place] for name, values in leads.items()})

        return Candidates(self.columns, make, leads) if leads else self


def columns_of(hits: Sequence[Hit]) -> Candidates:
    """Hits as candidates in columns; those that are stay as they are."""
    if isinstance(hits, Candidates):
        return hits
    hits = tuple(hits)
    records = [hit.record for hit in hits]
    columns = Columns(
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
