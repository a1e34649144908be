"""What does each source say of each candidate? Every source's leads on all candidates, whoever named them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adaptive_memory_core.flow.ports.source import Answer
from adaptive_memory_core.records import Hit


def with_leads(hits: Sequence[Hit], answers: Sequence[Answer]) -> list[Hit]:
    """The candidates with the leads of all sources that have any; each candidate gets the same names."""
    told = [one.leads(hits) for one in answers if one.leads is not None]
    if not told:
        return list(hits)
    return [
        replace(hit, leads={name: number for row in rows for name, number in row.items()})
        for hit, rows in zip(hits, zip(*told, strict=True), strict=True)
    ]
