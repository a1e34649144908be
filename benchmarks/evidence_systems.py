"""Which systems put evidence before a model, and what does each put there? Chunks, windows, and our recall's shapes."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.evaluate.systems import units_of
from adaptive_memory_core.evaluate.tokens_shown import ShownUnit
from adaptive_memory_core.judges import OpenAIReader
from benchmarks.baselines import BOTH
from benchmarks.chunks_and_windows import naive_chunks, sliding_windows
from benchmarks.data import Dataset, Item, Question
from benchmarks.embedders import embedder_of
from benchmarks.recall_quality import ends, opened, turn
from benchmarks.rot import user_of
from benchmarks.units import quarter

DEEP = 110  # hits of a recall: 4,000 tokens of short turns
FLAT = Policy(channels=BOTH)
EPISODES, TOP_DOWN = FLAT.replace(shape="episodes"), FLAT.replace(shape="top_down")
OURS = {
    "flat": FLAT,
    "episodes": EPISODES,
    "top down": TOP_DOWN,  # the paper's, without a reader: all episodes that Stage I leads to
    "top down, no Stage I": TOP_DOWN.replace(advanced={"hierarchy": {"representatives": False}}),
}
EPISODES_FOUND = 20  # episodes of a top-down recall: 4,000 tokens
BASE = ("naive chunks", "naive chunks, no names")
NAMES = (*BASE, "windows", *OURS)
IN_PAGES = (500, 1_000, 4_000)
Policies = Mapping[str | None, Policy]


class Moment:
    """A memory's clock: the machine's, until it is set."""

    def __init__(self) -> None:
        self.at: float | None = None

    def __call__(self) -> float:
        return time.time() if self.at is None else self.at


class Shown(NamedTuple):
    """What a system puts before a model for each question, and the pages that it renders, by their budget."""

    system: str
    units: Sequence[Sequence[ShownUnit]]
    pages: Mapping[int, Sequence[str]] = {}


def systems(data: Dataset, questions: Sequence[Question], wanted: Sequence[str], hits: int = DEEP) -> Iterator[Shown]:
    """All that are wanted, one after the other; `hits` is the most that a recall of ours returns."""
    embed = embedder_of("local").embed_documents
    for name in [one for one in wanted if one in BASE]:
        show = naive_chunks(data, embed, named=name == BASE[0])
        yield Shown(name, [show(question) for question in questions])
    if "windows" in wanted:
        show = sliding_windows(data, embed)
        yield Shown("windows", [show(question) for question in questions])
    if not [one for one in wanted if one.partition(",")[0] in OURS]:
        return
    clock = Moment()
    with observed(data, clock=clock) as memory:
        yield from _ours(memory, clock, data, questions, wanted, hits)


def observed(
    data: Dataset,
    policy: Policy = FLAT,
    reader: OpenAIReader | None = None,
    clock: Callable[[], float] = time.time,
    **options: Any,
) -> AdaptiveMemory:
    """A memory in RAM that has observed the data, with all that grows from it."""
    name = f"evidence-{uuid.uuid4().hex[:8]}"
    memory = opened(name, Dataset(data.name, (), ()), turn, policy=policy, reader=reader, clock=clock, **options)
    for tenant in dict.fromkeys(item.tenant for item in data.items):
        user = memory.for_user(user_of(tenant))
        user.observe([_message(item) for item in data.items if item.tenant == tenant])
        user.themes()
    return memory


def _message(item: Item) -> dict[str, Any]:
    told = {"speaker": item.speaker, "session": item.session, "seq": item.seq, "at": item.ts}
    return {"id": item.id, "text": item.text} | {name: one for name, one in told.items() if one is not None}


def _ours(
    memory: AdaptiveMemory,
    clock: Moment,
    data: Dataset,
    questions: Sequence[Question],
    wanted: Sequence[str],
    hits: int,
) -> Iterator[Shown]:
    for name in [one for one in OURS if one in wanted]:
        same = dict.fromkeys({one.tenant for one in questions}, OURS[name])
        yield _recalled(memory, clock, name, data, questions, same, hits)


def _recalled(
    memory: AdaptiveMemory,
    clock: Moment,
    name: str,
    data: Dataset,
    questions: Sequence[Question],
    policies: Policies,
    hits: int,
) -> Shown:
    """What is recalled at each user's end. The clock is set to it: as of a day that is over no recall tells anything of
    the hierarchy, which knows what was said later."""
    times, recalls = ends(data), []
    for one in questions:
        clock.at, policy = times.get(one.tenant), policies[one.tenant]
        user = memory.for_user(user_of(one.tenant))
        recalls.append(user.recall(one.query, k=min(hits, _most(policy)), reinforce=False, policy=policy))
    pages = {budget: [one.render(budget, count=quarter) for one in recalls] for budget in IN_PAGES}
    return Shown(name, [units_of(one) for one in recalls], pages)


def _most(policy: Policy) -> int:
    return EPISODES_FOUND if policy.shape == "top_down" else DEEP
