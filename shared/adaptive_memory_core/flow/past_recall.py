"""What is known of the recall that a verdict is about? Its candidates with their scores, and the recalls before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.errors import LedgerError, NotFoundError, ScopeError
from adaptive_memory_core.flow.calls.drive import Flow, ask, attempt
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.learn.usefulness_weight import GHOST_SHARE, GHOSTS, Ranking
from adaptive_memory_core.records import Cue, Scope
from adaptive_memory_core.reports import LoggedRecall
from adaptive_memory_core.score.gates import BEYOND_K
from adaptive_memory_core.shown_in_errors import shown
from adaptive_memory_core.text_identity import said

NO_CUE = Cue("")


class Candidate(NamedTuple):
    """A scored candidate; `dropped` where the recall returned better ones."""

    id: str
    signals: Mapping[str, float]
    dropped: bool
    parts: Mapping[str, float] = {}


@dataclass(frozen=True, slots=True)
class PastRecall:
    """A recall as far as verdicts need it; `step` is None where it changed nothing. `scope` is the one that made it."""

    id: str
    at: float
    step: int | None
    returned: Sequence[str]
    candidates: Sequence[Candidate]
    scope: Scope
    cue: Cue = NO_CUE
    said: Mapping[str, bytes | None] = field(default_factory=dict)  # by those that were returned, as far as it is known


def past_recall(ports: Ports, scope: Scope, recall: Recall | str) -> Flow[PastRecall]:
    """The recall to judge; one of another scope does not exist here."""
    if isinstance(recall, Recall):
        if recall.scope.user != scope.user:
            raise ScopeError(
                f"This recall is of {recall.scope}, not of {scope}. Judge it through the scope that made it."
            )
        own = [one for one in recall.kept if one.hit.learnable]
        kept = [Candidate(one.id, one.signals, False, one.parts) for one in own]
        weighed = [(one.id, one.scored) for one in recall.dropped if one.scored is not None]
        rest = [Candidate(one_id, scored.signals, True, scored.parts) for one_id, scored in weighed]
        words, ids = {one.id: said(one.text) for one in own}, [one.id for one in own]
        return PastRecall(recall.id, recall.now, recall.step, ids, [*kept, *rest], recall.scope, recall.cue, words)
    logged = yield from ask(ports.ledger.log.recall, scope, recall)
    if logged is None:
        raise NotFoundError(
            f"There is no recall {shown(recall)} in the log of {scope}. Give the id of a recall that was reinforced "
            "while the log was on and that is within its retention, or the Recall itself."
        )
    return _of(scope, logged)


def rankings(ports: Ports, scope: Scope, recall: PastRecall, helpful: Sequence[str]) -> Flow[dict[str, list[Ranking]]]:
    """For each helpful record, how it stood in the recall, and in those just before that had dropped it."""
    told = {one: list(_standings(recall.candidates, one, 1.0)) for one in helpful}
    if recall.step is None or not any(told.values()):
        return told
    outcome = yield from attempt(
        LedgerError, ports.ledger.log.recalls, scope, since=None, until=recall.at, limit=GHOSTS + 1, containing=None
    )
    for past in outcome.value or ():
        if recall.step - GHOSTS <= past.step < recall.step:
            dropped = [one.id for one in past.candidates if one.reason == BEYOND_K]
            for one in set(dropped) & set(helpful):
                told[one] += _standings(_of(scope, past).candidates, one, GHOST_SHARE)
    return told


def _standings(candidates: Sequence[Candidate], record_id: str, share: float) -> Iterator[Ranking]:
    """The record among the candidates, where the blend had an ear for usefulness."""
    pairs = [(one.signals["relevance"], one.signals["useful"]) for one in candidates if "useful" in one.signals]
    places = [place for place, one in enumerate(candidates) if one.id == record_id]
    if places and len(pairs) == len(candidates) and any(useful > 0.0 for _, useful in pairs):
        clipped = [(min(1.0, max(0.0, relevance)), useful) for relevance, useful in pairs]
        yield Ranking(clipped, places[0], share)


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
