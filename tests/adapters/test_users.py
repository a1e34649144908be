"""Whose records a retriever of either framework finds: a user's own, everyone's next to them, or what is shared."""

from __future__ import annotations

from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Fields, NotFoundError, ScopeError, UserMemory
from tests.adapters.conftest import BOTH, TEXTS, Adapter
from tests.conftest import Open

OVER: Any = {"over": "everyone"}


async def test_each_user_of_a_store_finds_their_own_and_nobody_finds_anybodys(
    adapter: Adapter, collection: Collection
) -> None:
    store = adapter.store(collection, ["tea of nobody"])
    for user in ("alice", "bob"):
        adapter.add(store, f"tea of {user}", user_id=user)
    with adapter.over_store(store) as retriever:
        found = [await adapter.find(retriever, "tea", user) for user in (None, "alice", "bob", "carol")]
    assert found == [["tea of nobody"], ["tea of alice"], ["tea of bob"], []]


async def test_a_filter_cannot_reach_another_user(adapter: Adapter, memory: AdaptiveMemory, alice: UserMemory) -> None:
    for user in ("alice", "carol"):
        with adapter.over_memory(memory, user, **{adapter.filter: adapter.where(user_id="bob")}) as retriever:
            assert await adapter.find(retriever, "tea") == []


async def test_the_users_of_a_store_may_stand_under_another_key(adapter: Adapter, collection: Collection) -> None:
    store = adapter.store(collection, ["tea of alice"], owner="alice")
    for user, found in (("alice", ["tea of alice"]), ("bob", [])):
        with adapter.over_store(store, user, fields=Fields(user_id="owner")) as retriever:
            assert await adapter.find(retriever, "tea") == found


@pytest.mark.parametrize("user", ["", "   ", 7.5])
async def test_a_user_that_is_no_name_is_refused_where_it_is_given_and_in_a_call(
    adapter: Adapter, collection: Collection, memory: AdaptiveMemory, user: Any
) -> None:
    with pytest.raises(ScopeError):
        adapter.over_store(adapter.store(collection), user)
    with adapter.over_memory(memory, "alice") as retriever, pytest.raises(ScopeError):
        await adapter.find(retriever, "tea", user)


async def test_a_memory_of_one_user_refuses_another(adapter: Adapter, alice: UserMemory) -> None:
    for user in (None, "alice"):
        with adapter.over_memory(alice, user, k=9) as retriever:
            assert set(await adapter.find(retriever, "tea")) == set(TEXTS)
            assert len(await adapter.find(retriever, "tea", "alice")) == len(TEXTS)
            with pytest.raises(ScopeError, match=r"'alice'.*'bob'|'bob'.*'alice'"):
                await adapter.find(retriever, "tea", "bob")
    for user in ("bob", ""):
        with pytest.raises(ScopeError):
            adapter.over_memory(alice, user)


@pytest.fixture
def team(memory: AdaptiveMemory) -> AdaptiveMemory:
    """A handbook of everyone's, and a note of Ana's."""
    memory.for_everyone().remember_many([{"text": f"office rule {n}: green tea", "id": f"r{n}"} for n in range(4)])
    memory.for_user("ana").remember("I drink green tea at the office", id="mine")
    return memory


