"""Is coverage BM25, within [0, 1], and of neighbours only within their session?"""

from __future__ import annotations

import math

import numpy as np
import pytest

from adaptive_memory_core.channels.conversation.sessions import conversation
from adaptive_memory_core.channels.conversation.turn_columns import Turns
from adaptive_memory_core.channels.words.bm25 import Posting, coverage
from adaptive_memory_core.channels.words.worth_of_word import BY_CHANCE, LENGTH_NORMALISATION, TERM_SATURATION


def talk(sessions: list[str | None], speakers: list[str | None] | None = None, told: int = 0) -> Turns:
    size = len(sessions)
    return Turns(speakers or [None] * size, [told] * size, sessions, [float(n) for n in range(size)])


def posting(docs: list[int], counts: list[float], times: int = 1) -> Posting:
    return Posting(times, np.array(docs, dtype=np.int64), np.array(counts))


def test_the_record_itself_is_scored_by_bm25_as_published_as_far_as_a_word_is_not_there_by_chance() -> None:
    lengths = np.array([4.0, 8.0, 2.0])
    layout = conversation(talk([None] * 3), lengths, 3).layout
    found = coverage([posting([0, 1], [1.0, 3.0]), posting([1], [1.0])], layout, in_sessions=False)
    idf = [math.log(1 + (3 - df + 0.5) / (df + 0.5)) for df in (2, 1)]

    def part(count: float, length: float) -> float:
        held_back = TERM_SATURATION * (1 - LENGTH_NORMALISATION + LENGTH_NORMALISATION * length / float(lengths.mean()))
        return count * (TERM_SATURATION + 1) / (count + held_back)

    most = sum(idf) * (1 + TERM_SATURATION)
    first = idf[0] * part(1, 4) * math.exp(-BY_CHANCE * 4 * 3 / 10)  # 3 among the 10 words of the others
    second = idf[0] * part(3, 8) * math.exp(-BY_CHANCE * 8 * 1 / 6)
    assert found.words[0] == pytest.approx(first / most)
    assert found.words[1] == pytest.approx((second + idf[1] * part(1, 8)) / most)  # nobody else has the other word
    assert found.words[2] == 0.0


def test_neighbours_share_their_words_within_a_session_and_not_beyond() -> None:
    found = conversation(talk(["a", "a", "a", "b"]), np.ones(4), 4)
    covered = coverage([posting([1], [1.0])], found.layout, in_sessions=found.in_sessions)
    assert covered.near is not None
    assert covered.session is not None
    assert (covered.near[:3] > 0).all()
    assert covered.near[3] == 0
    assert covered.session[0] == covered.session[2] > covered.session[3] == 0
    assert covered.words.tolist()[0] == 0


def test_turns_stand_in_their_order_however_they_were_written() -> None:
    turns = Turns([None] * 4, [0] * 4, ["a"] * 4, [3.0, 0.0, 1.0, 2.0])
    found = conversation(turns, np.ones(4), 4)
    near = coverage([posting([1], [1.0])], found.layout, in_sessions=True).near
    assert near is not None
    assert (near > 0).tolist() == [False, True, True, False]


def test_a_speaker_whom_only_texts_name_must_come_often() -> None:
    rare = conversation(talk([None] * 3, ["Note"] * 3, told=2), np.ones(3), 3)
    often = conversation(talk([None] * 8, ["Ana", "Ben"] * 4, told=2), np.ones(8), 8)
    assert not rare.speakers
    assert not rare.in_sessions
    assert sorted(often.speakers) == ["ana", "ben"]
    assert often.in_sessions
    assert not often.unnamed


def test_an_hour_of_silence_ends_a_session_without_a_name() -> None:
    turns = Turns(["Ana"] * 5, [0] * 5, [None] * 5, [0.0, 60.0, 120.0, 9_000.0, 9_060.0])
    found = conversation(turns, np.ones(5), 5)
    assert found.layout.last[found.layout.order.tolist().index(0)] == 3


def test_an_empty_memory_covers_nothing() -> None:
    found = conversation(talk([]), np.empty(0), 0)
    assert len(coverage([posting([], [])], found.layout, in_sessions=False).words) == 0


def test_a_long_text_that_would_have_the_words_anyway_stands_behind_a_short_one() -> None:
    lengths = np.array([20.0, 400.0, *[30.0] * 20])
    layout = conversation(talk([None] * 22), lengths, 22).layout
    common = [posting([0, 1, *range(2, 8)], [1.0, 4.0, *[1.0] * 6]) for _ in range(3)]
    found = coverage(common, layout, in_sessions=False)
    assert found.words[0] > 2 * found.words[1]


def test_words_that_any_text_has_are_found_by_accident_and_rare_ones_are_not() -> None:
    layout = conversation(talk([None] * 100), np.full(100, 10.0), 100).layout
    usual = coverage([posting(list(range(50)), [1.0] * 50)], layout, in_sessions=False)
    telling = coverage([posting([7], [1.0]), posting([7, 8], [1.0, 1.0])], layout, in_sessions=False)
    assert usual.chance > 0.99
    assert telling.chance < 0.1


def test_what_stands_alone_is_judged_by_the_words_of_what_stands_alone() -> None:
    sessions: list[str | None] = [*["talk"] * 50, *[None] * 50]
    talked_of, noted = posting([7], [1.0]), posting([60, 61], [1.0, 1.0])
    layout = conversation(talk(sessions), np.full(100, 10.0), 100).layout
    found = coverage([talked_of, posting([8], [1.0])], layout, in_sessions=True)
    assert found.chance < 0.2
    assert found.chance_alone == 1.0  # nothing that stands alone has any of the words
    alone = coverage([noted, posting([61], [1.0])], layout, in_sessions=True)
    assert alone.chance_alone is not None
    assert alone.chance_alone < 0.2
    none = conversation(talk(["talk"] * 100), np.full(100, 10.0), 100)
    assert coverage([talked_of], none.layout, in_sessions=True).chance_alone is None


def test_what_is_gone_stands_beside_no_conversation() -> None:
    lengths = np.array([10.0, 10.0, 0.0])
    assert conversation(talk(["a", "a", "a"]), lengths, 2).layout.alone is None
    marked = conversation(talk(["a", "a", None, None]), np.append(lengths, 5.0), 3).layout.alone
    assert marked is not None
    assert marked.tolist() == [False, False, False, True]


def test_long_replies_are_judged_by_themselves_and_turns_by_their_neighbours_too() -> None:
    for words, own in ((10.0, False), (3_000.0, True)):
        found = conversation(talk(["a"] * 8), np.full(8, words), 8)
        covered = coverage([posting([3], [1.0])], found.layout, in_sessions=True)
        assert covered.around is not None
        assert (covered.around[2] < 0.001 * covered.words[3]) == own
