"""The sources from feedback: records that answered similar questions, and records that were helpful lately."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from adaptive_memory_core.errors import AdaptiveMemoryError, LedgerError
from adaptive_memory_core.flow.calls.foreign_calls import tried
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.source import Answer, SourceQuery
from adaptive_memory_core.identity import text_digest
from adaptive_memory_core.learn.asked_before import (
    NO_EVIDENCE,
    QuestionEvidence,
    RatedQuestions,
    median_baseline,
    question_evidence,
    without_records,
)
from adaptive_memory_core.learn.gain import unit_vector
from adaptive_memory_core.policy.learning import AGAINST, AHEAD, NEAR, TRUSTED
from adaptive_memory_core.records import Scope
from adaptive_memory_core.score.ranking import Candidates
from adaptive_memory_core.sources.request import Request

MOST_NAMED = 5  # records that are candidates because they answered similar questions; similar_questions.py
MOST_EXPLAINED = 10  # most trusted records whose question is read from the log
LONGEST = 200  # characters of an earlier question that are shown
_SILENT = QuestionEvidence(0.0, 0.0, 0.0)


class AskedBefore:
    """The user's records with verdicts for or against them on similar questions, for the default blend."""

    name = "asked before"

    def ask(self, ports: Ports, request: Request, asked: SourceQuery) -> Answer:
        """The records that verdicts support, best first; empty without verdicts on similar questions."""
        cue = asked.cue
        try:
            known = None if cue.vector is None else ports.ledger.judged_questions.of(request.scope, request.version)
        except LedgerError as error:
            return Answer(self.name, error=error)
        if known is None:
            return Answer(self.name)
        baseline = median_baseline([one.similarity for one in asked.nearest.found])
        said = _told(known, cue.vector, baseline)
        if not said:
            return Answer(self.name)
        judged = tried(AdaptiveMemoryError, of_same_texts, ports, request.scope, known, list(said))
        if judged.value is None:
            return Answer(self.name, error=judged.error)
        if judged.value is not known:
            said = _told(judged.value, cue.vector, baseline)
            if not said:
                return Answer(self.name)
        best = sorted((one for one in said if said[one].trusted > 0.0), key=lambda one: -said[one].trusted)
        named = best if asked.passing is None else [one for one in best if one in asked.passing]
        because = _because(ports, known, {one: said[one] for one in best[:MOST_EXPLAINED]})
        return Answer(self.name, named=named[:MOST_NAMED], leads=FeedbackLeads(said), because=because)


@dataclass(frozen=True, slots=True)
class FeedbackLeads:
    """The evidence for each candidate; 0 without verdicts on similar questions."""

    said: Mapping[str, QuestionEvidence]

    def __call__(self, these: Candidates) -> dict[str, list[float]]:
        found = [self.said.get(one, _SILENT) for one in these.columns.stored_ids]
        return {
            NEAR: [one.near for one in found],
            TRUSTED: [one.trusted for one in found],
            AGAINST: [one.against for one in found],
            AHEAD: [one.ahead for one in found],
        }


def of_same_texts(ports: Ports, scope: Scope, questions: RatedQuestions, stored_ids: Sequence[str]) -> RatedQuestions:
    """The questions without those of records whose text another program has changed since, because the verdicts were on
    the earlier text. Only these ids are checked."""
    learned = ports.ledger.states.known(scope, stored_ids).said
    found = ports.search.stored(scope, stored_ids)
    changed = {one.stored_id for one in found if learned.get(one.stored_id) not in (None, text_digest(one.text))}
    return without_records(questions, changed)


def _told(questions: RatedQuestions, vector: object, baseline: float) -> Mapping[str, QuestionEvidence]:
    """The evidence from the questions; empty if they come from another embedder."""
    direction = unit_vector(vector)
    if direction.shape != questions.vectors.shape[1:]:
        return NO_EVIDENCE
    return question_evidence(questions, direction, baseline)


def _because(ports: Ports, questions: RatedQuestions, said: Mapping[str, QuestionEvidence]) -> dict[str, str]:
    """A reason for each record: the question that it was helpful for, in its words if the log still has them."""
    keys = {stored_id: questions.keys[one.row] for stored_id, one in said.items()}
    words = tried(LedgerError, ports.ledger.judged_questions.words, list(dict.fromkeys(keys.values())))
    known = words.value or {}
    return {
        stored_id: f"was helpful for {_named(known.get(key))}, {100 * said[stored_id].near:.0f} % like this one"
        for stored_id, key in keys.items()
    }


def _named(words: str | None) -> str:
    """
    >>> _named("who is\\nAna?"), _named(None)
    ("'who is Ana?'", 'an earlier question')
    """
    return "an earlier question" if words is None else repr(" ".join(words[:LONGEST].split()))


REACH = 10  # recalls of the user within which a useful record is always a candidate; benchmarks/bursts.py
MOST_RECENT = 8  # records that are compared in addition to the nearest; bursts have fewer


class RecentlyHelpful:
    """The user's records that were helpful within the last recalls."""

    name = "recently helpful"

    def ask(self, ports: Ports, request: Request, asked: SourceQuery) -> Answer:
        """The recently helpful records; empty if the vectors failed or already found all records."""
        if len(asked.nearest.found) < request.candidates:
            return Answer(self.name)
        scope, version, helpful = request.scope, request.version, ports.ledger.states.recently_helpful
        with suppress(LedgerError):
            return Answer(self.name, named=helpful(scope, version, recalls=REACH, limit=MOST_RECENT) or ())
        return Answer(self.name)
