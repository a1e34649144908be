"""What did verdicts teach of the sentences of records? Lifts in our form, and the gates of equation 4 in the paper's.

The paper's memory of a record is not kept but made: its updates, in the order of the verdicts, over the questions that
are remembered of it. So it exists only where something was judged, is taken back with a verdict, and processes that
learn at once lose nothing. It begins with the record's vector, which stands for its sentences'. That of time is made
of the same verdicts (`flow/candidates/time_memory.py`), and multiplies it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from adaptive_memory_core.flow.ports.graph import Lifts, StoredGraph
from adaptive_memory_core.graph.ports import PassageKey, SentenceKey, passage_of, place_of
from adaptive_memory_core.learn.asked_before import Questions
from adaptive_memory_core.learn.gain import Belief, gate, unit, updated
from adaptive_memory_core.policy.gain import Gain


def lifts_of(graph: StoredGraph, lifts: Lifts) -> dict[SentenceKey, float]:
    """By how much more each sentence counts, in our form."""
    keys = graph.keys_of(lifts.lift)
    by = {keys[one]: value for one, value in lifts.lift.items() if one in keys}
    return {one: by[passage_of(one)] for one in graph.sentences_of(np.array(sorted(by), dtype=np.int64)).tolist()}


def gates_of(graph: StoredGraph, lifts: Lifts, vector: Any) -> Mapping[SentenceKey, float]:
    """By how much each sentence is multiplied, in the paper's form; each is made when somebody asks for it."""
    if lifts.questions is None or vector is None:
        return {}
    return _Gates(graph, lifts, lifts.questions, unit(np.asarray(vector, dtype=np.float64)))


def learned(questions: Questions, place: int, vector: Any, gain: Gain) -> Belief:
    """The paper's task memory of a record: what its verdicts made of its vector (equations 10 to 13).

    >>> east, north = [1.0, 0.0], np.array([0.0, 1.0])
    >>> judged = Questions(["tea"], np.array([north]), [0], [0], [1], [0])
    >>> learned(judged, 0, np.array(east), Gain(0.5, 1.0, 0.1)).vector.round(3).tolist()
    [0.832, 0.555]
    """
    belief = Belief(unit(np.asarray(vector, dtype=np.float64)), gain.first_uncertainty)
    for one in np.flatnonzero(np.asarray(questions.records) == place).tolist():
        question = questions.vectors[questions.rows[one]]
        if question.any():  # not of another embedder
            belief = updated(belief, question, supports=bool(questions.helpful[one]), noise=gain)
    return belief


class _Gates(Mapping[SentenceKey, float]):
    def __init__(self, graph: StoredGraph, lifts: Lifts, questions: Questions, cue: Any) -> None:
        self._graph, self._lifts, self._questions, self._cue = graph, lifts, questions, cue
        keys = graph.keys_of(questions.stored_ids)
        places = enumerate(questions.stored_ids)
        self._places = {keys[one]: place for place, one in places if one in keys}
        self._made: dict[PassageKey, float] = {}

    def __getitem__(self, sentence: SentenceKey) -> float:
        passage = passage_of(sentence)
        place = self._places[passage]
        if passage not in self._made:
            self._made[passage] = self._gate(passage, place)
        return self._made[passage] * self._of_time(sentence, place)

    def get(self, sentence: SentenceKey, default: Any = None) -> Any:  # most have none, and an error for each costs
        return self[sentence] if passage_of(sentence) in self._places else default

    def __iter__(self) -> Iterator[SentenceKey]:
        return iter(self._graph.sentences_of(np.array(sorted(self._places), dtype=np.int64)).tolist())

    def __len__(self) -> int:
        return len(list(iter(self)))

    def _gate(self, passage: PassageKey, place: int) -> float:
        vectors = self._graph.rows(np.array([passage], dtype=np.int64)).vectors
        size = (self._cue.shape[0],)
        if vectors is None or vectors[0].shape != size or self._questions.vectors.shape[1:] != size:
            return 1.0
        return gate(learned(self._questions, place, vectors[0], self._lifts.gain), self._cue)

    def _of_time(self, sentence: SentenceKey, place: int) -> float:
        """By its time memory; 1 where it says no time, or its record has changed since."""
        own, number = self._lifts.times.get(self._questions.stored_ids[place], ()), place_of(sentence)
        return own[number] if number < len(own) else 1.0
