"""Do posting lists that were kept up step by step say the same as lists made anew?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.channels.matches import matches
from adaptive_memory_core.channels.sessions import Conversation, conversation
from adaptive_memory_core.channels.turns import Turn, Turns, turn_of
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports.ledger_values import MirrorRow
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger.sql_ledger import SQLiteLedger
from adaptive_memory_core.store.words import frozen_lists as word_rows
from adaptive_memory_core.store.words import posting_lists as resident
from adaptive_memory_core.store.words.posting_lists import PostingLists
from tests.store.ledger.reads import VECTOR

ALICE, BOB = Scope("alice"), Scope("bob")
TEXTS = ["zebra tea", "tea tea green", "green lake", "", "zebra lake walk"]
STEPS = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from([None, *TEXTS])), max_size=30)


def new_ledger() -> SQLiteLedger:
    ledger = SQLiteLedger(":memory:")
    ledger.attach("uuid", "memories")
    return ledger


def put(ledger: SQLiteLedger, scope: Scope, *texts: word_rows.RecordText) -> None:
    """Write such records, and their words."""
    told = {one.stored_id: one for one in texts}
    ledger.mirror.put({scope: [MirrorRow(one.stored_id, one.text, None, VECTOR) for one in texts]})
    ledger.words.follow(scope, lambda found, _: [word_rows.row_of(told[one]) for one, _, _ in found], len(texts))


def update(user: PostingLists, ledger: SQLiteLedger) -> None:
    user.take_in(ledger.words.news(ALICE, *user.seen))


SAID = st.tuples(
    st.sampled_from(["Ana: zebra tea", "Ben: tea tea green", "green lake", "Rome: zebra lake walk", ""]),
    st.sampled_from([None, "s", "t"]),
    st.sampled_from([None, "Cyd", "dan"]),
    st.floats(0.0, 20_000.0),
)


@given(said=st.lists(SAID, max_size=40), looks=st.sets(st.integers(0, 40)))
def test_a_conversation_that_was_kept_up_is_as_one_made_anew(said: Sequence[Any], looks: set[int]) -> None:
    ledger, kept_up, fresh, turns = new_ledger(), PostingLists(), PostingLists(), list[Turn]()
    for number, (text, session, speaker, place) in enumerate(said):
        metadata = {"session": session, "speaker": speaker, "seq": place}
        turns.append(turn_of(text, metadata, Fields(), created_at=None))
        put(ledger, ALICE, word_rows.RecordText(f"m{number}", text, turns[-1]))
        if number in looks:
            update(kept_up, ledger)
            assert kept_up.conversation.places.tolist()
    update(kept_up, ledger)
    update(fresh, ledger)
    speakers, sessions, places, told = zip(*turns, strict=True) if turns else ((), (), (), ())
    lengths = fresh.conversation.layout.lengths
    anew = conversation(Turns(speakers, told, sessions, places), lengths, len(turns))
    assert shown(kept_up.conversation) == shown(fresh.conversation) == shown(anew)


def shown(talk: Conversation) -> Any:
    layout = talk.layout
    arrays = (layout.order, layout.first, layout.last, layout.turns, layout.lengths, talk.places)
    around = () if layout.surroundings is None else layout.surroundings.windows
    windows = [[one.low.tolist(), one.high.tolist(), one.long.tolist()] for one in around]
    speakers = {name: said.tolist() for name, said in talk.speakers.items()}
    return [np.asarray(one).tolist() for one in arrays], windows, speakers, talk.in_sessions, talk.unnamed


def scores(user: PostingLists) -> dict[str, list[float]]:
    found = matches(user.asked({"zebra": 1, "tea": 2}), user.conversation)
    columns = [column for column in (found.own, found.around) if column is not None]
    return {one: [round(float(column[number]), 12) for column in columns] for one, number in user.numbers.items()}


@pytest.mark.parametrize("tail", [0, 3, 256])
@given(steps=STEPS)
def test_any_history_of_writes_and_removals_gives_the_lists_of_a_fresh_look(
    tail: int, steps: Sequence[tuple[str, str | None]]
) -> None:
    ledger, kept_up, before = new_ledger(), PostingLists(), resident.TAIL
    resident.TAIL = tail
    try:
        for number, (name, text) in enumerate(steps):
            if text is None:
                ledger.mirror.drop([name])
            else:
                turn = Turn("Ana", "s" if number % 2 else None, float(number))
                put(ledger, ALICE, word_rows.RecordText(name, text, turn))
            if number % 3 == 0:
                update(kept_up, ledger)
        update(kept_up, ledger)
    finally:
        resident.TAIL = before
    fresh = PostingLists()
    update(fresh, ledger)
    assert scores(kept_up) == scores(fresh)
    assert ledger.words.stored_ids() == set(fresh.numbers)


def test_one_users_lists_know_nothing_of_another() -> None:
    ledger = new_ledger()
    put(ledger, ALICE, word_rows.RecordText("a", "zebra", Turn()))
    put(ledger, BOB, word_rows.RecordText("b", "zebra", Turn()))
    one = PostingLists()
    update(one, ledger)
    assert list(one.numbers) == ["a"]
    assert one.asked({"zebra": 1})["zebra"][1].docs.tolist() == [0]


def test_what_was_handed_out_stays_as_it_was_when_a_record_is_written_anew_or_removed() -> None:
    ledger, user = new_ledger(), PostingLists()
    put(ledger, ALICE, word_rows.RecordText("a", "zebra", Turn()), word_rows.RecordText("b", "tea", Turn()))
    update(user, ledger)
    handed_out = user.numbers
    put(ledger, ALICE, word_rows.RecordText("a", "zebra tea", Turn()))
    ledger.mirror.drop(["b"])
    update(user, ledger)
    assert handed_out == {"a": 0, "b": 1}
    assert user.numbers == {"a": 2}
