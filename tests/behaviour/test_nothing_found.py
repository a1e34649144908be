"""Is nothing found where nothing is relevant - and everything as ever where something is, or where it is not known?"""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, Policy, PolicyError, UserMemory
from adaptive_memory_core.cue.unrelated_questions import UNRELATED
from adaptive_memory_core.errors import EmbedderError
from adaptive_memory_core.policy import Advanced
from adaptive_memory_core.reports import Calibration
from adaptive_memory_core.score.nothing_found import FEWEST
from tests.behaviour.conftest import eventually
from tests.conftest import DAY, START, Clock, Open, background_done, contents, ledger_rows

FACTS = [
    {"id": "tea", "text": "alice drinks jasmine tea"},
    {"id": "boat", "text": "boat moored harbour north"},
    {"id": "tax", "text": "tax return filed april"},
    {"id": "dog", "text": "dog called biscuit barks"},
]
FLOOR = Policy(advanced=Advanced(unrelated_answered=0.05))
BOTH: Any = ("dense", "lexical")


@pytest.fixture
def memory(over: Open) -> AdaptiveMemory:
    return over(policy=FLOOR)


@pytest.fixture
def alice(memory: AdaptiveMemory) -> UserMemory:
    alice = memory.for_user("alice")
    alice.remember_many(FACTS)
    return alice


def floor_of(user: UserMemory, policy: Policy = FLOOR) -> Any:
    ports = user.memory.ports()
    return ports.ledger.floors.get(user.scope, ports.floors.manner(policy.suited()))


@pytest.mark.parametrize("policy", [FLOOR, FLOOR.replace(channels=BOTH)])
def test_what_is_not_there_is_not_found_and_what_is_there_is(alice: UserMemory, policy: Policy) -> None:
    alice.calibrate(policy=policy)
    nothing = alice.recall("zebra quantum ladder", policy=policy)
    assert not nothing
    assert nothing.unrelated is not None
    assert nothing.unrelated > 0.05
    found = alice.recall("jasmine tea", policy=policy)
    assert found.ids[0] == "tea"
    assert len(found) == 4
    assert found.unrelated is not None
    assert found.unrelated <= 0.05


def test_who_is_left_out_for_that_has_the_reason_and_keeps_the_score(alice: UserMemory) -> None:
    alice.calibrate()
    nothing = alice.recall("zebra quantum ladder", k=2)
    share = f"{100 * (nothing.unrelated or 0.0):.0f} %"
    assert [one.reason for one in nothing.dropped[:2]] == [
        f"no better than what {share} of unrelated questions find here"
    ] * 2
    assert all(one.scored is not None for one in nothing.dropped)
    assert "of unrelated questions find something as good here" in nothing.explain()


def test_it_is_off_unless_asked_for(alice: UserMemory) -> None:
    alice.calibrate()
    found = alice.recall("zebra quantum ladder", policy=Policy())
    assert len(found) == 4
    assert found.unrelated is None
    assert found.trace == ()


def test_where_nothing_was_measured_nothing_is_dropped_and_the_recall_says_so(alice: UserMemory) -> None:
    found = alice.recall("zebra quantum ladder", reinforce=False)
    assert len(found) == 4
    assert found.unrelated is None
    assert found.trace == (
        "no relevance floor yet: what unrelated questions find here is not measured. calibrate() does it at once",
    )


def test_a_recall_has_it_measured_in_the_background(alice: UserMemory) -> None:
    assert len(alice.recall("zebra quantum ladder")) == 4
    assert eventually(lambda: floor_of(alice) is not None)
    assert not alice.recall("zebra quantum ladder")


def test_a_recall_that_changes_nothing_starts_no_measuring(alice: UserMemory) -> None:
    before = ledger_rows(alice.memory)  # the whole memory, behind its protocol
    alice.recall("zebra quantum ladder", reinforce=False)
    background_done(alice.memory)
    assert ledger_rows(alice.memory) == before


def test_a_scope_that_grew_is_measured_anew(alice: UserMemory) -> None:
    alice.calibrate()
    assert floor_of(alice).records == 4
    alice.remember_many([f"note number {n}" for n in range(6)])
    alice.recall("jasmine tea")
    assert eventually(lambda: floor_of(alice).records == 10)


def test_measuring_reads_nothing(alice: UserMemory, collection: Collection) -> None:
    memory: Any = alice.memory
    memory.flush()
    before, texts = ledger_rows(memory), contents(collection)
    alice.calibrate()
    after = ledger_rows(memory)
    assert len(after.pop("floors")) == 1
    assert before.pop("floors") == []
    assert after == before
    assert contents(collection) == texts


