"""The graph as a source, in this project's form and in GAM-RAG's, and the hierarchy, from themes down to messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from adaptive_memory_core.channels.matches import WordsFound
from adaptive_memory_core.cue.time.intent import Language, understand
from adaptive_memory_core.errors import AdaptiveMemoryError, LedgerError, StoreError
from adaptive_memory_core.flow.calls.foreign_calls import tried
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.graph import NO_LIFTS, GamRagQuery, GraphFound, Hop, Lifts
from adaptive_memory_core.flow.ports.records import Vector
from adaptive_memory_core.flow.ports.source import Answer, Found, SourceQuery
from adaptive_memory_core.graph.build import record_title, split_title
from adaptive_memory_core.graph.names import MOST_LOOKED_UP, handle, known_names
from adaptive_memory_core.graph.paper import NO_TIME
from adaptive_memory_core.hierarchy.nodes import Hierarchy
from adaptive_memory_core.hierarchy.top_down import WayDown, top_down
from adaptive_memory_core.identity import record_id
from adaptive_memory_core.learn.asked_before import RatedQuestions
from adaptive_memory_core.length_limits import start_and_end
from adaptive_memory_core.policy.advanced import GRAPH, HIERARCHY, LEXICAL, LINKED_FROM, Graphs
from adaptive_memory_core.score.ranking import Candidates
from adaptive_memory_core.score.surprise import UNMEASURED, baseline_in
from adaptive_memory_core.sources.request import BaselineLeads, Request, embedded_texts
from adaptive_memory_core.sources.times_and_feedback import FeedbackLeads, of_same_texts

if TYPE_CHECKING:
    from adaptive_memory_core.models.judges import Judge


def is_made(ports: Ports, request: Request, asked: SourceQuery) -> bool:
    """Whether this user's records are linked and in the graph. If they are linked but not in the graph, counted recalls
    check whether the question names the title of a found record, and if so, request the graph."""
    if ports.graph.linked.links(request.scope) < LINKED_FROM:
        return False
    made = ports.graph.made(request.scope)
    if not made and request.reinforce:
        found = _found(ports, request, asked)
        titles = {handle(title) for one in found if (title := _title(one, request))}
        if known_names(start_and_end(request.cue.own_words, MOST_LOOKED_UP), titles.intersection):
            ports.graph.want(request.scope)
    return made


def _found(ports: Ports, request: Request, asked: SourceQuery) -> list[Found]:
    """The records that vectors and words found."""
    nearest = [*asked.nearest.found, *asked.nearest.named_found]
    known = {one.stored_id for one in nearest}
    worded = [
        stored_id for one in asked.earlier if one.source == LEXICAL for stored_id in one.named if stored_id not in known
    ]
    more = tried(StoreError, ports.search.stored, request.scope, worded)
    return [*nearest, *(more.value or ())]


def _title(one: Found, request: Request) -> str | None:
    return split_title(one.text or "", record_title(one.metadata, request.fields))[0]


def vectors_of_unknown_names(ports: Ports, request: Request) -> Mapping[str, Vector]:
    """Vectors of the query's names that the graph does not have, by name. Empty if similar names are not used, if the
    graph has all names, which is usual, or if the embedder fails."""
    if request.policy.advanced.graph.names_alike == 0.0:
        return {}
    ports.graph.compare_names()
    found = tried(AdaptiveMemoryError, ports.graph.unknown_names, request.scope, request.cue.own_words)
    names = found.value or ()
    if not names:
        return {}
    try:
        vectors = embedded_texts(ports.embedder, names)
    except AdaptiveMemoryError:
        return {}
    return dict(zip(names, vectors, strict=True))


LATE = 4_102_444_800.0  # the year 2100 in POSIX seconds, later than any day in a text


def look_as_published(ports: Ports, request: Request, vector: Vector) -> GraphFound:
    """The records that the paper's form of the graph finds; with a judge, in as many rounds as the judge asks for."""
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
    asked = GamRagQuery(vectors[: len(entities)], vector, asked_time, no_time, judged, settings.process_noise)
    sufficient = None if judge is None else judge.sufficient
    suffices = None if sufficient is None else lambda texts: sufficient(question, texts)
    return ports.graph.look_as_published(request.scope, asked, settings, suffices)


