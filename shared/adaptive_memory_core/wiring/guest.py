"""Which parts has a memory whose collection another process holds? All are over the ledger, until it takes over."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NoReturn

from adaptive_memory_core.errors import StoreInUseError
from adaptive_memory_core.opened import Parts
from adaptive_memory_core.shown_in_errors import shown
from adaptive_memory_core.store.background import Chore
from adaptive_memory_core.store.chroma.changes import ChangeWatch
from adaptive_memory_core.store.embedder_check import CheckedEmbedder
from adaptive_memory_core.store.guest.search import SearchInTheMirror
from adaptive_memory_core.store.guest.write_back import WriteBackByTheHolder
from adaptive_memory_core.store.mirror.assembled import MEGABYTE
from adaptive_memory_core.store.mirror.records import MirrorRecords
from adaptive_memory_core.store.mirror.search import MirrorSearch
from adaptive_memory_core.wiring.common import Common, Store


def guest_parts(common: Common, space: str, chores: tuple[Chore, ...], finish: Callable[[], object]) -> Parts:
    """Over the mirror. What is written is left to the holder to be put into the collection."""
    ledger, keeping, fields = common.ledger, common.asked.keeping, common.asked.fields
    records = MirrorRecords(ledger, fields, space)
    inside = MirrorSearch(ledger, fields, space, int(keeping.mirror_megabytes * MEGABYTE), common.kept("vectors"))
    embedder = CheckedEmbedder(common.embedder, common.name, ledger, ledger.notes.embedder())
    write_back = WriteBackByTheHolder(ledger, keeping.wait_seconds)
    store = Store(
        records=records,
        search=SearchInTheMirror(inside, records),
        write_back=write_back,
        indexes=(),
        chores=chores,
        whole=partial(_refused, common.name),
        sync=write_back.flush,  # the holder compares then, too
        finish=finish,
        reembed=partial(_not_reembedded, common.name),
        changes=ChangeWatch(None),
    )
    return common.parts(store, embedder)


def _not_reembedded(name: str, *_: object) -> NoReturn:
    raise StoreInUseError(
        f"Another process holds the collection {shown(name)}, and only that one can embed it anew. Call reembed "
        "there, or once it has ended."
    )


def _refused(name: str, *, repair: bool) -> NoReturn:
    raise StoreInUseError(
        f"Another process holds the collection {shown(name)}, and only that one can look through Chroma's files. Call "
        f"check({'repair=True' if repair else ''}) there, or once it has ended."
    )
