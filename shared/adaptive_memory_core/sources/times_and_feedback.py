"""The sources for times and from feedback: records of a time that the question names or of an earlier day, records that
answered similar questions, and records that were helpful lately."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adaptive_memory_core.channels.language_of_text import is_likely_english
from adaptive_memory_core.cue.time.intent import (
    LONGEST_READ,
    Sign,
    TimeHint,
    Window,
    in_ascii_letters,
    intent_of,
    signs,
    without_repeats,
)
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
from adaptive_memory_core.learn.verdicts import StateHistory
from adaptive_memory_core.policy.learning import AGAINST, AHEAD, NEAR, TRUSTED
from adaptive_memory_core.records import Record, Scope
from adaptive_memory_core.reports import Change, LoggedRecall
from adaptive_memory_core.score.ranking import ONE_CALL_SECONDS, Candidates
from adaptive_memory_core.score.refusals import LATER, is_later
from adaptive_memory_core.score.time_match import OUTSIDE, outside
from adaptive_memory_core.sources.gather import error_text
from adaptive_memory_core.sources.request import Refuse, Request


class AskedTime:
    """A second vector search, among the records of the time that the question names."""

    name = "the time asked about"

    def ask(self, ports: Ports, request: Request, asked: SourceQuery) -> Answer:
        """The nearest records of that time; empty if the vectors failed or already found all records."""
        if len(asked.nearest.found) < request.candidates:
            return Answer(self.name)
        if asked.nearest.within is not None:
            return Answer(self.name, found=asked.nearest.within)
        vector, windows = asked.cue.vector, request.intent.windows
        outcome = tried(
            AdaptiveMemoryError, ports.search.during, request.scope, vector, request.candidates, request.where, windows
        )
        if outcome.value is None:
            return Answer(self.name, notes=(f"the time asked about was not searched by itself: {outcome.error}",))
        return Answer(self.name, found=outcome.value)


class AsOfDay:
    """A second vector search, among the records that were written or began up to the day of the recall."""

    name = "as of that day"

    def ask(self, ports: Ports, request: Request, asked: SourceQuery) -> Answer:
        """The nearest records up to that day; empty if the vectors failed or already found all records."""
        if request.as_of is None or len(asked.nearest.found) < request.candidates:
            return Answer(self.name)
        until = [Window(None, math.nextafter(request.as_of + ONE_CALL_SECONDS, math.inf))]
        vector = asked.cue.vector
        outcome = tried(
            AdaptiveMemoryError, ports.search.during, request.scope, vector, request.candidates, request.where, until
        )
        if outcome.value is None:
            return Answer(self.name, notes=(f"what was there on that day was not searched by itself: {outcome.error}",))
        return Answer(self.name, found=outcome.value)


def understand_time(ports: Ports, request: Request) -> Request:
    """The request with the time that it asks about. A language whose rules fail is left out, with a note."""
    words = request.cue.text if request.cue.words is None else request.cue.words
    if request.policy.time_words == "off" or len(words) > LONGEST_READ or not words.strip():
        return request
    small = (words if words.isascii() else in_ascii_letters(words).replace("\u2019", "'")).lower()
    english = is_likely_english(words)
    found: list[list[Sign]] = []
    notes: list[str] = []
    for language in ports.languages:
        hint: TimeHint | None = getattr(language, "hint", None)
        if hint is not None and ((english and hint.code is not None) or hint.some.search(small) is None):
            continue
        try:
            found.append(signs(words, language, now=request.now))
        except Exception as error:  # noqa: BLE001 - it may be the caller's
            name = getattr(language, "__name__", type(language).__name__)
            notes.append(f"what the question says about time was not understood by {name}: {error_text(error)}")
    if not any(found) and not notes:
        return request
    asked = request._replace(intent=intent_of(without_repeats(found)), notes=(*request.notes, *notes))
    strict = request.policy.time_words == "filter" and asked.intent.windows
    return asked._replace(refuse=_strict(asked)) if strict else asked


def _strict(request: Request) -> Refuse:
    """A rule that refuses what the caller refuses, and records of another time."""
    own, intent = request.refuse, request.intent

    def refuse(record: Record) -> str | None:
        return (None if own is None else own(record)) or (OUTSIDE if outside(record, intent) else None)

    return refuse


MOST_LINES = 100_000  # lines of the log and of the audit trail that are read
NO_LOG = "reads, verdicts and pins count as of now, not as of then: this memory keeps no log"
STRENGTHS = "strengths count as of now, not as of then"


def as_of_day(ports: Ports, request: Request) -> Request:
    """The request with the user's state as of that day. If the log does not suffice, a note is added."""
    at = request.as_of
    if at is None:
        return request
    asked = request._replace(refuse=_not_later(request.refuse, at))
    notes = [] if request.policy.pace.still else [STRENGTHS]
    if not ports.log:
        return asked._replace(notes=(*request.notes, *notes, NO_LOG))
    outcome = tried(LedgerError, _past, ports, request, at)
    if outcome.value is None:
        notes.append(f"reads, verdicts and pins count as of now, not as of then: {outcome.error}")
        return asked._replace(notes=(*request.notes, *notes))
    past, logged = outcome.value
    if logged < past.step:
        notes.append(
            f"the log holds {logged} of the {past.step} recalls up to that day: what the others read is not known"
        )
    return asked._replace(past=past, notes=(*request.notes, *notes))


