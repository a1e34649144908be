"""What must the graph's store and its index be able to do? Keep passages, follow the words, and answer a question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from adaptive_memory_core.flow.ports.models import Sufficient
from adaptive_memory_core.flow.ports.records import Vector
from adaptive_memory_core.graph.build import Passage
from adaptive_memory_core.graph.ports import Alike, PassageKey
from adaptive_memory_core.learn.asked_before import RatedQuestions
from adaptive_memory_core.policy.advanced import ACTIVATED, ROUNDS, Graphs
from adaptive_memory_core.score.ranking import Candidates

GRAPH_LEAD = "graph"  # the name of its lead, and of its part of a score


class GraphEntry(NamedTuple):
    """A record's part of the graph: `word_row` is the row of its words that it must still have (None: whichever)."""

    stored_id: str
    passage: Passage
    vector: bytes  # float16
    word_row: int | None = None


class Links(NamedTuple):
    """How a user's records name each other: how many there were when they were looked through, and how many titles of
    others each of them names, on average; whether their graph is wanted, and whether it was made."""

    records: int = 0
    links: float = 0.0
    wanted: bool = False
    made: bool = False


class UnembeddedName(NamedTuple):
    """A name that has no vector, with its key and its user's."""

    key: int
    user: int
    name: str


class UnembeddedPassage(NamedTuple):
    """A passage whose sentences have no vectors, the id of its record, and how many sentences it has."""

    passage: PassageKey
    stored_id: str
    sentences: int


class Hop(NamedTuple):
    """A step on the way to a record: a name, and the sentence with it (from 0) of the record it is in or titles; and
    for which other name it was taken, if it was."""

    name: str
    stored_id: str
    sentence: int
    alike: Alike | None = None


@dataclass(frozen=True, slots=True)
class GraphFound:
    """What the graph has to say: the records that it names, best first, a number in [0, 1] for each, and the way to
    each from a name in the question. Nothing speaks for a record that it did not reach."""

    numbers: Mapping[str, float]
    reached: Mapping[str, Sequence[Hop]]
    note: str | None = None
    asked: bool = True  # whether the question is one that it is to say something of
    activated: Mapping[str, int] | None = None  # in GAM-RAG's form: of each record, the sentences that were, as bits
    rounds: int = 0  # that were made

    def __call__(self, these: Candidates) -> dict[str, list[float]]:
        ids = these.columns.stored_ids
        leads = {GRAPH_LEAD: [self.numbers.get(one, 0.0) for one in ids]}
        if self.activated is not None:
            leads[ACTIVATED] = [float(self.activated.get(one, 0)) for one in ids]
            leads[ROUNDS] = [float(self.rounds)] * len(ids)
        return leads


@dataclass(frozen=True, slots=True)
class Lifts:
    """What verdicts taught, for one question: by how much the sentences of a record count more, by its id in the
    collection."""

    lift: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GamRagQuery:
    """What is asked of GAM-RAG's form: the vectors of the question's entities, of the question, of the time that it
    asks about and of NO_TIME (None: it asks about none), and all judged questions."""

    entities: Sequence[Vector]
    vector: Vector
    time: Vector | None = None
    no_time: Vector | None = None
    questions: RatedQuestions | None = None
    process_noise: float = Graphs().process_noise


Suffices = Callable[[Sequence[str]], Sufficient]  # whether these sentences answer the question
NO_LIFTS = Lifts()
