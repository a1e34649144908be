"""Who has nothing yet finds what was declared to be shared, labelled as that - and never what was not."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, NotFoundError, Policy, Scope, ScopeError, UserMemory
from adaptive_memory_core.context.render import BLOCK_SHARES
from adaptive_memory_core.errors import StoreError
from tests.behaviour.conftest import eventually
from tests.conftest import Clock, Open, contents, ledger_rows

BOTH: Any = ("dense", "lexical")
PAGES: list[Mapping[str, Any]] = [
    {"id": "hours", "text": "office opens at eight", "metadata": {"topic": "office"}},
    {"id": "travel", "text": "travel expenses are paid in june", "metadata": {"topic": "money"}},
    {"id": "leave", "text": "leave is asked for in the portal"},
]


@pytest.fixture(params=[("dense",), BOTH])
def memory(over: Open, request: pytest.FixtureRequest) -> AdaptiveMemory:
    policy = Policy(channels=request.param)
    opened = over(policy=policy, shared=["handbook"])
    opened.for_user("handbook").remember_many(PAGES)
    opened.for_user("bob").remember("bob keeps the office key", id="secret")
    return opened


@pytest.fixture
def new(memory: AdaptiveMemory) -> UserMemory:
    return memory.for_user("new", fallback="handbook")


def test_a_user_without_a_history_finds_what_is_shared_labelled_as_such(new: UserMemory) -> None:
    found = new.recall("office opens", k=2)
    assert found[0].id == "hours"
    assert len(found) == 2
    assert {hit.shared for hit in found} == {"handbook"}
    assert found.trace == ("no records of user 'new' yet: 2 of the hits are shared: handbook",)
    assert [one.reason for one in found.dropped] == ["shared: handbook, beyond k"]
    assert "hours (shared: handbook)" in found.explain()
    for text in (found.render(), found.render(style="xml"), found.render(style="markdown")):
        assert text.count("shared: handbook") == 2


def test_nobody_falls_back_unless_told_to(memory: AdaptiveMemory) -> None:
    found = memory.for_user("new").recall("office opens")
    assert not found
    assert not found.dropped
    assert found.trace == ()


def test_one_record_of_ones_own_ends_it(new: UserMemory) -> None:
    new.remember("cats", id="own")
    found = new.recall("office opens")
    assert found.ids == ("own",)
    assert found[0].shared is None
    assert found.trace == ()


def test_until_there_are_enough_ones_own_come_first_whatever_their_score(memory: AdaptiveMemory) -> None:
    new = memory.for_user("new", fallback="handbook", fallback_below=3)
    new.remember_many([{"id": "own", "text": "cats"}, {"id": "hours", "text": "dogs"}])
    found = new.recall("office opens", k=3)
    assert {one.id for one in found[:2]} == {"own", "hours"}
    assert found[2].id == "hours"
    assert [one.shared for one in found] == [None, None, "handbook"]
    assert found.trace[0].startswith("fewer than 3 records of user 'new' yet")
    assert "dogs" in found.explain()
    assert "office opens" in found.explain()
    new.remember("birds")
    assert {one.shared for one in new.recall("office opens", k=4)} == {None}


def test_what_a_filter_or_a_gate_leaves_out_is_a_history_all_the_same(new: UserMemory, clock: Clock) -> None:
    new.remember("cats", id="own", valid_until=clock() + 10)
    assert not new.recall("office opens", filter={"topic": "office"})
    clock.pass_days(1)
    assert not new.recall("office opens")
    assert not new.recall("office opens", in_context=["own"])


def test_filter_and_refusals_hold_for_what_is_shared(new: UserMemory) -> None:
    assert new.recall("office opens", filter={"topic": "money"}).ids == ("travel",)
    assert "hours" not in new.recall("office opens", in_context=["hours"]).ids
    assert not new.recall("office opens", accept=lambda record: record.kind == "secret")


def test_a_readers_reads_change_nothing_of_what_is_shared(
    memory: AdaptiveMemory, new: UserMemory, collection: Collection
) -> None:
    texts, handbook = contents(collection), memory.for_user("handbook")
    before = ledger_rows(memory)["records"]
    for _ in range(3):
        new.recall("office opens")
    memory.flush()
    assert contents(collection) == texts
    assert ledger_rows(memory)["records"] == before
    assert handbook.get("hours").read.retrieval_count == 0
    assert handbook.stats().recalls == 0
    assert handbook.recalls() == []


def test_the_recall_itself_is_the_readers(new: UserMemory) -> None:
    found = new.recall("office opens")
    assert found.step == 1
    assert new.stats().recalls == 1
    (logged,) = new.recalls()
    assert logged.id == found.id
    assert logged.candidates == ()


def test_without_learning_nothing_changes_at_all(memory: AdaptiveMemory, new: UserMemory) -> None:
    before = ledger_rows(memory)
    assert new.recall("office opens", reinforce=False)
    assert ledger_rows(memory) == before


def test_what_is_shared_is_not_the_readers_to_judge_or_change(memory: AdaptiveMemory, new: UserMemory) -> None:
    found = new.recall("office opens")
    with pytest.raises(InvalidInputError, match="The hit 'hours' is shared: handbook"):
        new.feedback(found, helpful=["hours"])
    with pytest.raises(InvalidInputError, match="did not return 'hours'"):
        new.feedback(found.id, helpful=["hours"])
    for act in (new.get, new.pin, new.unpin, new.demote, new.forget):
        with pytest.raises(NotFoundError, match="shared: handbook are only read here"):
            act("hours")
    assert memory.for_user("handbook").get("hours").text == "office opens at eight"


def test_ones_own_record_of_the_same_id_can_be_judged(memory: AdaptiveMemory) -> None:
    new = memory.for_user("new", fallback="handbook", fallback_below=2)
    new.remember("office cat", id="hours")
    found = new.recall("office opens")
    assert [one.shared for one in found if one.id == "hours"] == [None, "handbook"]
    assert new.feedback(found, helpful=["hours"]) == 1
    assert new.get("hours").read.boost > 0
    assert memory.for_user("handbook").get("hours").read.boost == 0


def test_a_user_who_was_not_declared_stays_private(memory: AdaptiveMemory) -> None:
    for private in ("bob", "nobody there", memory.for_user("bob")):
        with pytest.raises(ScopeError, match="was not declared to be shared"):
            memory.for_user("new", fallback=private)
    assert "secret" not in memory.for_user("new", fallback="handbook").recall("office key", k=10).ids
    assert "secret" not in memory.for_user("new", fallback=memory.for_everyone()).recall("office key", k=10).ids


def test_being_shared_is_declared_anew_with_each_memory(open_memory: Open) -> None:
    with closing(open_memory(shared=["handbook"])) as memory:
        memory.for_user("handbook").remember_many(PAGES)
        assert memory.for_user("new", fallback="handbook").recall("office opens")
    with pytest.raises(ScopeError, match=r"AdaptiveMemory\(..., shared=\['handbook'\]\)"):
        open_memory().for_user("new", fallback="handbook")


def test_records_that_belong_to_nobody_can_stand_in(memory: AdaptiveMemory) -> None:
    everyone = memory.for_everyone()
    everyone.remember("the canteen serves soup", id="soup")
    found = memory.for_user("new", fallback=everyone).recall("canteen soup")
    assert found.ids == ("soup",)
    assert found[0].shared == "everyone"


@pytest.mark.parametrize("wrong", ["", "  ", 3, ["handbook"]])
def test_a_fallback_that_is_no_name_is_refused(memory: AdaptiveMemory, wrong: Any) -> None:
    with pytest.raises(ScopeError):
        memory.for_user("new", fallback=wrong)


def test_a_user_is_not_their_own_fallback(memory: AdaptiveMemory, open_memory: Open) -> None:
    with pytest.raises(ScopeError, match="itself"):
        memory.for_user("handbook", fallback="handbook")
    with pytest.raises(ScopeError, match="of another memory"):
        memory.for_user("new", fallback=open_memory().for_everyone())
    with pytest.raises(InvalidInputError, match="fallback_below is 0"):
        memory.for_user("new", fallback="handbook", fallback_below=0)


@pytest.mark.parametrize("wrong", ["handbook", 3, [""], [None]])
def test_what_is_shared_is_a_list_of_users(open_memory: Open, wrong: Any) -> None:
    with pytest.raises(ScopeError):
        open_memory(shared=wrong)


async def test_async_finds_the_same(new: UserMemory) -> None:
    found = await new.arecall("office opens", k=2, reinforce=False)
    assert found.ids == new.recall("office opens", k=2, reinforce=False).ids
    assert {hit.shared for hit in found} == {"handbook"}


def test_a_shared_scope_has_a_relevance_floor_of_its_own(memory: AdaptiveMemory, new: UserMemory) -> None:
    policy = memory.policy.replace(advanced={"unrelated_answered": 0.05})
    memory.for_user("handbook").calibrate(policy=policy)
    assert new.recall("office opens at eight", policy=policy, reinforce=False).ids[0] == "hours"
    nothing = new.recall("zebra quantum ladder", policy=policy, reinforce=False)
    assert not nothing
    assert nothing.dropped[0].reason.startswith("shared: handbook, no better than")


def test_a_reader_has_the_shared_floor_measured_and_reads_nothing(memory: AdaptiveMemory, new: UserMemory) -> None:
    policy = memory.policy.replace(advanced={"unrelated_answered": 0.05})
    before, handbook = ledger_rows(memory)["records"], memory.for_user("handbook").scope
    assert new.recall("zebra quantum ladder", policy=policy)
    ports = memory.ports()
    assert eventually(lambda: ports.ledger.floors.get(handbook, ports.floors.manner(policy)) is not None)
    nothing = new.recall("zebra quantum ladder", policy=policy)
    assert not nothing
    assert nothing.unrelated is not None
    assert ledger_rows(memory)["records"] == before


def test_readers_at_once_get_their_own(memory: AdaptiveMemory) -> None:
    def read(name: str) -> tuple[object, ...]:
        found = memory.for_user(name, fallback="handbook").recall("office opens", k=1)
        return found.scope.user, found.ids, found.step

    names = [f"u{n}" for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(read, names)) == [(name, ("hours",), 1) for name in names]


def test_what_is_shared_failing_costs_only_that(
    memory: AdaptiveMemory, new: UserMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = memory.ports().search
    compare = store.compare

    def broken(scope: Scope, *more: Any, **named: Any) -> Any:
        if scope.user == "handbook":
            raise StoreError("out of order")
        return compare(scope, *more, **named)

    monkeypatch.setattr(store, "compare", broken)
    found = new.recall("zebra")
    assert not found
    assert found.step == 1
    assert found.trace[-1] == "nothing that is shared (handbook) was read: out of order"


def test_what_is_shared_shares_no_block_with_ones_own(memory: AdaptiveMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"session": "monday", "speaker": "Ana"}
    memory.for_user("handbook").remember("office lamps are new", id="lamps", metadata={**said, "seq": 1})
    new = memory.for_user("new", fallback="handbook", fallback_below=2)
    new.remember("office cat", id="own", metadata={**said, "seq": 2})
    monkeypatch.setitem(BLOCK_SHARES, "flat", 0.0)
    shown = new.recall("office lamps", k=2).render()
    assert [("shared: handbook" in line, line.startswith("- [event")) for line in shown.splitlines()[1:]] == [
        (False, True),
        (True, True),
    ]
