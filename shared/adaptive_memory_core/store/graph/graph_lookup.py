"""Look-ups in the graph, by names and by vectors of sentences.

A sentence's two memories start with its own vector and with the vector of the time it mentions. The embedder and the
judge are called while no connection, and no lock that a recall needs, is held.

GAM-RAG's memories of a sentence are not stored. They are calculated from the stored questions of its record, in the
order of the feedback. So they exist only for sentences with feedback, withdrawn feedback has no effect, and processes
that learn at the same time lose nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive_memory_core.channels.words_of_text import words
from adaptive_memory_core.flow.ports.graph import GamRagQuery, GraphFound, Hop, Lifts, UnembeddedPassage
from adaptive_memory_core.graph.alike_names import alike_of_untitled, unit_rows, with_alike
from adaptive_memory_core.graph.build import record_title, sentences_below, word_key
from adaptive_memory_core.graph.names import MOST_LOOKED_UP, known_names
from adaptive_memory_core.graph.paper import Memories, PublishedQuestion, link
from adaptive_memory_core.graph.ports import (
    MOST_PLACES,
    SENTENCE_BITS,
    Alike,
    GraphQuery,
    PassageKey,
    PropagationResult,
    SentenceKey,
    Step,
    passage_of,
    place_in_passage,
    places_in,
)
from adaptive_memory_core.graph.propagate import TITLE, propagate, trust
from adaptive_memory_core.learn.asked_before import RatedQuestions
from adaptive_memory_core.learn.gain import JudgedSentence, QuestionVectors, unit_vector
from adaptive_memory_core.length_limits import start_and_end
from adaptive_memory_core.policy.advanced import Graphs
from adaptive_memory_core.score.surprise import UNMEASURED, Baseline
from adaptive_memory_core.store.graph.graph_building import ComparedNames

if TYPE_CHECKING:
    from adaptive_memory_core.fields import Fields
    from adaptive_memory_core.flow.ports.models import EmbedderPort
    from adaptive_memory_core.records import Scope
    from adaptive_memory_core.store.ledger.graph_view import LedgerGraphAlike, SQLiteGraph
    from adaptive_memory_core.store.ledger_records import LedgerRecords

PAGE = 100  # passages at a time
AT_ONCE = 100  # passages that a recall waits for, if no model is asked about their times
NOT_EMBEDDED = "the graph is left out until the sentences of all records have vectors; they are being added"
TimeOf = Callable[[str], str | None]  # from a text to the words in it that name a time


class SentenceTexts:
    """Reads the sentences of records, numbered as in the graph."""

    def __init__(self, store: LedgerRecords, fields: Fields) -> None:
        self._store, self._fields = store, fields

    def of(self, stored_ids: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """The sentences by record."""
        rows = self._store.rows(list(stored_ids))
        return {one: sentences_below(text or "", record_title(known, self._fields))[1] for one, text, known in rows}

    def at(self, keys: Sequence[SentenceKey], ids: Mapping[PassageKey, str]) -> list[str]:
        """The sentences with these keys that still exist."""
        found = self.of(list(dict.fromkeys(ids.values())))
        own = [(found.get(ids.get(passage_of(key), ""), ()), place_in_passage(key)) for key in keys]
        return [texts[place] for texts, place in own if place < len(texts)]


class SentenceVectorBuilder:
    """Embeds sentences in the background, once this process needs them for GAM-RAG's form (`wanted`)."""

    def __init__(
        self,
        rows: LedgerGraphAlike,
        names: ComparedNames,
        texts: SentenceTexts,
        embedder: EmbedderPort,
        made_by: str | None,
        time_of: TimeOf,
        *,
        slow: bool,
        read_only: bool,
    ) -> None:
        """`slow`: whether a model extracts the times; then no recall waits for it."""
        self._rows, self._names, self._texts, self._embedder, self._made_by = rows, names, texts, embedder, made_by
        self._time_of, self._batch, self._read_only = time_of, 0 if slow else AT_ONCE, read_only
        self._turn = threading.Lock()  # `sync` and the background; no recall waits for it
        self.wanted = False

    def page(self) -> bool:
        """Embed the sentences of some passages; return whether there may be more. Only one thread does so at a time, so
        that no text is sent to a model twice."""
        with self._turn:
            return self.wanted and self._add(self._rows.unspoken(PAGE))

    def complete(self) -> None:
        """Embed all sentences now."""
        while self.page():
            pass

    def want(self) -> bool:
        """Begin to embed sentences; return whether this was the first request."""
        begins = not self.wanted and not self._read_only
        self.wanted = self.wanted or begins
        return begins

    def note(self, scope: Scope) -> str | None:
        """A note if this scope's graph must be left out; None if it is complete. A few missing vectors are made now."""
        waiting = self._rows.unspoken(self._batch + 1, scope)
        if len(waiting) <= self._batch and self.wanted:
            return None if not waiting or self._add(waiting) else NOT_EMBEDDED
        return NOT_EMBEDDED if waiting else None

    def _add(self, found: Sequence[UnembeddedPassage]) -> bool:
        """Embed names and then the sentences, so that all names in a passage with vectors have vectors too."""
        if not found:
            return False
        self._names.embed_all()
        texts = self._texts.of([one.stored_id for one in found])
        same = [one for one in found if len(texts.get(one.stored_id, ())) == one.sentences]  # others are rebuilt
        every = [text for one in same for text in texts[one.stored_id]]
        times = [self._time_of(text) for text in every]
        vectors = iter(self._embedded([*every, *dict.fromkeys(filter(None, times))]))
        own = list(islice(vectors, len(every)))
        of_time = dict(zip(dict.fromkeys(filter(None, times)), vectors, strict=True))
        spoken: dict[PassageKey, tuple[Any, Any]] = {}
        begin, none = 0, np.zeros_like(own[0]) if own else np.zeros(0)
        for one in same:
            end = begin + one.sentences
            when = [none if time is None else of_time[time] for time in times[begin:end]]
            spoken[one.passage] = np.array(own[begin:end]), np.array(when)
            begin = end
        return self._rows.speak(self._made_by, spoken) and bool(spoken)

    def _embedded(self, texts: Sequence[str]) -> Any:
        return unit_rows(np.asarray(self._embedder.embed_documents(texts))) if texts else ()