async def test_everyones_are_found_next_to_ones_own_and_judged_for_oneself_alone(
    adapter: Adapter, team: AdaptiveMemory
) -> None:
    ana, ben = (adapter.over_memory(team, user, k=5, **OVER) for user in ("ana", "ben"))
    found = await adapter.look(ana, "green tea")
    assert set(adapter.ids(found)) == {"mine", "r0", "r1", "r2", "r3"}
    shared = next(one for one in found if adapter.id(one) != "mine")
    one = adapter.id(shared)
    with pytest.raises(NotFoundError):
        ben.feedback(helpful=shared)
    assert len(await adapter.find(ben, "green tea", awaited=True)) == 4
    assert (ana.feedback(helpful=shared), await ana.afeedback(unhelpful=one)) == (1, 1)
    read = [team.for_user(user, **OVER).get(one).read for user in ("ana", "ben")]
    assert [(each.helpful, each.unhelpful) for each in read] == [(0, 1), (0, 0)]
    assert ana.feedback(helpful=shared) == 1, "a changed mind"
    assert [receipt.id for receipt in ana.forget(found)] == ["mine"]
    with pytest.raises(ScopeError, match="everyone's"):
        ana.forget("r1")
    assert team.for_everyone().get("r1").text == "office rule 1: green tea"
    assert len(await adapter.find(ben, "green tea")) == 4


async def test_one_users_memory_is_read_over_everyones(adapter: Adapter, team: AdaptiveMemory) -> None:
    ana = team.for_user("ana", **OVER)
    for retriever in (adapter.over_memory(ana, k=5), adapter.over_memory(team.for_user("ana"), k=5, **OVER)):
        assert len(await adapter.find(retriever, "green tea")) == 5


@BOTH
async def test_a_tool_shows_an_agent_both(adapter: Adapter, team: AdaptiveMemory, awaited: bool) -> None:
    tool = adapter.tool("recall", team, user_id="ana", k=5, **OVER)
    told = await adapter.call(tool, query="green tea", awaited=awaited)
    assert told.count("shared: everyone] office rule ") == 4
    assert "I drink green tea at the office" in told


@pytest.mark.parametrize("wrong", ["bob", "", True])
def test_what_cannot_be_read_over_is_refused_at_once(adapter: Adapter, team: AdaptiveMemory, wrong: Any) -> None:
    with pytest.raises(ScopeError, match="over is"):
        adapter.over_memory(team, "ana", over=wrong)
    with pytest.raises(ScopeError, match="over is"):
        adapter.tool("recall", team, user_id="ana", over=wrong)
    with pytest.raises(ScopeError):
        adapter.over_memory(team, "ana", fallback=adapter.package.EVERYONE, **OVER)


@BOTH
async def test_a_store_without_users_is_read_by_each_user_until_a_record_names_one(
    adapter: Adapter, collection: Collection, caplog: pytest.LogCaptureFixture, awaited: bool
) -> None:
    store = adapter.store(collection, TEXTS)
    with adapter.over_store(store, "ana", **{adapter.k: 9}) as ana:
        found = await adapter.look(ana, "green tea", awaited=awaited)
        assert {adapter.text(one) for one in found} == set(TEXTS)
        assert set(await adapter.find(ana, "tea", "ben")) == set(await adapter.find(ana, "tea", 7)) == set(TEXTS)
        assert ana.explain_last().count("no record of the collection names a user") == 1
        assert ana.feedback(helpful=found[0]) == 1
        read = [adapter.scope(ana, user, **OVER).get(adapter.id(found[0])).read for user in ("ana", "ben")]
        assert [each.helpful for each in read] == [1, 0], "what is learned is the reader's alone"
        adapter.add(store, "bob drinks green tea", "bobs", user_id="bob")
        for user in ("ana", "ben"):
            assert await adapter.find(ana, "green tea", user, awaited=awaited) == []
        assert await adapter.find(ana, "green tea", "bob") == ["bob drinks green tea"]
        assert ana.feedback(unhelpful=found[0]) == 1, "of what was returned before"
    with adapter.over_store(store) as nobody:
        assert set(await adapter.find(nobody, "green tea", **{adapter.k: 9})) == set(TEXTS)
    with adapter.over_store(store, "ana") as again:
        assert await adapter.find(again, "green tea") == []
    assert len([one for one in caplog.records if "names a user" in one.message]) == 2, "both are said once"


