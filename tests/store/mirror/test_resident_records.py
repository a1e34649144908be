"""Does a user's copy in RAM miss nothing that is written while it is being brought up to date?"""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adaptive_memory_core import Fields, SQLiteLedger
from adaptive_memory_core.flow.ports.ledger_values import MirrorRow
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.mirror.record_search import MirrorSearch
from adaptive_memory_core.store.mirror.resident_records import Resident

ALICE = Scope("alice")


def row(name: str) -> MirrorRow:
    return MirrorRow(name, name, {"kind": "old"}, np.ones(2, dtype="<f4").tobytes())


def test_a_change_of_what_is_known_and_of_what_is_not_yet_is_seen_of_both(tmp_path: Path) -> None:
    with closing(SQLiteLedger(str(tmp_path / "ledger.sqlite3"))) as ledger:
        ledger.attach("0", "memories")
        ledger.mirror.put({ALICE: [row("a")]})
        user, rows = Resident("cosine"), ledger.mirror
        user.take_in(rows, ALICE, rows.version(ALICE))
        assert user.passing(rows, ALICE, {"kind": "new"}, rows.version(ALICE)).tolist() == [False]
        ledger.mirror.put({ALICE: [row("b")]})  # another process writes a record, and changes both
        ledger.mirror.annotate({"a": {"kind": "new"}, "b": {"kind": "new", "n": 1}})
        assert user.passing(rows, ALICE, {"kind": "new"}, rows.version(ALICE)).tolist() == [True]
        user.take_in(rows, ALICE, rows.version(ALICE))
        assert user.ids == ["a", "b"]
        assert user.passing(rows, ALICE, {"kind": "new"}, rows.version(ALICE)).tolist() == [True, True]
        for value in (1, True, 1, 1.0):  # they are equal, and are of other types
            found = user.passing(rows, ALICE, {"n": value}, rows.version(ALICE)).tolist()
            assert found == [False, value is not True]


def test_a_thread_that_waits_during_an_error_goes_on_with_whole_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(SQLiteLedger(str(tmp_path / "ledger.sqlite3"))) as ledger:
        ledger.attach("0", "memories")
        ledger.mirror.put({ALICE: [row("a"), row("b")]})
        search = MirrorSearch(ledger, Fields(), "cosine", 1_000_000)
        take_in, found = Resident.take_in, list[list[str]]()

        def wait() -> None:
            found.append(list(search.vectors(ALICE, ["a", "b"])))

        waiting = threading.Thread(target=wait)

        def fails(user: Resident, *given: Any) -> bool:
            """The rows are counted as taken in, and one of them is missing."""
            monkeypatch.setattr(Resident, "take_in", take_in)
            waiting.start()
            waiting.join(0.2)
            take_in(user, *given)
            del user.ids[0]
            raise MemoryError

        monkeypatch.setattr(Resident, "take_in", fails)
        with pytest.raises(MemoryError):
            search.vectors(ALICE, ["a"])
        waiting.join()
        assert found == [["a", "b"]]
