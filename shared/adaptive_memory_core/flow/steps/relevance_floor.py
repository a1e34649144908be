"""Is anything relevant at all? The best candidates against what unrelated questions find here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adaptive_memory_core.cue.unrelated_questions import UNRELATED_IN, language_asked_in
from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.flow.calls.foreign_calls import Outcome, tried
from adaptive_memory_core.flow.candidates.gather import Gathered
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Hit
from adaptive_memory_core.score.gates import unfit
from adaptive_memory_core.score.nothing_found import Floor, best_of, chance, of_time_alone
from adaptive_memory_core.score.time_match import outside

UNKNOWN = "no relevance floor yet: what unrelated questions find here is not measured. calibrate() does it at once"

UNSPOKEN = (
    "no relevance floor: the question seems to be in {!r}, and we have no unrelated questions in it. Give some of your "
    "own to calibrate(questions)"
)


@dataclass(frozen=True, slots=True)
class FloorVerdict:
    """`unrelated` is the share of unrelated questions that find as good (None: not known); `refused` is why none of the
    hits is good enough."""

    unrelated: float | None = None
    refused: str | None = None
    notes: tuple[str, ...] = ()


NO_FLOOR = FloorVerdict()


def relevance_floor(ports: Ports, request: Request, gathered: Gathered, hits: Sequence[Hit]) -> FloorVerdict:
    """Whether the hits are better than chance: none is returned where too many unrelated questions find as good."""
    policy = request.policy
    if policy.advanced.unrelated_answered == 0.0 or not hits:
        return NO_FLOOR
    if gathered.lost is not None:
        return FloorVerdict(notes=("no relevance floor: it needs the vectors",))
    language = language_asked_in(request.cue.own_words)
    known = floor_of(ports, request, language)
    if known.value is None:
        return FloorVerdict(notes=(_why_unknown(known.error, language),))
    best = best_of(hits, policy, now=request.now)
    if best is None or _of_the_time(request, hits):
        return NO_FLOOR
    return floor_verdict(chance(known.value, best), policy)


def floor_verdict(share: float, policy: Policy) -> FloorVerdict:
    """What follows from the share of unrelated questions that find as good."""
    if policy.advanced.unrelated_answered == 0.0:
        return NO_FLOOR
    refused = f"no better than what {100 * share:.0f} % of unrelated questions find here"
    return FloorVerdict(share, None if share <= policy.advanced.unrelated_answered else refused)


def floor_of(ports: Ports, request: Request, language: str) -> Outcome[Floor | None]:
    """The scope's floor for questions in this language, if it has one. A recall that may change something has it seen
    to that it is up to date."""
    policy = request.policy
    manner = ports.floors.manner(policy, language)
    known = tried(LedgerError, ports.ledger.floors.get, request.scope, manner)
    if request.reinforce and known.error is None and language in UNRELATED_IN:
        ports.floors.want(request.scope, policy, known.value, language)
    return known


def _why_unknown(error: BaseException | None, language: str) -> str:
    if error is not None:
        return f"no relevance floor: {error}"
    return UNKNOWN if language in UNRELATED_IN else UNSPOKEN.format(language)


def _of_the_time(request: Request, hits: Sequence[Hit]) -> bool:
    """Whether the question is about a time and nothing besides, and something is of that time."""
    return of_time_alone(request.cue.own_words, request.intent) and any(
        not outside(hit.record, request.intent) and unfit(hit, request.policy, now=request.now) is None for hit in hits
    )
