"""The ports of sources, and of the word index."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from adaptive_memory_core.policy.advanced import DENSE
from adaptive_memory_core.records import Cue, Metadata
from adaptive_memory_core.score.ranking import Candidates
from adaptive_memory_core.score.surprise import Baseline

if TYPE_CHECKING:
    from adaptive_memory_core.flow.ports import Ports
    from adaptive_memory_core.sources.request import Request

Array = Any
Pair = tuple[str | None, str | None]  # the ids in the collection of the messages directly before and after


class Found(NamedTuple):
    """A raw search result: `similarity` is calibrated, `metadata` is unchanged from the collection."""

    stored_id: str
    text: str | None
    metadata: Metadata | None
    similarity: float


class VectorsFound(NamedTuple):
    """The nearest records, the named records that are not among them (None if they were not looked up), the baseline of
    unrelated records, and the nearest within the times asked about (None if they were not looked up)."""

    nearest: Sequence[Found]
    named: Sequence[Found] | None
    baseline: Baseline
    within: Sequence[Found] | None = None


class Leads(Protocol):
    """A source's evidence for candidates from any source: by name, a number in [0, 1] for each candidate."""

    def __call__(self, these: Candidates) -> Mapping[str, Sequence[float]]: ...


class Answer(NamedTuple):
    """One source's answer: the records that it names, best first, and its evidence for any candidate.

    `named` are ids in the collection; `found` are records that include their texts. `asked_for` are the user's ids,
    which the recall reports even if there is no such record.
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
    named_found: Sequence[Found] = ()  # of what earlier sources named, those that were looked up along with `found`
    looked_up: Set[str] = frozenset()  # what was named by those, where that was done
    within: Sequence[Found] | None = None  # the nearest of the times asked about, if they were looked up along with it

    @property
    def says_something(self) -> bool:
        return bool(self.named or self.found or self.asked_for)


class SourceQuery(NamedTuple):
    """The input of a source besides the request: the cue as changed by earlier sources, the ids that pass the caller's
    filter (None: no filter), the earlier sources' answers, and the answer of the vectors, for sources after them."""

    cue: Cue
    passing: Set[str] | None = None
    earlier: Sequence[Answer] = ()
    nearest: Answer = Answer(DENSE)


class Source(Protocol):
    """A source of candidates. It is asked once per recall, if `wanted_sources` names it."""

    @property
    def name(self) -> str: ...
    def ask(self, ports: Ports, request: Request, asked: SourceQuery) -> Answer: ...


@runtime_checkable
class Slow(Protocol):
    """A source that waits for foreign code: it is started early, and other sources are asked in the meantime."""

    def begin(self, ports: Ports, request: Request, asked: SourceQuery) -> Callable[[], Answer]: ...
