"""When is asked about, and what happened then? The question's own words about time, and candidates from that time."""

from __future__ import annotations

from dataclasses import replace

from adaptive_memory_core.cue.time.intent import Language, Sign, signs, together
from adaptive_memory_core.errors import AdaptiveMemoryError
from adaptive_memory_core.flow.calls.drive import Flow, attempt
from adaptive_memory_core.flow.candidates.gather import Bar, Finding, Request, present, standing, strangers
from adaptive_memory_core.flow.candidates.other_channels import said
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.records import Cue, Record
from adaptive_memory_core.score.time_match import OUTSIDE, outside


def timed(ports: Ports, request: Request) -> Flow[Request]:
    """The request with the time that it asks about. A language whose rules fail costs itself and a note."""
    words = request.cue.own_words
    if not request.policy.time_words.enabled or not words.strip():
        return request
    found: list[Sign] = []
    for language in ports.languages:
        outcome = yield from attempt(Exception, signs, words, language, now=request.now)
        found += outcome.value or ()
        if outcome.error is not None:
            note = f"what the question says about time was not understood by {_named(language)}: {said(outcome.error)}"
            request = replace(request, notes=(*request.notes, note))
    asked = replace(request, intent=together(found))
    return replace(asked, bar=_strict(asked)) if asked.intent.windows and request.policy.time_words.strict else asked


def then(ports: Ports, request: Request, cue: Cue, finding: Finding) -> Flow[Finding]:
    """The candidates, and with them the nearest of the time that is asked about: others may stand before them."""
    windows, policy = request.intent.windows, request.policy
    limit = max(policy.recall_k, request.k)
    if not windows or policy.time_words.weight == 0.0 or len(finding.hits) < limit:
        return finding
    outcome = yield from attempt(
        AdaptiveMemoryError, ports.store.during, request.scope, cue.vector, limit, request.where, windows
    )
    if outcome.value is None:
        return replace(
            finding, notes=(*finding.notes, f"the time asked about was not searched by itself: {outcome.error}")
        )
    seen = {hit.stored_id for hit in finding.hits}
    found = [one for one in outcome.value if one.stored_id not in seen]
    known = yield from standing(ports, request, found)
    more = present(ports, request, found, known)
    return replace(
        finding, hits=[*finding.hits, *more], strangers={**finding.strangers, **strangers(more, known, request)}
    )


def _strict(request: Request) -> Bar:
    """The caller's own bar, and then the time."""
    own, intent = request.bar, request.intent

    def bar(record: Record) -> str | None:
        return (None if own is None else own(record)) or (OUTSIDE if outside(record, intent) else None)

    return bar


def _named(language: Language) -> str:
    return getattr(language, "__name__", type(language).__name__)
