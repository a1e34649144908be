"""Optional steps between a recall's candidates and its hits: diversity, relevance floor, reranker, same facts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from adaptive_memory_core.cue.unrelated_questions import UNRELATED_IN, language_asked_in
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import AdaptiveMemoryError, InvalidInputError, LedgerError
from adaptive_memory_core.flow.calls.foreign_calls import Outcome, answered, tried
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.policy.advanced import RERANKER
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Hit
from adaptive_memory_core.score.newest_first import COMPARED
from adaptive_memory_core.score.nothing_found import Floor, chance, most_relevant, of_time_alone, shares_of
from adaptive_memory_core.score.ranking import unfit
from adaptive_memory_core.score.select import select
from adaptive_memory_core.score.time_match import outside
from adaptive_memory_core.sources.gather import Gathered, error_text
from adaptive_memory_core.sources.request import Request, in_collection


class Compared(NamedTuple):
    """The candidates' vectors, by their ids in the collection; empty if nothing compares them."""

    vectors: Mapping[str, Any]
    notes: tuple[str, ...] = ()


NOT_COMPARED = Compared({})


def candidate_vectors(ports: Ports, request: Request, hits: Sequence[Hit]) -> Compared:
    """Fetch the vectors if the policy asks for diversity; if this fails, the ranking is by score alone, with a note."""
    if not request.policy.diversity or len(hits) < 2:
        return NOT_COMPARED
    ids = [hit._stored_id for hit in hits]
    try:
        vectors = in_collection(ports, request.policy, ports.search.vectors, request.scope, ids)
    except AdaptiveMemoryError as error:
        return Compared({}, (f"the hits were not compared with each other: {error}",))
    return Compared(vectors)


UNKNOWN = "no relevance floor yet: what unrelated questions find here is not measured. calibrate() does it at once"
UNSPOKEN = (
    "no relevance floor: the question seems to be in {!r}, and we have no unrelated questions in it. Give your own "
    "questions to calibrate(questions)"
)


@dataclass(frozen=True, slots=True)
class FloorVerdict:
    """`unrelated` is the share of unrelated questions with an equally good match (None: not known); `refused` is the
    reason why no hit is good enough."""

    unrelated: float | None = None
    refused: str | None = None
    notes: tuple[str, ...] = ()


NO_FLOOR = FloorVerdict()


def relevance_floor(ports: Ports, request: Request, gathered: Gathered, hits: Sequence[Hit]) -> FloorVerdict:
    """Check that the hits are better than chance: if too many unrelated questions match as well, none is returned."""
    policy = request.policy
    if not hits:
        return NO_FLOOR
    if gathered.lost is not None:
        return FloorVerdict(notes=("no relevance floor: it needs the vectors",))
    language = language_asked_in(request.cue.own_words)
    known = floor_of(ports, request, language)
    if known.value is None:
        return FloorVerdict(notes=(_why_unknown(known.error, language),))
    best = most_relevant(hits, policy, now=request.now)
    if best is None or _of_the_time(request, hits):
        return NO_FLOOR
    return floor_verdict(chance(known.value, best), policy)


def floor_verdict(share: float, policy: Policy) -> FloorVerdict:
    """The verdict for a share of unrelated questions with an equally good match."""
    if policy.advanced.unrelated_answered == 0.0:
        return NO_FLOOR
    refused = f"no better than what {100 * share:.0f} % of unrelated questions find here"
    return FloorVerdict(share, None if share <= policy.advanced.unrelated_answered else refused)


def floor_of(ports: Ports, request: Request, language: str) -> Outcome[Floor | None]:
    """The scope's floor for questions in this language, or None. A recall that is not read-only requests a measurement
    if the floor is missing or outdated."""
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
    """Whether the question names only a time, and a usable hit is of that time."""
    return of_time_alone(request.cue.own_words, request.intent) and any(
        not outside(hit.record, request.intent) and unfit(hit, request.policy, now=request.now) is None for hit in hits
    )


class Reranked(NamedTuple):
    """The candidates, with the reranker's numbers among their leads if it was asked."""

    hits: Sequence[Hit]
    notes: tuple[str, ...] = ()


def rerank_best(request: Request, hits: Sequence[Hit], floor: FloorVerdict = NO_FLOOR) -> Reranked:
    """Ask the reranker about the best candidates. If it fails, they stay unchanged, with a note.

    The reranker sees only candidates that passed the gates, and none if the floor refuses all of them. Candidates that
    it was not shown get its lowest number.
    """
    policy, cue = request.policy, request.cue.own_words.strip() or request.cue.text.strip()
    if request.reranker is None or policy.advanced.rerank_weight == 0.0 or not cue or floor.refused is not None:
        return Reranked(hits)
    best, _ = select(hits, policy, k=policy.advanced.rerank_candidates, now=request.now, intent=request.intent)
    if not best:
        return Reranked(hits)
    question = request.reranker.asked(policy.advanced.timeout_seconds, cue, [one.text for one in best])
    outcome = answered(question)
    error = outcome.error
    if error is None:
        try:
            shares = shares_of(outcome.value, len(best))
        except InvalidInputError as refused:
            error = refused
    if error is not None:
        return Reranked(hits, (f"the reranker was left out: {error_text(error)}",))
    known = {one.hit._stored_id: share for one, share in zip(best, shares, strict=True)}
    return Reranked([_judged(hit, known.get(hit._stored_id, min(shares))) for hit in hits])


def _judged(hit: Hit, share: float) -> Hit:
    return replace(hit, leads={**hit.leads, RERANKER: share})


class SameFacts(NamedTuple):
    """A label for the fact that each of the best candidates states, by its id in the collection; None to use the
    built-in rules."""

    facts: Mapping[str, Hashable] | None = None
    notes: tuple[str, ...] = ()


OUR_RULES = SameFacts()


def same_facts(request: Request, hits: Sequence[Hit], floor: FloorVerdict = NO_FLOOR) -> SameFacts:
    """Ask the caller's rule which candidates state the same fact. If it fails, the built-in rules are used, with a
    note."""
    policy, cue = request.policy, request.cue.own_words.strip() or request.cue.text.strip()
    if request.same_fact is None or not policy.newest_first or not cue or floor.refused is not None:
        return OUR_RULES
    best, _ = select(hits, policy, k=COMPARED, now=request.now, intent=request.intent)
    if len(best) < 2:
        return OUR_RULES
    question = request.same_fact.asked(policy.advanced.timeout_seconds, cue, [one.text for one in best])
    outcome = answered(question)
    error = outcome.error
    if error is None:
        try:
            labels = _labels(outcome.value, len(best))
            return SameFacts({one.hit._stored_id: label for one, label in zip(best, labels, strict=True)})
        except InvalidInputError as refused:
            error = refused
    return SameFacts(None, (f"the rule for what says the same was left out: {error_text(error)}",))


def _labels(given: Any, count: int) -> list[Hashable]:
    """Check that the rule returned one label for each text.

    >>> _labels(["home", None, "home"], 3)
    ['home', None, 'home']
    """
    labels = None if isinstance(given, str | bytes | Mapping) or not hasattr(given, "__iter__") else list(given)
    if labels is None or len(labels) != count or not all(isinstance(one, Hashable) for one in labels):
        raise InvalidInputError(
            f"it gave {shown(given)} for {count} texts. Give a list with one label for each: the same for texts that "
            "say the same about the same subject, None for all others."
        )
    return labels
