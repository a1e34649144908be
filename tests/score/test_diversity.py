"""Do the hits say different things? What repeats a better one makes way, and numbers or a "not" are no repetition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import Policy, Record, Scored
from adaptive_memory_core.cue.time.intent import Intent, Window
from adaptive_memory_core.policy import Advanced
from adaptive_memory_core.reports import Dropped, Hit
from adaptive_memory_core.score.ranking import as_candidates
from adaptive_memory_core.score.select import leaders, overlap, pick, select, wants_more

NONE: dict[str, Any] = {}
LONG = "the team meets every tuesday at noon in the small room behind the kitchen and somebody brings fruit for all"


def ranked(*texts: str, created_at: tuple[float, ...] = ()) -> list[Scored]:
    """Hits whose ids are their ranks."""
    times = created_at or (0.0,) * len(texts)
    records = [Record(str(n), text, created_at=time) for n, (text, time) in enumerate(zip(texts, times, strict=True))]
    return [Scored(Hit(one, 0.5, one.id), 0.9 - n / 100, {}, {}) for n, one in enumerate(records)]


def picked(hits: list[Scored], k: int, **changes: Any) -> tuple[list[str], Sequence[Dropped]]:
    diversity = changes.pop("diversity", 0.0)
    kept, dropped = pick(hits, Policy(diversity=diversity, advanced=Advanced(**changes)), k=k, vectors=NONE)
    return [one.id for one in kept], dropped


def test_what_says_the_same_makes_way_for_others() -> None:
    ids, dropped = picked(ranked("Likes tea.", "likes  TEA", "has a cat", "likes tea!", "lives in Rome"), 3)
    assert ids == ["0", "2", "4"]
    assert [(one.id, one.reason) for one in dropped] == [("1", "nearly the same as 0"), ("3", "nearly the same as 0")]
    assert all(one.score is not None for one in dropped)


def test_where_there_is_room_nothing_makes_way() -> None:
    hits = ranked("tea", "tea", "cat")
    assert picked(hits, 3)[0] == ["0", "1", "2"]
    assert picked(hits, 5)[0] == ["0", "1", "2"]
    assert picked(ranked("tea", "tea", "tea", "cat"), 3)[0] == ["0", "1", "3"]


def test_drop_lets_go_of_them_even_where_there_is_room() -> None:
    ids, dropped = picked(ranked("tea", "tea", "cat"), 5, duplicates="drop")
    assert ids == ["0", "2"]
    assert [one.reason for one in dropped] == ["nearly the same as 0"]


def test_keep_keeps_them() -> None:
    ids, dropped = picked(ranked("tea", "tea", "cat"), 2, duplicates="keep")
    assert ids == ["0", "1"]
    assert [one.reason for one in dropped] == ["beyond k"]


def test_texts_without_words_are_not_the_same() -> None:
    assert picked(ranked("", "", "  ", "cat"), 3, duplicates="drop")[0] == ["0", "1", "2"]


def test_of_the_same_words_the_best_stays() -> None:
    hits = ranked("tea", "cat", "tea", created_at=(1.0, 2.0, 3.0))
    assert picked(hits, 2)[0] == ["0", "1"]


def test_of_nearly_the_same_the_newest_stays_and_keeps_the_place() -> None:
    """What the others have become: even where its own score alone would not have been enough."""
    edited = LONG.replace("fruit", "cake")
    hits = ranked(LONG, "cat", "dog", edited, created_at=(1.0, 2.0, 2.0, 3.0))
    ids, dropped = picked(hits, 2, same_share=0.6)
    assert ids == ["1", "3"]
    assert ("0", "nearly the same as 3") in [(one.id, one.reason) for one in dropped]
    unknown = [*hits[:3], Scored(Hit(Record("3", edited), 0.5, "3"), 0.1, {}, {})]
    assert picked(unknown, 2, same_share=0.6)[0] == ["0", "1"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("deploy 41 failed at the last step of the build", "deploy 42 failed at the last step of the build"),
        (LONG, LONG.replace("meets", "never meets")),
        (LONG, LONG.replace("brings", "doesn't bring")),
        ("Ann likes tea", "Bob likes tea"),
        ("", ""),
    ],
)
def test_a_number_or_a_negation_more_is_another_statement(one: str, other: str) -> None:
    assert overlap(one, other) < 0.5
    assert leaders([one, other], 0.5) == [0, 1]


@given(st.lists(st.sampled_from(["tea", "Tea.", "cat", "dog", "", LONG, f"So, {LONG}"]), max_size=12))
@pytest.mark.parametrize("share", [1.0, 0.7])
def test_whoever_leads_leads_itself_and_the_same_words_have_one_leader(share: float, texts: list[str]) -> None:
    found = leaders(texts, share)
    assert all(found[leader] == leader <= number for number, leader in enumerate(found))
    words: dict[str, int] = {}
    for text, leader in zip(texts, found, strict=True):
        key = text.lower().rstrip(".")
        if key:
            assert words.setdefault(key, leader) == leader


@given(
    st.lists(st.sampled_from(["tea", "TEA", "cat", "dog", "rat", ""]), max_size=15),
    st.integers(1, 8),
    st.sampled_from(["keep", "yield", "drop"]),
    st.sampled_from([0.0, 0.3]),
)
def test_every_hit_is_either_kept_or_dropped_with_a_reason(
    texts: list[str], k: int, duplicates: str, diversity: float
) -> None:
    hits = ranked(*texts)
    ids, dropped = picked(hits, k, duplicates=duplicates, diversity=diversity)
    assert sorted([*ids, *(one.id for one in dropped)], key=int) == [one.id for one in hits]
    if duplicates != "drop":
        assert len(ids) == min(k, len(hits))
    if diversity == 0.0:
        assert ids == sorted(ids, key=int)


def naive(hits: list[Scored], vectors: dict[str, Any], trade: float, k: int) -> list[str]:
    """Maximal marginal relevance as its authors wrote it."""

    def cosine(a: str, b: str) -> float:
        x, y = vectors[a], vectors[b]
        return float(x @ y / (np.linalg.norm(x) * np.linalg.norm(y)))

    left, chosen = list(hits), list[Scored]()
    while left and len(chosen) < k:
        worth = {
            one.id: trade * one.score - (1 - trade) * max((cosine(one.id, two.id) for two in chosen), default=0.0)
            for one in left
        }
        best = max(left, key=lambda one: worth[one.id])
        chosen.append(best)
        left.remove(best)
    return [one.id for one in chosen]


@given(st.integers(0, 10_000), st.integers(1, 10), st.sampled_from([0.1, 0.5, 0.9]))
def test_diversity_is_maximal_marginal_relevance_before_the_cut(seed: int, k: int, strength: float) -> None:
    chance = np.random.default_rng(seed)
    hits = ranked(*(f"text {n}" for n in range(8)))
    vectors = {one.id: chance.normal(size=6) for one in hits}
    kept, _ = pick(hits, Policy(diversity=strength), k=k, vectors=vectors)
    assert [one.id for one in kept] == naive(hits, vectors, 1 - strength, k)


def test_diversity_brings_in_what_would_have_been_cut() -> None:
    hits = ranked("a", "b", "c")
    vectors = {"0": [1.0, 0.0], "1": [1.0, 0.01], "2": [0.0, 1.0]}
    kept, dropped = pick(hits, Policy(diversity=0.5), k=2, vectors=vectors)
    assert [one.id for one in kept] == ["0", "2"]
    assert [one.reason for one in dropped] == ["beyond k"]


def test_without_vectors_the_score_alone_decides() -> None:
    assert picked(ranked("a", "b", "c"), 2, diversity=0.5)[0] == ["0", "1"]


def test_more_is_asked_for_where_what_was_found_says_the_same() -> None:
    same = [Hit(Record(str(n), "tea"), 0.9, str(n)) for n in range(20)]
    other = [*same[:16], *(Hit(Record(f"x{n}", f"cat {n}"), 0.5, f"x{n}") for n in range(4))]
    for policy, hits, wanted in (
        (Policy(), same, True),
        (Policy(), other, False),
        (Policy(advanced=Advanced(duplicates="keep")), same, False),
        (Policy(advanced=Advanced(same_share=0.5)), same, True),
    ):
        assert wants_more(as_candidates(hits), policy, k=5, asked=20, now=0.0, near=len(hits)) is wanted


def test_the_same_words_at_another_time_are_another_memory_where_a_time_is_asked_about() -> None:
    hits = [Hit(Record(str(n), "went for a run", created_at=n * 1e6), 0.9, str(n)) for n in range(4)]
    hits.append(Hit(Record("x", "bought a bike", created_at=0.0), 0.2, "x"))
    asked = Intent((Window(0.0, 4e6),))
    assert len({one.text for one in select(hits, Policy(), k=3, now=5e6)[0]}) == 2
    assert [one.text for one in select(hits, Policy(), k=3, now=5e6, intent=asked)[0]] == ["went for a run"] * 3