def time_in(text: str, judge: Judge | None, languages: Sequence[Language]) -> str | None:
    """The words of a text about its time, found by the judge or else by the memory's languages."""
    if judge is not None and judge.time is not None:
        return judge.time(text).words or None
    read = tried(Exception, understand, text, languages, now=LATE)  # a language may be the caller's
    return None if read.value is None else ", ".join(read.value.phrases) or None


def _judged(ports: Ports, request: Request) -> RatedQuestions | None:
    """The judged questions of records whose text has not changed; None for a recall as of an earlier day."""
    if request.as_of is not None:
        return None
    known = tried(LedgerError, ports.ledger.judged_questions.of, request.scope, request.version)
    if known.value is None:
        return None
    return tried(AdaptiveMemoryError, of_same_texts, ports, request.scope, known.value, known.value.stored_ids).value


SPOKEN = 0.1  # factor for the graph's evidence for turns of a conversation; a sweep: docs/research/graph.md
SEEDS = 5  # best records by vectors and by words from which the graph search also starts


class GraphSource:
    """The channel "graph". It is asked after vectors, words and verdicts on similar questions, whose records are
    additional starting points."""

    name = GRAPH

    def ask(self, ports: Ports, request: Request, asked: SourceQuery) -> Answer:
        """The records that the graph search reaches, best first."""
        cue, policy = asked.cue, request.policy
        if policy.advanced.graph.asks == "linked" and not is_made(ports, request, asked):
            return Answer(self.name)
        published = policy.advanced.graph.form == "paper"

        def look() -> GraphFound:
            if (note := _words_lacking(ports, request, asked)) is not None:
                return GraphFound({}, {}, note, asked=False)
            if published:
                return look_as_published(ports, request, cue.vector)
            measured = asked.nearest.leads
            baseline = measured.measured if isinstance(measured, BaselineLeads) else UNMEASURED
            more = (_seeds(asked), _lifts(asked), vectors_of_unknown_names(ports, request), baseline)
            return ports.graph.look(request.scope, request.cue.own_words, cue.vector, policy.advanced.graph, *more)

        outcome = tried(Exception, look)
        if outcome.value is None:
            return Answer(self.name, error=outcome.error)
        found = _less_where_spoken(outcome.value, asked, policy.advanced.graph)
        notes = () if found.note is None else (found.note,)
        if not found.asked:
            return Answer(self.name, notes=notes)
        named = [one for one in found.numbers if asked.passing is None or one in asked.passing]
        because = {one: f"is what the graph came to by {_in_words(request, way)}" for one, way in found.reached.items()}
        return Answer(self.name, named=named[: request.candidates], leads=found, because=because, notes=notes)


def _words_lacking(ports: Ports, request: Request, asked: SourceQuery) -> str | None:
    """Why the graph is left out because the words are not all indexed yet; None if they are."""
    words = next((one for one in asked.earlier if one.source == LEXICAL), None)
    if words is None:  # the recall does not use words
        return ports.words.lacking(request.scope)
    return "the graph is left out as well" if words.leads is None and words.error is None else None


def _less_where_spoken(found: GraphFound, asked: SourceQuery, settings: Graphs) -> GraphFound:
    """The graph's result with less evidence for turns of a conversation, whose neighbours are better evidence than
    names."""
    words = next((one.leads for one in asked.earlier if isinstance(one.leads, WordsFound)), None)
    if words is None or words.talk is None or settings.form == "paper":
        return found
    ids = list(found.numbers)
    spoken = words.in_conversation(ids)
    numbers = {one: found.numbers[one] * (SPOKEN if said else 1.0) for one, said in zip(ids, spoken, strict=True)}
    return replace(found, numbers=numbers)