def _past(ports: Ports, request: Request, at: float) -> tuple[StateHistory, int]:
    """The reads and changes up to that day, and how many of the recalls up to then are still in the log."""
    ledger, scope = ports.ledger, request.scope
    lines = _logged(ports, request, since=None, until=at)
    reads: dict[str, list[float]] = {}
    for line in reversed(lines):
        for one in line.kept:
            reads.setdefault(one.id, []).append(line.at)
    changes: dict[str, list[Change]] = {}
    for change in reversed(ledger.audit.changes(scope, (), limit=MOST_LINES)):
        changes.setdefault(change.id, []).append(change)
    steps = {line.step for line in lines}
    step = max(steps, default=0)
    if len(steps) < step:  # some are lost, or were made on a later day about an earlier one
        later = _logged(ports, request, since=math.nextafter(at, math.inf), until=None)
        step = min(step, min((line.step for line in later), default=step + 1) - 1)
    return StateHistory(at, step, reads, changes), sum(one <= step for one in steps)


def _logged(ports: Ports, request: Request, *, since: float | None, until: float | None) -> list[LoggedRecall]:
    return ports.ledger.log.recalls(request.scope, since=since, until=until, limit=MOST_LINES, containing=None)


def _not_later(own: Refuse | None, at: float) -> Refuse:
    """A rule that refuses what the caller refuses, and records from after `at`; records without a time pass."""

    def refuse(record: Record) -> str | None:
        return (None if own is None else own(record)) or (LATER if is_later(record, at) else None)

    return refuse


MOST_NAMED = 5  # records that are candidates because they answered similar questions; similar_questions.py
MOST_EXPLAINED = 10  # most trusted records whose question is read from the log
LONGEST = 200  # characters of an earlier question that are shown
_SILENT = QuestionEvidence(0.0, 0.0, 0.0)


