"""What is known of the recall that a verdict is about: its candidates with their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.errors import NotFoundError, ScopeError
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.learn.verdicts import HelpfulRank
from adaptive_memory_core.records import Cue, Scope
from adaptive_memory_core.reports import LoggedRecall
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


def past_recall(ports: Ports, scope: Scope, recall: Recall | str) -> PastRecall:
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
    logged = ports.ledger.log.recall(scope, recall)
    if logged is None:
        raise NotFoundError(
            f"There is no recall {shown(recall)} in the log of {scope}. Give the id of a recall that was reinforced "
            "while the log was on and that is within its retention, or the Recall itself."
        )
    return _of(scope, logged)


def ranking_of(record_id: str, candidates: Sequence[Candidate]) -> HelpfulRank | None:
    """How the record ranked among the candidates; None if usefulness took no part in that."""
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
