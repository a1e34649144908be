"""What is kept of judged questions? A row a verdict: nothing is lost to another process, or outlives a record."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from adaptive_memory_core import Verdict
from adaptive_memory_core.flow.ports.records import Imported, JudgedQuestion
from adaptive_memory_core.learn.asked_before import RatedQuestions
from adaptive_memory_core.records import Scope
from tests.store.ledger.implementations import Ledgers
from tests.store.ledger.reads import ALICE, BOB, EVERYONE, NEW, entry, read

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

EAST, NORTH = [1.0, 0.0], [0.0, 1.0]
GOOD, BAD = Verdict.HELPFUL, Verdict.UNHELPFUL


@pytest.fixture
def ledger(ledgers: Ledgers) -> Ledger:
    opened = ledgers()
    opened.states.enrol(ALICE, {"tea": NEW, "milk": NEW}, now=0.0)
    return opened


def judge(ledger: Ledger, recall: str, vector: Any, scope: Scope = ALICE, most: int = 16, **verdicts: Verdict) -> None:
    ledger.judged_questions.keep(scope, JudgedQuestion(recall, vector, most), verdicts)


def known(ledger: Ledger, scope: Scope = ALICE) -> RatedQuestions:
    found = ledger.judged_questions.of(scope)
    assert found is not None
    return found


def verdicts(ledger: Ledger, scope: Scope = ALICE) -> set[tuple[str, tuple[float, ...], int, int]]:
    it = known(ledger, scope)
    rows = zip(it.records, it.rows, it.helpful, it.unhelpful, strict=True)
    return {(it.stored_ids[one], tuple(it.vectors[row].tolist()), int(good), int(bad)) for one, row, good, bad in rows}


def test_nothing_is_kept_of_who_never_judged(ledger: Ledger) -> None:
    assert ledger.judged_questions.of(ALICE) is None
    assert ledger.judged_questions.of(Scope("nobody")) is None


def test_a_question_is_kept_with_each_verdict(ledger: Ledger) -> None:
    judge(ledger, "r1", EAST, tea=GOOD, milk=BAD)
    judge(ledger, "r2", [0.0, 3.0], milk=GOOD)
    assert verdicts(ledger) == {("tea", (1, 0), 1, 0), ("milk", (1, 0), 0, 1), ("milk", (0, 1), 1, 0)}
    assert len(known(ledger).vectors) == 2
    assert ledger.judged_questions.of(BOB) is None
    assert ledger.judged_questions.stored_ids() == {"tea", "milk"}


def test_vectors_come_back_as_they_were_kept(ledger: Ledger) -> None:
    given = np.random.default_rng(0).normal(size=384)
    judge(ledger, "r1", given, tea=GOOD)
    expected = (given / np.linalg.norm(given)).astype(np.float16)
    assert known(ledger).vectors[0].astype(np.float16).tobytes() == expected.tobytes()


@pytest.mark.parametrize("vector", [[0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0]])
def test_a_vector_without_a_direction_is_not_kept(ledger: Ledger, vector: list[float]) -> None:
    judge(ledger, "r1", vector, tea=GOOD)
    assert ledger.judged_questions.of(ALICE) is None


def test_a_verdict_counts_once_and_the_opposite_takes_its_place(ledger: Ledger) -> None:
    judge(ledger, "r1", EAST, tea=GOOD)
    judge(ledger, "r1", EAST, tea=GOOD)
    assert verdicts(ledger) == {("tea", (1, 0), 1, 0)}
    judge(ledger, "r1", EAST, tea=BAD)
    assert verdicts(ledger) == {("tea", (1, 0), 0, 1)}


def test_what_others_learn_meanwhile_is_seen_and_nothing_is_lost(ledger: Ledger, ledgers: Ledgers) -> None:
    other = ledgers()
    judge(ledger, "r1", EAST, tea=GOOD)
    assert len(verdicts(other)) == 1
    turns = [
        threading.Thread(target=judge, args=(one, f"{n} {number}", [1.0, number]), kwargs={"most": 99, "tea": GOOD})
        for n, one in enumerate((ledger, other))
        for number in range(8)
    ]
    for turn in turns:
        turn.start()
    for turn in turns:
        turn.join()
    for one in (ledger, other):
        assert int(np.sum(known(one).helpful)) == 17


def test_beyond_the_most_the_nearest_become_one_and_all_verdicts_count(ledger: Ledger) -> None:
    for number, vector in enumerate([EAST, NORTH, [1.0, 0.1]]):
        judge(ledger, f"r{number}", vector, most=2, tea=GOOD)
    found = known(ledger)
    assert len(found.vectors) == 2
    assert sorted(np.bincount(found.rows, found.helpful).tolist()) == [1, 2]


def test_a_question_that_one_record_joins_to_another_stays_for_the_others(ledger: Ledger) -> None:
    for number, vector in enumerate([EAST, NORTH]):
        judge(ledger, f"r{number}", vector, most=2, tea=GOOD)
    judge(ledger, "r2", [1.0, 0.1], most=2, tea=GOOD, milk=GOOD)
    found = known(ledger)
    assert len(found.vectors) == 3
    assert np.bincount(found.records, found.helpful).tolist() == [3, 1]


def test_a_question_goes_with_the_last_record_that_was_judged_for_it(ledger: Ledger) -> None:
    judge(ledger, "r1", EAST, tea=GOOD, milk=BAD)
    ledger.removal.erase(ALICE, "tea", "tea", existed=True, now=1.0)
    assert verdicts(ledger) == {("milk", (1, 0), 0, 1)}
    ledger.removal.retire(ALICE, ["milk"], by="prune", now=2.0)
    assert len(known(ledger).vectors) == 0
    assert ledger.judged_questions.stored_ids() == set()


def test_its_words_are_the_log_s(ledger: Ledger) -> None:
    read(ledger, ALICE, "r1", "tea")
    judge(ledger, "r1", EAST, tea=GOOD)
    judge(ledger, "r2", NORTH, tea=GOOD)
    keys = known(ledger).keys
    assert ledger.judged_questions.words(keys) == {keys[0]: entry("r1", 1.0, "tea").cue}


def test_what_is_exported_can_be_restored_once(ledger: Ledger) -> None:
    ledger.states.enrol(BOB, {"cup": NEW}, now=0.0)
    judge(ledger, "r1", EAST, tea=GOOD)
    judge(ledger, "r2", EAST, tea=BAD)
    exported = ledger.judged_questions.export(ALICE, ["tea", "milk"])
    assert [(one.helpful, one.unhelpful) for one in exported["tea"]] == [(1, 0), (0, 1)]
    for _ in range(2):
        ledger.judged_questions.restore(BOB, "cup", exported["tea"], most=16)
    assert verdicts(ledger, BOB) == {("cup", (1, 0), 1, 0), ("cup", (1, 0), 0, 1)}


def test_what_a_reader_learned_of_everyone_s_is_the_reader_s(ledger: Ledger) -> None:
    reader = Scope("alice", over="everyone")
    ledger.states.enrol(EVERYONE, {"page": NEW}, now=0.0)
    ledger.states.meet(reader, {"page": NEW._replace(shared=True)}, now=0.0)
    judge(ledger, "r1", EAST, scope=reader, page=GOOD)
    assert verdicts(ledger, reader) == {("page", (1, 0), 1, 0)}
    assert verdicts_or_none(ledger, ALICE) == set()
    assert ledger.judged_questions.of(EVERYONE) is None


def verdicts_or_none(ledger: Ledger, scope: Scope) -> set[Any]:
    return set() if ledger.judged_questions.of(scope) is None else verdicts(ledger, scope)


def test_vectors_of_an_earlier_embedder_say_nothing(ledger: Ledger) -> None:
    judge(ledger, "r1", [1.0, 0.0, 0.0], tea=GOOD)
    assert known(ledger).vectors.shape == (1, 3)
    judge(ledger, "r2", EAST, tea=GOOD)
    assert known(ledger).vectors.tolist() == [[0, 0], EAST]


def test_restored_questions_are_bounded_as_well(ledger: Ledger) -> None:
    given = [Imported(np.array(one, dtype="<f2").tobytes(), 1, 0) for one in (EAST, NORTH, [0.8, 0.6])]
    ledger.judged_questions.restore(ALICE, "tea", given, most=2)
    assert len(known(ledger).vectors) == 2


def test_how_far_ahead_a_record_stood_is_kept_and_may_be_unknown(ledger: Ledger) -> None:
    question = JudgedQuestion("r1", EAST, 16, {"tea": -0.25})
    ledger.judged_questions.keep(ALICE, question, {"tea": GOOD, "milk": BAD})
    it = known(ledger)
    stood = {it.stored_ids[record]: ahead for record, ahead in zip(it.records, it.ahead, strict=True)}
    assert stood["tea"] == -0.25
    assert np.isnan(stood["milk"])
    exported = ledger.judged_questions.export(ALICE, ["tea", "milk"])
    assert [exported[one][0].ahead for one in ("tea", "milk")] == [-0.25, None]
