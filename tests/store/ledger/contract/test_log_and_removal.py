"""What becomes of the log, the outbox and the words of a record that is forgotten, pruned or beyond the retention?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adaptive_memory_core import Scope, Verdict
from adaptive_memory_core.learn.decay import Timeline
from adaptive_memory_core.records import Seen
from adaptive_memory_core.score.nothing_found import Floor
from tests.store.ledger.implementations import Ledgers
from tests.store.ledger.reads import ALICE, BOB, DAY, EVERY, NEW, entry, judge, read, recalls, state, with_words

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger


def faded(seen: Seen, *, timeline: Timeline) -> bool:
    """Whether a record was read less than twice."""
    return seen.state.retrieval_count < 2


def test_a_recall_under_way_does_not_write_back_what_was_forgotten(ledger: Ledger) -> None:
    read(ledger, ALICE, "r1", "m1", "m2")
    ledger.removal.erase(ALICE, "m1", "m1", existed=True, now=1.0)
    read(ledger, ALICE, "r2", "m1", "m2", at=2.0)  # it had found m1 before
    assert ledger.states.known(ALICE, ["m1"]).states == {}
    assert [[one.id for one in recall.candidates] for recall in recalls(ledger)] == [["m2"], ["m2"]]
    ledger.states.enrol(ALICE, {"m1": NEW}, now=1.0)  # remembered again: it may be read again
    read(ledger, ALICE, "r3", "m1", at=3.0)
    assert ledger.states.known(ALICE, ["m1"]).states["m1"].retrieval_count == 1


def test_what_is_forgotten_leaves_no_trace(ledgers: Ledgers) -> None:
    ledger = ledgers()
    read(ledger, ALICE, "r1", "m1", "m2")
    judge(ledger, "r1", Verdict.HELPFUL)
    with_words(ledger, ALICE, "m1", "m2")
    ledger.mirror.drop(["m1"])
    erased = ledger.removal.erase(ALICE, "m1", "m1", existed=True, now=1.0)
    assert (erased.state, erased.log_entries, erased.verdicts) == (True, 1, 1)
    for one in (ledger, ledgers()):
        assert state(one) is None
        assert one.words.stored_ids() == {"m2"}
        assert [due.stored_id for due in one.outbox.due(10)] == ["m2"]
        assert one.audit.changes(ALICE, ["m1"], limit=10) == []
        assert recalls(one, containing="m1") == []
        assert one.statistics.tally(ALICE).verdicts == 0
    nothing = ledger.removal.erase(ALICE, "m1", "m1", existed=False, now=1.0)
    assert (nothing.state, nothing.log_entries, nothing.verdicts) == (False, 0, 0)


def test_a_user_who_is_forgotten_leaves_nothing_and_may_come_back(ledgers: Ledgers) -> None:
    ledger, other = ledgers(), ledgers()
    for scope in (ALICE, BOB):
        read(ledger, scope, f"r of {scope}", f"m of {scope}")
    judge(ledger, f"r of {ALICE}", Verdict.HELPFUL, f"m of {ALICE}")
    ledger.own_policies.keep(ALICE, EVERY.to_json())
    assert len(recalls(other)) == 1
    assert ledger.removal.forget_user(ALICE)
    for one in (ledger, other, ledgers()):
        assert one.removal.scopes() == one.log.scopes() == [BOB]
        assert state(one, f"m of {ALICE}") is None
        assert (recalls(one), one.audit.changes(ALICE, (), limit=10), one.own_policies.get(ALICE)) == ([], [], None)
        assert one.statistics.tally(ALICE).verdicts == 0
        assert state(one, f"m of {BOB}", BOB) is not None
    assert not ledger.removal.forget_user(ALICE)
    assert not ledger.removal.forget_user(Scope("nobody"))
    assert read(other, ALICE, "new", "m1", at=9.0) == 1
    for one in (ledger, other, ledgers()):
        assert [recall.id for recall in recalls(one)] == ["new"]
        assert state(one) is not None
        assert set(one.removal.scopes()) == {ALICE, BOB}
    assert ledger.removal.forget_user(ALICE)
    assert recalls(other) == []


def test_what_faded_goes_and_what_was_read_meanwhile_does_not(ledger: Ledger) -> None:
    read(ledger, ALICE, "r1", "m1", "m2", "m3")
    with_words(ledger, ALICE, "m1", "m2", "m3")
    page = ledger.removal.unprotected(ALICE, 0, limit=2)
    assert [one.stored_id for one in page] == ["m1", "m2"]
    assert [one.stored_id for one in ledger.removal.unprotected(ALICE, page[-1].row, limit=2)] == ["m3"]
    read(ledger, ALICE, "r2", "m2", at=2.0)
    gone = ledger.removal.doomed(ALICE, ["m1", "m2", "m4"], faded)
    assert gone == ["m1"]
    assert state(ledger) is not None
    ledger.removal.retire(ALICE, [*gone, "m4"], by="ana", now=3.0)
    assert state(ledger) is None
    assert state(ledger, "m2") is not None
    assert [(one.id, one.what) for one in ledger.audit.changes(ALICE, ["m1"], limit=5)] == [("m1", "pruned")]
    assert ledger.audit.changes(ALICE, ["m4"], limit=5) == []
    assert [one.stored_id for one in ledger.outbox.due(10)] == ["m2", "m3"]


def test_what_changes_while_it_is_written_back_stays_due(ledger: Ledger) -> None:
    read(ledger, ALICE, "r1", "m1", "m2")
    batch = ledger.outbox.due(10)
    read(ledger, ALICE, "r2", "m1", at=2.0)
    ledger.outbox.settle(batch)
    assert [one.stored_id for one in ledger.outbox.due(10)] == ["m1"]
    assert ledger.outbox.waiting() == 1
    ledger.outbox.settle(ledger.outbox.due(10))
    assert ledger.outbox.waiting() == 0


def test_the_log_lets_go_of_the_old_and_of_the_many(ledger: Ledger) -> None:
    for number in range(240):
        read(ledger, ALICE, f"a{number}", "m1", at=number * DAY / 20)
    read(ledger, BOB, "b1", "m2", at=0.0)
    assert ledger.retention.trim(now=12 * DAY, log_days=10, log_recalls=100_000) == 41
    assert ledger.retention.trim(now=12 * DAY, log_days=10, log_recalls=60) == 140
    assert [one.step for one in recalls(ledger)] == list(range(240, 180, -1))
    assert recalls(ledger, BOB) == []
    assert ledger.statistics.tally(ALICE).recalls == 240  # the counter is no log


def test_the_log_can_be_asked_by_time_by_record_and_by_turn(ledger: Ledger) -> None:
    read(ledger, ALICE, "r1", "m1", at=10.0)
    read(ledger, ALICE, "r2", 'quo"te', at=20.0)
    log = ledger.log
    assert [one.id for one in log.recalls(ALICE, since=15.0, until=None, limit=10, containing=None)] == ["r2"]
    assert [one.id for one in recalls(ledger, containing='quo"te')] == ["r2"]
    assert recalls(ledger, BOB, containing="m1") == []
    assert log.recall(BOB, "r1") is None
    ledger.recalls.count(ALICE, entry("r3", 30.0, "m1", turn="t1"), {}, lambda _seen, _timeline: [])
    asked = log.recalls(ALICE, since=None, until=None, limit=10, containing=None, turn="t1")
    assert [(one.id, one.turn) for one in asked] == [("r3", "t1")]


def test_a_logged_recall_is_what_was_ranked(ledgers: Ledgers) -> None:
    read(ledgers(), ALICE, "r1", "m1", "m2", at=10.0)
    found = ledgers().log.recall(ALICE, "r1")
    assert found is not None
    assert (found.id, found.step, found.at, found.cue, found.k) == ("r1", 1, 10.0, "tea", 5)
    assert [(one.id, one.score, one.reason) for one in found.candidates] == [("m1", 0.5, None), ("m2", 0.5, None)]
    assert [(dict(one.parts), dict(one.signals)) for one in found.candidates] == [
        ({"similarity": 0.5}, {"similarity": 0.25})
    ] * 2
    assert ledgers().log.policy(found.policy_hash) == EVERY.to_json()


def test_where_the_log_is_off_a_recall_counts_all_the_same(ledger: Ledger) -> None:
    ledger.recalls.count(ALICE, entry("r1", 1.0, "m1", logged=False), {}, lambda _seen, _timeline: [])
    assert (recalls(ledger), ledger.statistics.tally(ALICE).recalls) == ([], 1)


def test_notes_and_floors_are_kept(ledgers: Ledgers) -> None:
    ledger = ledgers()
    assert ledger.notes.embedder() == (None, None)
    ledger.notes.keep_embedder("my-model", 384)
    assert ledgers().notes.embedder() == ("my-model", 384)
    floor = Floor(0.1, 0.05, 0.2, 0.05, 0.3, 0.04, questions=20, records=5)
    ledger.floors.keep(ALICE, "dense", floor, now=1.0)
    assert ledgers().floors.get(ALICE, "dense") == floor
    assert ledger.floors.get(BOB, "dense") is None


def test_the_log_says_whose_recalls_it_has(ledger: Ledger) -> None:
    ledger.states.enrol(BOB, {"b1": NEW}, now=1.0)
    assert ledger.log.scopes() == []
    read(ledger, ALICE, "r1", "m1")
    read(ledger, Scope(None), "r2", "c1")
    assert ledger.log.scopes() == [ALICE, Scope(None)]
    ledger.retention.trim(now=1_000 * DAY, log_days=1.0, log_recalls=10)
    ledger.retention.trim(now=1_000 * DAY + DAY, log_days=1.0, log_recalls=10)
    assert ledger.log.scopes() == []


def test_the_ledger_names_all_whom_it_has_met(ledger: Ledger) -> None:
    assert ledger.removal.scopes() == []
    ledger.states.enrol(BOB, {"b1": NEW}, now=1.0)
    read(ledger, ALICE, "r1", "m1")
    assert ledger.removal.scopes() == [BOB, ALICE]
