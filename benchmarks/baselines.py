"""What would one have without this project? Vector search, words alone, the two by reciprocal ranks, naive chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from adaptive_memory_core import AdaptiveMemory, Policy, Weights
from adaptive_memory_core.policy import Fusion, TimeWords
from benchmarks.data import Dataset, Item, Question
from benchmarks.rot import user_of

RRF = 60
CHUNK = 180  # tokens of a naive chunk of a conversation
BOTH: Any = ("dense", "lexical")
ALONE = Weights(recency=0, importance=0, similarity=1)
ONLY_WORDS = Fusion(0, 0, words=1, near=0, around=0, session=0, speaker=0, dated=0, before=0, company=0, named=0)
Ranking = Sequence[str]
Ask = Callable[[Question, int], Ranking]
Embed = Callable[[Sequence[str]], Any]


def recalled(memory: AdaptiveMemory, policy: Policy, ends: Mapping[str | None, float | None]) -> Ask:
    """What a policy recalls for a question, asked a day after the user's last record; nothing counts as read."""

    def ask(question: Question, k: int) -> Ranking:
        user, now = memory.for_user(user_of(question.tenant)), ends.get(question.tenant)
        return user.recall(question.query, k=k, now=now, reinforce=False, policy=policy).ids

    return ask


def baselines(memory: AdaptiveMemory) -> Iterator[tuple[str, Ask]]:
    """Plain vector search, words alone, and reciprocal rank fusion of the two as everybody does it."""
    dense = recalled(memory, Policy(weights=ALONE, channels=("dense",), time_words=TimeWords(enabled=False)), {})
    words = recalled(
        memory, Policy(weights=ALONE, fusion=ONLY_WORDS, channels=BOTH, time_words=TimeWords(enabled=False)), {}
    )

    def fused(question: Question, k: int) -> Ranking:
        ranks: dict[str, float] = {}
        for ask in (dense, words):
            for rank, one in enumerate(ask(question, k), start=1):
                ranks[one] = ranks.get(one, 0.0) + 1.0 / (RRF + rank)
        return sorted(ranks, key=lambda one: -ranks[one])[:k]

    yield from (("Chroma", dense), ("BM25", words), (f"RRF {RRF}", fused))


def chunked(data: Dataset, embed: Embed) -> Ask:
    """Neighbouring turns of a session cut into chunks, the nearest chunk's turns first, in their order."""
    found: dict[str | None, tuple[list[list[str]], Any]] = {}
    for tenant in dict.fromkeys(item.tenant for item in data.items):
        chunks = list(chunks_of([item for item in data.items if item.tenant == tenant]))
        vectors = np.asarray(embed(["\n".join(item.said for item in chunk) for chunk in chunks]))
        found[tenant] = ([[item.id for item in chunk] for chunk in chunks], vectors)

    def ask(question: Question, k: int) -> Ranking:
        chunks, vectors = found[question.tenant]
        order = np.argsort(-(vectors @ np.asarray(embed([question.query]))[0]), kind="stable")
        return [one for number in order.tolist() for one in chunks[number]][:k]

    return ask


def chunks_of(items: Sequence[Item]) -> Iterator[list[Item]]:
    """The turns in their order, cut where a session ends or a chunk is full."""
    chunk: list[Item] = []
    for item in items:
        full = sum(len(one.said) for one in (*chunk, item)) / 4 > CHUNK
        if chunk and (full or item.session != chunk[-1].session):
            yield chunk
            chunk = []
        chunk.append(item)
    if chunk:
        yield chunk