def _seeds(asked: SourceQuery) -> dict[str, float]:
    """The best records by vectors and by words, each with a weight from its rank."""
    nearest = [one.stored_id for one in asked.nearest.found[:SEEDS]]
    worded = next((list(one.named[:SEEDS]) for one in asked.earlier if one.source == LEXICAL), [])
    worth: dict[str, float] = {}
    for ranked in (nearest, worded):
        for rank, one in enumerate(ranked):
            worth[one] = worth.get(one, 0.0) + 0.5 * (1.0 - rank / SEEDS)
    return worth


def _lifts(asked: SourceQuery) -> Lifts:
    """The records that verdicts on similar questions support, with their weights."""
    feedback = next((one.leads for one in asked.earlier if isinstance(one.leads, FeedbackLeads)), None)
    if feedback is None:
        return NO_LIFTS
    return Lifts({one: it.trusted * it.near for one, it in feedback.evidence.items() if it.trusted > 0.0})


def _in_words(request: Request, way: Sequence[Hop]) -> str:
    """The path to a record in words, to explain why it was found."""
    sentences = [f"sentence {hop.sentence + 1} of {record_id(request.scope, hop.stored_id)!r}" for hop in way]
    begins = [_named(hop) if hop.name else "what other channels found" for hop in way]
    return " -> ".join(step for pair in zip(begins, sentences, strict=True) for step in pair)


def _named(hop: Hop) -> str:
    """The name that was followed, and the query's name that it was matched with."""
    taken = hop.alike
    return (
        repr(hop.name)
        if taken is None
        else f"{hop.name!r} (taken for {taken.of!r}, {100 * taken.likeness:.0f} % alike)"
    )


UNFINISHED = "the shape 'top_down' was left out: the hierarchy is not made of all episodes yet, the rest is under way"
NOTHING_OBSERVED = "the shape 'top_down' was left out: nothing was observed yet, or no episode has ended"


@dataclass(frozen=True, slots=True)
class HierarchyLeads:
    """The path taken through a hierarchy, and a lead for every candidate: the worth of its episode. A record outside
    episodes counts by its own similarity."""

    hierarchy: Hierarchy
    way: WayDown

    def worth(self, stored_id: str, similarity: float) -> float | None:
        """The score of a message's episode, or its own similarity; None if its episode was not reached."""
        episode = self.hierarchy.episode_of.get(stored_id)
        return min(1.0, max(0.0, similarity)) if episode is None else self.way.episodes.get(episode)

    def __call__(self, these: Candidates) -> dict[str, list[float]]:
        above = baseline_in(these.leads).above(np.array(these.columns.similarities)).tolist()
        each = zip(these.columns.stored_ids, above, strict=True)
        return {HIERARCHY: [self.worth(*one) or 0.0 for one in each]}


class WayDownHierarchy:
    """The source for the shape "top_down". It is asked after vectors, because it needs the cue's vector. Without a
    hierarchy it is left out, with a note."""

    name = "way down"

    def ask(self, ports: Ports, request: Request, asked: SourceQuery) -> Answer:
        """The messages of the episodes that the themes lead to, best episode first."""
        cue = asked.cue
        looked = tried(AdaptiveMemoryError, ports.hierarchy.view, request.scope.own)
        hierarchy = looked.value
        if looked.error is not None:
            return Answer(self.name, error=looked.error)
        if hierarchy is None or cue.vector is None or not hierarchy.semantics:
            return Answer(self.name, notes=(NOTHING_OBSERVED,))
        if not hierarchy.complete:  # episodes that are not distilled could not be reached
            return Answer(self.name, notes=(UNFINISHED,))
        way = top_down(hierarchy, cue.vector, request.policy.advanced.hierarchy)
        messages = [one for episode in way.episodes for one in hierarchy.episodes[episode].messages]
        named = [one for one in messages if asked.passing is None or one in asked.passing]
        return Answer(self.name, named=named, leads=HierarchyLeads(hierarchy, way))


def led_to(answers: Sequence[Answer]) -> HierarchyLeads | None:
    """The path taken through the hierarchy, if it reached any episode."""
    return next(
        (one.leads for one in answers if isinstance(one.leads, HierarchyLeads) and one.leads.way.episodes), None
    )
