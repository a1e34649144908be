"""Does a user's copy in RAM miss nothing that is written while it is being brought up to date?"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np

from adaptive_memory_core import SQLiteLedger
from adaptive_memory_core.flow.ports.ledger_values import MirrorRow
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.mirror.resident_records import Resident

ALICE = Scope("alice")


def row(name: str) -> MirrorRow:
    return MirrorRow(name, name, {"kind": "old"}, np.ones(2, dtype="<f4").tobytes())


def test_a_change_of_what_is_known_and_of_what_is_not_yet_is_seen_of_both(tmp_path: Path) -> None:
    with closing(SQLiteLedger(str(tmp_path / "ledger.sqlite3"))) as ledger:
        ledger.attach("0", "memories")
        ledger.mirror.put({ALICE: [row("a")]})
        user = Resident("cosine")
        user.take_in(ledger.mirror, ALICE, ledger.mirror.version(ALICE))
        assert user.passing(ledger.mirror, ALICE, {"kind": "new"}).tolist() == [False]
        ledger.mirror.put({ALICE: [row("b")]})  # another process writes a record, and changes both
        ledger.mirror.annotate({"a": {"kind": "new"}, "b": {"kind": "new"}})
        assert user.passing(ledger.mirror, ALICE, {"kind": "new"}).tolist() == [True]
        user.take_in(ledger.mirror, ALICE, ledger.mirror.version(ALICE))
        assert user.ids == ["a", "b"]
        assert user.passing(ledger.mirror, ALICE, {"kind": "new"}).tolist() == [True, True]