def test_nobody_elses_records_move_a_floor(memory: AdaptiveMemory, alice: UserMemory) -> None:
    alice.calibrate()
    alone = floor_of(alice)
    memory.for_user("bob").remember_many([{"text": one, "id": f"b{n}"} for n, one in enumerate(UNRELATED)])
    memory.for_everyone().remember_many(list(UNRELATED[:20]))
    alice.calibrate()
    assert floor_of(alice) == alone
    assert floor_of(memory.for_user("bob")) is None
    assert not alice.recall("zebra quantum ladder")


def test_it_is_there_after_the_memory_was_closed(open_memory: Open) -> None:
    with closing(open_memory(policy=FLOOR)) as memory:
        memory.for_user("alice").remember_many(FACTS)
        memory.for_user("alice").calibrate()
    again = open_memory(policy=FLOOR).for_user("alice")
    assert not again.recall("zebra quantum ladder", reinforce=False)
    assert again.recall("jasmine tea", reinforce=False)


def test_other_channels_need_a_floor_of_their_own(alice: UserMemory) -> None:
    alice.calibrate()
    found = alice.recall("zebra quantum ladder", reinforce=False, policy=FLOOR.replace(channels=("dense",)))
    assert found.unrelated is None
    assert len(found) == 4


def test_who_is_refused_vouches_for_nobody(alice: UserMemory, clock: Clock) -> None:
    alice.calibrate()
    assert alice.recall("jasmine tea", in_context=["boat"], reinforce=False).ids[0] == "tea"
    assert not alice.recall("jasmine tea", in_context=["tea"], reinforce=False)
    alice.remember("alice drinks jasmine tea", id="tea", valid_until=START + DAY)
    clock.pass_days(2)
    assert not alice.recall("jasmine tea", reinforce=False)


def test_where_nothing_but_a_time_is_asked_about_what_is_of_that_time_is_returned(
    alice: UserMemory, clock: Clock
) -> None:
    alice.calibrate()
    clock.pass_days(1)
    assert len(alice.recall("what happened yesterday", reinforce=False)) == 4
    assert not alice.recall("zebra quantum ladder yesterday", reinforce=False)
    assert not alice.recall("what happened in 2019", reinforce=False)


def test_a_faded_record_is_found_by_what_it_says(alice: UserMemory) -> None:
    faded = FLOOR.replace(decay={"rate": 0.5, "grace": 0.0})
    alice.memory.policy = faded  # read-only in the verbs' protocol
    alice.calibrate()
    for _ in range(6):
        alice.recall("boat harbour", k=1)
    found = alice.recall("jasmine tea", reinforce=False)
    assert found.ids
    assert found.unrelated is not None
    assert found.unrelated <= 0.05


def test_a_filter_narrows_and_the_floor_holds(alice: UserMemory) -> None:
    alice.remember("alice hates coffee", id="coffee", metadata={"topic": "drinks"})
    alice.calibrate()
    assert not alice.recall("boat harbour", filter={"topic": "drinks"}, reinforce=False)
    assert alice.recall("hates coffee", filter={"topic": "drinks"}, reinforce=False).ids == ("coffee",)


def test_rerank_knows_no_floor(alice: UserMemory) -> None:
    alice.calibrate()
    assert len(alice.rerank("zebra quantum ladder", {"tea": 0.1, "boat": None})) == 2


def test_the_report_can_be_read(alice: UserMemory) -> None:
    report = alice.calibrate()
    assert isinstance(report, Calibration)
    assert (report.records, report.questions, report.at) == (4, len(UNRELATED), START)
    assert [one.chance for one in report.nearest] == sorted(one.chance for one in report.nearest)
    assert str(report).startswith(f"{len(UNRELATED)} unrelated questions to the 4 records of user 'alice': ")
    assert report.nearest[0].question in str(report)


async def test_async_measures_the_same(alice: UserMemory) -> None:
    assert await alice.acalibrate() == alice.calibrate()


def test_questions_of_ones_own_take_the_place_of_ours(alice: UserMemory) -> None:
    own = [f"zebra quantum ladder {n}" for n in range(FEWEST)]
    assert alice.calibrate(own).questions == FEWEST
    with pytest.raises(InvalidInputError, match=r"There are 2 different questions. Give at least 20"):
        alice.calibrate(["one", "two", "two"])
    with pytest.raises(InvalidInputError, match="Give a list of strings"):
        alice.calibrate("one question")
    with pytest.raises(PolicyError, match="Give a Policy"):
        alice.calibrate(policy="equal")  # type: ignore[arg-type] # refused


