"""How does the word index learn of what the collection has? It compares the ids, and reads what it has no words of."""

from __future__ import annotations

from collections.abc import Iterator

from adaptive_memory_core.flow.ports import Records
from adaptive_memory_core.store.words.index import WordIndex

PAGE = 1_000  # records that are read at a time


def take_in_latest(index: WordIndex, store: Records) -> bool:
    """Learn of what was added, where nothing else happened, which is nearly always: as many as there are too many came
    last, nothing is known of them, and the one before them is known. Else all ids have to be compared."""
    known = index.size()  # before the collection's: what is put between them is known
    more = store.size() - known
    if not 0 < more <= PAGE:
        return False
    latest = store.latest(more + 1)
    if len(latest) != more + 1 or index.ever_known(latest) != latest[:1]:
        return False
    _read(index, store, latest[1:])
    return True


def take_in_all(index: WordIndex, store: Records) -> Iterator[None]:
    """Compare all ids, let go of those that are no more, read those that are new, page by page."""
    known = index.known()  # before the collection: what is written between them is new, not gone
    there = set(store.ids())
    gone, new = list(known - there), sorted(there - known)
    index.miss(gone)
    for start in range(0, len(new), PAGE):
        _read(index, store, new[start : start + PAGE])
        yield


def make_anew(index: WordIndex, store: Records) -> Iterator[None]:
    """Words that an earlier version made otherwise, page by page; until then they are found as it made them."""
    known = sorted(index.known())
    for start in range(0, len(known), PAGE):
        with index.comparing():
            index.make_anew(store.rows(known[start : start + PAGE]))
        yield
    index.keep_version()


def _read(index: WordIndex, store: Records, stored_ids: list[str]) -> None:
    with index.comparing():  # what is forgotten or written here meanwhile is not overruled
        index.take_in(store.rows(stored_ids))
