"""Does it work inside what LangChain builds of retrievers, and is one question of the user one read there?"""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_classic.retrievers import ContextualCompressionRetriever, MergerRetriever, MultiQueryRetriever
from langchain_core.callbacks import CallbackManager
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda, RunnableParallel, RunnablePassthrough
from langchain_core.tools import create_retriever_tool

from adaptive_memory_core import UserMemory
from langchain_adaptive_memory import AdaptiveMemoryRetriever, create_recall_tool
from langchain_adaptive_memory import turns as turning
from tests.langchain_adaptive_memory.conftest import EVERY_READ, NewRetriever
from tests.langchain_adaptive_memory.models import AS_IT_IS, FirstOnly, ensemble, step
from tests.langchain_adaptive_memory.scripted_agent import call, says

QUERIES = "green tea\nblack coffee\ncold milk"


@pytest.fixture
def retriever(alice: UserMemory, new_retriever: NewRetriever) -> AdaptiveMemoryRetriever:
    return new_retriever(alice, k=5, policy=EVERY_READ)


def many(retriever: Any) -> MultiQueryRetriever:
    return MultiQueryRetriever.from_llm(retriever, FakeListChatModel(responses=[QUERIES]))


def compressed(retriever: Any) -> ContextualCompressionRetriever:
    return ContextualCompressionRetriever(base_compressor=FirstOnly(n=2), base_retriever=retriever)


def wrapped(retriever: AdaptiveMemoryRetriever) -> dict[str, Runnable[str, Any]]:
    """All ways in which one question may become many calls."""
    chain = step(lambda query: [retriever.invoke(query), retriever.invoke("milk")])
    return {
        "multi query": many(retriever),
        "ensemble": ensemble(retriever, many(retriever)),
        "merger": MergerRetriever(retrievers=[retriever, retriever]),
        "compression": compressed(many(retriever)),
        "parallel": RunnableParallel(one=retriever, other=AS_IT_IS | retriever, third=many(retriever)),
        "lambda": chain,
        "steps": retriever | (lambda found: found[0].page_content) | retriever,
        "map": step(lambda query: [query, "milk", "coffee"]) | retriever.map(),
    }


WAYS = ["multi query", "ensemble", "merger", "compression", "parallel", "lambda", "steps", "map"]


@pytest.mark.parametrize("way", WAYS)
async def test_one_question_is_one_read_however_many_calls_it_makes(
    way: str, alice: UserMemory, retriever: AdaptiveMemoryRetriever
) -> None:
    asked = wrapped(retriever)[way]
    assert asked.invoke("green tea")
    assert alice.get("tea").read.retrieval_count == 1
    assert await asked.ainvoke("green tea")
    assert alice.get("tea").read.retrieval_count == 2
    steps = [one.step for one in alice.recalls()]
    assert len(steps) >= 4
    assert set(steps) == {1, 2}


async def test_independent_questions_are_reads_of_their_own(
    alice: UserMemory, retriever: AdaptiveMemoryRetriever
) -> None:
    retriever.batch(["tea", "tea", "tea"])
    await retriever.abatch(["tea", "tea"])
    (AS_IT_IS | retriever).batch(["tea", "tea"])
    await asyncio.gather(*(many(retriever).ainvoke("tea") for _ in range(3)))
    assert alice.get("tea").read.retrieval_count == 10


async def test_the_calls_of_one_run_of_an_agent_are_one_question(
    alice: UserMemory, retriever: AdaptiveMemoryRetriever
) -> None:
    tools = [create_retriever_tool(retriever, "notes", "Notes."), create_recall_tool(alice, policy=EVERY_READ)]
    script = (call("notes", query="tea"), call("recall_memory", query="green tea"), "Tea.") * 3
    agent = create_agent(says(*script), tools)
    question: Any = {"messages": [("user", "what do I drink?")]}
    agent.invoke(question)
    await agent.ainvoke(question)
    list(agent.stream(question))
    assert alice.get("tea").read.retrieval_count == 3
    assert [one.step for one in alice.recalls()] == [3, 3, 2, 2, 1, 1]


