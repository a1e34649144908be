"""Does whatever LangChain hands on serve as feedback, and are the verbs beside `invoke` there?"""

from __future__ import annotations

import copy
import pickle
import uuid
from typing import Any

import pytest
from chromadb import Collection
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.runnables import ConfigurableField

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, NotFoundError, ScopeError, UserMemory
from langchain_adaptive_memory.tools import create_forget_tool, create_recall_tool
from tests.langchain_adaptive_memory.conftest import NewRetriever
from tests.langchain_adaptive_memory.models import AS_IT_IS
from tests.langchain_adaptive_memory.scripted_agent import call, says


def helpful(scope: UserMemory, *ids: str) -> list[int]:
    return [scope.get(one).read.helpful for one in ids]


@pytest.mark.parametrize("key", ["context", "source_documents"])
async def test_what_a_chain_gives_back(key: str, alice: UserMemory, new_retriever: NewRetriever) -> None:
    retriever = new_retriever(user_id="alice", k=1)
    answer = {"input": "tea?", "answer": "Green.", key: retriever.invoke("green tea")}
    assert await retriever.afeedback(helpful=answer) == 1
    assert helpful(alice, "tea") == [1]


def test_ids_and_a_run_s_id_as_the_question_s_turn(alice: UserMemory, new_retriever: NewRetriever) -> None:
    retriever, run = new_retriever(user_id="alice", k=1), uuid.uuid4()
    (AS_IT_IS | retriever).invoke("green tea", {"run_id": run})
    retriever.invoke("black coffee")
    assert retriever.feedback(helpful=run) == 1
    assert retriever.feedback(unhelpful="coffee") == 1
    assert helpful(alice, "tea", "coffee") == [1, 0]
    with pytest.raises(NotFoundError):
        retriever.feedback(helpful=["coffee"], turn=str(run))


def test_what_an_agent_gives_back(alice: UserMemory, new_retriever: NewRetriever) -> None:
    tool = create_recall_tool(alice, k=1, response_format="content_and_artifact")
    model = says(call("recall_memory", 1, query="green tea"), call("recall_memory", 2, query="black coffee"), "Both.")
    agent: Any = create_agent(model, [tool])
    out = agent.invoke({"messages": [HumanMessage("what is there to drink?")]})
    assert sum(isinstance(one, ToolMessage) for one in out["messages"]) == 2
    assert new_retriever(user_id="alice").feedback(helpful=out) == 2
    assert helpful(alice, "tea", "coffee") == [1, 1]


@pytest.mark.parametrize("way", ["as it is", "copied", "pickled", "as JSON"])
def test_a_document_that_was_handed_around_is_still_known(
    way: str, alice: UserMemory, new_retriever: NewRetriever
) -> None:
    retriever = new_retriever(user_id="alice", k=1)
    (found,) = retriever.invoke("green tea")
    retriever.invoke("green tea")  # a later one returned it too
    ways: dict[str, Any] = {
        "as it is": lambda: found,
        "copied": lambda: copy.deepcopy(found),
        "pickled": lambda: pickle.loads(pickle.dumps(found)),
        "as JSON": lambda: Document.model_validate_json(found.model_dump_json()),
    }
    assert retriever.feedback(helpful=[ways[way]()]) == 1
    assert alice.changes("tea")[0].by == f"recall {found.metadata['adaptive_memory']['recall_id']}"


def test_without_notes_in_the_metadata_a_document_is_as_plain_as_can_be(
    alice: UserMemory, new_retriever: NewRetriever
) -> None:
    retriever = new_retriever(user_id="alice", k=1, annotate=False)
    (found,) = retriever.invoke("green tea")
    assert not {"score", "adaptive_memory"} & found.metadata.keys()
    plain = Document("green tea is nice", id="tea", metadata=found.metadata)
    assert (str(found), repr(found), found.model_dump(), found == plain) == (
        str(plain),
        repr(plain),
        plain.model_dump(),
        True,
    )
    assert retriever.feedback(helpful=found) == 1
    assert retriever.invoke("green tea", annotate=True)[0].metadata["score"] > 0


@pytest.mark.parametrize(
    ("thing", "said"),
    [*((one, "Give documents") for one in (5, None, b"tea")), ([Document("from elsewhere")], "adaptive_memory")],
)
def test_what_cannot_be_judged_is_refused(thing: Any, said: str, new_retriever: NewRetriever) -> None:
    with pytest.raises(InvalidInputError, match=f"(?s)(?=.*Give documents).*{said}"):
        new_retriever(user_id="alice").feedback(helpful=thing)


async def test_flush_shows_in_the_collection_what_was_read(
    collection: Collection, alice: UserMemory, new_retriever: NewRetriever
) -> None:
    retriever = new_retriever(user_id="alice", k=1)
    retriever.invoke("green tea")
    retriever.flush()
    assert (collection.get("tea")["metadatas"] or [{}])[0]["retrieval_count"] == 1
    await retriever.ainvoke("black coffee")
    await retriever.aflush()
    assert (collection.get("coffee")["metadatas"] or [{}])[0]["retrieval_count"] == 1


def test_explain_last_is_each_users_own(alice: UserMemory, new_retriever: NewRetriever) -> None:
    retriever = new_retriever(k=1)
    assert "Nothing" in retriever.explain_last(user_id="alice")
    configurable = retriever.configurable_fields(k=ConfigurableField(id="k"))
    configurable.invoke("green tea", {"configurable": {"user_id": "alice", "k": 2}})
    assert "green tea is nice" in retriever.explain_last(user_id="alice")
    assert "Nothing" in retriever.explain_last(user_id="bob")
    with pytest.raises(ScopeError):
        retriever.explain_last()
    for ask in (retriever.forget, retriever.feedback):
        with pytest.raises(NotFoundError, match="bob"):
            ask("tea", user_id="bob")


async def test_a_tool_forgets_what_is_the_users_and_nothing_else(memory: AdaptiveMemory, alice: UserMemory) -> None:
    tool = create_forget_tool(memory)
    config: Any = {"configurable": {"user_id": "alice"}}
    assert set(tool.args) == {"memory_id"}
    assert "tea" in tool.invoke({"memory_id": "tea"}, config)
    assert "coffee" in await tool.ainvoke({"memory_id": "coffee"}, config)
    assert "no record 'bobs'" in tool.invoke({"memory_id": "bobs"}, config)
    assert alice.stats().records == 3
    assert memory.for_user("bob").get("bobs").text == "bob drinks green tea"
    with pytest.raises(ScopeError):
        tool.invoke({"memory_id": "milk"})
