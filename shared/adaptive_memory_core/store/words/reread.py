"""Has another program changed a record's text? Chroma does not say, so texts are read again, page by page."""

from __future__ import annotations

from adaptive_memory_core.flow.ports import Records
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.words.index import WordIndex

REREAD_AT_ONCE = 300  # records of the user that are read again at a time
LATEST_REREAD = 50  # and of the newest, among which one stands that was deleted and added under the same id


def reread(index: WordIndex, store: Records, scope: Scope) -> None:
    """Compare the user's next page, and what came last, with what is known; what changed is learned."""
    with index.comparing():
        page = index.page(scope, REREAD_AT_ONCE)
        latest = [one for one in store.latest(LATEST_REREAD) if one not in page]
        found = store.rows([*page, *latest])
        index.compare(scope, set(page), found)
