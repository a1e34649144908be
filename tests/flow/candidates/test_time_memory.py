"""Is the paper's time memory a setting? Off by default, made of verdicts, for questions that name a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Keeping, Policy, PolicyError, UserMemory
from adaptive_memory_core.policy.graph import Graphs
from tests.conftest import Vectors

WITHOUT = Policy(channels=("dense", "lexical", "graph")).replace(
    graph={"form": "paper"}, asked_before={"weight": 0.0}, useful={"weight": 0.0}
)
WITH = WITHOUT.replace(graph={"time_memory": True})
IN_MAY = "Where did Ada meet Bob in May 2021?"
SOME_DAY = "Where did Ada meet Bob?"


@pytest.fixture
def meetings(collection: Collection, embed: Callable[..., Vectors]) -> Iterator[UserMemory]:
    with closing(AdaptiveMemory(collection, embedder=embed, policy=WITHOUT)) as memory:
        user = memory.for_user("bea")
        user.remember_many([{"id": town, "text": f"Ada met Bob at {town} in {when}."} for town, when in TOWNS.items()])
        yield user


TOWNS = {"Rome": "May 2021", "Oslo": "June 1999", "Lima": "May 1987"}


def shares(user: UserMemory, question: str, policy: Policy) -> dict[str, float]:
    return {one.id: one.parts["graph"] for one in user.recall(question, k=5, policy=policy, reinforce=False)}


def judge(user: UserMemory, question: str) -> None:
    user.feedback(user.recall(question, k=5), helpful=["Rome"])


def test_a_verdict_for_a_time_opens_the_record_for_that_time(meetings: UserMemory) -> None:
    before = shares(meetings, IN_MAY, WITH)
    assert before == shares(meetings, IN_MAY, WITHOUT), "nothing was judged yet"
    judge(meetings, IN_MAY)
    timed, plain = shares(meetings, IN_MAY, WITH), shares(meetings, IN_MAY, WITHOUT)
    assert timed["Rome"] / timed["Oslo"] > 1.2 * plain["Rome"] / plain["Oslo"]


def test_a_question_without_a_time_has_none(meetings: UserMemory) -> None:
    judge(meetings, IN_MAY)
    assert shares(meetings, SOME_DAY, WITH) == shares(meetings, SOME_DAY, WITHOUT)


def test_nor_has_a_record_that_was_judged_for_no_time(meetings: UserMemory) -> None:
    judge(meetings, SOME_DAY)
    assert shares(meetings, IN_MAY, WITH) == shares(meetings, IN_MAY, WITHOUT)


def test_it_goes_with_its_record(meetings: UserMemory) -> None:
    before = shares(meetings, IN_MAY, WITH)
    found = meetings.recall(IN_MAY, k=5)
    meetings.feedback(found, helpful=["Rome"])
    assert shares(meetings, IN_MAY, WITH) != before
    meetings.forget("Rome")
    left = {town: share for town, share in before.items() if town != "Rome"}
    assert shares(meetings, IN_MAY, WITH).keys() == left.keys()


def test_it_is_the_same_where_it_is_awaited(meetings: UserMemory) -> None:
    judge(meetings, IN_MAY)
    found = asyncio.run(meetings.arecall(IN_MAY, k=5, policy=WITH, reinforce=False))
    assert {one.id: one.parts["graph"] for one in found} == shares(meetings, IN_MAY, WITH)


def test_without_a_log_there_are_no_words_to_make_it_of(collection: Collection, embed: Callable[..., Vectors]) -> None:
    keeping = Keeping(log=False)
    with closing(AdaptiveMemory(collection, embedder=embed, policy=WITH, keeping=keeping)) as memory:
        user = memory.for_user("cleo")
        user.remember_many([{"id": town, "text": f"Ada met Bob at {town} in {when}."} for town, when in TOWNS.items()])
        user.feedback(user.recall(IN_MAY, k=5), helpful=["Rome"])
        assert shares(user, IN_MAY, WITH) == shares(user, IN_MAY, WITHOUT)


def test_it_is_off_by_default_and_a_switch() -> None:
    assert not Graphs().time_memory
    with pytest.raises(PolicyError, match="True or False"):
        Graphs(time_memory=1)  # type: ignore[arg-type]