MOST_PASSED = 5  # steps of the way to a record that are reported
MOST_OF_ROUNDS = 2.0  # more than five rounds of equation 8 can give; and so `Graphs.weight` takes nothing from alpha


def look_up_graph(
    graph: SQLiteGraph,
    cue: str,
    vector: Any,
    settings: Graphs,
    seeds: Mapping[str, float],
    lifts: Lifts,
    unknown: Mapping[str, Any] = MappingProxyType({}),
    baseline: Baseline = UNMEASURED,
) -> GraphFound:
    """The records that the query's names lead to, with a score in [0, 1] each. `unknown` contains the vectors of names
    in the query that are not in the graph; `baseline` is the similarity of unrelated records."""
    read = start_and_end(cue, MOST_LOOKED_UP)
    named, alike = _and_alike(graph, linked(graph, read), unknown, settings)
    if settings.asks != "always" and not any(len(own) for own in graph.titled(named).values()):
        return GraphFound({}, {}, asked=False)
    keys = graph.keys_of(seeds)
    question = GraphQuery(
        named,
        vector,
        {word_key(word) for word in words(read)},
        {keys[one]: value for one, value in seeds.items() if one in keys},
        lifts_of(graph, lifts),
        alike,
        baseline,
    )
    found = _found(graph, propagate(graph, question, settings), settings)
    share = trust(graph, question)
    return replace(found, numbers={one: share * number for one, number in found.numbers.items()})


def linked(graph: SQLiteGraph, cue: str) -> list[str]:
    """The names in a query that are in the graph."""

    def known(possible: Any) -> Set[str]:
        return set(graph.frequencies(possible))

    return known_names(cue, known) or known_names(cue, known, loose=True)


def _and_alike(
    graph: SQLiteGraph, names: Sequence[str], unknown: Mapping[str, Any], settings: Graphs
) -> tuple[dict[str, float], dict[str, Alike]]:
    """The names that the question links to: its own names in the graph, and similar ones."""
    known = dict.fromkeys(names, 1.0)
    if settings.names_alike == 0.0:
        return known, {}
    least = settings.names_alike
    found = {**alike_of_untitled(graph, names, least), **graph.nearest_names(unknown, least)}
    named, alike = with_alike(dict.fromkeys((*known, *unknown), 1.0), found, without=())
    return {name: worth for name, worth in named.items() if name in known or name not in unknown}, alike


def most(settings: Graphs) -> float:
    """The greatest usual score of a passage: one sentence is the best of every round, and the query names its title.

    >>> round(most(Graphs(rounds=2)), 2)
    1.34
    """
    return TITLE + sum(0.6931 / number for number in range(1, settings.rounds + 1))


def _found(graph: SQLiteGraph, evidence: PropagationResult, settings: Graphs) -> GraphFound:
    best = most(settings)
    positive = {one: score for one, score in evidence.passages.items() if score > 0.0}
    return _with_ways(graph, evidence, {one: min(1.0, score / best) for one, score in positive.items()})


