"""Does a ledger remember what the collection has yet to show, until it was done and not changed meanwhile?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from adaptive_memory_core.flow.calls import running_calls
from adaptive_memory_core.flow.ports.ledger_values import MirrorRow
from adaptive_memory_core.records import NEVER_READ, Scope, Seen
from tests.store.ledger.implementations import Ledgers

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

ALICE = Scope("alice")


def put(ledger: Ledger, *stored_ids: str) -> None:
    with ledger.transaction():
        ledger.mirror.put({ALICE: [MirrorRow(one, "tea", None, b"\0\0\0\0") for one in stored_ids]})
        ledger.due_records.mark(stored_ids, gone=False)


def due(ledger: Ledger) -> list[tuple[str, bool]]:
    return [(one.stored_id, one.gone) for one in ledger.due_records.of(ledger.due_records.ids(10))]


def test_what_is_marked_waits_in_the_order_of_marking(ledgers: Ledgers) -> None:
    one, other = ledgers(), ledgers()
    put(one, "b", "a")
    one.due_records.mark(["b"], gone=True)
    assert due(other) == [("a", False), ("b", True)]
    assert other.due_records.waiting() == 2
    assert other.due_records.among(["b", "c"]) == {"b"}
    assert [each.stored_id for each in other.due_records.of(other.due_records.ids(1))] == ["a"]


def test_what_is_due_comes_as_it_is_now_whatever_a_call_saw_a_moment_ago(ledgers: Ledgers) -> None:
    """Else an older text would go to the collection under the number of a later one, which is then settled."""
    one, other = ledgers(), ledgers()
    put(one, "a")
    with running_calls.one_call():
        assert one.mirror.rows(["a"]) == [("a", "tea", None)]
        coffee = MirrorRow("a", "coffee", {"n": 1}, b"\0\0\0\1")
        with other.transaction():
            other.mirror.put({ALICE: [coffee]})
            other.due_records.mark(["a"], gone=False)
        assert [due.row for due in one.due_records.of(one.due_records.ids(10))] == [coffee]
    other.due_records.mark(["a"], gone=True)
    assert [due.row for due in one.due_records.of(one.due_records.ids(10))] == [None]


def test_what_was_done_is_no_longer_due(ledger: Ledger) -> None:
    put(ledger, "a", "b")
    ledger.due_records.settle(ledger.due_records.of(ledger.due_records.ids(1)))
    assert due(ledger) == [("b", False)]


@pytest.mark.parametrize("how", ["written", "annotated", "removed", "marked"])
def test_what_changed_while_it_was_being_done_stays_due(ledger: Ledger, how: str) -> None:
    put(ledger, "a")
    under_way = ledger.due_records.of(ledger.due_records.ids(10))
    if how == "written":
        ledger.mirror.put({ALICE: [MirrorRow("a", "coffee", None, b"\0\0\0\0")]})
    elif how == "annotated":
        ledger.mirror.annotate({"a": {"n": 1}})
    ledger.due_records.mark(["a"], gone=how == "removed")
    ledger.due_records.settle(under_way)
    assert due(ledger) == [("a", how == "removed")]


def test_what_changes_in_the_mirror_alone_is_not_due(ledger: Ledger) -> None:
    ledger.mirror.put({ALICE: [MirrorRow("a", "tea", None, b"\0\0\0\0")]})
    ledger.mirror.annotate({"a": {"n": 1}})
    assert due(ledger) == []


def test_the_mirror_and_what_is_due_are_kept_together_or_not_at_all(ledger: Ledger) -> None:
    with pytest.raises(RuntimeError, match="struck"), ledger.transaction():  # noqa: PT012 - what the transaction holds
        put(ledger, "a")
        raise RuntimeError("struck")
    assert (due(ledger), ledger.mirror.stored_ids()) == ([], set())


def test_the_read_state_of_what_was_read_before_it_was_written_is_due_from_there_on(ledger: Ledger) -> None:
    read = replace(NEVER_READ, last_read=1.0, retrieval_count=1)
    ledger.states.meet(ALICE, {"a": Seen(read, None), "b": Seen(read, None), "c": Seen(NEVER_READ, None)}, now=1.0)
    assert ledger.outbox.waiting() == 0
    put(ledger, "a")
    put(ledger, "c")
    ledger.due_records.mark(["b"], gone=True)
    ledger.due_records.settle(ledger.due_records.of(ledger.due_records.ids(10)))
    assert [one.stored_id for one in ledger.outbox.due(10)] == ["a"]
