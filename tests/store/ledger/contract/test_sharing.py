"""Do processes find each other's collection in the ledger, and hear what the others want?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.store.ledger.implementations import COLLECTION, Ledgers

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

HERE = "tenant/database"


def test_a_collection_is_found_by_its_name_once_it_was_described(ledgers: Ledgers) -> None:
    holder, guest = ledgers(), ledgers()
    assert guest.sharing.find("memories", HERE) is None
    assert guest.sharing.described() is None
    holder.sharing.describe("cosine", HERE, embedder="model", dimension=None)
    assert guest.sharing.find("memories", HERE) == (COLLECTION, "cosine")
    assert guest.sharing.described() == (COLLECTION, "cosine")
    assert guest.sharing.find("memories", "another/database") is None
    assert guest.notes.embedder() == ("model", None)
    holder.sharing.describe("cosine", HERE, embedder="later", dimension=3)
    assert guest.notes.embedder() == ("model", 3)


def test_of_two_collections_of_one_name_the_one_that_was_opened_last_is_there(ledger: Ledger) -> None:
    for uuid in ("first", "second", "first"):
        ledger.attach(uuid, "memories")
        ledger.sharing.describe("l2", HERE, embedder=None, dimension=None)
        found = ledger.sharing.find("memories", HERE)
        assert found is not None
        assert found.uuid == uuid


def test_the_holder_hears_what_the_others_want(ledgers: Ledgers) -> None:
    holder, guest = ledgers(), ledgers()
    assert holder.sharing.asked() is None
    first, second = guest.sharing.ask(), guest.sharing.ask()
    assert first < second
    holder.sharing.done(first)
    assert guest.sharing.asked() == second
    assert (guest.sharing.is_done(first), guest.sharing.is_done(second)) == (True, False)
    holder.sharing.done(second)
    holder.sharing.done(first)
    assert guest.sharing.asked() is None
