"""Is anything of it relevant at all? What was found, against what unrelated questions find in the same memory."""

from __future__ import annotations

from dataclasses import replace

from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.flow.calls.drive import Flow, Outcome, ask, attempt
from adaptive_memory_core.flow.candidates.gather import Finding, Request
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.score.gates import unfit
from adaptive_memory_core.score.nothing_found import Floor, best_of, chance, of_time_alone
from adaptive_memory_core.score.time_match import outside

UNKNOWN = "no relevance floor yet: what unrelated questions find here is not measured. calibrate() does it at once"


def floored(ports: Ports, request: Request, finding: Finding) -> Flow[Finding]:
    """The finding, with the reason to return none of it where more unrelated questions find as good than may."""
    policy = request.policy
    if policy.relevance_floor == 0.0 or not finding.hits:
        return finding
    if finding.lost is not None:
        return replace(finding, notes=(*finding.notes, "no relevance floor: it needs the vectors"))
    known = yield from floor_of(ports, request)
    if known.value is None:
        note = UNKNOWN if known.error is None else f"no relevance floor: {known.error}"
        return replace(finding, notes=(*finding.notes, note))
    best = best_of(finding.hits, policy, now=request.now)
    if best is None or of_the_time(request, finding):
        return finding
    share = chance(known.value, best)
    refused = (
        None
        if share <= policy.relevance_floor
        else f"no better than what {100 * share:.0f} % of unrelated questions find here"
    )
    return replace(finding, unrelated=share, refused=refused)


def floor_of(ports: Ports, request: Request) -> Flow[Outcome[Floor | None]]:
    """The scope's floor, if it has one. A recall that may change something has it seen to that it is up to date."""
    policy = request.policy
    known = yield from attempt(LedgerError, ports.ledger.floors.get, request.scope, ports.floors.manner(policy))
    if request.reinforce and known.error is None:
        yield from ask(ports.floors.want, request.scope, policy, known.value)
    return known


def of_the_time(request: Request, finding: Finding) -> bool:
    """Whether the question is about a time and nothing besides, and something is of that time."""
    return of_time_alone(request.cue.own_words, request.intent) and any(
        not outside(hit.record, request.intent) and unfit(hit, request.policy, now=request.now) is None
        for hit in finding.hits
    )
