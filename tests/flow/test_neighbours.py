"""Does a recall bring what stands beside its hits - no more than may be shown, and without counting it as read?"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from adaptive_memory_core import AdaptiveMemory, Fields, Policy, Recall, UserMemory
from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.flow import neighbours as flow
from adaptive_memory_core.policy import Advanced
from tests.conftest import START, Clock, Open, contents, ledger_rows

WAYS: list[Any] = [("dense",), ("dense", "lexical")]
TALK = [
    ("Ana", "how was the week?"),
    ("Ben", "we adopted a puppy"),
    ("Ana", "which breed is this puppy dog?"),
    ("Ben", "border collie puppy dog breed"),
    ("Ana", "wonderful news"),
    ("Ben", "thanks a lot"),
]
CUE = "border collie puppy dog breed"


def turns(session: str = "monday", talk: list[tuple[str, str]] = TALK, **more: Any) -> Iterator[dict[str, Any]]:
    for seq, (speaker, text) in enumerate(talk):
        told = {"speaker": speaker, "session": session, "seq": seq}
        yield {"id": f"{session}{seq}", "text": text, "created_at": START + seq, "metadata": told, **more}


@pytest.fixture(params=WAYS, ids=["vectors", "words"])
def policy(request: pytest.FixtureRequest) -> Policy:
    return Policy(channels=request.param, advanced=Advanced(neighbours=True))


@pytest.fixture
def alice(memory: AdaptiveMemory) -> UserMemory:
    user = memory.for_user("alice")
    user.remember_many(turns())
    return user


def around(answer: Recall) -> set[tuple[str, str, int]]:
    return {(one.record.id, one.of, one.offset) for one in answer.neighbours}


def test_the_best_hit_has_both_its_neighbours(alice: UserMemory, policy: Policy) -> None:
    answer = alice.recall(CUE, k=1, policy=policy)
    assert answer.ids == ("monday3",)
    assert around(answer) == {("monday2", "monday3", -1), ("monday4", "monday3", 1)}
    assert answer.trace == ()
    assert "note: monday2 was said right before monday3" in answer.explain()
    assert [line.partition("] ")[2] for line in answer.render().split("\n")[2:]] == [TALK[n][1] for n in (2, 3, 4)]


def test_the_next_ones_have_the_question_that_they_answer_and_no_other_neighbour(memory: AdaptiveMemory) -> None:
    bob = memory.for_user("bob")
    bob.remember_many(turns("a", [("A", "tea and cake"), ("B", "green tea and cake")]))
    bob.remember_many(turns("b", [("A", "what else?"), ("B", "tea and fruit"), ("A", "fine")]))
    bob.remember_many(turns("c", [("A", "rain again."), ("B", "tea or rum"), ("A", "sure")]))
    for channels in WAYS:
        answer = bob.recall(
            "green tea and cake", k=4, policy=Policy(channels=channels, advanced=Advanced(neighbours=True))
        )
        assert answer[0].id == "a1"
        assert ("b0", "b1", -1) in around(answer)
        assert {one.record.id for one in answer.neighbours}.isdisjoint({"b2", "c0", "c2"})


def test_neighbours_are_no_hits_and_do_not_count_as_read(alice: UserMemory, policy: Policy) -> None:
    answer = alice.recall(CUE, k=1, policy=policy)
    assert (len(answer), len(list(answer)), answer.ids) == (1, 1, ("monday3",))
    assert alice.get("monday3").read.retrieval_count == 1
    for one in answer.neighbours:
        assert alice.get(one.record.id).read.retrieval_count == 0


def test_who_does_not_ask_gets_none_and_pays_for_none(alice: UserMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    records, search = type(alice.memory.ports().records), type(alice.memory.ports().search)
    for owner, name in ((records, "of_sessions"), (search, "stored"), (search, "vectors"), (search, "passing")):
        monkeypatch.setattr(owner, name, lambda *_, name=name, **__: asked.append(name))
    answer = alice.recall(CUE, k=1)
    assert (answer.neighbours, asked) == ((), [])
    assert len(answer.render().split("\n")) == 2


def test_looking_without_touching_changes_nothing(memory: AdaptiveMemory, alice: UserMemory, policy: Policy) -> None:
    alice.recall("warm up", policy=policy)
    memory.flush()
    collection: Any = memory.ports().records
    before = ledger_rows(memory), contents(collection.collection)
    answer = alice.recall(CUE, k=2, policy=policy.replace(diversity=0.3), reinforce=False)
    assert answer.neighbours
    memory.flush()
    assert (ledger_rows(memory), contents(collection.collection)) == before


def test_nobody_elses_turns_stand_beside(memory: AdaptiveMemory, alice: UserMemory, policy: Policy) -> None:
    """Though they name the same session, and the same places in it."""
    for other in (memory.for_user("bob"), memory.for_everyone()):
        other.remember_many({**one, "text": f"secret {one['id']}"} for one in turns())
    alice.remember("border collie puppy dog breed again", metadata={"session": "solo", "seq": 3})
    memory.for_user("bob").remember("secret neighbour", metadata={"session": "solo", "seq": 2})
    for scope, own in ((alice, True), (memory.for_everyone(), False)):
        answer = scope.recall(CUE, k=6, policy=policy)
        shown = [*(one.record.text for one in answer.neighbours), answer.render()]
        assert all(("secret" in text) is not own for text in shown if text)
        assert answer.neighbours


def test_what_may_not_be_returned_is_not_shown_beside(memory: AdaptiveMemory, policy: Policy, clock: Clock) -> None:
    ana = memory.for_user("ana")
    ana.remember_many(turns("old", valid_until=None))
    ana.remember_many([{**one, "valid_until": START - 1} for one in turns("old") if one["id"] == "old2"])
    ana.remember("corrected", supersedes="old4", metadata={"session": "else"})
    assert around(ana.recall(CUE, k=1, policy=policy)) == set()


def test_what_the_caller_bars_is_not_shown_beside(alice: UserMemory, policy: Policy) -> None:
    def ids(**arguments: Any) -> set[str]:
        return {one.record.id for one in alice.recall(CUE, k=1, policy=policy, **arguments).neighbours}

    assert ids() == {"monday2", "monday4"}
    assert ids(accept=lambda record: record.id != "monday4") == {"monday2"}
    assert ids(in_context=["monday2"]) == {"monday4"}
    assert ids(in_context=[f"before: {TALK[4][1]}, and so on"]) == {"monday2"}
    assert ids(filter={"speaker": "Ben"}) == set()
    assert ids(filter={"session": "monday"}) == {"monday2", "monday4"}


def test_what_was_forgotten_is_gone_and_the_next_one_stands_beside(alice: UserMemory, policy: Policy) -> None:
    alice.recall(CUE, policy=policy)
    alice.forget("monday2")
    assert around(alice.recall(CUE, k=1, policy=policy)) == {("monday1", "monday3", -1), ("monday4", "monday3", 1)}


def test_records_of_no_conversation_have_none_and_the_recall_says_so(memory: AdaptiveMemory, policy: Policy) -> None:
    user = memory.for_user("carol")
    user.remember_many(["tea", "cake", "rum"])
    answer = user.recall("tea", k=2, policy=policy)
    assert answer.neighbours == ()
    assert (flow.NO_SESSION in answer.trace) is (policy.channels == ("dense",))
    assert user.recall("tea", k=2, policy=policy, filter={"kind": "none"}).neighbours == ()


def test_sessions_that_are_too_long_are_not_read_by_half(alice: UserMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow, "MOST_TURNS", 5)
    answer = alice.recall(CUE, k=1, policy=Policy(channels=("dense",), advanced=Advanced(neighbours=True)))
    assert (answer.neighbours, answer.trace) == ((), (flow.TOO_LONG,))


def test_neighbours_that_cannot_be_read_cost_a_note_and_nothing_else(
    alice: UserMemory, policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise StoreError("no answer")

    search: Any = alice.memory.ports().search
    monkeypatch.setattr(type(search), "stored", fail)
    answer = alice.recall(CUE, k=1, policy=policy)
    assert (answer.ids, answer.neighbours) == (("monday3",), ())
    assert answer.trace == ("the neighbours of the hits were left out: no answer",)
    monkeypatch.undo()
    assert alice.get("monday3").read.retrieval_count == 1


def test_sessions_and_order_under_other_names(over: Open) -> None:
    fields = Fields(speaker="who", session="thread", seq="n")
    user = over(fields=fields).for_user("alice")
    names = {"speaker": "who", "session": "thread", "seq": "n"}
    for one in turns():
        user.remember(**{**one, "metadata": {names[key]: value for key, value in one["metadata"].items()}})
    for channels in WAYS:
        answer = user.recall(CUE, k=1, policy=Policy(channels=channels, advanced=Advanced(neighbours=True)))
        assert around(answer) == {("monday2", "monday3", -1), ("monday4", "monday3", 1)}
        assert "  + [by Ana] wonderful news" in answer.render()


def test_async_and_reranked_recalls_are_as_intact(alice: UserMemory, policy: Policy) -> None:
    plain = alice.recall(CUE, k=2, policy=policy, reinforce=False)
    other = asyncio.run(alice.arecall(CUE, k=2, policy=policy, reinforce=False))
    assert (other.ids, other.neighbours) == (plain.ids, plain.neighbours)
    again = alice.rerank(CUE, {"monday3": 0.9, "monday0": 0.1}, policy=policy, reinforce=False)
    assert ("monday2", "monday3", -1) in around(again)


def test_the_same_words_make_way_and_more_is_looked_for(memory: AdaptiveMemory) -> None:
    user = memory.for_user("dora")
    user.remember_many("likes green tea" for _ in range(60))
    user.remember_many(["likes green apples", "likes green walls", "drinks tea", "likes her cat"])
    answer = user.recall("likes green tea", k=4)
    assert len({hit.text for hit in answer}) == 4
    assert {drop.reason for drop in answer.dropped if drop.id not in answer.ids} == {
        f"nearly the same as {answer[0].id}",
        "beyond k",
    }
    assert (
        len(
            {
                hit.text
                for hit in user.recall("likes green tea", k=4, policy=Policy(advanced=Advanced(duplicates="keep")))
            }
        )
        == 1
    )
    assert len(user.recall("likes green tea", k=10, policy=Policy(advanced=Advanced(duplicates="drop")))) == 5
    assert len(user.recall("likes green tea", k=10)) == 10


def test_diversity_looks_at_the_vectors_of_the_candidates(memory: AdaptiveMemory) -> None:
    user = memory.for_user("eve")
    user.remember_many(["green tea with milk", "green tea with some milk", "green tea with more milk", "green apples"])
    # the records of one call are in order, so a later one could hold now
    plain, diverse = (
        user.recall("green tea with milk", k=2, policy=Policy(diversity=d, newest_first=False)) for d in (0.0, 0.7)
    )
    assert "green apples" not in [hit.text for hit in plain]
    assert [hit.text for hit in diverse] == ["green tea with milk", "green apples"]


def test_diversity_without_vectors_is_left_out_with_a_note(memory: AdaptiveMemory, monkeypatch: Any) -> None:
    def fail(*_: object) -> None:
        raise StoreError("no answer")

    user = memory.for_user("eve")
    user.remember_many(["green tea", "black tea"])
    monkeypatch.setattr(type(memory.ports().search), "vectors", fail)
    answer = user.recall("green tea", policy=Policy(diversity=0.5))
    assert len(answer) == 2
    assert answer.trace == ("the hits were not compared with each other: no answer",)
    assert user.recall("nothing", k=3, filter={"kind": "none"}, policy=Policy(diversity=0.5)).ids == ()