async def test_the_first_memory_of_a_user_ends_it_for_an_open_retriever(
    adapter: Adapter, collection: Collection
) -> None:
    store = adapter.store(collection, TEXTS)
    with adapter.over_store(store, "ana") as ana, adapter.over_store(store, "ana", over=None) as strict:
        with pytest.warns(UserWarning, match="name no user"):
            assert await adapter.find(strict, "green tea") == []
        assert await adapter.find(ana, "green tea")
        adapter.scope(ana, "bob").remember("bob drinks green tea", id="bobs")
        assert await adapter.find(ana, "green tea") == await adapter.find(ana, "green tea", awaited=True) == []
        assert await adapter.find(ana, "green tea", "bob") == ["bob drinks green tea"]


async def test_one_users_memory_that_is_given_stays_one_users(adapter: Adapter, collection: Collection) -> None:
    with adapter.over_store(adapter.store(collection, TEXTS)) as reader:
        whole: Any = adapter.scope(reader, "ana").memory
        assert await adapter.find(adapter.over_memory(whole, "ana"), "tea")
        with pytest.warns(UserWarning, match="name no user"):
            assert await adapter.find(adapter.over_memory(whole.for_user("ana")), "tea") == []


@pytest.fixture
def office(over: Open) -> AdaptiveMemory:
    """A memory with a handbook that was declared to be shared."""
    opened = over(shared=["handbook"])
    opened.for_user("handbook").remember("office opens at eight", id="hours")
    opened.for_everyone().remember("the office canteen serves soup", id="soup")
    opened.for_user("bob").remember("bob keeps the office key", id="secret")
    return opened


@pytest.mark.parametrize("handbook", [True, False], ids=["a shared user's", "everyone's"])
@BOTH
async def test_who_has_nothing_reads_what_is_shared_and_does_not_learn_of_it(
    adapter: Adapter, office: AdaptiveMemory, handbook: bool, awaited: bool
) -> None:
    shared, fallback = ("hours", "handbook") if handbook else ("soup", adapter.package.EVERYONE)
    new = adapter.over_memory(office, "new", fallback=fallback)
    found = await adapter.look(new, "office", awaited=awaited)
    assert adapter.ids(found) == [shared]
    assert await adapter.find(new, "office", "bob") == ["bob keeps the office key"]
    assert (new.feedback(helpful=found), await new.afeedback(unhelpful=found)) == (0, 0), "it is passed over"
    whose = office.for_user("handbook") if handbook else office.for_everyone()
    assert whose.get(shared).read.boost == 0
    office.for_user("new").remember("the office of the new one", id="own")
    own = await adapter.look(new, "office")
    assert adapter.ids(own) == ["own"]
    assert new.feedback(helpful=[*found, *own]) == 1


async def test_a_users_memory_brings_its_own_fallback(adapter: Adapter, office: AdaptiveMemory) -> None:
    new = office.for_user("new", fallback="handbook")
    assert await adapter.find(adapter.over_memory(new), "office") == ["office opens at eight"]
    assert await adapter.find(adapter.over_memory(office, "new"), "office") == [], "and without one, nothing"


@pytest.mark.parametrize("user", [None, "new"])
@pytest.mark.parametrize("wrong", ["bob", "", 3])
def test_what_was_not_declared_to_be_shared_is_no_fallback(
    adapter: Adapter, office: AdaptiveMemory, user: str | None, wrong: Any
) -> None:
    with pytest.raises(ScopeError):
        adapter.over_memory(office, user, fallback=wrong)


async def test_a_retriever_over_a_store_declares_what_is_shared(adapter: Adapter, collection: Collection) -> None:
    store = adapter.store(collection, ["tea is at four"], user_id="handbook")
    for user in (None, "new"):
        with pytest.raises(ScopeError, match="not declared to be shared"):
            adapter.over_store(store, user, fallback="handbook")
    with adapter.over_store(store, "new", fallback="handbook", shared=["handbook"]) as retriever:
        assert await adapter.find(retriever, "tea") == await adapter.find(retriever, "tea", "other") != []