def test_nothing_is_kept_of_runs_that_have_ended(retriever: AdaptiveMemoryRetriever) -> None:
    before = turning._roots.under_way
    for asked in wrapped(retriever).values():
        asked.invoke("green tea")
    with pytest.raises(TypeError):
        (AS_IT_IS | retriever.bind(nope=1)).invoke("tea")
    assert turning._roots.under_way == before


def test_the_watch_over_runs_is_set_up_once(alice: UserMemory, new_retriever: NewRetriever) -> None:
    for _ in range(3):
        new_retriever(alice)
        create_recall_tool(alice)
    manager = CallbackManager.configure()
    assert manager.inheritable_handlers.count(turning._roots) == 1


def test_a_run_that_began_unwatched_still_has_one_turn() -> None:
    roots, unknown = turning.Roots(), uuid.uuid4()
    inner = [uuid.uuid4(), uuid.uuid4()]
    for run in inner:
        roots.on_chain_start(None, None, run_id=run, parent_run_id=unknown)
    assert {roots.root_of(run) for run in inner} == {unknown}


def test_runs_that_never_end_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turning, "MOST_RUNS", 10)
    roots = turning.Roots()
    for _ in range(100):
        roots.on_chain_start(None, None, run_id=uuid.uuid4())
    assert roots.under_way == 10


async def test_a_chain_answers_from_what_was_recalled(retriever: AdaptiveMemoryRetriever) -> None:
    def together(found: list[Document]) -> str:
        return "\n".join(one.page_content for one in found)

    prompt = ChatPromptTemplate.from_template("Context:\n{context}\n\n{question}")
    seen: list[str] = []

    def model(value: Any) -> str:
        seen.append(value.to_string())
        return "Tea."

    context = {"context": retriever | together, "question": RunnablePassthrough()}
    chain = context | prompt | RunnableLambda(model) | StrOutputParser()
    assert chain.invoke("green tea") == "Tea."
    assert await chain.ainvoke("green tea") == "Tea."
    assert "".join([part async for part in chain.astream("green tea")]) == "Tea."
    assert all("green tea is nice" in one for one in seen)


def test_an_ensemble_puts_what_both_found_first(retriever: AdaptiveMemoryRetriever) -> None:
    class Plain(AdaptiveMemoryRetriever): ...

    other = Plain(memory=retriever.memory, k=1)
    found = ensemble(retriever, other).invoke("green tea")
    assert (found[0].id, len(found)) == ("tea", 5)


def test_what_comes_out_of_a_wrapper_can_be_judged(alice: UserMemory, retriever: AdaptiveMemoryRetriever) -> None:
    found = compressed(many(retriever)).invoke("green tea")
    assert retriever.feedback(helpful=found) == len(found) == 2
    assert alice.stats().verdicts == 2


async def test_the_retriever_tool_gives_the_texts(retriever: AdaptiveMemoryRetriever) -> None:
    tool = create_retriever_tool(retriever.bind(k=2), "notes", "Notes.")  # type: ignore[arg-type] # what the docs do
    assert tool.invoke({"query": "green tea"}).startswith("green tea is nice\n\n")
    assert (await tool.ainvoke({"query": "green tea"})).startswith("green tea is nice\n\n")


def test_documents_of_one_record_are_equal_whatever_the_query_made_of_the_score() -> None:
    import copy
    import pickle

    from langchain_core.documents import Document
    from langchain_core.load import dumpd, load

    from langchain_adaptive_memory.convert import Recalled

    def document(score: float, text: str = "tea") -> Recalled:
        return Recalled(
            id="1", page_content=text, metadata={"by": "ana", "score": score, "adaptive_memory": {"s": score}}
        )

    one = document(0.5)
    assert one == document(0.9)
    assert one != document(0.5, "coffee")
    assert one != Document(id="1", page_content="tea", metadata={"by": "ben"})
    assert one == Document(id="1", page_content="tea", metadata={"by": "ana"})
    assert type(pickle.loads(pickle.dumps(one))) is type(load(dumpd(one))) is Document
    assert pickle.loads(pickle.dumps(one)).metadata == copy.deepcopy(one).metadata == one.metadata
