"""Which of the best candidates say the same thing? A rule of the caller's, if there is one, in the place of ours."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow.calls.foreign_calls import answered
from adaptive_memory_core.flow.candidates.gather import said
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.steps.relevance_floor import NO_FLOOR, FloorVerdict
from adaptive_memory_core.records import Hit
from adaptive_memory_core.score.newest_first import COMPARED
from adaptive_memory_core.score.select import select
from adaptive_memory_core.shown_in_errors import shown


class SameFacts(NamedTuple):
    """What each of the best says, by its id in the collection; None where our own rules are to tell."""

    facts: Mapping[str, Hashable] | None = None
    notes: tuple[str, ...] = ()


OUR_RULES = SameFacts()


def same_facts(request: Request, hits: Sequence[Hit], floor: FloorVerdict = NO_FLOOR) -> SameFacts:
    """What the caller's rule says. If it fails, ours tell, and the recall says so."""
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
    return SameFacts(None, (f"the rule for what says the same was left out: {said(error)}",))


def _labels(given: Any, count: int) -> list[Hashable]:
    """One label for each text.

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
