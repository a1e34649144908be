"""Are the shares of channels such that they add up, and the same however an embedder stretches its similarities?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.channels.fuse import relevances, shares_of
from adaptive_memory_core.channels.told_apart import ToldApart
from adaptive_memory_core.policy.fusion import LEADS, Fusion
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


def test_beside_a_callers_own_channel_alone_vectors_count_as_given() -> None:
    own = [Hit(Record("a", "x"), 0.8, "a", {"sql": 1.0}), Hit(Record("b", "x"), 0.79, "b", {"sql": 0.0})]
    assert relevances(own, Fusion(), {"sql": 1.0}, 0.0) == {"similarity": [0.4, 0.395], "sql": [0.5, 0.0]}


def test_narrow_similarities_decide_where_words_say_nothing_certain() -> None:
    close, words = [0.80, 0.79, *[0.77] * 20], [0.0, 0.03, *[0.0] * 20]
    parts = relevances(hits(close, words, 0.9), Fusion(), {}, 0.0).values()
    plain = relevances(hits(close, words, 0.9), Fusion(spread=0.0), {}, 0.0).values()
    assert sum(one[0] for one in parts) > sum(one[1] for one in parts)
    assert sum(one[0] for one in plain) < sum(one[1] for one in plain)
