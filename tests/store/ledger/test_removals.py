"""Do the lists of what was removed stay short, and does nobody who holds a copy miss a removal for that?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from adaptive_memory_core import SQLiteLedger
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports.ledger_values import LET_GO, MirrorRow
from adaptive_memory_core.policy.advanced import Fusion
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger import retention
from adaptive_memory_core.store.mirror.record_search import MirrorSearch
from adaptive_memory_core.store.words.word_index import WordIndex

ANA, BEN = Scope("ana"), Scope("ben")
KEPT = 5


@pytest.fixture
def ledger() -> Iterator[SQLiteLedger]:
    with closing(SQLiteLedger(":memory:")) as opened:
        opened.attach("uuid", "memories")
        yield opened


def put(ledger: SQLiteLedger, scope: Scope, *ids: str) -> None:
    name = {"user_id": scope.user}
    rows = [MirrorRow(one, f"tea of {one}", name, np.ones(3, dtype="<f4").tobytes()) for one in ids]
    ledger.mirror.put({scope: rows})


def removed(ledger: SQLiteLedger, scope: Scope) -> list[int]:
    return [row for _, row in ledger.mirror.news(scope, 0, 0).removed]


def test_only_the_last_removals_are_kept_and_a_mark_of_each_user(ledger: SQLiteLedger) -> None:
    put(ledger, BEN, *(f"b{n}" for n in range(3)))
    ledger.mirror.drop([f"b{n}" for n in range(3)])
    put(ledger, ANA, *(f"a{n}" for n in range(20)))
    ledger.mirror.drop([f"a{n}" for n in range(20)])
    assert (len(removed(ledger, ANA)), len(removed(ledger, BEN))) == (20, 3)
    for _ in range(2):
        retention.trim_removals(ledger.file, KEPT)
        assert removed(ledger, ANA)[0] == LET_GO
        assert len(removed(ledger, ANA)) == KEPT + 1
        assert removed(ledger, BEN) == [LET_GO]


def word_index(ledger: SQLiteLedger) -> WordIndex:
    return WordIndex(ledger.words, Fields(), cast("Any", SimpleNamespace(open=None)), lambda: None, read_only=False)


def test_what_the_graph_has_yet_to_hear_of_is_kept(ledger: SQLiteLedger) -> None:
    put(ledger, ANA, *(f"a{n}" for n in range(20)))
    word_index(ledger).follow(ANA, 100)
    ledger.graph.followed(1)
    ledger.mirror.drop([f"a{n}" for n in range(20)])
    retention.trim_removals(ledger.file, KEPT)
    assert len(ledger.words.news(ANA, 0, 0).removed) == 20
    ledger.graph.drop_gone()
    retention.trim_removals(ledger.file, KEPT)
    assert len(ledger.words.news(ANA, 0, 0).removed) == KEPT + 1


def test_whoever_missed_removals_reads_the_user_anew(ledger: SQLiteLedger) -> None:
    search = MirrorSearch(ledger, Fields(), "cosine", 10**6)
    put(ledger, ANA, *(f"a{n}" for n in range(20)), "stays")

    def found(scope: Scope) -> set[str]:
        return {one.stored_id for one in search.nearest(scope, [1.0, 1.0, 1.0], 100, None)}

    assert len(found(ANA)) == 21
    put(ledger, BEN, "ben's")
    assert found(BEN) == {"ben's"}
    ledger.mirror.drop([f"a{n}" for n in range(20)])
    retention.trim_removals(ledger.file, KEPT)
    put(ledger, ANA, "new")
    assert found(ANA) == {"stays", "new"}
    assert found(BEN) == {"ben's"}
    ledger.mirror.drop(["stays"])
    assert found(ANA) == {"new"}


def test_the_words_of_what_was_removed_are_gone_too(ledger: SQLiteLedger) -> None:
    index = word_index(ledger)

    def best() -> set[str]:
        return set(index.look(ANA, "tea", Fusion(), 100, None).best)

    put(ledger, ANA, *(f"a{n}" for n in range(20)))
    index.follow(ANA, 100)
    assert len(best()) == 20
    ledger.mirror.drop([f"a{n}" for n in range(19)])
    retention.trim_removals(ledger.file, KEPT)
    assert best() == {"a19"}
