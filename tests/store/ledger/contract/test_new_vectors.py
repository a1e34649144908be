"""Do another embedder's vectors take the place of the old ones all at once, in every ledger?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from adaptive_memory_core.errors import StoreInUseError
from adaptive_memory_core.flow.ports.ledger_values import MirrorRow, Target
from adaptive_memory_core.records import Scope

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

ALICE = Scope("alice")
NEW = Target("another", "new-model", None)


def fill(ledger: Ledger, *ids: str) -> None:
    ledger.mirror.put({ALICE: [MirrorRow(one, f"text of {one}", {"user_id": "alice"}, b"old.") for one in ids]})


def make(ledger: Ledger) -> None:
    rows = ledger.new_vectors.missing(0, 10)
    assert ledger.new_vectors.keep("another", {row: b"new.new." for row, _ in rows})


def test_what_is_written_meanwhile_is_missing_again(ledger: Ledger) -> None:
    vectors = ledger.new_vectors
    fill(ledger, "a", "b", "c")
    vectors.begin(NEW)
    assert [text for _, text in vectors.missing(0, 10)] == ["text of a", "text of b", "text of c"]
    make(ledger)
    assert vectors.target() == Target("another", "new-model", 2)
    assert (vectors.missing(0, 10), vectors.progress()) == ([], (3, 3))
    fill(ledger, "b", "d")
    ledger.mirror.drop(["c"])
    assert [text for _, text in vectors.missing(0, 10)] == ["text of b", "text of d"]
    assert vectors.progress() == (1, 3)
    assert not vectors.swap("another", written=None, complete_at=None)
    assert ledger.mirror.vectors(["a"]) == {"a": b"old."}


def test_what_changed_since_the_new_vectors_were_put_elsewhere_is_known(ledger: Ledger) -> None:
    vectors = ledger.new_vectors
    fill(ledger, "a", "b", "c")
    vectors.begin(NEW)
    make(ledger)
    since, found = vectors.last_change(), vectors.made(0, 2)
    assert [(row.stored_id, row.vector) for _, row in found] == [("a", b"new.new."), ("b", b"new.new.")]
    assert [row.stored_id for _, row in vectors.made(found[-1][0], 2)] == ["c"]
    assert vectors.changed_since(since) == []
    ledger.mirror.annotate({"b": {"n": 1}})
    ledger.mirror.drop(["c"])
    fill(ledger, "d")
    assert sorted(vectors.changed_since(since)) == ["b", "d"]


def test_the_swap_changes_all_at_once(ledger: Ledger) -> None:
    vectors = ledger.new_vectors
    fill(ledger, "a", "b", "c")
    before = ledger.mirror.news(ALICE, 0, 0)
    vectors.begin(NEW)
    make(ledger)
    ledger.mirror.annotate({"b": {"n": 1}})
    ledger.mirror.drop(["c"])
    old = ledger.notes.uuid()
    assert vectors.swap("another", written=7, complete_at="9")
    assert (ledger.notes.uuid(), ledger.notes.embedder()) == ("another", ("new-model", 2))
    assert ledger.mirror.vectors(["a", "b"]) == {"a": b"new.new.", "b": b"new.new."}
    assert ledger.mirror.complete_at() == "9"
    news = ledger.mirror.news(ALICE, before.written[-1][0], 0)
    assert sorted(one for _, one, _ in news.written) == ["a", "b"]
    assert {row for _, row in news.removed} == {row for row, _, _ in before.written}
    fill(ledger, "d")
    assert ledger.mirror.size() == 3
    assert vectors.target() is None
    left = vectors.unfinished("memories")
    assert left is not None
    assert (left.uuid, left.replaces, left.written) == ("another", old, 7)
    vectors.finish()
    assert vectors.unfinished("memories") is None


def test_a_sample_is_of_texts_with_a_vector_that_is_not_zero(ledger: Ledger) -> None:
    vectors = ledger.new_vectors
    fill(ledger, "a", "b", "c", "d")
    vectors.begin(NEW)
    rows = [row for row, _ in vectors.missing(0, 3)]
    assert vectors.sample(5) == []
    assert vectors.keep("another", dict(zip(rows, (bytes(8), b"of.b.b.b", b"of.c.c.c"), strict=True)))
    assert vectors.sample(5) == [("text of b", b"of.b.b.b"), ("text of c", b"of.c.c.c")]
    assert vectors.sample(1) == [("text of b", b"of.b.b.b")]
    fill(ledger, "b")
    assert vectors.sample(5) == [("text of c", b"of.c.c.c")]


def test_of_two_that_embed_anew_the_first_is_told(ledger: Ledger) -> None:
    fill(ledger, "a")
    ledger.new_vectors.begin(NEW)
    make(ledger)
    ledger.new_vectors.begin(Target("a third", "another-model", None))
    assert not ledger.new_vectors.keep("another", {1: b"new.new."})
    with pytest.raises(StoreInUseError, match="Another call"):
        ledger.new_vectors.swap("another", written=None, complete_at=None)
    assert ledger.new_vectors.progress() == (0, 1)
