"""What does each source say of each candidate? Every source's leads on all candidates, whoever named them."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive_memory_core.flow.ports.source import Answer
from adaptive_memory_core.policy.channels_and_kinds import DENSE
from adaptive_memory_core.records import Hit
from adaptive_memory_core.score.candidates import Candidates, columns_of


def with_leads(hits: Sequence[Hit], answers: Sequence[Answer]) -> Candidates:
    """The candidates with the leads of all sources that have any; each candidate gets the same names."""
    these = columns_of(hits)
    leads: dict[str, Sequence[float]] = {}
    for one in sorted(answers, key=lambda one: one.source != DENSE):  # what others say depends on the baseline
        if one.leads is not None:
            leads.update(one.leads(these.with_leads(leads)))
    return these.with_leads(leads)
