"""The sources of candidates: the choice of sources for a recall, and the calls to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.source import Answer, Slow, Source, SourceQuery
from adaptive_memory_core.policy.advanced import DENSE, is_channel_name
from adaptive_memory_core.sources.callers_own import CallersOwn
from adaptive_memory_core.sources.graph_and_hierarchy import GraphSource, WayDownHierarchy
from adaptive_memory_core.sources.request import Request, VectorsSource, WordsSource, in_collection
from adaptive_memory_core.sources.times_and_feedback import AskedBefore, AskedTime, AsOfDay, RecentlyHelpful

SOURCES: Sequence[Source] = (  # in the order in which they are asked
    WordsSource(),
    VectorsSource(),
    AskedTime(),
    AsOfDay(),
    RecentlyHelpful(),
    AskedBefore(),
    WayDownHierarchy(),
    GraphSource(),
)


def sources_with(channels: Iterable[str]) -> Sequence[Source]:
    """All sources of a memory: the built-in ones, and the caller's channels."""
    words, *others = SOURCES
    return (words, *(CallersOwn(name) for name in channels), *others)


def channels_of(sources: Iterable[Source]) -> list[str]:
    """The names of the sources that a policy may use as channels, vectors first."""
    names = [one.name for one in sources if is_channel_name(one.name)]
    return sorted(names, key=lambda name: name != DENSE)


def wanted_sources(request: Request) -> list[str]:
    """The names of the sources to ask: the policy's channels, and other sources that the request requires."""
    policy, bounded = request.policy, request.policy.blending == "bounded"
    wanted = list(policy.ways) if request.words.strip() else [DENSE]
    if request.intent.windows and policy.advanced.time_weight > 0.0:
        wanted.append(AskedTime.name)
    if request.as_of is not None:
        wanted.append(AsOfDay.name)
    if bounded and policy.learning.usefulness > 0.0 and request.where is None:
        wanted.append(RecentlyHelpful.name)  # with a filter, fetching ids costs more than the search
    if request.as_of is None:  # for an earlier day, these would use later knowledge
        if bounded and policy.learning.similar_questions > 0.0:
            wanted.append(AskedBefore.name)
        if policy.shape == "top_down":
            wanted.append(WayDownHierarchy.name)
    return wanted


def ask_sources(ports: Ports, request: Request) -> list[Answer]:
    """Ask the wanted sources one after the other and return their answers. The caller's channels, which may be slow,
    start before all others."""
    wanted, answers, passing = wanted_sources(request), [], None
    if request.where is not None and any(map(_finds_by_itself, wanted)):
        try:
            passing = in_collection(ports, request.policy, ports.search.passing, request.scope, request.where)
        except StoreError as error:
            answers.append(Answer("filter", notes=(f"only the channel 'dense' was asked: {error}",)))
            wanted = [one for one in wanted if not _finds_by_itself(one)]
    query = SourceQuery(request.cue, passing, tuple(answers))
    begun = _begun(ports, request, query, wanted) if ports.channels else {}
    for one in ports.sources:
        if one.name in wanted:
            answer = begun[one.name]() if one.name in begun else one.ask(ports, request, query)
            answers.append(answer)
            nearest = answer if one.name == DENSE else query.nearest
            query = SourceQuery(answer.cue or query.cue, passing, tuple(answers), nearest)
    return answers


def _finds_by_itself(name: str) -> bool:
    """Whether a source does not apply the filter itself, so that its records must be checked: all channels except
    vectors."""
    return name != DENSE and is_channel_name(name)


def _begun(
    ports: Ports, request: Request, query: SourceQuery, wanted: Sequence[str]
) -> Mapping[str, Callable[[], Answer]]:
    """The started calls of the caller's channels, by name."""
    slow = [one for one in ports.sources if isinstance(one, Slow) and one.name in wanted]
    return {one.name: one.begin(ports, request, query) for one in slow}
