"""What is kept of a record of everyone's for each reader? A state of their own, which nobody else is told of."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from adaptive_memory_core import Scope, Verdict
from adaptive_memory_core.learn import decay as remembrance
from adaptive_memory_core.learn.verdicts import Judging, Occasion
from tests.store.ledger.implementations import Ledgers
from tests.store.ledger.reads import ALICE, EVERY, EVERYONE, NEW, entry, read, recalls, state, turned

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

READER, OTHER = Scope("alice", over="everyone"), Scope("bob", over="everyone")
SHARED = NEW._replace(shared=True)


def read_shared(ledger: Ledger, scope: Scope, recall_id: str, *ids: str, at: float = 1.0) -> None:
    rule = partial(remembrance.states_after_read, policy=EVERY, now=at)
    given = entry(recall_id, at, *ids)
    kept = [replace(one, hit=replace(one.hit, shared="everyone")) for one in given.kept]
    ledger.recalls.count(scope, given._replace(kept=kept), dict.fromkeys(ids, SHARED), rule)


def judge_shared(ledger: Ledger, scope: Scope, recall_id: str, stored_id: str) -> None:
    given = {stored_id: (Verdict.HELPFUL, SHARED)}
    ledger.verdicts.judge(scope, recall_id, given, Judging(EVERY, Occasion(1.0, 1), 1.0), now=1.0)


def reads(ledger: Ledger, scope: Scope, stored_id: str = "page") -> int | None:
    known = state(ledger, stored_id, scope)
    return None if known is None else known.retrieval_count


def test_each_reader_has_a_state_of_their_own(ledgers: Ledgers) -> None:
    ledger = ledgers()
    ledger.states.enrol(EVERYONE, {"page": NEW}, now=0.0)
    read_shared(ledger, READER, "r1", "page")
    read_shared(ledger, READER, "r2", "page", at=2.0)
    read_shared(ledger, OTHER, "r3", "page", at=3.0)
    for one in (ledger, ledgers()):
        assert [reads(one, scope) for scope in (READER, OTHER, EVERYONE, ALICE)] == [2, 1, 0, None]
        assert one.outbox.due(10) == []
        assert [one.statistics.tally(scope).reads for scope in (READER, OTHER, EVERYONE, ALICE)] == [2, 1, 0, 0]


def test_the_log_says_over_whose_records_a_recall_was_made(ledger: Ledger) -> None:
    read(ledger, ALICE, "r1", "own")
    read_shared(ledger, READER, "r2", "page")
    assert [line.over for line in recalls(ledger)] == ["everyone", None]
    assert [line.id for line in recalls(ledger, READER)] == ["r2", "r1"]


def test_a_state_counts_for_its_reader_and_not_among_the_users_own_records(ledger: Ledger) -> None:
    read(ledger, ALICE, "r1", "own")
    read_shared(ledger, READER, "r2", "page")
    judge_shared(ledger, READER, "r2", "page")
    ledger.states.change(READER, "page", SHARED, turned, what="pinned", by="caller", now=1.0)
    assert ledger.states.flagged(READER, "pinned") == ["page"]
    assert [one for one, _ in ledger.states.version(READER).learned.helpful] == ["page"]
    for scope in (ALICE, OTHER, EVERYONE):
        assert ledger.states.flagged(scope, "pinned") == []
        assert ledger.states.version(scope).learned.helpful == []
    assert [row.stored_id for row in ledger.removal.unprotected(ALICE, 0, limit=10)] == ["own"]
    assert (ledger.statistics.tally(ALICE).met, ledger.statistics.tally(READER).met) == (1, 2)
    assert ledger.statistics.tally(READER).verdicts == 1
    assert ledger.comparison.records_known("memories") == (1, 0)
    assert ledger.comparison.met(["own", "page"]) == ["own"]


def test_forgetting_a_record_of_everyones_removes_what_every_reader_made_of_it(ledger: Ledger) -> None:
    ledger.states.enrol(EVERYONE, {"page": NEW, "other": NEW}, now=0.0)
    for number, scope in enumerate((READER, OTHER)):
        read_shared(ledger, scope, f"r{number}", "page", "other")
        judge_shared(ledger, scope, f"r{number}", "page")
    erased = ledger.removal.erase(EVERYONE, "page", "page", existed=True, now=4.0)
    assert (erased.log_entries, erased.verdicts) == (0, 0)  # what readers did is not told
    for scope in (READER, OTHER):
        assert (reads(ledger, scope), reads(ledger, scope, "other")) == (None, 1)
        assert recalls(ledger, scope, containing="page") == []
        assert ledger.audit.changes(scope, ["page"], limit=10) == []
        assert ledger.statistics.tally(scope).verdicts == 0
    read_shared(ledger, READER, "r9", "page", "other", at=5.0)  # it had found it before
    assert reads(ledger, READER) is None


def test_what_one_reader_lets_go_of_stays_for_the_others(ledger: Ledger) -> None:
    for number, scope in enumerate((READER, OTHER)):
        read_shared(ledger, scope, f"r{number}", "page", "other")
    assert ledger.removal.forget_learned(READER, ["page"]) == 1
    assert [reads(ledger, scope) for scope in (READER, OTHER)] == [None, 1]
    assert [recalls(ledger, scope, containing="page") == [] for scope in (READER, OTHER)] == [True, False]
    assert ledger.removal.forget_learned(READER, None) == 1
    assert (recalls(ledger, READER), reads(ledger, READER, "other"), reads(ledger, OTHER, "other")) == ([], None, 1)


def test_a_users_own_record_of_the_same_id_keeps_its_lines_of_the_log(ledger: Ledger) -> None:
    ledger.states.enrol(EVERYONE, {"page": NEW}, now=0.0)
    own = "page#u-0123"
    read(ledger, ALICE, "r1", own)
    read_shared(ledger, READER, "r2", "page")
    ledger.removal.erase(EVERYONE, "page", "page", existed=True, now=4.0)
    assert [line.id for line in recalls(ledger, containing=own)] == ["r1"]


def test_a_page_that_is_written_anew_begins_anew_for_its_readers(ledger: Ledger) -> None:
    read_shared(ledger, READER, "r1", "page")
    ledger.states.enrol(EVERYONE, {"page": NEW}, now=2.0)
    assert reads(ledger, READER) is None


def test_two_records_of_everyones_become_one_for_their_readers_too(ledger: Ledger) -> None:
    read_shared(ledger, READER, "r1", "old", "both", "kept")
    read_shared(ledger, OTHER, "r2", "old")
    ledger.comparison.merge(EVERYONE, "kept", "old", None)
    assert [reads(ledger, scope, one) for scope in (READER, OTHER) for one in ("kept", "old")] == [1, None, 1, None]
