"""A recall as it was at an earlier time, from the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import NotFoundError, ScopeError
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.optional_steps import (
    NO_FLOOR,
    NOT_COMPARED,
    OUR_RULES,
    Compared,
    Reranked,
    SameFacts,
    candidate_vectors,
    floor_verdict,
    same_facts,
)
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.source import Found
from adaptive_memory_core.flow.recall import choose, in_order
from adaptive_memory_core.identity import text_digest
from adaptive_memory_core.learn.logged_state import (
    BY_GRAPH,
    BY_OWN_CHANNEL,
    BY_TIME,
    BY_VECTORS,
    BY_VERDICTS,
    BY_WORDS,
    DERIVED,
    SHARE_UNIT,
    STRUCK_OUT,
    importance_then,
    logged_state,
)
from adaptive_memory_core.learn.verdicts import HelpfulRank
from adaptive_memory_core.policy.advanced import AROUND, FOR_ALL, GRAPH, LEADS, LEXICAL, OF_TURNS, OURS, RERANKER, WORDS
from adaptive_memory_core.policy.learning import AGAINST, AHEAD, NEAR, TRUSTED
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.record_metadata import hits_of
from adaptive_memory_core.records import Cue, Dropped, Hit, Record, Scope
from adaptive_memory_core.reports import LoggedCandidate, LoggedRecall
from adaptive_memory_core.score.ranking import BEYOND_K, stale
from adaptive_memory_core.sources.gather import Gathered
from adaptive_memory_core.sources.request import Request

HitsUnder = Callable[[Policy], Sequence[Hit]]


@dataclass(frozen=True, slots=True)
class Rankable:
    """A question with its candidates, which `ranked` can rank under any policy without searching again."""

    request: Request
    gathered: Gathered
    hits_under: HitsUnder
    unrelated: float | None = None
    compared: Compared = NOT_COMPARED
    facts: SameFacts = OUR_RULES

    def ranked(self, policy: Policy, k: int | None = None) -> Recall:
        """The recall under this policy."""
        request = self.request._replace(policy=policy, k=self.request.k if k is None else k)
        hits = _with_refusals(request, self.hits_under(policy))
        floor = NO_FLOOR if self.unrelated is None else floor_verdict(self.unrelated, policy)
        gathered = self.gathered.with_hits(hits, ())
        candidates = in_order(request, gathered, Reranked(hits), self.facts)
        return choose(request, gathered, floor, candidates, self.compared)


def rankable(
    ports: Ports, request: Request, gathered: Gathered, hits_under: HitsUnder, unrelated: float | None = None
) -> Rankable:
    """The question with its vectors and facts, which come from the store and the caller's rule and are fetched once."""
    hits = _with_refusals(request, hits_under(request.policy))
    floor = NO_FLOOR if unrelated is None else floor_verdict(unrelated, request.policy)
    compared = candidate_vectors(ports, request, hits)
    facts = same_facts(request, hits, floor)
    return Rankable(request, gathered, hits_under, unrelated, compared, facts)


def _with_refusals(request: Request, hits: Sequence[Hit]) -> Sequence[Hit]:
    refuse = request.refuse
    return hits if refuse is None else [replace(hit, refused=hit.refused or refuse(hit.record)) for hit in hits]


SOURCES = BY_VECTORS | BY_WORDS | BY_GRAPH | BY_OWN_CHANNEL | BY_TIME | BY_VERDICTS
NOT_LEADS = DERIVED | {"similarity"}
OF_WORDS = frozenset((*LEADS, *FOR_ALL))
OF_VERDICTS = frozenset((NEAR, TRUSTED, AGAINST, AHEAD))
FORGOTTEN = "what was forgotten since: the log has lost those candidates"
GONE = "some candidates are gone from the collection: their texts, kinds and ages are not known"


