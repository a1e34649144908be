"""What GAM-RAG's form of the graph is asked: the question's entities and time as vectors, and earlier verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive_memory_core.cue.time.intent import Language, understand
from adaptive_memory_core.errors import AdaptiveMemoryError, LedgerError
from adaptive_memory_core.flow.calls.foreign_calls import tried
from adaptive_memory_core.flow.calls.time_limits import embedded_texts
from adaptive_memory_core.flow.candidates.asked_before import of_same_texts
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.ports import Ports, Vector
from adaptive_memory_core.flow.ports.graph import AskedAsPublished, GraphFound
from adaptive_memory_core.flow.ports.judges import JudgePort
from adaptive_memory_core.graph.paper import NO_TIME
from adaptive_memory_core.learn.asked_before import RatedQuestions

LATE = 4_102_444_800.0  # no text names a later day as one that was; 2100 in POSIX seconds


def look_as_published(ports: Ports, request: Request, vector: Vector) -> GraphFound:
    """What the graph comes to; with a judge, in as many rounds as the judge wants."""
    if vector is None:  # the embedder failed
        return GraphFound({}, {}, asked=False)
    question, judge = request.cue.own_words, request.judge
    entities = ports.graph.extracted(question)
    time = time_in(question, judge, ports.languages)
    texts = [*entities, *([] if time is None else [time, NO_TIME])]
    vectors = embedded_texts(ports.embedder, texts) if texts else ()
    asked_time, no_time = (None, None) if time is None else vectors[len(entities) :]
    settings = request.policy.advanced.graph
    judged = _judged(ports, request)
    asked = AskedAsPublished(vectors[: len(entities)], vector, asked_time, no_time, judged, settings.process_noise)
    sufficient = None if judge is None else judge.sufficient
    suffices = None if sufficient is None else lambda texts: sufficient(question, texts)
    return ports.graph.look_as_published(request.scope, asked, settings, suffices)


def time_in(text: str, judge: JudgePort | None, languages: Sequence[Language]) -> str | None:
    """The words of a text that say when it holds: as the judge finds them, else by the memory's languages."""
    if judge is not None and judge.time is not None:
        return judge.time(text).words or None
    read = tried(Exception, understand, text, languages, now=LATE)  # a language may be the caller's
    return None if read.value is None else ", ".join(read.value.phrases) or None


def _judged(ports: Ports, request: Request) -> RatedQuestions | None:
    """What was judged, of records that still say the same; as of an earlier day later verdicts are not known."""
    if request.as_of is not None:
        return None
    known = tried(LedgerError, ports.ledger.judged_questions.of, request.scope)
    if known.value is None:
        return None
    return tried(AdaptiveMemoryError, of_same_texts, ports, request.scope, known.value, known.value.stored_ids).value
