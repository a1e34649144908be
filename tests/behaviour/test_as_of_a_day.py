"""Does a recall as of an earlier day know only what was known then, and read what was read until then?"""

from __future__ import annotations

import pytest
from chromadb import Collection

from adaptive_memory_core import Keeping, Policy, UserMemory
from adaptive_memory_core.sources.times_and_feedback import NO_LOG
from langchain_adaptive_memory import AdaptiveMemoryRetriever
from llama_adaptive_memory import AdaptiveMemoryRetriever as LlamaRetriever
from tests.conftest import DAY, START, Clock, Open, word_vectors

BOTH = Policy(channels=("dense", "lexical"))


@pytest.fixture
def drinker(alice: UserMemory, clock: Clock) -> UserMemory:
    """Three old memories of tea, two of them of no use for what is asked, and then very many about it."""
    alice.remember_many([{"text": f"{kind} tea is served here", "id": kind} for kind in ("green", "black")])
    alice.remember("the tax is due", id="tax")
    clock.pass_days(10)
    alice.remember_many([{"text": "green tea", "id": f"later {number}"} for number in range(60)])
    clock.pass_days(10)
    return alice


@pytest.mark.parametrize("policy", [Policy(), BOTH])
async def test_only_what_was_there_is_found_however_much_came_later(drinker: UserMemory, policy: Policy) -> None:
    found = drinker.recall("green tea", k=3, now=START + DAY, policy=policy, reinforce=False)
    assert found.ids[0] == "green"
    assert set(found.ids) == {"green", "black", "tax"}
    assert {one.reason for one in found.dropped} == {"of a later day than asked"}
    awaited = await drinker.arecall("green tea", k=3, now=START + DAY, policy=policy, reinforce=False)
    assert awaited.ids == found.ids
    assert drinker.recall("green tea", k=1, reinforce=False).ids[0].startswith("later")


def test_now_and_later_days_leave_nothing_out(drinker: UserMemory, clock: Clock) -> None:
    for now in (None, clock(), clock() + DAY):
        found = drinker.recall("green tea", k=100, now=now, reinforce=False)
        assert len(found) == 63
        assert not found.dropped


def test_what_had_not_begun_is_left_out_and_what_is_of_no_known_time_stays(
    collection: Collection, alice: UserMemory, clock: Clock
) -> None:
    alice.remember("tea from June on", id="june", created_at=START - DAY, valid_from=START + 5 * DAY)
    collection.add(
        ids=["theirs"], documents=["tea"], embeddings=word_vectors(["tea"]), metadatas=[{"user_id": "alice"}]
    )
    clock.pass_days(20)
    found = alice.recall("tea", now=START + DAY, reinforce=False)
    assert found.ids == ("theirs",)
    assert [(one.id, one.reason) for one in found.dropped] == [("june", "of a later day than asked")]


def test_a_replaced_fact_holds_as_of_the_day_before(alice: UserMemory, clock: Clock) -> None:
    alice.remember("Ilse lives in Oslo.", id="old")
    clock.pass_days(10)
    alice.remember("Ilse lives in Turin.", id="new", supersedes="old")
    clock.pass_days(10)
    assert alice.recall("where does Ilse live?", now=START + DAY, reinforce=False).ids == ("old",)
    assert alice.recall("where does Ilse live?", reinforce=False).ids == ("new",)


def test_reads_verdicts_and_pins_are_those_of_then(alice: UserMemory, clock: Clock) -> None:
    alice.remember("green tea", id="green")
    clock.pass_days(1)
    alice.recall("green tea")
    clock.pass_days(1)
    then = alice.recall("green tea", reinforce=False)[0]
    day = clock()
    clock.pass_days(5)
    alice.feedback(alice.recall("green tea"), helpful=["green"])
    alice.pin("green")
    clock.pass_days(5)
    found = alice.recall("green tea", now=day, reinforce=False)
    read = found[0].record.read
    assert (read.retrieval_count, read.last_read, read.helpful, read.pinned) == (1, START + DAY, 0, False)
    assert found[0].score == pytest.approx(then.score)
    assert found.trace == ()
    assert alice.recall("green tea", now=day - 1.5 * DAY, reinforce=False)[0].record.read.retrieval_count == 0
    assert alice.get("green").read.pinned  # nothing was changed by looking back


