"""What must the graph's store and its index be able to do? Keep passages, follow the words, and answer a question."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple, Protocol

from adaptive_memory_core.flow.ports.models import Sufficient
from adaptive_memory_core.flow.ports.records import Vector
from adaptive_memory_core.flow.ports.source import Found
from adaptive_memory_core.graph.build import Passage
from adaptive_memory_core.graph.ports import Alike, Array, GraphPort, PassageKey, SentenceKey
from adaptive_memory_core.learn.asked_before import RatedQuestions
from adaptive_memory_core.policy.advanced import ACTIVATED, ROUNDS, Graphs
from adaptive_memory_core.records import Scope
from adaptive_memory_core.score.ranking import Candidates
from adaptive_memory_core.score.surprise import UNMEASURED, Baseline

GRAPH_LEAD = "graph"  # the name of its lead, and of its part of a score


class GraphEntry(NamedTuple):
    """A record's part of the graph: `word_row` is the row of its words that it must still have (None: whichever)."""

    stored_id: str
    passage: Passage
    vector: bytes  # float16
    word_row: int | None = None


class StoredGraph(GraphPort, Protocol):
    """A scope's graph as it is kept, with the ids that its passages have in the collection."""

    def ids_of(self, passages: Collection[PassageKey]) -> Mapping[PassageKey, str]: ...
    def keys_of(self, stored_ids: Collection[str]) -> Mapping[str, PassageKey]: ...
    def name_vectors(self) -> tuple[Sequence[str], Array]:
        """The names that sentences mention, and their unit vectors."""

    def nearest_names(self, asked: Mapping[str, Vector], least: float) -> Mapping[str, Mapping[str, float]]:
        """The names that may be one of those asked for, whose vectors are given, as `alike` says them."""


class Links(NamedTuple):
    """How a user's records name each other: how many there were when they were looked through, and how many titles of
    others each of them names, on average; whether their graph is wanted, and whether it was made."""

    records: int = 0
    links: float = 0.0
    wanted: bool = False
    made: bool = False


class GraphLinks(Protocol):
    """What was found of how each user's records name each other."""

    def of(self, scope: Scope) -> Links | None: ...
    def keep(self, scope: Scope, links: Links) -> None: ...
    def anybody(self) -> bool:
        """Whether the graph of some user was wanted."""

    def sample(self, scope: Scope, most: int) -> tuple[int, list[str]]:
        """How many records a user has words of, and about so many of their ids."""


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


class GraphAlike(Protocol):
    """The vectors of names and of sentences, where somebody asks for them, and which names are alike."""

    def unspoken(self, most: int, scope: Scope | None = None) -> list[UnembeddedPassage]:
        """The next passages whose sentences have no vectors, of a scope or of all."""

    def speak(self, embedder: str | None, spoken: Mapping[PassageKey, tuple[Array, Array]]) -> bool:
        """The unit vectors of the sentences of these passages, and of the times that they say; of none, and it says so,
        where the records have vectors of another embedder by now."""

    def unembedded(self, after: int, most: int) -> list[UnembeddedName]:
        """The next names without a vector, behind that key."""

    def keep(self, embedder: str | None, names: Sequence[UnembeddedName], vectors: Array) -> bool:
        """The vectors of these names; of none, and it says so, where the records have another embedder's by now."""

    def compare(self, most: int) -> bool:
        """Find what is like so many names that were not compared yet; whether there were any."""


class GraphRows(Protocol):
    """The passages of each scope. Nothing is left of a removed record: no sentence, no mention, no name that only it
    had."""

    @property
    def links(self) -> GraphLinks: ...
    @property
    def alike(self) -> GraphAlike: ...
    def put(self, scope: Scope, entries: Sequence[GraphEntry]) -> None: ...
    def drop(self, stored_ids: Sequence[str]) -> None: ...
    def clear(self) -> None: ...
    def made_as(self, setting: str | None = None, *, anew: bool = False) -> str | None:
        """The setting that the graph is made with. A given `setting` replaces a different one, and the graph is
        discarded; but not if it had itself been replaced by another before, unless `anew` is asked for."""

    def titles(self, scope: Scope, names: Collection[str]) -> set[str]: ...
    def stored_ids(self) -> set[str]: ...
    def behind(self, most: int) -> list[tuple[int, str]]:
        """The next records whose words are newer than their passages: the row of the words, and the id."""

    def behind_of(self, scope: Scope, most: int, after: int) -> list[tuple[int, str]]:
        """The next ones of this user's, after a row of the words."""

    def followed(self, word_row: int) -> None: ...
    def drop_gone(self) -> None: ...
    def to_link_again(self, most: int, *, growth: float) -> list[str]: ...
    def waiting(self, scope: Scope, most: int) -> int: ...
    def view(self, scope: Scope) -> AbstractContextManager[StoredGraph]: ...
    def faults(self) -> list[str]: ...


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


class GraphIndexPort(Protocol):
    """Records found by the names in a cue. It writes nothing, except that it may take in what is new."""

    def rebuild(self) -> None: ...
    def known_links(self, scope: Scope) -> float | None:
        """As `links`, where the ledger need not be asked for it."""

    def links(self, scope: Scope) -> float:
        """How many titles of others each record of this scope names, on average; 0 as long as that is not known."""

    def made(self, scope: Scope) -> bool:
        """Whether the graph of this scope is there, where nobody asked for everybody's."""

    def want(self, scope: Scope) -> None:
        """Have it made in the background."""

    def look(
        self,
        scope: Scope,
        cue: str,
        vector: Vector | None,
        settings: Graphs,
        seeds: Mapping[str, float],
        lifts: Lifts = NO_LIFTS,
        unknown: Mapping[str, Vector] = MappingProxyType({}),
        baseline: Baseline = UNMEASURED,
    ) -> GraphFound:
        """`unknown` are names in the cue that the graph does not know, with their vectors; `baseline` is what unrelated
        records score."""

    def look_as_published(
        self, scope: Scope, asked: GamRagQuery, settings: Graphs, suffices: Suffices | None
    ) -> GraphFound:
        """The same by GAM-RAG's equations 3 to 9: none, with a note, until all sentences have vectors. Between rounds
        `suffices` is given the sentences that were activated."""

    def embed_sentences(self) -> None:
        """Somebody is going to ask for GAM-RAG's form: begin to make the vectors of names and sentences."""

    def extracted(self, cue: str) -> Sequence[str]:
        """The names in a text, as this memory finds them in records."""

    def came_upon(self, scope: Scope, found: Sequence[Found]) -> None:
        """A recall found these."""

    def catch_up(self, scope: Scope) -> None:
        """A recall that counts lets it take in what is new."""

    def compare_names(self) -> None:
        """Somebody treats similar names as the same: begin to compare names in the background."""

    def unknown_names(self, scope: Scope, cue: str) -> Sequence[str]:
        """The names in a cue that this scope's graph does not know."""


__all__ = [
    "Alike",
    "Array",
    "GamRagQuery",
    "GRAPH_LEAD",
    "GraphAlike",
    "GraphEntry",
    "GraphFound",
    "GraphIndexPort",
    "GraphLinks",
    "GraphRows",
    "Hop",
    "Lifts",
    "Links",
    "NO_LIFTS",
    "SentenceKey",
    "StoredGraph",
    "Suffices",
    "UnembeddedName",
    "UnembeddedPassage",
]
