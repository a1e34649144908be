"""All sources, each asked once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.source import Answer, Slow, Source, SourceQuery
from adaptive_memory_core.policy.advanced import DENSE, is_channel_name
from adaptive_memory_core.sources.callers_own import CallersOwn
from adaptive_memory_core.sources.graph_and_hierarchy import GraphSource, WayDownHierarchy
from adaptive_memory_core.sources.learned import AskedBefore, RecentlyHelpful
from adaptive_memory_core.sources.request import Request, in_collection
from adaptive_memory_core.sources.times import AskedTime, AsOfDay
from adaptive_memory_core.sources.vectors_and_words import VectorsSource, WordsSource

Stages = Sequence[Sequence[Source]]
SOURCES: Stages = (
    (WordsSource(),),
    (VectorsSource(),),
    (AskedTime(), AsOfDay(), RecentlyHelpful(), AskedBefore(), WayDownHierarchy()),
    (GraphSource(),),
)


def stages_with(channels: Iterable[str]) -> Stages:
    """All sources of a memory: ours, and the channels that the caller has given it, which are asked first."""
    first, *later = SOURCES
    return ((*first, *(CallersOwn(name) for name in channels)), *later)


def channels_of(stages: Stages) -> list[str]:
    """The sources that a policy may name, its channels, vectors first. All others are asked in any case."""
    names = [one.name for stage in stages for one in stage if is_channel_name(one.name)]
    return sorted(names, key=lambda name: name != DENSE)


def ask_sources(ports: Ports, request: Request) -> list[Answer]:
    """What each source that is wanted says, asked once: those of a stage at the same time, stage after stage."""
    wanted = [[one for one in stage if one.wanted(request)] for stage in ports.sources]
    answers: list[Answer] = []
    passing = None
    if request.where is not None and any(_finds_by_itself(one) for stage in wanted for one in stage):
        try:
            passing = in_collection(ports, request.policy, ports.search.passing, request.scope, request.where)
        except StoreError as error:
            answers.append(Answer("filter", notes=(f"only the channel 'dense' was asked: {error}",)))
            wanted = [[one for one in stage if not _finds_by_itself(one)] for stage in wanted]
    for stage in filter(None, wanted):
        asked = SourceQuery(passing, tuple(answers))
        answers += _answers(ports, request, asked, stage)
    return answers


def _answers(ports: Ports, request: Request, asked: SourceQuery, stage: Sequence[Source]) -> list[Answer]:
    """What the sources of a stage say, in their order. Those that wait for others begin first."""
    if not ports.channels:
        return [one.ask(ports, request, asked) for one in stage]
    begun = {one.name: one.begin(ports, request, asked) for one in stage if isinstance(one, Slow)}
    return [begun[one.name]() if one.name in begun else one.ask(ports, request, asked) for one in stage]


def _finds_by_itself(source: Source) -> bool:
    """Whether it names records that the filter has not passed: a channel that a policy names, other than vectors."""
    return source.name != DENSE and is_channel_name(source.name)
