"""Relevance: parts that add up, and rankings that do not depend on how high an embedder's similarities are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from chromadb import Collection
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import AdaptiveMemory, Policy, Record, Weights
from adaptive_memory_core.models.embedder import as_embedder
from adaptive_memory_core.policy import Advanced, Fusion
from adaptive_memory_core.records import Hit
from adaptive_memory_core.score.blend import relevances
from adaptive_memory_core.score.ranking import as_candidates
from adaptive_memory_core.score.surprise import SLOPE
from tests.conftest import DIMENSIONS, Clock, Vectors, word_vectors

NATS = st.floats(-6.0, 12.0)
SAID = st.lists(st.tuples(st.floats(-1.0, 1.0), st.floats(0.0, 12.0), NATS, NATS), min_size=1, max_size=12)
SHARED = {"baseline": 0.1, "spread": 0.1, "most_of_words": 15.0, "most_of_kinds": 5.0}
BOTH = Policy(channels=("dense", "lexical"), weights=Weights(0, 0, 1))


def hit(name: str, similarity: float, **leads: float) -> Hit:
    return Hit(Record(name, name), similarity, name, leads)


def hits_of(said: Sequence[tuple[float, float, float, float]]) -> list[Hit]:
    return [
        hit(str(number), close, words=words, speaker=speaker, stated=stated, **SHARED)
        for number, (close, words, speaker, stated) in enumerate(said)
    ]


def wholes(hits: Sequence[Hit], fusion: Fusion, more: dict[str, float] | None = None) -> list[float]:
    return [sum(row) for row in zip(*relevances(as_candidates(hits), fusion, more or {}, 0.0).values(), strict=True)]


@given(SAID, st.floats(0.0, 3.0), st.floats(0.1, 3.0), st.floats(0.0, 1.0))
def test_parts_lie_between_0_and_1_and_add_up_to_a_relevance_that_does(
    said: Sequence[tuple[float, float, float, float]], vectors: float, words: float, reranked: float
) -> None:
    hits = [hit(one.record.id, one.similarity, **one.leads, reranker=0.5) for one in hits_of(said)]
    parts = relevances(as_candidates(hits), Fusion(vectors=vectors, words=words), {}, reranked)
    assert set(parts) == {"similarity", "words", "speaker", "stated", "reranker"}
    assert all(0.0 <= value <= 1.0 for values in parts.values() for value in values)
    assert all(sum(row) <= 1.0 + 1e-9 for row in zip(*parts.values(), strict=True))


@given(SAID)
def test_a_relevance_is_the_sum_of_all_nats_as_a_share_of_the_most(
    said: Sequence[tuple[float, float, float, float]],
) -> None:
    found = wholes(hits_of(said), Fusion(vectors=2.0, words=0.5))

    def nats(similarity: float) -> float:
        return math.log1p(math.exp(SLOPE * (similarity - 0.1) / 0.1))

    most = 2.0 * nats(1.0) + 0.5 * 15.0 + 5.0
    for (close, words, speaker, stated), whole in zip(said, found, strict=True):
        summed = 2.0 * nats(close) + 0.5 * words + speaker + stated
        assert whole == pytest.approx(min(1.0, max(0.0, summed / most)), abs=1e-9)


@given(SAID, st.floats(-3.0, 6.0))
def test_a_lead_that_is_the_same_for_all_changes_no_order(
    said: Sequence[tuple[float, float, float, float]], constant: float
) -> None:
    hits = hits_of(said)
    more = [hit(one.record.id, one.similarity, **one.leads, dated=constant) for one in hits]
    before, after = wholes(hits, Fusion()), wholes(more, Fusion())
    for one in range(len(hits)):
        for other in range(len(hits)):
            assert not (before[one] > before[other] + 1e-9 and after[one] < after[other] - 1e-9)


def test_what_nothing_is_known_of_counts_as_nothing_said() -> None:
    known, unknown = hit("a", 0.5, words=3.0, **SHARED), hit("b", 0.5, words=0.0, **SHARED)
    of_turns = [hit(one.record.id, one.similarity, **one.leads, around=0.0, answers=0.0) for one in (known, unknown)]
    assert wholes(of_turns, Fusion()) == pytest.approx(wholes([known, unknown], Fusion()))
    assert relevances(as_candidates(of_turns), Fusion(), {}, 0.0)["words"][1] == 0.0


def test_without_other_channels_the_similarity_is_the_relevance() -> None:
    parts = relevances(as_candidates([hit("a", 0.4), hit("b", 1.2), hit("c", -0.1)]), Fusion(), {}, 0.0)
    assert {name: one.tolist() for name, one in parts.items()} == {"similarity": [0.4, 1.0, 0.0]}


def test_a_channel_that_says_1_counts_as_much_as_the_same_text() -> None:
    hits = [hit("same", 1.0, sql=0.0, **SHARED), hit("named", -1.0, sql=1.0, **SHARED)]
    same, named = wholes(hits, Fusion(), {"sql": 1.0})
    assert same == pytest.approx(named, abs=1e-6)


# Whole recalls, over real Chroma, of 60 notes.
TOPICS = ("tea", "garden", "server", "lisbon", "violin", "budget", "marathon", "bread", "letters", "winter")
FILL = ("old", "quiet", "second", "broken", "green", "early", "heavy", "plain", "small", "northern", "late", "round")
QUERIES = ("green tea garden", "which server is broken", "the violin", "an early marathon in winter", "photosynthesis")


def notes() -> list[str]:
    random = np.random.default_rng(7)
    return [
        " ".join([*random.choice(TOPICS, 2, replace=False), *random.choice(FILL, int(random.integers(2, 6)))])
        for _ in range(60)
    ]


def shifted(texts: Sequence[str]) -> Vectors:
    vectors = word_vectors(texts)
    return np.hstack([math.sqrt(0.3) * vectors, np.full((len(texts), 1), math.sqrt(0.7))]).astype(np.float32)


def rotated(texts: Sequence[str]) -> Vectors:
    turn, _ = np.linalg.qr(np.random.default_rng(3).normal(size=(DIMENSIONS, DIMENSIONS)))
    return np.asarray(word_vectors(texts) @ turn, dtype=np.float32)


def scaled(texts: Sequence[str]) -> Vectors:
    return 5.0 * word_vectors(texts)


def ranked(
    collection: Collection, clock: Clock, embed: Callable[[Sequence[str]], Vectors], policy: Policy
) -> list[dict[str, float]]:
    with closing(AdaptiveMemory(collection, embedder=as_embedder(embed, name=embed.__name__), clock=clock)) as memory:
        ana = memory.for_user("ana")
        ana.remember_many([{"text": text, "id": f"n{number}"} for number, text in enumerate(notes())])
        answers = [ana.recall(one, k=60, reinforce=False, policy=policy) for one in QUERIES]
    return [{one.id: one.score for one in answer} for answer in answers]


@pytest.mark.parametrize("embed", [shifted, rotated, scaled])
@pytest.mark.parametrize("policy", [Policy(recall_k=60), BOTH.replace(recall_k=60)], ids=["default", "relevance"])
def test_a_shift_a_rotation_and_a_scaling_of_all_vectors_change_no_ranking(
    new_collection: Callable[..., Collection], clock: Clock, embed: Any, policy: Policy
) -> None:
    as_they_are = ranked(new_collection(), clock, word_vectors, policy)
    moved = ranked(new_collection(), clock, embed, policy)
    most, apart = (0.02, 0.001) if embed is shifted else (1e-4, 2e-4)
    for before, after in zip(as_they_are, moved, strict=True):
        assert before.keys() == after.keys()
        assert after == pytest.approx(before, abs=most)
        order, scores = list(after), list(before.values())
        places = [order.index(one) for one in before]
        for one in range(len(scores) - 1):  # those that are further apart than that keep their places
            if scores[one] - scores[one + 1] > apart:
                assert places[one] < places[one + 1]


def test_a_word_that_nobody_has_lowers_scores_and_keeps_their_order(
    new_collection: Callable[..., Collection], clock: Clock
) -> None:
    """With the same vector, so that words alone differ."""

    def first_words(texts: Sequence[str]) -> Vectors:
        return word_vectors([text.removesuffix(" zyzzyva") for text in texts])

    with closing(
        AdaptiveMemory(new_collection(), embedder=as_embedder(first_words, name="first"), clock=clock)
    ) as memory:
        ana = memory.for_user("ana")
        ana.remember_many([{"text": text, "id": f"n{number}"} for number, text in enumerate(notes())])
        plain = ana.recall("green tea garden", k=20, reinforce=False, policy=BOTH)
        more = ana.recall("green tea garden zyzzyva", k=20, reinforce=False, policy=BOTH)
    assert more.ids == plain.ids
    assert all(one.score < other.score for one, other in zip(more, plain, strict=True))


@pytest.mark.parametrize("texts", [["tea"], ["tea", "tea"], [f"note {n} of tea" for n in range(10)]])
@pytest.mark.parametrize("query", ["tea", "the of and", "photosynthesis", "?"])
def test_few_records_and_queries_without_words_give_sensible_scores(
    memory: AdaptiveMemory, texts: list[str], query: str
) -> None:
    ana = memory.for_user("ana")
    ana.remember_many([{"text": text, "id": f"n{number}"} for number, text in enumerate(texts)])
    found = ana.recall(query, k=10, reinforce=False, policy=Policy(advanced=Advanced(duplicates="keep")))
    assert len(found) == len(texts)
    for one in found:
        assert math.isfinite(one.score)
        assert 0.0 <= one.score <= 1.0
        assert sum(one.parts.values()) == pytest.approx(one.score)
    same = ana.recall("tea", k=10, reinforce=False)[0].score
    assert same >= ana.recall("photosynthesis", k=10, reinforce=False)[0].score
