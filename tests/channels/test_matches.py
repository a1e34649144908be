"""What the words of a query say of each record, in nats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.channels.matches import MOST_WORDS, Matches, matches, posting
from adaptive_memory_core.channels.sessions import AROUND, Conversation, Layout, surroundings_of
from adaptive_memory_core.score.surprise import OTHER_RECORDS, of_word

DOCS = st.lists(st.sets(st.integers(0, 9), max_size=10), max_size=6)


def layout(count: int, long: float = 10.0) -> Layout:
    """So many notes, each by itself."""
    here = np.arange(count)
    return Layout(np.full(count, long), count, here, here, here + 1)


def session(count: int) -> Layout:
    """So many turns of one conversation."""
    return Layout(np.full(count, 10.0), count, np.arange(count), np.zeros(count, int), np.full(count, count))


def matches_of(asked: Sequence[tuple[set[int], float]], where: Layout, people: Any = None) -> Matches:
    """What the words say that these records have, each so many times in the query."""
    around = None if people is None else surroundings_of(where.lengths, where.order, where.first, where.last)
    talk = Conversation(where._replace(surroundings=around), people is not None, {}, False, where.order, people)
    numbers = ((f"word {number:c}", one) for number, one in enumerate(asked, start=ord("a")))
    return matches(
        {name: (times, posting(name, np.array(sorted(docs), dtype=np.int64), talk)) for name, (docs, times) in numbers},
        talk,
    )


def once(*docs: set[int]) -> list[tuple[set[int], float]]:
    return [(one, 1.0) for one in docs]


@given(DOCS)
def test_no_record_matches_more_than_the_query_could_say(asked: list[set[int]]) -> None:
    found = matches_of(once(*asked), layout(10))
    assert found.around is None
    assert (found.own >= 0.0).all()
    assert (found.own <= found.most + 1e-9).all()


@given(DOCS)
def test_a_word_that_nobody_has_raises_the_most_and_changes_nothing_else(asked: list[set[int]]) -> None:
    before = matches_of(once(*asked), layout(10))
    after = matches_of(once(*asked, set()), layout(10))
    assert after.own.tolist() == before.own.tolist()
    assert after.most > before.most


def test_a_query_without_words_says_nothing() -> None:
    for where, people in ((layout(3), None), (session(3), np.ones(3)), (layout(0), None)):
        found = matches_of([], where, people)
        assert found.most == 0.0
        assert not found.own.any()
        assert found.around is None or not found.around.any()


def test_a_word_counts_by_how_few_records_have_it() -> None:
    found = matches_of(once({0}), layout(80))
    assert found.own[0] == pytest.approx(math.log(100))  # one in 80 and 20 more that are assumed
    assert matches_of(once({0, 1}), layout(80)).own[0] == pytest.approx(math.log(50))
    assert found.own[1] == 0.0
    assert OTHER_RECORDS == 20.0


def test_a_long_text_has_words_by_chance() -> None:
    where = layout(2)._replace(lengths=np.array([1.0, 19.0]))
    short, long = matches_of(once({0, 1}), where).own
    assert short > 2.0 * long > 0.0


def test_a_word_that_counts_a_third_says_a_third() -> None:
    whole, third = (matches_of([({0}, times)], layout(5)) for times in (1.0, 1.0 / 3.0))
    assert third.own[0] == pytest.approx(whole.own[0] / 3.0)
    assert third.most == pytest.approx(float(of_word(1, 5, 1.0 / 30.0)) / 3.0)  # of a text that is a third of a word
    assert matches_of([({0}, 4.0)], layout(5)).own[0] == pytest.approx(whole.own[0])  # said four times


def test_the_nearer_a_turn_is_the_more_of_its_words_count_for_another() -> None:
    found = matches_of(once({0}), session(12), np.ones(12))
    assert found.around is not None
    nearest, near, far = found.around[1], found.around[3], found.around[9]
    assert nearest > near > far > 0.0
    only_this_word = float(of_word(1, 12, 1.0 / 10.0))
    assert found.most == pytest.approx(only_this_word * (1.0 + sum(weight for _, weight in AROUND)))


def test_an_assistants_replies_have_no_words_around_them() -> None:
    found = matches_of(once({0}), session(4), np.array([0.0, 1.0, 1.0, 1.0]))
    assert found.around is not None
    without = matches_of(once({0}), session(4), np.ones(4)).around
    assert without is not None
    assert found.around[1:].tolist() == pytest.approx(without[1:].tolist())


def test_what_stands_alone_gets_what_turns_reach_by_chance() -> None:
    where = Layout(np.full(5, 10.0), 5, np.arange(5), np.array([0, 0, 0, 0, 4]), np.array([4, 4, 4, 4, 5]))
    people = np.array([1.0, 1.0, 1.0, 1.0, 0.0])
    found = matches_of(once({0}), where, people)
    assert found.around is not None
    turns = (found.own + found.around)[:4]
    assert found.around[4] == pytest.approx(turns.mean() + math.sqrt(2.0 * math.log(len(turns))) * turns.std())
    assert found.own[4] == 0.0


def test_of_a_long_query_the_rarest_words_are_looked_up() -> None:
    usual = [set(range(20)) for _ in range(MOST_WORDS)]
    found = matches_of(once(*usual, {3}), layout(20))
    assert found.own[3] > found.own[4] + 2.0
    assert found.own[4] == pytest.approx(matches_of(once(*usual[1:]), layout(20)).own[4])
