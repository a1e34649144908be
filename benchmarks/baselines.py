"""What would one have without this project? Vector search, words alone, the two by reciprocal ranks, naive chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from adaptive_memory_core import AdaptiveMemory, Policy, Weights
from adaptive_memory_core.evaluate.systems import BM25
from adaptive_memory_core.policy import Fusion
from benchmarks.data import Dataset, Item, Question
from benchmarks.rot import user_of

RRF = 60
CHUNK = 180  # tokens of a naive chunk of a conversation
BOTH: Any = ("dense", "lexical")
ALONE = Weights(recency=0, importance=0, similarity=1)
ONLY_WORDS = Fusion(vectors=0)
Ranking = Sequence[str]
Ask = Callable[[Question, int], Ranking]
Embed = Callable[[Sequence[str]], Any]


def recalled(memory: AdaptiveMemory, policy: Policy, ends: Mapping[str | None, float | None]) -> Ask:
    """What a policy recalls for a question, asked a day after the user's last record; nothing counts as read."""

    def ask(question: Question, k: int) -> Ranking:
        user, now = memory.for_user(user_of(question.tenant)), ends.get(question.tenant)
        return user.recall(question.query, k=k, now=now, reinforce=False, policy=policy).ids

    return ask


def baselines(memory: AdaptiveMemory, data: Dataset) -> Iterator[tuple[str, Ask]]:
    """Plain vector search, textbook BM25, and reciprocal rank fusion of the two as everybody does it."""
    dense = recalled(memory, Policy(weights=ALONE, channels=("dense",), time_words="off"), {})
    words = by_words(data)

    def fused(question: Question, k: int) -> Ranking:
        ranks: dict[str, float] = {}
        for ask in (dense, words):
            for rank, one in enumerate(ask(question, k), start=1):
                ranks[one] = ranks.get(one, 0.0) + 1.0 / (RRF + rank)
        return sorted(ranks, key=lambda one: -ranks[one])[:k]

    yield from (("Chroma", dense), ("BM25", words), (f"RRF {RRF}", fused))


def by_words(data: Dataset) -> Ask:
    """A user's records that have words of the question, as textbook BM25 ranks them."""
    found: dict[str | None, tuple[list[str], BM25]] = {}
    for tenant in dict.fromkeys(item.tenant for item in data.items):
        own = [item for item in data.items if item.tenant == tenant]
        found[tenant] = ([item.id for item in own], BM25([item.labelled_text for item in own]))

    def ask(question: Question, k: int) -> Ranking:
        ids, bm25 = found[question.tenant]
        scores = bm25(question.query)
        order = np.argsort(-scores, kind="stable")[:k]
        return [ids[number] for number in order.tolist() if scores[number] > 0.0]

    return ask


def chunked(data: Dataset, embed: Embed) -> Ask:
    """Neighbouring turns of a session cut into chunks, the nearest chunk's turns first, in their order."""
    found: dict[str | None, tuple[list[list[str]], Any]] = {}
    for tenant in dict.fromkeys(item.tenant for item in data.items):
        chunks = list(chunks_of([item for item in data.items if item.tenant == tenant]))
        vectors = np.asarray(embed(["\n".join(item.labelled_text for item in chunk) for chunk in chunks]))
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
        full = sum(len(one.labelled_text) for one in (*chunk, item)) / 4 > CHUNK
        if chunk and (full or item.session != chunk[-1].session):
            yield chunk
            chunk = []
        chunk.append(item)
    if chunk:
        yield chunk
