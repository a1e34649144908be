"""The ports of sources, and of the word index."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from adaptive_memory_core.channels.conversation.sessions import Conversation, says_name
from adaptive_memory_core.channels.conversation.turns import stated
from adaptive_memory_core.policy.advanced import ANSWERS, AROUND, DENSE, MOST_OF_KINDS, MOST_OF_WORDS, WORDS, Fusion
from adaptive_memory_core.records import Cue, Metadata
from adaptive_memory_core.score.ranking import Candidates
from adaptive_memory_core.score.surprise import baseline_in, of_kind, of_meaning

if TYPE_CHECKING:
    from adaptive_memory_core.flow.ports import Ports
    from adaptive_memory_core.sources.request import Request

Array = Any
Pair = tuple[str | None, str | None]  # the ids in the collection of what was said right before and right after


class Numbers(Protocol):
    """The numbers of records by their ids in the collection."""

    def __contains__(self, stored_id: object, /) -> bool: ...
    def __getitem__(self, stored_id: str, /) -> int: ...
    def get(self, stored_id: str, default: int, /) -> int: ...


class WordsFound(NamedTuple):
    """The best records by their words, and what words say of any other, in nats.

    `columns` have a number for each record of the scope, `numbers` say where in them a record stands; `talk` is how the
    records stand to each other, where they are turns of a conversation. `most` and `most_of_kinds` are the most that
    the query's words, and what kind of turn a record is, could say of any.
    """

    best: Sequence[str]
    columns: Mapping[str, Any]
    most: float
    numbers: Numbers
    cue: str  # what the vectors are to look for: the query, less what words take care of
    fusion: Fusion
    talk: Conversation | None = None
    note: str | None = None  # why words say nothing: not all records are indexed
    most_of_kinds: float = 0.0
    asks_for_name: bool = False
    placed: Mapping[str, int] = MappingProxyType({})  # the numbers of the best, as they were

    def __call__(self, these: Candidates) -> dict[str, Sequence[float]]:
        """What words say of each candidate; nothing of a record that they do not know."""
        get, placed = self.numbers.get, self.placed  # a record that is read again meanwhile has another number by now
        places = np.array([placed.get(one, get(one, -1)) for one in these.columns.stored_ids], dtype=np.intp)
        columns: dict[str, Any] = {name: _at(values, places) for name, values in self.columns.items()}
        most_of_kinds = self.most_of_kinds
        if self.talk is not None and self.talk.people is not None:
            people = _at(self.talk.people, places)
            more, most = self._of_texts(these.columns.texts, people)
            columns[ANSWERS] = self._answers(these, columns, people, places)
            columns |= more
            most_of_kinds += most
        found: dict[str, Sequence[float]] = {name: values.tolist() for name, values in columns.items()}
        found[MOST_OF_WORDS] = [self.most] * len(places)
        if most_of_kinds > 0.0:
            found[MOST_OF_KINDS] = [most_of_kinds] * len(places)
        return found

    def _of_texts(self, texts: Sequence[str], people: Array) -> tuple[dict[str, Array], float]:
        """What it says for or against each turn that it states something, and that it names something, if a name is
        asked for."""
        turns = people > 0.0
        if self.talk is None or not turns.any():
            return {}, 0.0
        marks = {"stated": np.array([not turn or stated(text) >= 1.0 for text, turn in zip(texts, turns, strict=True)])}
        if self.asks_for_name:
            speakers = {part for name in self.talk.speakers for part in name.split()}
            named = [turn and says_name(text, speakers) for text, turn in zip(texts, turns, strict=True)]
            marks["named"] = np.array(named)
        found, most = {}, 0.0
        for name, marked in marks.items():
            speaks_for, against = of_kind(float(marked[turns].mean()))
            found[name] = people * np.where(marked, speaks_for, against)
            most += speaks_for
        return found, most

    def _answers(self, these: Candidates, columns: Mapping[str, Array], people: Array, places: Array) -> Array:
        """A turn that follows a question says what the question says: by how much that is more than its own."""
        texts, nats = these.columns.texts, of_meaning(these.columns.similarities, baseline_in(these.leads))
        nats = self.fusion.vectors * nats + self.fusion.words * (columns[WORDS] + columns[AROUND])
        found = np.zeros(len(places))
        if self.talk is None:
            return found
        number_at = {place: number for number, place in enumerate(places.tolist()) if place >= 0}
        layout = self.talk.layout
        for place, number in number_at.items():
            if people[number] <= 0.0 or place >= len(self.talk.places):
                continue
            stands = int(self.talk.places[place])
            if stands == int(layout.first[stands]):
                continue
            before = number_at.get(int(layout.order[stands - 1]))
            if before is not None and stated(texts[before]) < 1.0:
                found[number] = people[number] * max(0.0, float(nats[before] - nats[number]))
        return found

    def in_conversation(self, stored_ids: Sequence[str]) -> list[bool]:
        """Which of them are said in a conversation; none that is not known."""
        if self.talk is None:
            return [False] * len(stored_ids)
        places = np.array([self.numbers.get(one, -1) for one in stored_ids], dtype=np.intp)
        marks = self.talk.layout.alone
        alone = np.zeros(len(places)) if marks is None else _at(marks, places)
        return [place >= 0 and not by_itself for place, by_itself in zip(places.tolist(), alone.tolist(), strict=True)]


def no_words(cue: str, note: str) -> WordsFound:
    """What words say as long as not all records of a user are indexed."""
    return WordsFound((), {}, 0.0, numbers={}, cue=cue, fusion=Fusion(), note=note)


def _at(values: Array, places: Array) -> Array:
    """The values at these places, 0 at those that there are not.

    >>> _at(np.array([0.5, 0.25]), np.array([1, -1, 2])).tolist()
    [0.25, 0.0, 0.0]
    """
    there = (places >= 0) & (places < len(values))
    found = np.zeros(len(places))
    found[there] = values[places[there]]
    return found


class Found(NamedTuple):
    """What a search brought, before it is read: `similarity` is calibrated, `metadata` as the collection has it."""

    stored_id: str
    text: str | None
    metadata: Metadata | None
    similarity: float


class NearestAndNamed(NamedTuple):
    """The nearest records, and those of the named ones that are not among them; None where these were not looked up."""

    nearest: Sequence[Found]
    named: Sequence[Found] | None


class Leads(Protocol):
    """What a source says about candidates, no matter which source named them: by name a number in [0, 1] for each of
    them."""

    def __call__(self, these: Candidates) -> Mapping[str, Sequence[float]]: ...


class Answer(NamedTuple):
    """What one source says: the records it names, best first, and what it has to say of any candidate.

    `named` are ids in the collection; `found` are records that came with their texts already. `asked_for` are ids as
    the user knows them, which the recall accounts for even where there is no such record.
    """

    source: str
    named: Sequence[str] = ()
    found: Sequence[Found] = ()
    asked_for: Sequence[str] = ()
    leads: Leads | None = None
    cue: Cue | None = None  # the cue as later sources are to take it: with its vector, or less what was taken care of
    notes: tuple[str, ...] = ()
    error: Exception | None = None  # why it found nothing
    because: Mapping[str, str] = MappingProxyType({})  # why it names records, for `explain()`, by stored id
    beside: Sequence[Found] = ()  # of what earlier sources named, those that were looked up along with `found`
    looked_up: Set[str] = frozenset()  # what was named by those, where that was done

    @property
    def says_something(self) -> bool:
        return bool(self.named or self.found or self.asked_for)


class SourceQuery(NamedTuple):
    """What a source may know besides the request: which ids pass the caller's filter (None: there is no filter), and
    what the stages before it answered."""

    passing: Set[str] | None = None
    earlier: Sequence[Answer] = ()

    def cue(self, request: Request) -> Cue:
        """The cue as the sources so far left it."""
        return next((one.cue for one in reversed(self.earlier) if one.cue is not None), request.cue)

    @property
    def nearest(self) -> Answer:
        """What the vectors found, in a stage after theirs."""
        return next(one for one in self.earlier if one.source == DENSE)


class Source(Protocol):
    """One place where candidates come from. It is asked once a recall, and only where it is wanted."""

    @property
    def name(self) -> str: ...
    def wanted(self, request: Request) -> bool: ...
    def ask(self, ports: Ports, request: Request, asked: SourceQuery) -> Answer: ...


@runtime_checkable
class Slow(Protocol):
    """A source that waits for code that is not ours: it begins, and the others of its stage are asked meanwhile."""

    def begin(self, ports: Ports, request: Request, asked: SourceQuery) -> Callable[[], Answer]: ...
