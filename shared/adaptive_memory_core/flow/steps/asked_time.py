"""Which time does this request ask about? Its words, read by the languages of this memory."""

from __future__ import annotations

from dataclasses import replace

from adaptive_memory_core.cue.time.intent import Sign, intent_of, signs, without_repeats
from adaptive_memory_core.flow.calls.foreign_calls import tried
from adaptive_memory_core.flow.candidates.gather import said
from adaptive_memory_core.flow.candidates.request import Refuse, Request
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.records import Record
from adaptive_memory_core.score.time_match import OUTSIDE, outside


def understand_time(ports: Ports, request: Request) -> Request:
    """The request with the time that it asks about. A language whose rules fail costs itself and a note."""
    words = request.cue.own_words
    if request.policy.time_words == "off" or not words.strip():
        return request
    found: list[list[Sign]] = []
    notes: list[str] = []
    for language in ports.languages:
        outcome = tried(Exception, signs, words, language, now=request.now)
        found.append(outcome.value or [])
        if outcome.error is not None:
            name = getattr(language, "__name__", type(language).__name__)
            notes.append(f"what the question says about time was not understood by {name}: {said(outcome.error)}")
    if not any(found) and not notes:
        return request
    asked = replace(request, intent=intent_of(without_repeats(found)), notes=(*request.notes, *notes))
    strict = request.policy.time_words == "filter" and asked.intent.windows
    return replace(asked, refuse=_strict(asked)) if strict else asked


def _strict(request: Request) -> Refuse:
    """What the caller refuses, and then what is of another time."""
    own, intent = request.refuse, request.intent

    def refuse(record: Record) -> str | None:
        return (None if own is None else own(record)) or (OUTSIDE if outside(record, intent) else None)

    return refuse
