"""Does a recall find what happened when it is asked about, and leave out what the caller will not have?"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import datetime, timezone
from functools import partial
from typing import Any, cast

import numpy as np
import pytest
from chromadb import Collection

from adaptive_memory_core import (
    AdaptiveMemory,
    AgentState,
    Cue,
    English,
    InvalidInputError,
    LocalEmbedder,
    Policy,
    Recall,
    Record,
    Sign,
    UserMemory,
    build_cue,
)
from adaptive_memory_core.errors import StoreError
from tests.conftest import Clock, Open, word_vectors

NOW = datetime(2026, 5, 13, 12, tzinfo=timezone.utc).timestamp()
DAY = 86_400.0


@pytest.fixture
def clock() -> Clock:
    return Clock(NOW)


def meetings(user: UserMemory, days: Iterable[int] = range(0, 400, 10)) -> None:
    """The same meeting every ten days: only the time tells them apart."""
    user.remember_many({"id": f"d{day}", "text": "the meeting was long", "created_at": NOW - day * DAY} for day in days)


def ages(recall: Recall) -> list[int]:
    return [int(hit.id[1:]) for hit in recall]


def test_three_months_ago_is_about_three_months_ago(alice: UserMemory) -> None:
    meetings(alice)
    asked = alice.recall("what was the meeting three months ago?", k=3, reinforce=False)
    assert all(75 <= age <= 107 for age in ages(asked))
    assert "three months ago" in asked.explain()
    assert all(hit.score == pytest.approx(sum(hit.parts.values())) for hit in asked)
    assert "time" in asked[0].parts


def test_what_was_then_is_found_behind_hundreds_that_are_nearer(alice: UserMemory) -> None:
    alice.remember_many({"text": f"what was the meeting {n}", "created_at": NOW - DAY} for n in range(300))
    alice.remember("the meeting was long", id="then", created_at=datetime(2023, 3, 9, tzinfo=timezone.utc))
    asked, plain = alice.recall("what was the meeting in March 2023?"), alice.recall("what was the meeting?")
    assert "then" in {*asked.ids, *(drop.id for drop in asked.dropped)}
    assert "then" not in {*plain.ids, *(drop.id for drop in plain.dropped)}
    assert alice.recall("what was the meeting in March 2023?", policy=Policy(time_words="filter")).ids == ("then",)


def test_a_question_without_a_time_ranks_as_if_there_were_no_rules(alice: UserMemory) -> None:
    meetings(alice)
    plain = alice.recall("what was the meeting?", k=10, reinforce=False, policy=Policy(time_words="off"))
    asked = alice.recall("what was the meeting?", k=10, reinforce=False)
    assert [(hit.id, hit.score, hit.parts) for hit in plain] == [(hit.id, hit.score, hit.parts) for hit in asked]


@pytest.mark.parametrize(
    "question", ["what happened last week?", "what did we do in early May?", "What did I say on 6 May?", "2026-05-06"]
)
def test_a_question_of_a_time_alone_is_answered_with_that_time_first(alice: UserMemory, question: str) -> None:
    alice.remember_many({"text": question, "created_at": NOW - (100 + n) * DAY} for n in range(9))
    alice.remember_many({"id": f"d{day}", "text": text, "created_at": NOW - day * DAY} for day, text in LAST_WEEK)
    answer = alice.recall(question, k=5, reinforce=False)
    assert set(answer.ids[:2]) == {"d7", "d7.1"}
    assert all(hit.score == pytest.approx(sum(hit.parts.values())) for hit in answer)
    assert [hit.score for hit in answer] == sorted((hit.score for hit in answer), reverse=True)


LAST_WEEK = [(7, "Gale won at chess"), (7.1, "the oven broke")]


def test_of_a_time_alone_the_more_relevant_and_then_the_newer_come_first(alice: UserMemory) -> None:
    alice.remember_many({"id": f"d{day}", "text": "tea", "created_at": NOW - day * DAY} for day in (9, 6, 7, 40))
    alice.remember("last week", id="d8", created_at=NOW - 8 * DAY)
    assert ages(alice.recall("what happened last week?", reinforce=False)) == [8, 6, 7, 9, 40]


def test_a_question_with_a_subject_is_not_of_a_time_alone(alice: UserMemory) -> None:
    alice.remember("we decide about the logo", id="d90", created_at=NOW - 90 * DAY)
    alice.remember("Gale won at chess", id="d7", created_at=NOW - 7 * DAY)
    assert ages(alice.recall("what did we decide last week?", k=1, reinforce=False)) == [90]


def test_strict_time_drops_what_was_not_then_and_says_so(alice: UserMemory) -> None:
    meetings(alice)
    strict = alice.recall("the meeting last week", k=20, policy=Policy(time_words="filter"))
    assert ages(strict) == []
    strict = alice.recall("the meeting in 2025", k=20, policy=Policy(time_words="filter"))
    assert len(strict) == 20
    assert all(133 <= age <= 498 for age in ages(strict))
    assert {drop.reason for drop in strict.dropped if drop.id == "d0"} <= {"outside the time asked about"}


def test_currently_prefers_the_new_and_originally_the_old(alice: UserMemory) -> None:
    meetings(alice, range(0, 200, 20))
    assert ages(alice.recall("how is the meeting currently?", k=2, reinforce=False)) == [0, 20]
    assert ages(alice.recall("how was the meeting originally?", k=2, reinforce=False)) == [180, 160]


def test_a_read_does_not_bring_back_into_the_past_what_was_not_there(alice: UserMemory, clock: Clock) -> None:
    meetings(alice)
    for _ in range(3):
        alice.recall("the meeting was long", k=2, policy=Policy.preset("equal"))
        clock.pass_seconds(120)
    asked = alice.recall("the meeting ten days ago", k=1, policy=Policy.preset("equal"))
    assert ages(asked) == [10]


def test_another_users_past_stays_theirs(memory: AdaptiveMemory) -> None:
    meetings(memory.for_user("bob"))
    memory.for_user("alice").remember_many({"id": f"own{n}", "text": "what was the meeting"} for n in range(30))
    memory.for_everyone().remember("the meeting of all", id="d40", created_at=NOW - 40 * DAY)
    for scope, allowed in ((memory.for_user("alice"), set[str]()), (memory.for_everyone(), {"d40"})):
        found = scope.recall("what was the meeting in the last three months?", k=30)
        assert {one for one in found.ids if one.startswith("d")} <= allowed


def test_the_callers_filter_holds_for_that_time_too(alice: UserMemory) -> None:
    for n in range(60):
        meta = {"team": "a" if n % 2 else "b", "n": n}
        alice.remember(f"the meeting {n}", id=f"d{n}", created_at=NOW - n * DAY, metadata=meta)
    found = alice.recall("the meeting in April", k=10, filter={"team": "a", "n": {"$gt": 20}})
    assert found
    assert all(hit.record.metadata["team"] == "a" and hit.record.metadata["n"] > 20 for hit in found)


def test_what_other_programs_wrote_without_times_does_no_harm(over: Open, collection: Collection) -> None:
    texts = ["tea in 2019", "cake", "more tea"]
    metadata = [{"created_at": "yesterday"}, {"created_at": 5}, {"other": 1}]
    collection.add(ids=["a", "b", "c"], documents=texts, embeddings=word_vectors(texts), metadatas=metadata)  # type: ignore[arg-type]
    memory = over()
    assert len(memory.for_everyone().recall("which tea in 2019?", k=3)) == 3
    strict = Policy(time_words="filter")
    assert len(memory.for_everyone().recall("which tea in 2019?", k=3, policy=strict)) == 0


def test_rules_of_ones_own_are_asked_and_may_fail(over: Open, collection: Collection, clock: Clock) -> None:
    def dutch(text: str, now: float) -> list[Sign]:
        return [Sign("vroeger", lean="earliest")] if "vroeger" in text else []

    def broken(text: str, now: float) -> list[Sign]:
        raise RuntimeError("out of words")

    with AdaptiveMemory(collection, embedder=word_vectors, clock=clock, languages=[dutch]) as memory:
        meetings(memory.for_user("a"), range(0, 100, 10))
        assert ages(memory.for_user("a").recall("meeting vroeger", k=1)) == [90]
        assert not memory.for_user("a").recall("meeting yesterday", k=1).intent
    memory = over(languages=[English(), broken])
    answer = memory.for_user("a").recall("meeting yesterday", k=1)
    assert answer.intent.phrases == ("yesterday",)
    assert "out of words" in " ".join(answer.trace)


def test_a_language_that_gives_anything_but_signs_costs_only_itself(collection: Collection, clock: Clock) -> None:
    def words(text: str, now: float) -> Any:
        return text.split()

    with AdaptiveMemory(collection, embedder=word_vectors, clock=clock, languages=[words, English()]) as memory:
        memory.for_user("a").remember("the meeting")
        answer = memory.for_user("a").recall("meeting yesterday")
    assert answer.intent.phrases == ("yesterday",)
    assert "by words" in " ".join(answer.trace)


def test_rerank_knows_the_time_asked_about(alice: UserMemory) -> None:
    meetings(alice)
    assert ages(alice.rerank("the meeting 30 days ago", {"d0": 0.8, "d30": 0.78, "d200": 0.4}, k=1)) == [30]


def test_now_can_be_another_day(alice: UserMemory) -> None:
    meetings(alice)
    then = datetime.fromtimestamp(NOW - 100 * DAY, timezone.utc)
    assert ages(alice.recall("the meeting ten days ago", k=1, now=then, reinforce=False)) == [110]


def test_looking_without_touching_changes_nothing_for_a_time_either(alice: UserMemory) -> None:
    meetings(alice)
    alice.recall("the meeting ten days ago", reinforce=False)
    assert alice.stats().reads == alice.stats().recalls == 0


def test_an_agents_state_is_looked_for_by_its_task(alice: UserMemory) -> None:
    alice.remember_many(
        [{"text": "deploy the billing service", "id": "task"}, {"text": "hello again friend", "id": "small talk"}]
    )
    state = AgentState(goal="deploy billing service", utterance="hello again friend")
    vectors = Policy(channels=("dense",))
    answer = alice.recall(state, k=1, reinforce=False, policy=vectors)
    assert answer.ids == ("task",)
    assert answer.cue.own_words == "hello again friend"
    assert alice.recall(build_cue(state), k=1, reinforce=False, policy=vectors).ids == ("task",)


def test_the_time_is_read_in_the_users_words_and_not_in_the_agents(alice: UserMemory) -> None:
    state = AgentState(goal="report on last week", utterance="what was the meeting ten days ago?")
    assert alice.recall(state).intent.phrases == ("ten days ago",)


def test_a_stale_cue_is_noted_in_the_trace(alice: UserMemory) -> None:
    early = build_cue(AgentState(goal="ship", active_subtask="write tests"))
    late = AgentState(goal="ship", active_subtask="deploy")
    assert "active_subtask" in " ".join(alice.recall(early, state=late).trace)
    assert alice.recall(late, state=late).trace == ()
    assert "stale" in alice.recall(early, state=late).explain()


def test_what_the_caller_refuses_is_dropped_before_the_cut(alice: UserMemory) -> None:
    alice.remember_many({"id": f"m{n}", "text": "green tea", "metadata": {"secret": n < 40}} for n in range(50))
    seen: list[Record] = []

    def public(record: Record) -> bool:
        seen.append(record)
        return not record.metadata["secret"]

    answer = alice.recall("green tea", k=10, accept=public)
    assert sorted(answer.ids) == sorted(f"m{n}" for n in range(40, 50))
    assert {drop.reason for drop in answer.dropped} == {"refused by the caller"}
    assert seen
    assert alice.get("m0").read.retrieval_count == 0


def test_what_is_in_the_context_already_is_not_returned_twice(alice: UserMemory) -> None:
    alice.remember_many([{"id": f"m{n}", "text": f"green tea number {n}"} for n in range(5)])
    shown = alice.recall("green tea", k=2)
    answer = alice.recall("green tea", k=5, in_context=[shown.render(), "m4"])
    assert set(answer.ids) == {f"m{n}" for n in range(4)} - set(shown.ids)
    assert {drop.reason for drop in answer.dropped} == {"already in the context"}


def test_a_predicate_that_fails_fails_the_recall(alice: UserMemory) -> None:
    alice.remember("tea")
    with pytest.raises(ZeroDivisionError):
        alice.recall("tea", accept=lambda record: bool(1 / 0))
    assert alice.stats().recalls == 0


class Later:
    async def __call__(self, record: Record) -> bool:
        return False


def pending(record: Record) -> Any:
    return never(record)


async def never(record: Record) -> bool:
    return False


@pytest.mark.parametrize("accept", [never, partial(never), Later(), pending])
def test_a_predicate_that_would_have_to_be_awaited_is_refused_and_lets_nothing_in(
    alice: UserMemory, accept: Any
) -> None:
    alice.remember("tea")
    with pytest.raises(InvalidInputError, match="await what it needs before"):
        alice.recall("tea", accept=accept)
    with pytest.raises(InvalidInputError, match="await what it needs before"):
        asyncio.run(alice.arecall("tea", accept=accept))
    assert alice.stats().recalls == 0


@pytest.mark.parametrize("answer", ["no", None, 1, []])
def test_an_answer_of_a_predicate_that_is_no_yes_or_no_is_refused(alice: UserMemory, answer: Any) -> None:
    alice.remember("tea")
    with pytest.raises(InvalidInputError, match="return True or False"):
        alice.recall("tea", accept=lambda record: answer)


def test_numpys_yes_and_no_are_yes_and_no(alice: UserMemory) -> None:
    no, yes = cast("list[bool]", [np.bool_(False), np.bool_(True)])
    alice.remember_many([{"id": "a", "text": "tea"}, {"id": "b", "text": "tea too"}])
    assert alice.recall("tea", accept=lambda record: no).ids == ()
    assert alice.recall("tea", accept=lambda record: yes if record.id == "a" else no).ids == ("a",)


@pytest.mark.parametrize(
    "wrong", [{"accept": 3}, {"in_context": "an id"}, {"in_context": [3]}, {"in_context": None}, {"state": "deploying"}]
)
def test_what_makes_no_sense_is_refused(alice: UserMemory, wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError, match="Give"):
        alice.recall("tea", **wrong)  # type: ignore[arg-type] # wrong on purpose


def test_the_async_twin_does_the_same(alice: UserMemory) -> None:
    meetings(alice)
    arguments = {"k": 3, "reinforce": False, "in_context": ["d10"], "accept": lambda record: record.id != "d20"}
    blocking = alice.recall("the meeting ten days ago", **arguments)  # type: ignore[arg-type]
    twin = asyncio.run(alice.arecall("the meeting ten days ago", **arguments))  # type: ignore[arg-type]
    assert blocking.ids == twin.ids
    assert not {"d10", "d20"} & set(twin.ids)


def test_a_cue_with_a_vector_keeps_its_words(alice: UserMemory) -> None:
    meetings(alice)
    cue = Cue("anything", word_vectors(["the meeting was long"])[0], words="ten days ago")
    assert ages(alice.recall(cue, k=1)) == [10]


@pytest.mark.parametrize("where", [None, {"team": "a"}])
def test_a_vector_of_another_length_is_named_and_not_the_database(alice: UserMemory, where: dict[str, Any]) -> None:
    alice.remember("tea", metadata={"team": "a"})
    length = len(word_vectors(["tea"])[0])
    with pytest.raises(StoreError, match=f"has 2 numbers, and those of the collection have {length}"):
        alice.recall(Cue("coffee", [1.0, 0.0]), filter=where)


def test_the_log_keeps_the_part_of_time(open_memory: Open) -> None:
    alice = open_memory().for_user("alice")
    meetings(alice)
    answer = alice.recall("the meeting ten days ago", k=2)
    (logged,) = alice.recalls(limit=1)
    assert logged.kept[0].parts.keys() == answer[0].parts.keys()


DIARY = (
    "Ana started a pottery class.",
    "Ana flew to Lisbon with Tom.",
    "Ana sold her old Vespa.",
    "Ana began a new job at the museum.",
    "Ana ran a half marathon in Graz.",
    "Ana painted the balcony green.",
    "Ana camped at lake Bohinj for a week.",
    "Ana adopted a cat called Miso.",
    "Ana broke her left wrist.",
    "Ana won a chess tournament.",
    "Ana moved into a new flat.",
)
MONTHS = "January February March April May June July August September October November".split()  # noqa: SIM905


@pytest.fixture
def ana(open_memory: Open) -> UserMemory:
    now = datetime(2026, 11, 23, 12, tzinfo=timezone.utc).timestamp()
    user = open_memory(embedder=LocalEmbedder(), clock=Clock(now)).for_user("ana")
    user.remember_many(
        {"id": name, "text": text, "created_at": datetime(2026, number, 12, 9, tzinfo=timezone.utc)}
        for number, (name, text) in enumerate(zip(MONTHS, DIARY, strict=True), start=1)
    )
    return user


def test_every_month_is_answered_with_its_own_entry(ana: UserMemory) -> None:
    asked = [ana.recall(f"what did Ana do in {month}?", k=1, reinforce=False).ids for month in MONTHS]
    assert asked == [(month,) for month in MONTHS]


@pytest.mark.parametrize(
    ("question", "months"),
    [
        ("what did Ana do last month?", {"October"}),
        ("what did Ana do in Q1?", {"January", "February", "March"}),
        ("what did Ana do before March?", {"January", "February"}),
        ("What has Ana been up to this month?", {"November"}),
    ],
)
def test_what_was_then_comes_before_what_was_soon_after(ana: UserMemory, question: str, months: set[str]) -> None:
    assert set(ana.recall(question, k=len(months), reinforce=False).ids) == months
