"""Most records are gone at once: nobody may have meant that, so the importer waits until it is told."""

from __future__ import annotations

import pytest

from adaptive_memory_core import AdaptiveMemory
from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.store.chroma.importer import MOST_GONE
from tests.store.chroma.conftest import collection_of, importer_of, in_ledger, rows

MANY = 2 * MOST_GONE + 40


@pytest.fixture
def emptied(unheard: AdaptiveMemory) -> AdaptiveMemory:
    """A memory of whose records another process has deleted more than half."""
    alice = unheard.for_user("alice")
    alice.remember_many([{"id": f"m{one}", "text": f"note {one} about topic{one}"} for one in range(MANY)])
    alice.recall("topic3", k=1)
    unheard.flush()
    unheard.sync()
    collection_of(unheard).delete(ids=[f"m{one}" for one in range(MANY - 10)])
    return unheard


def test_a_mass_removal_is_not_followed_and_a_repair_writes_the_records_again(emptied: AdaptiveMemory) -> None:
    alice, collection = emptied.for_user("alice"), collection_of(emptied)
    with pytest.raises(StoreError, match=rf"{MANY - 10} of {MANY + 2} records are gone .*check\(repair=True\)"):
        importer_of(emptied).sync(everything=False)
    importer_of(emptied).sync(everything=False)  # it was told, and is left as it is
    assert len(in_ledger(emptied)) == MANY + 2
    assert alice.recall("topic3", k=1, reinforce=False).ids == ("m3",)
    assert "Most records are gone from the collection 'memories' at once" in str(emptied.check())
    emptied.check(repair=True)
    assert emptied.check().ok, str(emptied.check())
    assert collection.count() == MANY + 2
    assert alice.get("m3").read.retrieval_count == 1
    collection.update(**rows(m5="theirs"))  # from here on, others are followed again
    importer_of(emptied).sync(everything=False)
    assert in_ledger(emptied)["m5"] == "theirs"


def test_a_removal_of_half_is_followed(unheard: AdaptiveMemory) -> None:
    alice = unheard.for_user("alice")
    alice.remember_many([{"id": f"m{one}", "text": f"note {one}"} for one in range(MANY)])
    unheard.flush()
    importer_of(unheard).sync(everything=False)
    collection_of(unheard).delete(ids=[f"m{one}" for one in range(MANY // 2)])
    importer_of(unheard).sync(everything=False)
    assert len(in_ledger(unheard)) == MANY - MANY // 2 + 2


def test_a_removal_of_all_that_a_sync_follows_is_no_fault_from_then_on(unheard: AdaptiveMemory) -> None:
    unheard.for_user("alice").remember_many([{"id": f"m{one}", "text": f"note {one}"} for one in range(MANY)])
    unheard.for_user("alice").recall("note 3", k=1)
    unheard.flush()
    collection = collection_of(unheard)
    collection.delete(ids=collection.get(include=[])["ids"])
    assert not unheard.check().ok
    unheard.sync()
    assert unheard.check().ok, str(unheard.check())
    assert unheard.check(repair=True).ok
    assert (unheard.for_user("alice").stats().records, collection.count()) == (0, 0)