@dataclass(frozen=True, slots=True)
class PastCandidates:
    """The scored candidates of a past recall as they were then, and those that no policy would return."""

    line: LoggedRecall
    policy: Policy
    hits: Sequence[Hit]
    via: Mapping[str, int]  # the sources that named each candidate, by its id in the collection
    absent: Sequence[Dropped]
    notes: tuple[str, ...] = ()
    then: Mapping[str, int] = field(default_factory=dict)  # the logged numbers that are the same for all candidates

    @property
    def k(self) -> int:
        """The number of hits to return; smaller than in the recall if some of its hits were forgotten since."""
        returned = len(self.line.kept)
        beyond = [one for one in self.line.candidates if one.reason == BEYOND_K]
        if returned >= self.line.k or not beyond:
            return self.line.k
        best = max(self.line.candidates, key=lambda one: one.score or 0.0)
        return returned if returned or best in beyond else self.line.k  # else a floor refused the best one

    @property
    def forgotten(self) -> bool:
        """Whether some of the candidates were forgotten after the recall."""
        return STRUCK_OUT in self.then

    @property
    def balance(self) -> float:
        return self.then.get("balance", 0) / SHARE_UNIT

    @property
    def unrelated(self) -> float | None:
        """The share of unrelated questions with an equally good match, if it was measured."""
        return self.then["unrelated"] / SHARE_UNIT if "unrelated" in self.then else None

    def under(self, policy: Policy) -> list[Hit]:
        """The candidates that this policy would have had, with the leads from its channels."""
        if policy == self.policy:
            return list(self.hits)
        wanted = _wanted(policy)
        hits = [hit for hit in self.hits if not (named := self._named(hit)) or named & wanted]
        most = max(policy.recall_k, self.line.k)
        if most < max(self.policy.recall_k, self.line.k):
            hits = self._within(hits, policy, most, wanted)
        wanted_names = _leads_of(policy, hits[0].leads) if hits else frozenset()
        return [
            replace(hit, leads={name: hit.leads[name] for name in hit.leads if name in wanted_names}) for hit in hits
        ]

    def _within(self, hits: list[Hit], policy: Policy, most: int, wanted: int) -> list[Hit]:
        """The hits that vectors or words would have named among their `most` best, or that another source named."""
        weights = {**dict.fromkeys((WORDS, AROUND), policy.advanced.fusion.words), **dict.fromkeys(OF_TURNS[:2], 1.0)}

        def by_words(hit: Hit) -> float:
            return sum(weight * hit.leads.get(name, 0.0) for name, weight in weights.items())

        left = {hit._stored_id: self._named(hit) & wanted for hit in hits}
        for source, worth in ((BY_VECTORS, _similarity), (BY_WORDS, by_words)):
            named = [hit for hit in hits if left[hit._stored_id] & source]
            for hit in sorted(named, key=worth, reverse=True)[most:]:
                left[hit._stored_id] -= source
        return [hit for hit in hits if left[hit._stored_id] or not self._named(hit)]

    def _named(self, hit: Hit) -> int:
        return self.via.get(hit._stored_id, 0) & SOURCES

    def moved(self, by: float) -> PastCandidates:
        """The candidates with similarities shifted by at most `by` in the order of the ranking: the log stores six
        digits, so differences in the seventh are only visible in the order."""
        place = {one.id: number for number, one in enumerate(self.line.candidates)}
        last = max(1, len(place))
        hits = [replace(hit, similarity=hit.similarity + by * (0.5 - place[hit.record.id] / last)) for hit in self.hits]
        return replace(self, hits=hits)


def past_candidates(
    line: LoggedRecall, policy: Policy, found: Mapping[str, Found], scope: Scope, fields: Fields
) -> PastCandidates:
    """The candidates of a logged recall; `found` are the records in the collection, by the user's ids."""
    numbered = [one for one in line.candidates if one.signals]
    there = [found[one.id] for one in numbered if one.id in found]
    existing = {hit.record.id: hit for hit in hits_of(scope, there, {}, fields)}
    hits = [_then(one, existing.get(one.id), policy, line) for one in numbered]
    notes = [GONE] if any(one.id not in existing for one in numbered) else []
    return PastCandidates(
        line,
        policy,
        hits,
        {hit._stored_id: one.then.get("via", 0) for hit, one in zip(hits, numbered, strict=True)},
        [Dropped(one.id, one.reason or "") for one in line.candidates if not one.signals],
        tuple(notes),
        numbered[0].then if numbered else {},
    )


def _then(one: LoggedCandidate, today: Hit | None, policy: Policy, line: LoggedRecall) -> Hit:
    """A candidate as it was in that recall."""
    signals = one.signals
    record = Record(one.id) if today is None else today.record
    hit = Hit(
        replace(
            record,
            read=logged_state(one.then, signals, policy, step=line.step, at=line.at),
            importance=importance_then(one.then, signals),
        ),
        signals["similarity"],
        one.id if today is None else today._stored_id,
        leads={name: value for name, value in signals.items() if name not in NOT_LEADS},
        shared=None if today is None else today.shared,
    )
    if one.score is None or stale(hit, now=line.at) is None:
        return hit
    began = record.valid_from  # the record was valid then: its end was written later
    began = None if began is not None and began > line.at else began
    return replace(hit, record=replace(hit.record, valid_from=began, valid_until=None, superseded_by=None))


