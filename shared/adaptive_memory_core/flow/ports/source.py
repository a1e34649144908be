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
Pair = tuple[str | None, str | None]  # the ids in the collection of what was said right before and right after


class Found(NamedTuple):
    """What a search brought, before it is read: `similarity` is calibrated, `metadata` as the collection has it."""

    stored_id: str
    text: str | None
    metadata: Metadata | None
    similarity: float


class VectorsFound(NamedTuple):
    """The nearest records; those of the named ones that are not among them, None where these were not looked up; and
    what unrelated records score."""

    nearest: Sequence[Found]
    named: Sequence[Found] | None
    baseline: Baseline


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
    """What a source may know besides the request: the cue as the sources before it left it, which ids pass the caller's
    filter (None: there is no filter), what those sources answered, and what the vectors found, for sources after
    them."""

    cue: Cue
    passing: Set[str] | None = None
    earlier: Sequence[Answer] = ()
    nearest: Answer = Answer(DENSE)


class Source(Protocol):
    """One place where candidates come from. It is asked once per recall, if `wanted_sources` names it."""

    @property
    def name(self) -> str: ...
    def ask(self, ports: Ports, request: Request, asked: SourceQuery) -> Answer: ...


@runtime_checkable
class Slow(Protocol):
    """A source that waits for code that is not ours: it begins, and others are asked meanwhile."""

    def begin(self, ports: Ports, request: Request, asked: SourceQuery) -> Callable[[], Answer]: ...
