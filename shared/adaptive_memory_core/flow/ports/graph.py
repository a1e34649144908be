"""Values of the graph: passages, names, paths to records, and queries."""

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
    """Links between a user's records: the number of records when they were counted, the average number of other titles
    that a record names, and whether their graph was requested and built."""

    records: int = 0
    links: float = 0.0
    wanted: bool = False
    made: bool = False


class UnembeddedName(NamedTuple):
    """A name without a vector, with its key and its user's key."""

    key: int
    user: int
    name: str


class UnembeddedPassage(NamedTuple):
    """A passage whose sentences have no vectors, with its record's id and its number of sentences."""

    passage: PassageKey
    stored_id: str
    sentences: int


class Hop(NamedTuple):
    """A step on the path to a record: a name, the record that contains it or has it as its title, and the sentence
    (from 0). `alike` is the other name that it was matched with, if any."""

    name: str
    stored_id: str
    sentence: int
    alike: Alike | None = None


@dataclass(frozen=True, slots=True)
class GraphFound:
    """The result of a graph search: the reached records, best first, with a number in [0, 1] for each, and the path to
    each from a name in the question. Other records count 0."""

    numbers: Mapping[str, float]
    reached: Mapping[str, Sequence[Hop]]
    note: str | None = None
    asked: bool = True  # whether the graph was searched for this question
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
    """How much more the sentences of a record count for one question because of verdicts, by id in the collection."""

    lift: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GamRagQuery:
    """A query of GAM-RAG's form: the vectors of the question's entities, of the question, of the time that it asks
    about and of NO_TIME (None: no time), and all judged questions."""

    entities: Sequence[Vector]
    vector: Vector
    time: Vector | None = None
    no_time: Vector | None = None
    questions: RatedQuestions | None = None
    process_noise: float = Graphs().process_noise


Suffices = Callable[[Sequence[str]], Sufficient]  # whether these sentences answer the question
NO_LIFTS = Lifts()
