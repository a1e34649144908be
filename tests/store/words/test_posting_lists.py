"""Do posting lists that were kept up step by step say the same as lists made anew?"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.channels.conversation.turns import Turn
from adaptive_memory_core.channels.words.bm25 import coverage
from adaptive_memory_core.store.ledger.schema import migrate
from adaptive_memory_core.store.words import posting_lists as resident
from adaptive_memory_core.store.words import rows as word_rows
from adaptive_memory_core.store.words.posting_lists import Resident

TEXTS = ["zebra tea", "tea tea green", "green lake", "", "zebra lake walk"]
STEPS = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from([None, *TEXTS])), max_size=30)


def ledger() -> sqlite3.Connection:
    sql = sqlite3.connect(":memory:", isolation_level=None)
    migrate(sql)
    return sql


def scores(user: Resident) -> dict[str, list[float]]:
    found = coverage(user.postings({"zebra": 1, "tea": 2}), user.conversation.layout, in_sessions=True)
    assert found.near is not None
    return {
        one: [round(float(column[number]), 12) for column in (found.words, found.near)]
        for one, number in user.numbers.items()
    }


@pytest.mark.parametrize("tail", [0, 3, 256])
@given(steps=STEPS)
def test_any_history_of_writes_and_removals_gives_the_lists_of_a_fresh_look(
    tail: int, steps: Sequence[tuple[str, str | None]]
) -> None:
    sql, kept_up, before = ledger(), Resident(1), resident.TAIL
    resident.TAIL = tail
    try:
        for number, (name, text) in enumerate(steps):
            if text is None:
                word_rows.drop(sql, 1, [name])
            else:
                turn = Turn("Ana", "s" if number % 2 else None, float(number))
                word_rows.put(sql, 1, [word_rows.Text(1, name, text, turn)])
            if number % 3 == 0:
                kept_up.update(sql)
        kept_up.update(sql)
    finally:
        resident.TAIL = before
    fresh = Resident(1)
    fresh.update(sql)
    assert scores(kept_up) == scores(fresh)
    assert word_rows.size(sql, 1) == len(fresh)


def test_one_users_lists_know_nothing_of_another() -> None:
    sql = ledger()
    word_rows.put(sql, 1, [word_rows.Text(1, "a", "zebra", Turn()), word_rows.Text(2, "b", "zebra", Turn())])
    one = Resident(1)
    one.update(sql)
    assert list(one.numbers) == ["a"]
    assert np.asarray(one.postings({"zebra": 1})[0].docs).tolist() == [0]


def test_what_was_handed_out_stays_as_it_was_when_a_record_is_written_anew_or_removed() -> None:
    sql, user = ledger(), Resident(1)
    word_rows.put(sql, 1, [word_rows.Text(1, "a", "zebra", Turn()), word_rows.Text(1, "b", "tea", Turn())])
    user.update(sql)
    handed_out = user.numbers
    word_rows.put(sql, 1, [word_rows.Text(1, "a", "zebra tea", Turn())])
    word_rows.drop(sql, 1, ["b"])
    user.update(sql)
    assert handed_out == {"a": 0, "b": 1}
    assert user.numbers == {"a": 2}


def test_what_the_ledger_says_by_now_stays_when_what_was_held_besides_is_let_go() -> None:
    sql, user = ledger(), Resident(1)
    text = word_rows.Text(1, "a", "zebra", Turn())
    user.lay({"a": word_rows.row_of(text)}, set(), 1)
    word_rows.put(sql, 1, [text])
    user.update(sql)
    user.lift({})
    assert list(user.numbers) == ["a"]


def test_what_the_ledger_and_what_is_held_besides_both_say_is_there_once_and_stays() -> None:
    sql, user = ledger(), Resident(1)
    before, text = word_rows.Text(1, "a", "tea", Turn()), word_rows.Text(1, "a", "zebra", Turn())
    word_rows.put(sql, 1, [before])
    user.update(sql)
    word_rows.put(sql, 1, [text])  # written down, and not yet let go of
    user.update(sql)
    user.lay({"a": word_rows.row_of(text)}, {"a"}, 1)
    assert list(user.numbers) == ["a"]
    user.lift({})
    assert list(user.numbers) == ["a"]
    assert np.asarray(user.postings({"zebra": 1})[0].docs).tolist() == [user.numbers["a"]]
