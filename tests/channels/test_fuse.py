"""Are the shares of channels such that they add up, and the same however an embedder stretches its similarities?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.channels.fuse import OF_VECTORS, relevances, shares_of
from adaptive_memory_core.channels.told_apart import ToldApart, beside_words
from adaptive_memory_core.channels.words.bm25 import telling_of
from adaptive_memory_core.policy.fusion import LEADS, USUAL_NATS, Fusion
from adaptive_memory_core.records import Hit, Record

shares = st.floats(0.0, 1.0)


def hits(similarities: list[float], words: list[float], chance: float) -> list[Hit]:
    leads = [{"words": one, "chance": chance} for one in words]
    return [Hit(Record(str(n), "x"), like, str(n), leads[n]) for n, like in enumerate(similarities)]


@given(shares, st.sets(st.sampled_from(LEADS)), st.floats(0.125, 8.0))
def test_shares_add_up_to_one_whatever_the_chance(chance: float, names: set[str], stretched: float) -> None:
    found = shares_of({"words", *names}, chance, Fusion(), {}, ToldApart(stretched))
    assert abs(sum(found.values()) - 1.0) < 1e-9


def test_a_relevance_is_a_number_between_0_and_1() -> None:
    parts = relevances(hits([1.0] * 30, [1.0] * 30, 0.0), Fusion(), {}, 0.0)
    for row in zip(*parts.values(), strict=True):
        assert abs(sum(row) - 1.0) < 1e-9


def test_each_kind_of_record_has_the_shares_of_its_own_chance() -> None:
    close, words = [0.8, 0.4, 0.6], [0.1, 0.5, 0.3]
    both = [*hits(close, words, 0.9)[:2], hits(close, words, 0.001)[2]]
    for chance, places in ((0.9, [0, 1]), (0.001, [2])):
        alike = relevances(hits(close, words, chance), Fusion(), {}, 0.0)
        mixed = relevances(both, Fusion(), {}, 0.0)
        assert all(mixed[name][place] == alike[name][place] for name in alike for place in places)


def words_share(telling: float, **leads: float) -> float:
    """What words count where the cue's words could say so much."""
    both = [
        Hit(Record(str(n), "x"), 0.5, str(n), {"words": 1.0, "chance": 1.0, "telling": telling, **leads})
        for n in (1, 2)
    ]
    return relevances(both, Fusion(), {}, 0.0)["words"][0]


@given(shares, shares)
def test_words_count_by_what_those_of_the_cue_could_say(one: float, other: float) -> None:
    few, many = sorted([one, other])
    assert words_share(few) <= words_share(many)


def test_words_that_could_say_as_much_as_usual_count_as_given() -> None:
    plain = [Hit(Record("1", "x"), 0.5, "1", {"words": 1.0, "chance": 1.0})] * 2
    assert words_share(telling_of(USUAL_NATS)) == relevances(plain, Fusion(), {}, 0.0)["words"][0]


def test_what_neighbours_of_a_turn_count_its_own_vector_does_not() -> None:
    alone = shares_of({"words", "chance"}, 1.0, Fusion(near=0, around=0, session=0), {})
    turn = shares_of({"words", "chance", "before", "company"}, 1.0, Fusion(near=0, around=0, session=0), {})
    assert sum(turn[name] for name in OF_VECTORS) == pytest.approx(alone["similarity"])
    assert turn["similarity"] < alone["similarity"]


@given(shares, shares)
def test_without_a_weight_vectors_count_nothing_where_there_is_no_conversation(chance: float, telling: float) -> None:
    apart = ToldApart(beside_words(telling))
    assert shares_of({"words", "chance"}, chance, Fusion(dense=0), {}, apart)["similarity"] == 0.0


def test_beside_a_callers_own_channel_alone_vectors_count_as_given() -> None:
    own = [Hit(Record("a", "x"), 0.8, "a", {"sql": 1.0}), Hit(Record("b", "x"), 0.79, "b", {"sql": 0.0})]
    assert relevances(own, Fusion(), {"sql": 1.0}, 0.0) == {"similarity": [0.4, 0.395], "sql": [0.5, 0.0]}


def test_narrow_similarities_decide_where_words_say_nothing_certain() -> None:
    close, words = [0.80, 0.79, *[0.77] * 20], [0.0, 0.03, *[0.0] * 20]
    parts = relevances(hits(close, words, 0.9), Fusion(), {}, 0.0).values()
    plain = relevances(hits(close, words, 0.9), Fusion(spread=0.0), {}, 0.0).values()
    assert sum(one[0] for one in parts) > sum(one[1] for one in parts)
    assert sum(one[0] for one in plain) < sum(one[1] for one in plain)
