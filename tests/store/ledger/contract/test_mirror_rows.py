"""Does a ledger keep copies of records whole, in the order of their writing, and nothing of what is removed?"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from adaptive_memory_core.flow.ports.ledger_values import MirrorRow
from adaptive_memory_core.records import Scope

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

ALICE, BOB = Scope("alice"), Scope("bob")


def row(stored_id: str, text: str = "green tea", vector: bytes = b"\0\0\0\0", **metadata: Any) -> MirrorRow:
    return MirrorRow(stored_id, text, metadata or None, vector)


def test_a_row_comes_back_as_it_was_put(ledger: Ledger) -> None:
    odd: Any = {"tags": ["a", "b"], "n": 3, "x": 0.1, "yes": True, "name": "Zoë"}
    ledger.mirror.put({ALICE: [row("tea", vector=b"1234", **odd), row("none")], None: [row("stray", user_id="")]})
    assert sorted(ledger.mirror.rows(["tea", "none", "gone"])) == [
        ("none", "green tea", None),
        ("tea", "green tea", odd),
    ]
    assert ledger.mirror.vectors(["tea", "gone"]) == {"tea": b"1234"}
    assert ledger.mirror.stored_ids() == {"tea", "none", "stray"}
    assert ledger.mirror.size() == 3


def test_the_news_are_what_was_written_and_removed_since(ledger: Ledger) -> None:
    assert ledger.mirror.news(ALICE, 0, 0).owner == 0
    ledger.mirror.put({ALICE: [row("a"), row("b", vector=b"bbbb")], BOB: [row("c")]})
    first = ledger.mirror.news(ALICE, 0, 0)
    assert [(stored_id, vector) for _, stored_id, vector in first.written] == [("a", b"\0\0\0\0"), ("b", b"bbbb")]
    last = first.written[-1][0]
    ledger.mirror.put({ALICE: [row("a", "red tea")]}, gone=["b"])
    news = ledger.mirror.news(ALICE, last, 0)
    assert [stored_id for _, stored_id, _ in news.written] == ["a"]
    assert sorted(one for _, one in news.removed) == sorted(one for one, _, _ in first.written)
    assert news.owner == first.owner != 0
    assert ledger.mirror.news(ALICE, news.written[-1][0], news.removed[-1][0])[1:] == ([], [])


def test_what_changes_hands_goes_to_its_new_owner(ledger: Ledger) -> None:
    ledger.mirror.put({ALICE: [row("a")]})
    ledger.mirror.put({BOB: [row("a")]})
    assert len(ledger.mirror.news(ALICE, 0, 0).removed) == 1
    assert [stored_id for _, stored_id, _ in ledger.mirror.news(BOB, 0, 0).written] == ["a"]


def test_metadata_are_merged_where_they_stand(ledger: Ledger) -> None:
    ledger.mirror.put({ALICE: [row("a", mood="calm", n=1), row("b", n=2)]})
    seen = ledger.mirror.news(ALICE, 0, 0)
    (first, *_), (second, *_) = ledger.mirror.changes(ALICE, 0)
    ledger.mirror.annotate({"a": {"mood": None, "n": 7}, "b": {"n": None}, "gone": {"n": 1}})
    assert sorted(ledger.mirror.rows(["a", "b", "gone"])) == [("a", "green tea", {"n": 7}), ("b", "green tea", None)]
    changed = ledger.mirror.changes(ALICE, max(first, second))
    assert [(text, metadata) for _, _, text, metadata in changed] == [("green tea", {"n": 7}), ("green tea", None)]
    assert ledger.mirror.news(ALICE, seen.written[-1][0], 0)[1:] == ([], [])  # the vectors are where they were


def test_what_was_compared_is_remembered(ledger: Ledger) -> None:
    assert ledger.mirror.complete_at() is None
    ledger.mirror.keep_complete_at("[1, 2]")
    ledger.mirror.put({ALICE: [row("a")]})
    assert (ledger.mirror.complete_at(), ledger.mirror.size()) == ("[1, 2]", 1)
    ledger.mirror.keep_complete_at(None)
    assert ledger.mirror.complete_at() is None


def test_nothing_stays_of_what_is_dropped(ledger: Ledger) -> None:
    ledger.mirror.put({ALICE: [row("a", vector=b"aaaa"), row("b")]})
    ledger.mirror.drop(["a"])
    assert ledger.mirror.stored_ids() == {"b"}
    assert ledger.mirror.vectors(["a", "b"]) == {"b": b"\0\0\0\0"}
    assert ledger.mirror.size() == 1


def test_other_metadata_leave_a_row_and_its_vector_where_they_are(ledger: Ledger) -> None:
    rows = ledger.mirror
    rows.put({ALICE: [row("a", vector=b"aaaa", n=1, old="x"), row("b", n=1), row("c", n=1)]})
    first = rows.news(ALICE, 0, 0)
    before = rows.versions(["a", "b", "c"])
    seen = max(number for number, *_ in rows.changes(ALICE, 0))
    rows.annotate({"b": {"n": 5}})  # newer than what was read
    assert rows.renew({}, [], before, {"a": {"n": 2}, "b": {"n": 3}, "c": None}) == ["b"]
    assert sorted(rows.rows(["a", "b", "c"])) == [
        ("a", "green tea", {"n": 2}),
        ("b", "green tea", {"n": 5}),
        ("c", "green tea", None),
    ]
    assert rows.news(ALICE, first.written[-1][0], 0)[1:] == ([], [])
    assert rows.vectors(["a"]) == {"a": b"aaaa"}
    assert {text for _, _, text, _ in rows.changes(ALICE, seen)} == {"green tea"}
    assert len(rows.changes(ALICE, seen)) == 3


def test_it_is_known_whether_any_record_names_a_user(ledger: Ledger) -> None:
    names_users, everyone = ledger.mirror_pages.names_users, Scope(None)
    assert names_users() is None, "there are no records"
    ledger.mirror.put({everyone: [row("a"), row("b")]})
    assert names_users() is False
    with ledger.transaction():
        ledger.mirror.put({BOB: [row("c")]})
        assert names_users() is True
        ledger.mirror.drop(["c"])
        assert names_users() is False
    ledger.mirror.put({everyone: [row("d")], BOB: [row("b")]})
    assert names_users() is True
    ledger.mirror.put({None: [row("odd", user_id="")]})
    assert names_users() is True, "what names something that can be no user"


def test_what_a_transaction_took_back_is_not_known_to_name_nobody(ledger: Ledger) -> None:
    ledger.mirror.put({Scope(None): [row("a")]})
    with contextlib.suppress(KeyError), ledger.transaction():
        ledger.mirror.put({Scope(None): [row("b")]})
        assert ledger.mirror_pages.names_users() is False
        raise KeyError
    ledger.mirror.put({BOB: [row("c")]})
    assert ledger.mirror_pages.names_users() is True