@pytest.mark.parametrize("verb", ["recall", "rerank"])
def test_a_look_back_takes_back_no_later_read(alice: UserMemory, clock: Clock, verb: str) -> None:
    alice.remember("green tea", id="green")
    clock.pass_days(20)
    alice.recall("green tea")
    known = alice.get("green").read
    clock.pass_days(1)
    for day in (START + DAY, START + 19.9 * DAY):
        found = (
            alice.recall("green tea", now=day) if verb == "recall" else alice.rerank("green", {"green": 0.9}, now=day)
        )
        assert found.ids == ("green",)
        assert alice.get("green").read == known
    alice.recall("green tea")
    assert (alice.get("green").read.last_read, alice.get("green").read.retrieval_count) == (clock(), 2)


def test_looks_back_are_no_recalls_that_are_lost(alice: UserMemory, clock: Clock) -> None:
    alice.remember("green tea")
    for _ in range(3):
        clock.pass_days(1)
        alice.recall("tea")
    clock.pass_days(30)
    for day in (2.5, 1.5, 1.5, 2.5, 1.5):
        assert alice.recall("tea", now=START + day * DAY).trace == ()


def test_recalls_that_the_log_no_longer_holds_are_named(open_memory: Open, clock: Clock) -> None:
    memory = open_memory()
    alice = memory.for_user("alice")
    alice.remember("green tea")
    for _ in range(4):
        clock.pass_days(1)
        alice.recall("tea")
    memory.ports().ledger.retention.trim(now=clock(), log_days=1_000, log_recalls=2)
    (note,) = alice.recall("tea", now=START + 3.5 * DAY, reinforce=False).trace
    assert note == "the log holds 1 of the 3 recalls up to that day: what the others read is not known"


def test_where_no_log_is_kept_a_note_says_so(over: Open, clock: Clock) -> None:
    alice = over(keeping=Keeping(log=False)).for_user("alice")
    alice.remember("green tea", id="green")
    clock.pass_days(5)
    alice.recall("green tea")
    assert alice.recall("green tea", now=START + DAY, reinforce=False).trace == (NO_LOG,)
    assert alice.recall("green tea", reinforce=False).trace == ()


def test_neighbours_and_shared_scopes_know_nothing_later_either(over: Open, clock: Clock) -> None:
    memory = over(shared=["handbook"])
    handbook = memory.for_user("handbook")
    handbook.remember("tea at eight", id="eight")
    own = memory.for_user("ana")
    own.remember("do you like tea?", id="asked", metadata={"session": "s", "seq": 1})
    clock.pass_days(9)
    handbook.remember("tea at nine", id="nine")
    own.remember("tea, yes", id="answer", metadata={"session": "s", "seq": 2})
    clock.pass_days(9)
    intact = Policy(channels=("dense", "lexical")).replace(advanced={"neighbours": True})
    looked = own.recall("do you like tea?", now=START + DAY, reinforce=False, policy=intact)
    assert (looked.ids, looked.neighbours) == (("asked",), ())
    assert [
        one.record.id for one in own.recall("do you like tea?", k=1, reinforce=False, policy=intact).neighbours
    ] == ["answer"]
    new = memory.for_user("new", fallback="handbook")
    assert new.recall("tea", now=START + DAY, reinforce=False).ids == ("eight",)


async def test_both_frameworks_ask_as_of_a_day(drinker: UserMemory) -> None:
    chain = AdaptiveMemoryRetriever(memory=drinker, k=3, reinforce=False)
    for documents in (chain.invoke("green tea", now=START + DAY), await chain.ainvoke("green tea", now=START + DAY)):
        assert {one.id for one in documents} == {"green", "black", "tax"}
    index = LlamaRetriever(memory=drinker, similarity_top_k=3, reinforce=False)
    nodes = index.retrieve("green tea", now=START + DAY), await index.aretrieve("green tea", now=START + DAY)
    for found in nodes:
        assert {one.node.node_id for one in found} == {"green", "black", "tax"}
