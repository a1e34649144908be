"""What do recalls wait for while what others wrote is taken in? For short transactions that write what they must."""

from __future__ import annotations

from typing import Any

import pytest

from adaptive_memory_core import AdaptiveMemory
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.chroma.importer import PORTION
from adaptive_memory_core.store.ledger.mirror_rows import LedgerMirror
from tests.conftest import Open, word_vectors

pytestmark = pytest.mark.usefixtures("others_unheard")

ALICE = Scope("alice")
RECORDS = 2 * PORTION + 30


@pytest.fixture
def memory(open_memory: Open) -> AdaptiveMemory:
    made = open_memory()
    records: list[Any] = [{"id": f"m{one}", "text": f"tea {one}", "metadata": {"n": 0}} for one in range(RECORDS)]
    made.for_user("alice").remember_many(records)
    made.sync()
    return made


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many records each transaction wrote."""
    sizes: list[int] = []
    renew = LedgerMirror.renew

    def noted(rows: LedgerMirror, puts: Any, gone: Any, before: Any, revised: Any = None) -> list[str]:
        sizes.append(sum(map(len, puts.values())) + len(gone) + len(revised or ()))
        return renew(rows, puts, gone, before, revised)

    monkeypatch.setattr(LedgerMirror, "renew", noted)
    return sizes


def collection_of(memory: AdaptiveMemory) -> Any:
    records: Any = memory.ports().records
    return records.collection


def ids(memory: AdaptiveMemory, count: int = RECORDS) -> list[str]:
    return sorted(memory.ports().ledger.mirror.stored_ids())[:count]


def test_where_others_change_metadata_no_vector_is_written_anew(memory: AdaptiveMemory, written: list[int]) -> None:
    mirror = memory.ports().ledger.mirror
    first, changed = mirror.news(ALICE, 0, 0), ids(memory, RECORDS - 10)
    last = first.written[-1][0]
    collection_of(memory).update(ids=changed, metadatas=[{"n": 1}] * len(changed))
    memory.sync()
    found = mirror.news(ALICE, last, 0)
    assert ([*found.written], [*found.removed]) == ([], [])
    assert sum(written) == len(changed)
    assert max(written) <= PORTION
    alice = memory.for_user("alice")
    assert len(alice.recall("tea", k=RECORDS, filter={"n": 1})) == len(changed)
    assert alice.recall("tea 3", k=1, filter={"n": 0}).ids[0] not in changed


def test_who_is_whose_now_is_written_whole(memory: AdaptiveMemory) -> None:
    one = ids(memory)[0]
    collection_of(memory).update(ids=[one], metadatas=[{"user_id": "bob"}])
    memory.sync()
    assert memory.for_user("bob").recall("tea", k=3).ids == (one,)
    assert one not in memory.for_user("alice").recall("tea", k=RECORDS).ids


def test_texts_and_removals_are_taken_in_a_portion_at_a_time(memory: AdaptiveMemory, written: list[int]) -> None:
    collection, known = collection_of(memory), ids(memory)
    anew, gone = known[: PORTION + 20], known[-PORTION - 10 :]
    texts = [f"beer {one}" for one in anew]
    collection.update(ids=anew, documents=texts, embeddings=word_vectors(texts))
    collection.delete(ids=gone)
    memory.sync()
    assert sum(written) == len(anew) + len(gone)
    assert max(written) <= PORTION
    assert set(memory.for_user("alice").recall("beer", k=RECORDS).ids) == set(known) - set(gone)
