"""Does a recall say what is true now, though an older record was praised, and say of that one that it is older?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from chromadb import Collection
from langchain_core.documents import Document

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, Policy, UserMemory
from adaptive_memory_core.context.entries import shown_entries
from langchain_adaptive_memory import AdaptiveMemoryRetriever as ForLangChain
from langchain_adaptive_memory import AdaptiveMemoryVectorStore
from tests.conftest import Clock, Open, word_vectors

CUE = "where does Ilse live?"


@pytest.fixture
def moved(alice: UserMemory, clock: Clock) -> UserMemory:
    """Ilse's home, read and praised, and then another one."""
    alice.remember("Ilse lives in Oslo.", id="old")
    alice.remember("Colm lives in Rome.", id="colm")
    for _ in range(2):
        clock.pass_days(1)
        alice.feedback(alice.recall(CUE, k=1), helpful=["old"])
    clock.pass_days(90)
    alice.remember("Ilse lives in Turin.", id="new")
    clock.pass_days(1)
    return alice


async def test_the_newest_comes_first_and_the_praised_one_follows(moved: UserMemory) -> None:
    for found in (moved.recall(CUE, reinforce=False), await moved.arecall(CUE, reinforce=False)):
        assert found.ids[:2] == ("new", "old")
        assert (found[0].older_than, found[1].older_than) == (None, "new")
        assert found[0].score >= found[1].score
        assert sum(found[0].parts.values()) == pytest.approx(found[0].score)
    assert moved.recall(CUE, k=1).ids == ("new",)
    before = moved.recall(
        "where did Ilse live before?", reinforce=False, policy=Policy().replace(learning={"earned": False})
    )
    assert before.ids[0] == "old"  # it was useful, and none comes first for being newer
    assert all(hit.older_than is None for hit in before)


def test_every_way_to_show_it_says_which_one_is_older(moved: UserMemory) -> None:
    found = moved.recall(CUE)
    assert "old (older: the newest is new)" in found.explain()
    for style in ("text", "xml", "markdown"):
        lines = found.render(style=style).splitlines()
        assert [("Oslo" in line) for line in lines] == [("older" in line) for line in lines]
    assert "older: a newer memory says otherwise" in found.render(style="messages")[0]["content"]
    assert shown_entries(found)[1].in_brief == "older: Ilse lives in Oslo."


def test_what_is_worded_otherwise_may_be_about_something_else(alice: UserMemory, clock: Clock) -> None:
    alice.remember("Ilse lives in Oslo.", id="old")
    clock.pass_days(90)
    alice.remember("Ilse has moved to Turin.", id="new")
    found = alice.recall(CUE)
    assert [(hit.id, hit.older_than, hit.older_perhaps) for hit in found] == [
        ("new", None, False),
        ("old", "new", True),
    ]
    assert "old (older: the newest may be new)" in found.explain()
    assert "older: a newer memory may say otherwise" in found.render()
    assert shown_entries(found)[1].in_brief == "perhaps older: Ilse lives in Oslo."


OLD_AND_NEW = ["Ilse lives in Oslo.", "Colm lives in Rome.", "Ilse lives in Turin."]


@pytest.mark.parametrize("turned", [False, True])
def test_the_order_of_a_batch_is_an_order_in_time(alice: UserMemory, clock: Clock, *, turned: bool) -> None:
    texts = OLD_AND_NEW[::-1] if turned else OLD_AND_NEW
    ids = alice.remember_many([{"text": one, "id": one} for one in texts])
    assert [one.id for one in alice.records()] == ids[::-1]
    for now in (None, clock()):
        found = alice.recall(CUE, now=now, reinforce=False)
        assert (found.ids[0], found[1].older_than) == (ids[2], ids[2])
    times = [alice.get(one).created_at for one in ids]
    assert times == [clock(), clock() + 1e-6, clock() + 2e-6]
    clock.pass_days(30)
    assert alice.recall(CUE, now=times[0], reinforce=False).ids[0] == ids[2]


def test_what_is_observed_or_added_together_is_in_order(memory: AdaptiveMemory, collection: Collection) -> None:
    messages = memory.for_user("ana").observe([{"speaker": "Ilse", "text": one} for one in OLD_AND_NEW])
    times = [memory.for_user("ana").get(one).created_at or 0.0 for one in messages]
    assert sorted(set(times)) == times
    retriever: Any = ForLangChain(memory=memory, user_id="ben", k=2)
    added = retriever.add_documents([Document(one) for one in OLD_AND_NEW])
    assert [one.id for one in retriever.invoke(CUE)] == [added[2], added[0]]
    store = AdaptiveMemoryVectorStore(memory.for_user("cara"))
    added = store.add_texts(OLD_AND_NEW)
    assert [one.id for one in memory.for_user("cara").recall(CUE, k=2)] == [added[2], added[0]]


