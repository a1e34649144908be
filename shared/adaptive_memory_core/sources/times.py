"""The sources for times: records of a time that the question names, and recalls as of an earlier day."""

from __future__ import annotations

import math

from adaptive_memory_core.channels.language_of_text import likeliest
from adaptive_memory_core.channels.languages import ENGLISH, FUNCTION_WORDS
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
from adaptive_memory_core.learn.verdicts import StateHistory
from adaptive_memory_core.records import Record
from adaptive_memory_core.reports import Change, LoggedRecall
from adaptive_memory_core.score.gates import LATER, ONE_CALL_SECONDS, is_later
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
    english = likeliest(words, FUNCTION_WORDS) == ENGLISH
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
