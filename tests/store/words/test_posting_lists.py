"""Do posting lists that were kept up step by step say the same as lists made anew?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.channels.conversation.sessions import Conversation, conversation
from adaptive_memory_core.channels.conversation.turn_columns import Turns
from adaptive_memory_core.channels.conversation.turns import Turn, turn_of
from adaptive_memory_core.channels.words.bm25 import coverage
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports.ledger_copies import WordRows
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger.sqlite_ledger import SQLiteLedger
from adaptive_memory_core.store.words import posting_lists as resident
from adaptive_memory_core.store.words import rows as word_rows
from adaptive_memory_core.store.words.posting_lists import PostingLists

ALICE, BOB = Scope("alice"), Scope("bob")
TEXTS = ["zebra tea", "tea tea green", "green lake", "", "zebra lake walk"]
STEPS = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from([None, *TEXTS])), max_size=30)


def rows() -> WordRows:
    """The word rows of a new ledger."""
    ledger = SQLiteLedger(":memory:")
    ledger.attach("uuid", "memories")
    return ledger.words


def put(words: WordRows, scope: Scope, *texts: word_rows.Text) -> None:
    words.put({scope: [word_rows.row_of(one) for one in texts]})


def update(user: PostingLists, words: WordRows) -> None:
    user.take_in(words.news(ALICE, *user.seen))


SAID = st.tuples(
    st.sampled_from(["Ana: zebra tea", "Ben: tea tea green", "green lake", "Rome: zebra lake walk", ""]),
    st.sampled_from([None, "s", "t"]),
    st.sampled_from([None, "Cyd", "dan"]),
    st.floats(0.0, 20_000.0),
)


@given(said=st.lists(SAID, max_size=40), looks=st.sets(st.integers(0, 40)))
def test_a_conversation_that_was_kept_up_is_as_one_made_anew(said: Sequence[Any], looks: set[int]) -> None:
    words, kept_up, fresh, turns = rows(), PostingLists(), PostingLists(), list[Turn]()
    for number, (text, session, speaker, place) in enumerate(said):
        metadata = {"session": session, "speaker": speaker, "seq": place}
        turns.append(turn_of(text, metadata, Fields(), created_at=None))
        put(words, ALICE, word_rows.Text(f"m{number}", text, turns[-1]))
        if number in looks:
            update(kept_up, words)
            assert kept_up.conversation.places.tolist()
    update(kept_up, words)
    update(fresh, words)
    speakers, sessions, places, told = zip(*turns, strict=True) if turns else ((), (), (), ())
    lengths = fresh.conversation.layout.lengths
    anew = conversation(Turns(speakers, told, sessions, places), lengths, len(turns))
    assert shown(kept_up.conversation) == shown(fresh.conversation) == shown(anew)


def shown(talk: Conversation) -> Any:
    layout = talk.layout
    arrays = (layout.order, layout.first, layout.last, layout.turns, layout.lengths, talk.places)
    around = () if layout.surroundings is None else layout.surroundings.windows
    windows = [[one.low.tolist(), one.high.tolist(), one.long.tolist(), one.total] for one in around]
    speakers = {name: said.tolist() for name, said in talk.speakers.items()}
    return [np.asarray(one).tolist() for one in arrays], windows, speakers, talk.in_sessions, talk.unnamed


def scores(user: PostingLists) -> dict[str, list[float]]:
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
    words, kept_up, before = rows(), PostingLists(), resident.TAIL
    resident.TAIL = tail
    try:
        for number, (name, text) in enumerate(steps):
            if text is None:
                words.drop([name])
            else:
                turn = Turn("Ana", "s" if number % 2 else None, float(number))
                put(words, ALICE, word_rows.Text(name, text, turn))
            if number % 3 == 0:
                update(kept_up, words)
        update(kept_up, words)
    finally:
        resident.TAIL = before
    fresh = PostingLists()
    update(fresh, words)
    assert scores(kept_up) == scores(fresh)
    assert words.size() == len(fresh)


def test_one_users_lists_know_nothing_of_another() -> None:
    words = rows()
    put(words, ALICE, word_rows.Text("a", "zebra", Turn()))
    put(words, BOB, word_rows.Text("b", "zebra", Turn()))
    one = PostingLists()
    update(one, words)
    assert list(one.numbers) == ["a"]
    assert np.asarray(one.postings({"zebra": 1})[0].docs).tolist() == [0]


def test_what_was_handed_out_stays_as_it_was_when_a_record_is_written_anew_or_removed() -> None:
    words, user = rows(), PostingLists()
    put(words, ALICE, word_rows.Text("a", "zebra", Turn()), word_rows.Text("b", "tea", Turn()))
    update(user, words)
    handed_out = user.numbers
    put(words, ALICE, word_rows.Text("a", "zebra tea", Turn()))
    words.drop(["b"])
    update(user, words)
    assert handed_out == {"a": 0, "b": 1}
    assert user.numbers == {"a": 2}


def test_what_the_ledger_says_by_now_stays_when_what_was_held_besides_is_let_go() -> None:
    words, user = rows(), PostingLists()
    text = word_rows.Text("a", "zebra", Turn())
    user.lay({"a": word_rows.row_of(text)}, set(), 1)
    put(words, ALICE, text)
    update(user, words)
    user.lift({})
    assert list(user.numbers) == ["a"]


def test_what_the_ledger_and_what_is_held_besides_both_say_is_there_once_and_stays() -> None:
    words, user = rows(), PostingLists()
    before, text = word_rows.Text("a", "tea", Turn()), word_rows.Text("a", "zebra", Turn())
    put(words, ALICE, before)
    update(user, words)
    put(words, ALICE, text)  # written down, and not yet let go of
    update(user, words)
    user.lay({"a": word_rows.row_of(text)}, {"a"}, 1)
    assert list(user.numbers) == ["a"]
    user.lift({})
    assert list(user.numbers) == ["a"]
    assert np.asarray(user.postings({"zebra": 1})[0].docs).tolist() == [user.numbers["a"]]
