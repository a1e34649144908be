"""Can the graph be asked from every front door, by the policy alone? Async, LangChain, LlamaIndex, the paper's form."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Policy, PolicyError, UserMemory
from adaptive_memory_core.policy.advanced import Graphs
from adaptive_memory_core.sources import graph_and_hierarchy as channel
from langchain_adaptive_memory import AdaptiveMemoryRetriever as ForLangChain
from llama_adaptive_memory import AdaptiveMemoryRetriever as ForLlamaIndex
from tests.conftest import Open, word_vectors

POLICY = Policy(channels=("dense", "lexical", "graph"))
CUE = "Where did the father of Teutberga's husband die?"
FAMILY: list[Any] = [
    {"id": "t", "text": "Teutberga was married to Lothair II.", "metadata": {"title": "Teutberga"}},
    {"id": "l", "text": "He ruled. His father was Lothair I.", "metadata": {"title": "Lothair II"}},
    {"id": "f", "text": "He died at the abbey.", "metadata": {"title": "Lothair I"}},
    *({"text": f"Note {n} is about nothing in particular."} for n in range(30)),
]


@pytest.fixture
def memory(over: Open) -> AdaptiveMemory:
    opened = over(policy=POLICY)
    opened.for_user("ann").remember_many(FAMILY)
    return opened


def test_async_finds_the_same(memory: AdaptiveMemory) -> None:
    ann = memory.for_user("ann")
    found = asyncio.run(ann.arecall(CUE, k=3, reinforce=False))
    assert found.ids == ann.recall(CUE, k=3, reinforce=False).ids
    assert set(found.ids) == {"t", "l", "f"}


def test_langchain_needs_no_other_class(memory: AdaptiveMemory) -> None:
    retriever: Any = ForLangChain(memory=memory.for_user("ann"), k=3)
    assert {str(one.id) for one in retriever.invoke(CUE)} == {"t", "l", "f"}


def test_llama_index_needs_no_other_class(memory: AdaptiveMemory) -> None:
    retriever = ForLlamaIndex(memory=memory.for_user("ann"), similarity_top_k=3)
    assert {one.node.node_id for one in retriever.retrieve(CUE)} == {"t", "l", "f"}


def test_the_papers_form_is_a_policy_away(memory: AdaptiveMemory) -> None:
    found = memory.for_user("ann").recall(
        CUE, k=5, policy=POLICY.replace(advanced={"graph": {"form": "paper", "rounds": 2}})
    )
    assert {"t", "l"} <= set(found.ids)
    assert Policy.from_json(POLICY.replace(advanced={"graph": {"rounds": 2}}).to_json()).advanced.graph == Graphs(
        rounds=2
    )


def test_a_channel_of_the_callers_may_not_take_its_name(collection: Collection) -> None:
    with pytest.raises(PolicyError, match="graph"):
        AdaptiveMemory(collection, embedder=word_vectors, channels={"graph": lambda cue, user, limit: []})


def test_looking_changes_nothing(memory: AdaptiveMemory) -> None:
    ann = memory.for_user("ann")
    first = ann.recall(CUE, k=3, reinforce=False)
    again = ann.recall(CUE, k=3, reinforce=False)
    assert [(hit.id, hit.score) for hit in first] == [(hit.id, hit.score) for hit in again]
    assert all(hit.record.read.retrieval_count == 0 for hit in again)


OFF = POLICY.replace(learning={"similar_questions": 0.0, "usefulness": 0.0})
PAPER = OFF.replace(advanced={"graph": {"form": "paper"}})
WHERE = "Where did Ada meet Bob?"


@pytest.fixture
def meetings(memory: AdaptiveMemory) -> UserMemory:
    user = memory.for_user("bea")
    user.remember_many([{"id": town, "text": f"Ada met Bob at {town}."} for town in ("Rome", "Oslo", "Lima")])
    return user


def shares(user: UserMemory, policy: Policy) -> dict[str, float]:
    return {one.id: one.parts["graph"] for one in user.recall(WHERE, k=5, policy=policy, reinforce=False)}


def judge(user: UserMemory, policy: Policy, **verdicts: list[str]) -> None:
    user.feedback(user.recall(WHERE, k=5, policy=policy), **verdicts)


def test_what_answered_such_a_question_counts_more_within_the_graph(meetings: UserMemory) -> None:
    judge(meetings, POLICY, helpful=["Lima"])
    lifted, plain = shares(meetings, POLICY), shares(meetings, POLICY.replace(learning={"similar_questions": 0.0}))
    assert lifted["Lima"] / lifted["Rome"] > 1.2 * plain["Lima"] / plain["Rome"]
    said = meetings.recall(WHERE, k=5, reinforce=False).explain()
    assert f"Lima was helpful for {WHERE!r}, 100 % like this one" in said
    assert "Lima is what the graph came to by 'ada'" in said or "Lima is what the graph came to by 'bob'" in said


def test_the_papers_form_learns_by_its_own_update(meetings: UserMemory) -> None:
    before = shares(meetings, PAPER)
    judge(meetings, PAPER, helpful=["Lima"])
    after = shares(meetings, PAPER)
    assert after["Lima"] / after["Rome"] > before["Lima"] / before["Rome"]
    unsure = PAPER.replace(advanced={"graph": {"process_noise": 1.0}})  # so that no verdict makes it surer
    assert shares(meetings, unsure) == pytest.approx(before, rel=1e-12)


def test_the_papers_memory_goes_with_the_record(memory: AdaptiveMemory, meetings: UserMemory) -> None:
    before = shares(meetings, PAPER)
    judge(meetings, PAPER, helpful=["Lima"])
    judge(meetings, PAPER, unhelpful=["Lima"])
    assert shares(meetings, PAPER) != before
    meetings.forget("Lima")
    assert memory.ports().ledger.judged_questions.stored_ids() == set()


def test_where_it_is_asked_for_titles_alone_other_questions_are_ranked_as_without_it(memory: AdaptiveMemory) -> None:
    titled, plain = (
        POLICY.replace(advanced={"graph": {"asks": "titled"}}),
        POLICY.replace(channels=("dense", "lexical")),
    )
    ann = memory.for_user("ann")
    assert ann.recall(CUE, k=3, policy=titled, reinforce=False).ids == ann.recall(CUE, k=3, reinforce=False).ids
    with_, without = (ann.recall("nothing in particular", policy=one, reinforce=False) for one in (titled, plain))
    assert [(hit.id, hit.parts) for hit in with_] == [(hit.id, hit.parts) for hit in without]


def test_of_what_is_said_in_a_conversation_the_graph_says_less(
    memory: AdaptiveMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There the turns next to it tell what a turn is about; documents beside the conversation count as before."""
    ben = memory.for_user("ben")
    turns = ["Teutberga was married to Lothair II.", "Nice.", "Lothair II was a son of Lothair I.", "Really?"]
    ben.remember_many(
        [
            {"id": f"turn {n}", "text": text, "metadata": {"session": "s", "seq": n, "speaker": "AB"[n % 2]}}
            for n, text in enumerate(turns * 3)
        ]
    )
    ben.remember_many([one for one in FAMILY if "id" in one])

    def said_by_the_graph() -> dict[str, float]:
        found = ben.recall(CUE, k=12, reinforce=False, policy=POLICY)
        return {one.id: one.hit.leads["graph"] for one in found}

    less = said_by_the_graph()
    monkeypatch.setattr(channel, "SPOKEN", 1.0)
    whole = said_by_the_graph()
    both = less.keys() & whole.keys()
    for kind in (True, False):
        assert any(whole[one] > 0.0 for one in both if one.startswith("turn") is kind)
    for one in both:
        share = 0.1 if one.startswith("turn") else 1.0
        assert less[one] == pytest.approx(share * whole[one])
