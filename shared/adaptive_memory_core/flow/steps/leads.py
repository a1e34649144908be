"""What does each source say of each candidate? Every source's leads on all candidates, whoever named them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from adaptive_memory_core.flow.ports.source import Answer
from adaptive_memory_core.frozen import changed
from adaptive_memory_core.records import Hit


def with_leads(hits: Sequence[Hit], answers: Sequence[Answer]) -> list[Hit]:
    """The candidates with the leads of all sources that have any; each candidate gets the same names."""
    told = [one.leads(hits) for one in answers if one.leads is not None]
    if not told:
        return list(hits)
    first, *more = told
    leads = first if not more else [_joined(rows) for rows in zip(*told, strict=True)]
    return [changed(hit, leads=row) for hit, row in zip(hits, leads, strict=True)]


def _joined(rows: Iterable[Mapping[str, float]]) -> dict[str, float]:
    return {name: number for row in rows for name, number in row.items()}