def _wanted(policy: Policy) -> int:
    """The sources that a policy asks, as bits."""
    ways = set(policy.ways)
    wanted = BY_VECTORS | BY_TIME | BY_VERDICTS * (policy.blending == "bounded")
    wanted |= BY_WORDS * (LEXICAL in ways) | BY_GRAPH * (GRAPH in ways) | BY_OWN_CHANNEL * bool(ways - set(OURS))
    return wanted


def _leads_of(policy: Policy, names: Mapping[str, float]) -> frozenset[str]:
    """The names of the leads that a recall under this policy would have had."""
    ways, kept = set(policy.ways), set(names)
    if LEXICAL not in ways:
        kept -= OF_WORDS
    if policy.blending != "bounded" or policy.learning.similar_questions == 0.0:
        kept -= OF_VERDICTS
    if policy.advanced.rerank_weight == 0.0:
        kept -= {RERANKER}
    ours = OF_WORDS | OF_VERDICTS | {RERANKER}
    return frozenset(name for name in kept if name in ours or name in ways)


def _similarity(hit: Hit) -> float:
    return hit.similarity


NO_CUE = Cue("")


class Candidate(NamedTuple):
    """A scored candidate; `dropped` if the recall did not return it."""

    id: str
    signals: Mapping[str, float]
    dropped: bool
    parts: Mapping[str, float] = {}


@dataclass(frozen=True, slots=True)
class PastRecall:
    """The data of a recall that verdicts need. `step` is None if the recall was read-only; `scope` made the recall."""

    id: str
    at: float
    step: int | None
    returned: Sequence[str]
    candidates: Sequence[Candidate]
    scope: Scope
    cue: Cue = NO_CUE
    text_digests: Mapping[str, bytes | None] = field(default_factory=dict)  # digests of the returned texts, if known


def past_recall(ports: Ports, scope: Scope, recall: Recall | str) -> PastRecall:
    """The recall to judge; a recall of another scope raises an error."""
    if isinstance(recall, Recall):
        if recall.scope.user != scope.user:
            raise ScopeError(
                f"This recall is of {recall.scope}, not of {scope}. Judge it through the scope that made it."
            )
        own = [one for one in recall.kept if one.hit.learnable]
        kept = [Candidate(one.id, one.signals, False, one.parts) for one in own]
        weighed = [(one.id, one.scored) for one in recall.dropped if one.scored is not None]
        rest = [Candidate(one_id, scored.signals, True, scored.parts) for one_id, scored in weighed]
        words, ids = {one.id: text_digest(one.text) for one in own}, [one.id for one in own]
        return PastRecall(recall.id, recall.now, recall.step, ids, [*kept, *rest], recall.scope, recall.cue, words)
    logged = ports.ledger.log.recall(scope, recall)
    if logged is None:
        raise NotFoundError(
            f"There is no recall {shown(recall)} in the log of {scope}. Give the id of a recall that was reinforced "
            "while the log was on and that is within its retention, or the Recall itself."
        )
    return _of(scope, logged)


def ranking_of(record_id: str, candidates: Sequence[Candidate]) -> HelpfulRank | None:
    """The record's rank among the candidates; None if usefulness did not affect the ranking."""
    if not any(one.signals.get("useful", 0.0) > 0.0 for one in candidates):
        return None
    place = next((place for place, one in enumerate(candidates) if one.id == record_id), None)
    if place is None:
        return None
    pairs = [(min(1.0, max(0.0, one.signals["relevance"])), one.signals.get("useful", 0.0)) for one in candidates]
    return HelpfulRank(pairs, place)


def _of(scope: Scope, logged: LoggedRecall) -> PastRecall:
    candidates = [
        Candidate(one.id, one.signals, one.reason is not None, one.parts)
        for one in logged.candidates
        if one.score is not None
    ]
    made_by = Scope(scope.user, over=logged.over)
    return PastRecall(
        logged.id, logged.at, logged.step, [one.id for one in logged.kept], candidates, made_by, Cue(logged.cue)
    )
