"""Do the leads that say nothing of what a turn is about multiply what the others say of it, and no more than that?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.channels.fuse import relevances
from adaptive_memory_core.channels.kinds_of_turn import EVEN, OF_TURNS, UNSAID, multiplied, times_more
from adaptive_memory_core.policy.fusion import Fusion
from adaptive_memory_core.records import Hit, Record

shares = st.floats(0.0, 1.0)
leads = st.fixed_dictionaries({name: st.lists(shares, min_size=3, max_size=3) for name in OF_TURNS})


def wholes(parts: dict[str, list[float]]) -> list[float]:
    return [sum(row) for row in zip(*parts.values(), strict=True)]


def turns(*rows: tuple[float, float]) -> list[Hit]:
    """Hits of a conversation by what the cue's words say of each, and whether its only named speaker said it."""
    return [
        Hit(Record(str(n), "x"), 0.0, str(n), {"words": words, "chance": 0.0, "speaker": speaker})
        for n, (words, speaker) in enumerate(rows)
    ]


@given(st.lists(shares, min_size=3, max_size=3), leads, st.dictionaries(st.sampled_from(OF_TURNS), st.floats(0, 9)))
def test_a_relevance_stays_between_0_and_1(
    about: list[float], told: dict[str, list[float]], times: dict[str, float]
) -> None:
    assert all(0.0 <= one <= 1.0 + 1e-9 for one in wholes(multiplied({"words": about}, told, times)))


@given(st.lists(shares, min_size=3, max_size=3), leads)
def test_where_all_of_them_speak_for_it_a_relevance_is_what_it_was(
    about: list[float], told: dict[str, list[float]]
) -> None:
    full = {name: [1.0] * 3 for name in told}
    found = wholes(multiplied({"words": about}, full, times_more(Fusion())))
    assert all(abs(new - old) <= UNSAID for new, old in zip(found, about, strict=True))


def test_a_speaker_makes_little_of_a_turn_about_something_else_and_much_of_one_about_the_cue() -> None:
    def gain(words: float) -> float:
        mine, theirs = wholes(relevances(turns((words, 1.0), (words, 0.0)), Fusion(), {}, 0.0))
        return mine - theirs

    assert gain(0.02) == pytest.approx(gain(0.4) / 20)


def test_where_words_tell_little_a_turn_about_the_cue_stays_before_one_by_its_speaker_about_nothing() -> None:
    about, spoken = wholes(relevances(turns((0.1, 0.0), (0.04, 1.0)), Fusion(), {}, 0.0))
    assert about > spoken


def test_of_turns_about_nothing_those_of_the_named_speaker_come_first() -> None:
    spoken, others = wholes(relevances(turns((0.0, 1.0), (0.0, 0.0)), Fusion(), {}, 0.0))
    assert spoken > others == 0.0


def test_what_verdicts_have_learned_of_such_a_lead_changes_by_how_much_it_multiplies() -> None:
    hits = turns((0.2, 1.0), (0.2, 0.0))
    usual, more = (relevances(hits, Fusion(), {}, 0.0, learned) for learned in ({}, {"speaker": 2.0}))
    assert sum(one[0] for one in more.values()) / sum(one[1] for one in more.values()) > 1.2 * (
        sum(one[0] for one in usual.values()) / sum(one[1] for one in usual.values())
    )


def test_only_the_ratios_of_weights_matter() -> None:
    one = Fusion(dense=0.5, words=0.25, near=0, around=0, session=0, before=0, company=0, speaker=0.1)
    two = Fusion(dense=1.0, words=0.5, near=0, around=0, session=0, before=0, company=0, speaker=0.2)
    hits = turns((0.2, 1.0), (0.3, 0.0))
    assert wholes(relevances(hits, one, {}, 0.0)) == pytest.approx(wholes(relevances(hits, two, {}, 0.0)))


def test_where_the_relevance_is_as_said_it_comes_to_as_much_as_if_it_were_added() -> None:
    fusion = Fusion(dense=0, words=1, near=0, around=0, session=0, before=0, company=0, speaker=0.1)
    mine, theirs = wholes(relevances(turns((EVEN, 1.0), (EVEN, 0.0)), fusion, {}, 0.0))
    ratio = mine / theirs
    assert ratio == pytest.approx((EVEN + 0.1) / EVEN)