def test_times_that_a_caller_gives_are_left_as_they_are(alice: UserMemory) -> None:
    ids = alice.remember_many([{"text": one, "created_at": 5.0} for one in OLD_AND_NEW])
    assert [alice.get(one).created_at for one in ids] == [5.0] * 3
    assert all(hit.older_than is None for hit in alice.recall(CUE, reinforce=False))


def test_what_a_batch_supersedes_ends_with_the_call(alice: UserMemory) -> None:
    alice.remember("Ilse lives in Oslo.", id="old")
    alice.remember("Friends of Ilse fly to Oslo.", id="plan", derived_from=["old"])
    alice.remember_many(["Colm lives in Rome.", {"text": "Ilse lives in Turin.", "id": "new", "supersedes": "old"}])
    found = alice.recall(CUE)
    assert found.ids[0] == "new"
    assert {one.id: one.reason for one in found.dropped} == {
        "old": "superseded by new",
        "plan": "derived from a record that was superseded",
    }
    alice.forget("new")
    assert {"old", "plan"} <= set(alice.recall(CUE).ids)


def test_a_newer_fact_about_somebody_else_does_not_come_first(alice: UserMemory, clock: Clock) -> None:
    alice.remember("Maria's mother lives in Porto.", id="mother")
    alice.remember("Ben bought a guitar in Brno.", id="guitar")
    clock.pass_days(60)
    alice.remember("Maria lives in Graz.", id="maria")
    alice.remember("Ben lost a piano competition in Lyon.", id="piano")
    asked = {"where does Maria's mother live?": "mother", "where does Maria live?": "maria", "Ben guitar": "guitar"}
    for cue, right in asked.items():
        found = alice.recall(cue, reinforce=False)
        assert found.ids[0] == right
        assert all(hit.older_than is None for hit in found)
    clock.pass_days(60)
    alice.remember("Maria's mother has moved to Faro.", id="moved")
    assert alice.recall("where does Maria's mother live?", reinforce=False).ids[:2] == ("moved", "mother")


def test_what_replaces_another_by_name_still_hides_it(moved: UserMemory, clock: Clock) -> None:
    moved.remember("Ilse lives in Graz.", id="newest", supersedes="new")
    clock.pass_days(1)
    assert moved.recall(CUE).ids[:2] == ("newest", "old")


def test_it_can_be_switched_off_and_the_literatures_blends_know_nothing_of_it(moved: UserMemory) -> None:
    off = Policy().replace(newest_first=False)
    for policy in (off, Policy.preset("generative_agents")):
        assert all(hit.older_than is None for hit in moved.recall(CUE, policy=policy, reinforce=False))


def _labels(cue: str, texts: Sequence[str]) -> list[str | None]:
    return ["home" if "Ilse" in text or "packed" in text else None for text in texts]


async def _later(cue: str, texts: Sequence[str]) -> list[str | None]:
    await asyncio.sleep(0)
    return _labels(cue, texts)


@pytest.mark.parametrize("rule", [_labels, _later])
async def test_a_rule_of_the_users_decides(over: Open, clock: Clock, rule: Any) -> None:
    alice = over(same_fact=rule).for_user("alice")
    alice.remember("Ilse lives in Oslo.", id="old")
    clock.pass_days(9)
    alice.remember("She packed for Turin where all live.", id="new")
    assert alice.recall(CUE).ids == ("new", "old")
    assert (await alice.arecall(CUE)).ids == ("new", "old")


def _failing(cue: str, texts: Sequence[str]) -> list[str | None]:
    raise RuntimeError("no credit left")


@pytest.mark.parametrize("rule", [_failing, lambda cue, texts: ["one label"], lambda cue, texts: "home"])
def test_a_rule_that_fails_costs_a_note(over: Open, clock: Clock, rule: Callable[..., Any]) -> None:
    alice = over(same_fact=rule).for_user("alice")
    alice.remember("Ilse lives in Oslo.", id="old")
    clock.pass_days(9)
    alice.remember("Ilse lives in Turin.", id="new")
    found = alice.recall(CUE)
    assert found.ids == ("new", "old")  # by our own rules
    assert any("the rule for what says the same was left out" in note for note in found.trace)


def test_what_is_no_rule_is_refused(collection: Collection) -> None:
    with pytest.raises(InvalidInputError, match="Give a function of a cue and a list of texts"):
        AdaptiveMemory(collection, embedder=word_vectors, same_fact="home")  # type: ignore[arg-type] # that is the point
