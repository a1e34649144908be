"""Is a record gone from every line of the log, though what becomes of the lines was reckoned before it is forgotten?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.store.ledger.contract.test_readers import OTHER, READER, read_shared
from tests.store.ledger.reads import ALICE, BOB, DAY, EVERYONE, NEW, read, recalls

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger


def named(ledger: Ledger) -> list[list[str]]:
    return [[one.id for one in recall.candidates] for recall in reversed(recalls(ledger))]


def filled(ledger: Ledger) -> None:
    for number in range(8):
        read(ledger, ALICE, f"r{number}", "m1" if number % 4 else "m3", "m2", at=number * DAY)
    read(ledger, BOB, "b1", "m1")


def test_it_is_gone_from_every_line(ledger: Ledger) -> None:
    filled(ledger)
    reckoned = ledger.removal.reckoned(ALICE, "m1")
    assert sum(without is not None for _, without in reckoned.lines.values()) == 6
    erased = ledger.removal.erase(ALICE, "m1", "m1", existed=True, now=1.0, reckoned=reckoned)
    assert erased.log_entries == 6
    assert named(ledger) == [["m3", "m2"], ["m2"], ["m2"], ["m2"]] * 2
    assert [one.id for one in recalls(ledger, BOB)[0].candidates] == ["m1"]
    again = ledger.removal.erase(ALICE, "m1", "m1", existed=True, now=1.0, reckoned=reckoned)
    assert again.log_entries == 0


def test_lines_that_came_or_changed_since_are_struck_out_as_well(ledger: Ledger) -> None:
    filled(ledger)
    reckoned = ledger.removal.reckoned(ALICE, "m1")
    read(ledger, ALICE, "r8", "m1", "m4", at=8 * DAY)
    ledger.removal.erase(ALICE, "m2", "m2", existed=True, now=1.0)
    erased = ledger.removal.erase(ALICE, "m1", "m1", existed=True, now=1.0, reckoned=reckoned)
    assert erased.log_entries == 7
    assert named(ledger) == [["m3"], [], [], []] * 2 + [["m4"]]


def test_so_are_lines_that_took_the_place_of_others(ledger: Ledger) -> None:
    """Where the last line goes, its key may be given out again, to one that names the record."""
    read(ledger, BOB, "b0", "m5")
    filled(ledger)
    reckoned = ledger.removal.reckoned(ALICE, "m1")
    ledger.retention.trim(now=100 * DAY, log_days=1.0, log_recalls=100)
    ledger.retention.trim(now=101 * DAY, log_days=1.0, log_recalls=100)
    assert recalls(ledger) == []
    read(ledger, ALICE, "r9", "m1", "m4", at=101 * DAY)
    erased = ledger.removal.erase(ALICE, "m1", "m1", existed=True, now=1.0, reckoned=reckoned)
    assert erased.log_entries == 1
    assert named(ledger) == [["m4"]]


def test_of_everyones_records_the_lines_of_all_readers(ledger: Ledger) -> None:
    filled(ledger)
    ledger.states.enrol(EVERYONE, {"page": NEW}, now=0.0)
    read_shared(ledger, READER, "r8", "page", "m1", at=8 * DAY)
    read_shared(ledger, OTHER, "b2", "page", at=2.0)
    reckoned = ledger.removal.reckoned(EVERYONE, "page")
    assert sum(without is not None for _, without in reckoned.lines.values()) == 2
    ledger.removal.erase(EVERYONE, "page", "page", existed=True, now=1.0, reckoned=reckoned)
    assert named(ledger)[-1] == ["m1"]
    assert recalls(ledger, OTHER)[0].candidates == ()