def _with_ways(graph: SQLiteGraph, evidence: PropagationResult, scores: Mapping[PassageKey, float]) -> GraphFound:
    """The scores by record, best first, with the way to each."""
    ids = graph.ids_of({*scores, *map(passage_of, evidence.steps)})
    ranked = sorted(scores.items(), key=lambda one: -one[1])
    numbers = {ids[one]: score for one, score in ranked if one in ids}
    first: dict[PassageKey, Step] = {}
    for step in evidence.steps.values():
        first.setdefault(passage_of(step.sentence), step)
    ways = {ids[one]: _way(step, evidence, ids) for one, step in first.items() if one in ids and step.name is not None}
    return GraphFound(numbers, ways)


def _way(last: Step, evidence: PropagationResult, ids: Mapping[PassageKey, str]) -> list[Hop]:
    """The way from a name in the query to a sentence, by the sentences in between."""
    steps = [last]
    while (before := steps[0].found_through) is not None and before in evidence.steps and len(steps) < MOST_PASSED:
        steps.insert(0, evidence.steps[before])
    return [
        Hop(
            step.name or "",
            ids[passage_of(step.sentence)],
            place_in_passage(step.sentence),
            evidence.alike.get(step.name or ""),
        )
        for step in steps
        if passage_of(step.sentence) in ids
    ]


def lifts_of(graph: SQLiteGraph, lifts: Lifts) -> dict[SentenceKey, float]:
    """The learned bonus of each sentence in our form: that of its record."""
    keys = graph.keys_of(lifts.lift)
    by = {keys[one]: value for one, value in lifts.lift.items() if one in keys}
    return {one: by[passage_of(one)] for one in graph.sentences_of(np.array(sorted(by), dtype=np.int64)).tolist()}


def linked_as_published(graph: SQLiteGraph, asked: GamRagQuery) -> PublishedQuestion:
    """The question with its entities linked (eq. 3), and the feedback on this graph's sentences."""
    vector = unit_vector(np.asarray(asked.vector, dtype=np.float64))
    time, no_time = (
        None if one is None else unit_vector(np.asarray(one, dtype=np.float64)) for one in (asked.time, asked.no_time)
    )
    names, vectors = graph.name_vectors()
    entities = [
        unit_vector(np.asarray(one, dtype=np.float64)) for one in asked.entities if len(one) == vectors.shape[1]
    ]
    judged = {} if asked.questions is None else judged_sentences(graph, asked.questions, len(vector))
    return PublishedQuestion(
        link(np.array(entities), names, vectors) if entities else {},
        vector,
        Memories(judged, QuestionVectors(vector, time), no_time, asked.process_noise),
        of_time=time is not None,
    )


def judged_sentences(
    graph: SQLiteGraph, questions: RatedQuestions, size: int
) -> dict[SentenceKey, list[JudgedSentence]]:
    """The feedback on each sentence, in the order it was given. Questions of another embedder are left out."""
    keys, found = graph.keys_of(questions.stored_ids), dict[SentenceKey, list[JudgedSentence]]()
    if questions.activated is None or questions.vectors.shape[1:] != (size,):
        return found
    asked = questions.vectors.any(axis=1)
    times = [own if own.any() else None for own in questions.times]
    for one in np.flatnonzero(np.asarray(questions.activated)).tolist():
        row, passage = int(questions.rows[one]), keys.get(questions.stored_ids[questions.records[one]])
        if passage is None or not asked[row]:
            continue
        activated, supports = int(questions.activated[one]), int(questions.supports[one])
        vectors = QuestionVectors(questions.vectors[row], times[row])
        for place in places_in(activated):
            verdict = JudgedSentence(vectors, supports=bool(supports >> place & 1))
            found.setdefault(passage << SENTENCE_BITS | place, []).append(verdict)
    return found


def found_as_published(graph: SQLiteGraph, evidence: PropagationResult) -> GraphFound:
    """The sum of equation 8 by record, divided by a constant that five rounds do not reach."""
    found = _with_ways(graph, evidence, {one: score / MOST_OF_ROUNDS for one, score in evidence.passages.items()})
    ids = graph.ids_of(set(map(passage_of, evidence.steps)))
    activated: dict[str, int] = {}
    for key in evidence.steps:
        if (stored_id := ids.get(passage_of(key))) is not None and place_in_passage(key) < MOST_PLACES:
            activated[stored_id] = activated.get(stored_id, 0) | 1 << place_in_passage(key)
    return replace(found, activated=activated, rounds=len(evidence.rounds))


def rounds_made(evidence: PropagationResult, settings: Graphs, asked: bool) -> str | None:
    """A note with the number of rounds made, if a judge was asked whether the next one is needed."""
    return f"the graph made {len(evidence.rounds)} of {settings.rounds} rounds" if asked else None
