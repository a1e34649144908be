"""Contract of the word rows: they follow each user's records, change by change, and go with the record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pytest

from adaptive_memory_core import Scope
from adaptive_memory_core.flow.ports.ledger_values import MirrorRow, WordRow
from adaptive_memory_core.records import Metadata
from tests.store.ledger.implementations import Ledgers
from tests.store.ledger.reads import ALICE, BOB, VECTOR, follow_words, rows_of, with_words, write

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

NOBODY = Scope("nobody")


def written(ledger: Ledger, scope: Scope, after: int = 0) -> list[str]:
    return [row[1] for row in ledger.words.news(scope, after, 0).written]


def test_each_users_words_are_listed_in_the_order_of_writing(ledgers: Ledgers) -> None:
    ledger = ledgers()
    with_words(ledger, ALICE, "b", "a")
    with_words(ledger, BOB, "c")
    first = ledger.words.news(ALICE, 0, 0)
    assert [row[1] for row in first.written] == ["b", "a"]
    assert not first.removed
    with_words(ledger, ALICE, "a", text="other words")
    ledger.mirror.drop(["b", "nobody's"])
    news = ledgers().words.news(ALICE, first.written[-1][0], 0)
    assert [row[1] for row in news.written] == ["a"]
    assert sorted(row for _, row in news.removed) == [row[0] for row in first.written]
    assert news.owner == first.owner != 0
    assert ledger.words.news(NOBODY, 0, 0).owner == 0
    assert ledger.words.stored_ids() == {"a", "c"}


def test_what_changed_is_behind_until_it_is_followed(ledgers: Ledgers) -> None:
    ledger, other = ledgers(), ledgers()
    assert ledger.words.behind(ALICE, 10) == 0
    write(ledger, ALICE, "a", "b", "c")
    for one in (ledger, other):
        assert [one.words.behind(ALICE, most) for most in (2, 3, 10)] == [2, 3, 3]
        assert one.words.behind(BOB, 10) == 0
    follow_words(other, ALICE)
    for one in (ledger, other):
        assert (one.words.behind(ALICE, 10), written(one, ALICE)) == (0, ["a", "b", "c"])
    write(ledger, ALICE, "b", text="other words")
    ledger.mirror.annotate({"c": {"n": 1}})
    assert other.words.behind(ALICE, 10) == 2
    ledger.mirror.drop(["b"])
    assert other.words.behind(ALICE, 10) == 1
    follow_words(ledger, ALICE)
    assert (other.words.behind(ALICE, 10), other.words.stored_ids()) == (0, {"a", "c"})


def test_they_are_followed_about_so_many_at_a_time_and_each_change_once(ledger: Ledger) -> None:
    for number in range(5):
        write(ledger, ALICE, f"m{number}")
    asked: list[str] = []

    def noting(found: Sequence[tuple[str, str | None, Metadata | None]], known: Mapping[str, bytes]) -> list[WordRow]:
        asked.extend(row[0] for row in found)
        return rows_of(found, known)

    assert ledger.words.follow(ALICE, noting, 2)
    assert (ledger.words.behind(ALICE, 10), written(ledger, ALICE)) == (3, ["m0", "m1"])
    write(ledger, ALICE, "m1", text="other words")  # between two pages
    while ledger.words.follow(ALICE, noting, 2):
        pass
    assert asked == ["m0", "m1", "m2", "m3", "m4", "m1"]
    assert not ledger.words.follow(ALICE, noting, 2)
    assert len(asked) == 6


def test_records_that_were_written_together_are_followed_together(ledger: Ledger) -> None:
    write(ledger, ALICE, *(f"m{number}" for number in range(7)))
    follow_words(ledger, ALICE, most=3)
    assert written(ledger, ALICE) == [f"m{number}" for number in range(7)]


def test_a_change_that_leaves_the_words_alone_writes_no_row(ledger: Ledger) -> None:
    with_words(ledger, ALICE, "a", "b")
    last = ledger.words.news(ALICE, 0, 0).written[-1][0]
    ledger.mirror.annotate({"a": {"n": 1}})
    assert ledger.words.behind(ALICE, 10) == 0
    assert (ledger.words.behind(ALICE, 10), written(ledger, ALICE, last)) == (0, [])


def test_the_words_of_a_record_that_changed_hands_are_its_new_users(ledger: Ledger) -> None:
    with_words(ledger, ALICE, "a")
    ledger.mirror.put({BOB: [MirrorRow("a", "the text of a", None, VECTOR)]})
    follow_words(ledger, BOB)
    follow_words(ledger, ALICE)
    assert (written(ledger, ALICE), written(ledger, BOB)) == ([], ["a"])
    assert len(ledger.words.news(ALICE, 0, 0).removed) == 1


def test_users_who_are_behind_are_found(ledgers: Ledgers) -> None:
    ledger = ledgers()
    assert ledger.words.users_behind() == []
    write(ledger, ALICE, "a")
    write(ledger, BOB, "b")
    write(ledger, Scope(None), "e")
    ledger.mirror.put({None: [MirrorRow("x", "zebra", None, VECTOR)]})
    assert set(ledgers().words.users_behind()) == {ALICE, BOB, Scope(None)}
    follow_words(ledger, ALICE)
    assert set(ledgers().words.users_behind()) == {BOB, Scope(None)}
    ledger.mirror.drop(["b"])
    assert ledger.words.users_behind() == [Scope(None)]
    ledger.attach("uuid-of-another-collection", "others")
    assert ledger.words.users_behind() == []


@pytest.mark.parametrize("scope", [ALICE, NOBODY])
def test_records_of_no_scope_have_no_words(ledger: Ledger, scope: Scope) -> None:
    ledger.mirror.put({None: [MirrorRow("x", "zebra", None, VECTOR)], ALICE: []})
    assert ledger.words.behind(scope, 10) == 0
    assert not ledger.words.follow(scope, rows_of, 10)
    assert ledger.words.stored_ids() == set()


def test_a_page_that_fails_is_followed_again(ledger: Ledger) -> None:
    write(ledger, ALICE, "a")

    def fails(*_: object) -> list[WordRow]:
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        ledger.words.follow(ALICE, fails, 10)
    assert (ledger.words.behind(ALICE, 10), ledger.words.stored_ids()) == (1, set())
    follow_words(ledger, ALICE)
    assert ledger.words.stored_ids() == {"a"}


def test_two_that_follow_at_the_same_time_write_each_row_once(ledgers: Ledgers) -> None:
    one, other = ledgers(), ledgers()
    for number in range(6):
        write(one, ALICE, f"m{number}")
    while one.words.follow(ALICE, rows_of, 1) or other.words.follow(ALICE, rows_of, 1):
        pass
    for ledger in (one, other):
        assert written(ledger, ALICE) == [f"m{number}" for number in range(6)]
        assert not ledger.words.news(ALICE, 0, 0).removed
