"""What was of use lately? It stands for election again, however far from this cue the vectors would have it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adaptive_memory_core.errors import AdaptiveMemoryError, LedgerError
from adaptive_memory_core.flow.calls.drive import Flow, attempt
from adaptive_memory_core.flow.candidates.gather import Finding, Request, present, standing, strangers
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.records import Cue

MOST = 8  # records that are compared besides the nearest; bursts have fewer


def lately(ports: Ports, request: Request, cue: Cue, finding: Finding) -> Flow[Finding]:
    """The candidates, and what a verdict called helpful within the user's last recalls. A filter of the caller's own
    leaves it at the nearest: to ask Chroma for ids and a filter at once costs more than the search."""
    policy, step = request.policy, finding.use.step
    reach, nearest = policy.useful.reach, len(finding.hits)
    alone = policy.blending != "bounded" or reach == 0 or policy.useful.weight == 0.0
    if alone or request.where is not None or nearest < max(policy.recall_k, request.k):
        return finding
    named = yield from attempt(
        LedgerError, ports.ledger.states.recently_helpful, request.scope, since=step - reach, limit=MOST
    )
    seen = {hit.stored_id for hit in finding.hits}
    wanted = [one for one in named.value or () if one not in seen]
    if not wanted:
        return finding
    return (yield from _with(ports, request, cue, finding, wanted))


def _with(ports: Ports, request: Request, cue: Cue, finding: Finding, wanted: Sequence[str]) -> Flow[Finding]:
    """The candidates and these; a recall can do without."""
    compared = yield from attempt(AdaptiveMemoryError, ports.store.among, request.scope, cue.vector, wanted, None)
    if compared.value is None:
        note = f"what was of use lately was not looked at besides: {compared.error}"
        return replace(finding, notes=(*finding.notes, note))
    known = yield from standing(ports, request, compared.value)
    more = present(ports, request, compared.value, known)
    told = {**finding.strangers, **strangers(more, known, request)}
    return replace(finding, hits=[*finding.hits, *more], strangers=told)