class AskedBefore:
    """The user's records with verdicts for or against them on similar questions, for the default blend."""

    name = "asked before"

    def ask(self, ports: Ports, request: Request, asked: SourceQuery) -> Answer:
        """The records that verdicts support, best first; empty without verdicts on similar questions."""
        cue, version = asked.cue, request.version
        none = cue.vector is None or (version is not None and not version.learned.judged)
        try:
            known = None if none else ports.ledger.judged_questions.of(request.scope, version)
        except LedgerError as error:
            return Answer(self.name, error=error)
        if known is None:
            return Answer(self.name)
        baseline = median_baseline([one.similarity for one in asked.nearest.found])
        evidence = _evidence_of(known, cue.vector, baseline)
        if not evidence:
            return Answer(self.name)
        judged = tried(AdaptiveMemoryError, of_same_texts, ports, request.scope, known, list(evidence))
        if judged.value is None:
            return Answer(self.name, error=judged.error)
        if judged.value is not known:
            evidence = _evidence_of(judged.value, cue.vector, baseline)
            if not evidence:
                return Answer(self.name)
        best = sorted((one for one in evidence if evidence[one].trusted > 0.0), key=lambda one: -evidence[one].trusted)
        named = best if asked.passing is None else [one for one in best if one in asked.passing]
        because = _because(ports, known, {one: evidence[one] for one in best[:MOST_EXPLAINED]})
        return Answer(self.name, named=named[:MOST_NAMED], leads=FeedbackLeads(evidence), because=because)


@dataclass(frozen=True, slots=True)
class FeedbackLeads:
    """The evidence for each candidate; 0 without verdicts on similar questions."""

    evidence: Mapping[str, QuestionEvidence]

    def __call__(self, these: Candidates) -> dict[str, list[float]]:
        found = [self.evidence.get(one, _SILENT) for one in these.columns.stored_ids]
        return {
            NEAR: [one.near for one in found],
            TRUSTED: [one.trusted for one in found],
            AGAINST: [one.against for one in found],
            AHEAD: [one.ahead for one in found],
        }


def of_same_texts(ports: Ports, scope: Scope, questions: RatedQuestions, stored_ids: Sequence[str]) -> RatedQuestions:
    """The questions without those of records whose text another program has changed since, because the verdicts were on
    the earlier text. Only these ids are checked."""
    learned = ports.ledger.states.known(scope, stored_ids).text_digests
    found = ports.search.stored(scope, stored_ids)
    changed = {one.stored_id for one in found if learned.get(one.stored_id) not in (None, text_digest(one.text))}
    return without_records(questions, changed)


def _evidence_of(questions: RatedQuestions, vector: object, baseline: float) -> Mapping[str, QuestionEvidence]:
    """The evidence from the questions; empty if they come from another embedder."""
    direction = unit_vector(vector)
    if direction.shape != questions.vectors.shape[1:]:
        return NO_EVIDENCE
    return question_evidence(questions, direction, baseline)


def _because(ports: Ports, questions: RatedQuestions, evidence: Mapping[str, QuestionEvidence]) -> dict[str, str]:
    """A reason for each record: the question that it was helpful for, in its words if the log still has them."""
    keys = {stored_id: questions.keys[one.row] for stored_id, one in evidence.items()}
    words = tried(LedgerError, ports.ledger.judged_questions.words, list(dict.fromkeys(keys.values())))
    known = words.value or {}
    return {
        stored_id: f"was helpful for {_named(known.get(key))}, {100 * evidence[stored_id].near:.0f} % like this one"
        for stored_id, key in keys.items()
    }


def _named(words: str | None) -> str:
    """
    >>> _named("who is\\nAna?"), _named(None)
    ("'who is Ana?'", 'an earlier question')
    """
    return "an earlier question" if words is None else repr(" ".join(words[:LONGEST].split()))


REACH = 10  # recalls of the user within which a useful record is always a candidate; benchmarks/bursts.py


class RecentlyHelpful:
    """The user's records that were helpful within the last recalls."""

    name = "recently helpful"

    def ask(self, ports: Ports, request: Request, asked: SourceQuery) -> Answer:  # noqa: ARG002 - asked like the others
        """The recently helpful records; empty if the vectors or the ledger failed, or if vectors found all records."""
        if len(asked.nearest.found) < request.candidates or request.version is None:
            return Answer(self.name)
        step, helpful, _ = request.version.learned
        return Answer(self.name, named=[stored_id for stored_id, when in helpful if when > step - REACH])
