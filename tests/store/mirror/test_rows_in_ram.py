"""Is a record that is kept in RAM ever another one than the ledger's?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adaptive_memory_core import SQLiteLedger
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports.ledger_values import MirrorRow
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.mirror import resident_records
from adaptive_memory_core.store.mirror.record_search import MirrorSearch

ALICE, BOB = Scope("alice"), Scope("bob")
VECTOR = np.ones(2, dtype="<f4")
Two = tuple["Seen", "Seen"]


class Seen:
    """A ledger, and what a search in it shows."""

    def __init__(self, path: Path) -> None:
        self.ledger = SQLiteLedger(str(path))
        self.ledger.attach("uuid", "memories")
        self.mirror, self.search = self.ledger.mirror, MirrorSearch(self.ledger, Fields(), "cosine", 10**6)

    def rows(self, stored_ids: Sequence[str]) -> list[Any]:
        return [one[:3] for one in self.search.among(ALICE, VECTOR, stored_ids, None)]


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Two]:
    """Of one file, as of two processes."""
    both = Seen(tmp_path / "ledger.sqlite3"), Seen(tmp_path / "ledger.sqlite3")
    yield both
    for one in both:
        one.ledger.close()


def row(text: str, **metadata: object) -> MirrorRow:
    return MirrorRow("a", text, {"user_id": "alice", **metadata}, VECTOR.tobytes())


def test_what_anybody_writes_is_read(two: Two) -> None:
    own, other = two
    own.mirror.put({ALICE: [row("tea")]})
    assert own.rows(["a", "b"]) == own.rows(["a"]) == [("a", "tea", {"user_id": "alice"})]
    other.mirror.put({ALICE: [row("coffee")]})
    assert own.rows(["a"]) == [("a", "coffee", {"user_id": "alice"})]
    own.mirror.annotate({"a": {"read": 1}})
    assert own.rows(["a"]) == [("a", "coffee", {"user_id": "alice", "read": 1})]
    other.mirror.annotate({"a": {"read": 2}})
    assert own.rows(["a"]) == [("a", "coffee", {"user_id": "alice", "read": 2})]
    other.mirror.put({BOB: [MirrorRow("a", "a secret", {"user_id": "bob"}, VECTOR.tobytes())]})
    assert own.rows(["a"]) == []
    own.mirror.put({ALICE: [row("tea")]})
    assert own.rows(["a"]) == [("a", "tea", {"user_id": "alice"})]
    own.mirror.drop(["a"])
    assert own.rows(["a"]) == []


@pytest.mark.parametrize("known_before", [True, False])
def test_a_change_that_was_undone_was_never_there_and_hides_none_of_another_process(
    two: Two, known_before: bool
) -> None:
    own, other = two
    own.mirror.put({ALICE: [row("tea")]})
    if known_before:
        own.rows(["a"])
    with suppress(ZeroDivisionError), own.ledger.transaction():
        own.mirror.annotate({"a": {"read": 1}})
        assert own.rows(["a"])[0][2] == {"user_id": "alice", "read": 1}
        raise ZeroDivisionError
    assert own.rows(["a"]) == [("a", "tea", {"user_id": "alice"})]
    other.mirror.annotate({"a": {"read": 2}})
    assert own.rows(["a"]) == [("a", "tea", {"user_id": "alice", "read": 2})]


def test_vectors_and_filters_that_were_looked_at_and_undone_hide_none_that_come_after(two: Two) -> None:
    own, _ = two
    own.mirror.put({ALICE: [row("tea")]})
    assert found(own) == ["a"]
    assert own.search.passing(ALICE, {"kind": "new"}) == set()
    with suppress(ZeroDivisionError), own.ledger.transaction():
        own.mirror.put({ALICE: [MirrorRow("b", "milk", {"user_id": "alice"}, VECTOR.tobytes())]})
        own.mirror.annotate({"a": {"kind": "old"}})
        assert found(own) == ["a", "b"]
        assert own.search.passing(ALICE, {"kind": "old"}) == {"a"}
        raise ZeroDivisionError
    own.mirror.put({ALICE: [MirrorRow("c", "cocoa", {"user_id": "alice"}, VECTOR.tobytes())]})  # b's row number
    own.mirror.annotate({"a": {"kind": "new"}})
    assert found(own) == ["a", "c"]
    assert own.search.passing(ALICE, {"kind": "new"}) == {"a"}
    assert own.search.passing(ALICE, {"kind": "old"}) == set()


def found(seen: Seen) -> list[str]:
    return sorted(one.stored_id for one in seen.search.nearest(ALICE, VECTOR, 9, None))


def test_whoever_changes_what_they_were_given_changes_nothing_else(two: Two) -> None:
    own, _ = two
    own.mirror.put({ALICE: [row("tea", tags=["hot"])]})
    for _ in range(2):
        found: Any = own.rows(["a"])[0][2]
        assert found == {"user_id": "alice", "tags": ["hot"]}
        found["tags"].append("cold")
        found["new"] = 1


def test_it_is_bounded(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resident_records, "MOST_CHARACTERS", 10_000)
    own, _ = two
    ids = [str(number) for number in range(100)]
    metadata = {"user_id": "alice"}
    own.mirror.put({ALICE: [MirrorRow(one, "x" * 1_000, metadata, VECTOR.tobytes()) for one in ids]})
    for number in range(100):
        assert own.rows([str(number)]) == [(str(number), "x" * 1_000, metadata)]
        assert len(own.search.residents.users[ALICE]._texts) <= 7


def test_only_what_changed_is_read_again(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    own, other = two
    own.mirror.put({ALICE: [row("tea"), MirrorRow("b", "milk", {"user_id": "alice"}, VECTOR.tobytes())]})
    own.rows(["a", "b"])
    asked: list[list[str]] = []
    read, changed = own.mirror.rows, own.mirror.changed

    def noted(ids: Sequence[str]) -> Any:
        asked.append(list(ids))
        return read(ids)

    def noted_changes(*given: Any) -> Any:
        if found := changed(*given):
            asked.append([one for one, _, _ in found])
        return found

    monkeypatch.setattr(own.mirror, "rows", noted)
    monkeypatch.setattr(own.mirror, "changed", noted_changes)
    with own.ledger.transaction():
        pass
    other.ledger.notes.keep_embedder("another", 2)
    other.mirror.put({BOB: [MirrorRow("c", "a secret", {"user_id": "bob"}, VECTOR.tobytes())]})
    own.rows(["a", "b"])
    assert asked == []
    for times, one in enumerate((own, other), start=1):
        one.mirror.annotate({"a": {"read": times}})
        assert [metadata.get("read") for _, _, metadata in own.rows(["a", "b"])] == [times, None]
    assert asked == [["a"], ["a"]]