def test_there_is_nothing_to_measure_in_an_empty_scope(memory: AdaptiveMemory) -> None:
    with pytest.raises(InvalidInputError, match="There are no records of user 'new'"):
        memory.for_user("new").calibrate()


def test_a_memory_that_is_closed_while_it_measures_ends_well(open_memory: Open) -> None:
    memory = open_memory(policy=FLOOR)
    memory.for_user("alice").remember_many(FACTS)
    memory.for_user("alice").recall("jasmine tea")
    memory.close()


def test_our_questions_are_many_and_different() -> None:
    assert len(UNRELATED) >= 150
    assert len(set(map(str.lower, UNRELATED))) == len(UNRELATED)
    assert all(one.endswith(("?", ".")) and one.count("?") <= 1 for one in UNRELATED)


def test_without_vectors_there_is_no_floor_and_the_recall_says_so(
    alice: UserMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = FLOOR.replace(channels=BOTH)
    alice.calibrate(policy=policy)

    def broken(*_: object) -> Any:
        raise EmbedderError("out of order")

    monkeypatch.setattr(alice.memory.ports().embedder, "embed_query", broken)
    found = alice.recall("jasmine zebra", policy=policy, reinforce=False)
    assert found.ids == ("tea",)
    assert found.unrelated is None
    assert "no relevance floor: it needs the vectors" in found.trace


def test_a_channel_of_the_callers_is_measured_with_the_others(over: Open) -> None:
    asked: list[str] = []

    def exact(cue: str, user: str | None, limit: int) -> dict[str, float]:
        asked.append(cue)
        return {"tax": 1.0} if cue == "form 1040" else {}

    policy = Policy(advanced=Advanced(unrelated_answered=0.05), channels=("dense", "exact"))
    alice = over(policy=policy, channels={"exact": exact}).for_user("alice")
    alice.remember_many(FACTS)
    alice.calibrate()
    assert asked == list(UNRELATED)
    assert alice.recall("form 1040", reinforce=False).ids[0] == "tax"
    assert not alice.recall("form 1041", reinforce=False)


GERMAN = [
    {"id": "tee", "text": "Alice trinkt am liebsten Jasmintee"},
    {"id": "boot", "text": "Das Boot liegt im Hafen im Norden"},
    {"id": "steuer", "text": "Die Steuererklärung ist im April abgegeben worden"},
    {"id": "hund", "text": "Der Hund heißt Keks und bellt nicht"},
]


@pytest.fixture
def german(memory: AdaptiveMemory) -> UserMemory:
    alice = memory.for_user("alice")
    alice.remember_many(GERMAN)
    return alice


def test_a_question_in_another_language_has_a_floor_of_its_own(german: UserMemory) -> None:
    german.calibrate()
    before = german.recall("Wie tief ist der Marianengraben denn eigentlich?", reinforce=False)
    assert before
    assert "calibrate() does it at once" in before.trace[0]
    report = german.calibrate(language="de")
    assert report.questions < 100
    assert not german.recall("Wie tief ist der Marianengraben denn eigentlich?", reinforce=False)
    found = german.recall("Welchen Jasmintee trinkt Alice am liebsten?", reinforce=False)
    assert found.ids[0] == "tee"
    assert not german.recall("zebra quantum ladder", reinforce=False)  # as ever


def test_a_recall_has_the_floor_of_its_language_measured(german: UserMemory) -> None:
    assert german.recall("Wie tief ist der Marianengraben denn eigentlich?")
    assert eventually(lambda: not german.recall("Wie tief ist der Marianengraben denn eigentlich?"))
    assert floor_of(german) is None


def test_a_language_that_we_have_no_questions_in_is_said(german: UserMemory) -> None:
    german.calibrate()
    found = german.recall("Hur djup är havet och var är det som djupast?")
    assert found
    assert found.trace == (
        "no relevance floor: the question seems to be in 'sv', and we have no unrelated questions in it. Give your "
        "own questions to calibrate(questions)",
    )
    german.calibrate([f"Vad är det som händer med nummer {n} och varför?" for n in range(FEWEST)])
    assert german.recall("Hur djup är havet och var är det som djupast?").trace == ()


def test_there_is_no_list_in_every_language(german: UserMemory) -> None:
    with pytest.raises(InvalidInputError, match="'sv'"):
        german.calibrate(language="sv")
