"""Is the user found on every path that can carry one, and is it an error everywhere else?"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_core.documents import Document
from langchain_core.runnables import RunnableConfig, RunnableParallel, RunnablePassthrough
from langchain_core.runnables.utils import ConfigurableField
from langchain_core.tools import create_retriever_tool
from langgraph.graph import END, START, StateGraph

from adaptive_memory_core import AdaptiveMemory, Fields, ScopeError, UserMemory
from langchain_adaptive_memory import EVERYONE, AdaptiveMemoryRetriever
from langchain_adaptive_memory.user import find_user
from tests.langchain_adaptive_memory.conftest import NewRetriever, NewStore
from tests.langchain_adaptive_memory.models import AS_IT_IS, FirstOnly, ensemble, step
from tests.langchain_adaptive_memory.scripted_agent import Context, call, says

Call = Callable[[AdaptiveMemoryRetriever, str], Any]
OF_BOB: RunnableConfig = {"configurable": {"user_id": "bob"}}
ALICES = {"tea", "coffee", "milk", "red", "is"}


def config_of(user: str) -> RunnableConfig:
    return {"configurable": {"user_id": user}}


def in_a_lambda(retriever: AdaptiveMemoryRetriever, user: str) -> Any:
    return step(lambda query: retriever.invoke(str(query))).invoke("tea", config_of(user))


def in_parallel(retriever: AdaptiveMemoryRetriever, user: str) -> Any:
    chain = RunnableParallel(context=retriever, question=RunnablePassthrough())
    return chain.invoke("tea", config_of(user))["context"]


def through_a_tool(retriever: AdaptiveMemoryRetriever, user: str) -> Any:
    tool = create_retriever_tool(retriever, "notes", "Notes.", response_format="content_and_artifact")
    call = {"name": "notes", "args": {"query": "tea"}, "id": "1", "type": "tool_call"}
    return tool.invoke(call, config_of(user)).artifact


def compressed_in_a_chain(retriever: AdaptiveMemoryRetriever, user: str) -> Any:
    compressed = ContextualCompressionRetriever(base_compressor=FirstOnly(), base_retriever=retriever)
    return (AS_IT_IS | compressed).invoke("tea", config_of(user))


PATHS: dict[str, Call] = {
    "argument": lambda r, user: r.invoke("tea", user_id=user),
    "bind": lambda r, user: r.bind(user_id=user).invoke("tea"),
    "config": lambda r, user: r.invoke("tea", config_of(user)),
    "with_config": lambda r, user: r.with_config(configurable={"user_id": user}).invoke("tea"),
    "batch": lambda r, user: r.batch(["tea"], config_of(user))[0],
    "stream": lambda r, user: next(r.stream("tea", config_of(user))),
    "chain": lambda r, user: (AS_IT_IS | r).invoke("tea", config_of(user)),
    "parallel": in_parallel,
    "lambda": in_a_lambda,
    "tool": through_a_tool,
    "ensemble": lambda r, user: ensemble(r).invoke("tea", config_of(user)),
    "compression, argument": lambda r, user: ContextualCompressionRetriever(
        base_compressor=FirstOnly(), base_retriever=r
    ).invoke("tea", user_id=user),
    "compression in a chain": compressed_in_a_chain,
    "configurable field": lambda r, user: r.configurable_fields(user_id=ConfigurableField(id="user_id")).invoke(
        "tea", config_of(user)
    ),
}
ASYNC_PATHS: dict[str, Call] = {
    "argument": lambda r, user: r.ainvoke("tea", user_id=user),
    "config": lambda r, user: r.ainvoke("tea", config_of(user)),
    "with_config": lambda r, user: r.with_config(configurable={"user_id": user}).ainvoke("tea"),
    "chain": lambda r, user: (AS_IT_IS | r).ainvoke("tea", config_of(user)),
    "ensemble": lambda r, user: ensemble(r).ainvoke("tea", config_of(user)),
    "configurable field": lambda r, user: r.configurable_fields(user_id=ConfigurableField(id="user_id")).ainvoke(
        "tea", config_of(user)
    ),
}


def ids(documents: list[Document]) -> set[str]:
    return {str(one.id) for one in documents}


@pytest.mark.parametrize("path", PATHS)
def test_the_user_is_found(path: str, new_retriever: NewRetriever) -> None:
    retriever = new_retriever(k=9)
    assert ids(PATHS[path](retriever, "bob")) == {"bobs"}
    assert ids(PATHS[path](retriever, "alice")) == ALICES
    assert ids(PATHS[path](retriever, "nobody we know")) == set()


@pytest.mark.parametrize("path", ASYNC_PATHS)
async def test_the_user_is_found_in_async_calls(path: str, new_retriever: NewRetriever) -> None:
    retriever = new_retriever(k=9)
    assert ids(await ASYNC_PATHS[path](retriever, "bob")) == {"bobs"}
    assert ids(await ASYNC_PATHS[path](retriever, "alice")) == ALICES


async def test_abatch_and_astream_find_a_user_for_each_call(new_retriever: NewRetriever) -> None:
    retriever = new_retriever()
    both = await retriever.abatch(["tea", "tea"], [config_of("bob"), config_of("alice")])
    assert ids(both[0]) == {"bobs"}
    assert ids(both[1]) < ALICES
    assert [ids(chunk) async for chunk in retriever.astream("tea", OF_BOB)] == [{"bobs"}]


@pytest.mark.parametrize("path", PATHS)
def test_a_user_that_is_there_but_no_name_is_refused_and_not_passed_over(
    path: str, new_retriever: NewRetriever
) -> None:
    retriever, nobody = new_retriever(user_id="alice"), list[Any](["", "  ", None, 0, 7.0, ["bob"]])
    for user in nobody:
        with pytest.raises(ScopeError):
            PATHS[path](retriever, user)


async def test_no_user_is_an_error_that_says_how_to_give_one(new_retriever: NewRetriever) -> None:
    retriever = new_retriever()
    with pytest.raises(ScopeError, match=r"configurable.*user_id.*EVERYONE"):
        retriever.invoke("tea")
    with pytest.raises(ScopeError):
        await retriever.ainvoke("tea")
    with pytest.raises(ScopeError):
        ensemble(retriever).invoke("tea", user_id="bob")  # it keeps arguments to itself
    with pytest.raises(ScopeError):
        retriever.configurable_fields(user_id=ConfigurableField(id="user_id")).invoke("tea", config_of(None))  # type: ignore[arg-type]


def test_a_thread_without_the_context_of_its_chain_gets_an_error_and_nobodys_records(
    new_retriever: NewRetriever,
) -> None:
    retriever = new_retriever()
    seen: list[str] = []

    def elsewhere() -> None:
        with pytest.raises(ScopeError):
            retriever.invoke("tea")
        seen.append("refused")

    def started(query: str) -> str:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        return query

    step(started).invoke("tea", OF_BOB)
    assert seen == ["refused"]


def test_the_nearest_name_wins(new_retriever: NewRetriever) -> None:
    retriever = new_retriever(user_id="alice", k=9)
    assert ids(retriever.invoke("tea")) == ALICES
    assert ids(retriever.invoke("tea", OF_BOB)) == {"bobs"}
    assert ids(retriever.invoke("tea", OF_BOB, user_id="alice")) == ALICES
    inner = step(lambda _: retriever.invoke("tea", config_of("alice")))
    assert ids(inner.invoke("", OF_BOB)) == ALICES


def test_another_setting_in_the_config_of_an_inner_call_does_not_hide_the_user_around_it(
    new_retriever: NewRetriever,
) -> None:
    retriever = new_retriever(user_id="alice")
    inner = step(lambda _: retriever.invoke("tea", {"configurable": {"thread_id": "1"}}))
    assert ids(inner.invoke("", OF_BOB)) == {"bobs"}


def test_a_memory_of_one_user_refuses_another(alice: UserMemory, new_retriever: NewRetriever) -> None:
    with pytest.raises(ScopeError, match=r"'alice'.*'bob'"):
        new_retriever(alice).invoke("tea", OF_BOB)
    with pytest.raises(ScopeError):
        new_retriever(alice, user_id=EVERYONE)


def test_everyone_is_a_default_that_any_name_overrides(memory: AdaptiveMemory, new_retriever: NewRetriever) -> None:
    memory.for_everyone().remember("the tea shop opens at nine", id="shop")
    retriever = new_retriever(user_id=EVERYONE)
    assert ids(retriever.invoke("tea")) == {"shop"}
    assert ids(retriever.invoke("tea", OF_BOB)) == {"bobs"}
    assert ids(retriever.invoke("tea", user_id="bob")) == {"bobs"}
    with pytest.raises(ScopeError):
        retriever.invoke("tea", user_id=None)
    assert ids(retriever.invoke("tea", OF_BOB, user_id=EVERYONE)) == {"shop"}
    with pytest.raises(ScopeError):
        new_retriever(memory.for_user("alice")).invoke("tea", user_id=EVERYONE)


def test_nobodys_memory_refuses_a_user_unless_told_not_to_look(
    memory: AdaptiveMemory, new_retriever: NewRetriever
) -> None:
    everyone = memory.for_everyone()
    everyone.remember("the tea shop opens at nine", id="shop")
    assert ids(new_retriever(everyone).invoke("tea")) == {"shop"}
    with pytest.raises(ScopeError, match="user_key=None"):
        new_retriever(everyone).invoke("tea", OF_BOB)
    assert ids(new_retriever(everyone, user_key=None).invoke("tea", OF_BOB)) == {"shop"}


def test_a_user_may_have_another_name_in_the_config(new_retriever: NewRetriever) -> None:
    retriever = new_retriever(user_key="tenant")
    assert ids(retriever.invoke("tea", {"configurable": {"tenant": "bob"}})) == {"bobs"}
    with pytest.raises(ScopeError, match="tenant"):
        retriever.invoke("tea", OF_BOB)


def test_a_store_without_users_is_everyones_and_one_with_users_asks_for_one(new_store: NewStore) -> None:
    with AdaptiveMemoryRetriever.from_vectorstore(new_store()) as retriever:
        assert retriever.user_id is EVERYONE
        assert len(retriever.invoke("tea")) == 4
    with AdaptiveMemoryRetriever.from_vectorstore(new_store(user="ana")) as retriever:
        with pytest.raises(ScopeError):
            retriever.invoke("tea")
        assert len(retriever.invoke("tea", user_id="ana")) == 4
        assert retriever.invoke("tea", user_id="bob") == []
    with AdaptiveMemoryRetriever.from_vectorstore(new_store(), user_id=None) as retriever, pytest.raises(ScopeError):
        retriever.invoke("tea")


def test_the_users_of_a_store_may_stand_under_another_key(new_store: NewStore) -> None:
    fields = Fields(user_id="owner")
    with AdaptiveMemoryRetriever.from_vectorstore(new_store(owner="ana"), fields=fields) as retriever:
        with pytest.raises(ScopeError):
            retriever.invoke("tea")
        assert len(retriever.invoke("tea", config_of("ana"))) == 4


class ContextDict(TypedDict):
    user_id: str


class State(TypedDict):
    found: list[str]


def graph_of(retriever: AdaptiveMemoryRetriever, schema: type) -> Any:
    graph = StateGraph(State, context_schema=schema)
    graph.add_node("recall", lambda state: {"found": sorted(ids(retriever.invoke("tea")))})
    graph.add_edge(START, "recall")
    graph.add_edge("recall", END)
    return graph.compile()


@pytest.mark.parametrize(("schema", "context"), [(Context, Context("bob")), (ContextDict, {"user_id": "bob"})])
async def test_the_user_is_found_in_the_context_of_a_graph(
    schema: type, context: Any, new_retriever: NewRetriever
) -> None:
    graph = graph_of(new_retriever(), schema)
    assert graph.invoke({}, context=context) == {"found": ["bobs"]}
    assert await graph.ainvoke({}, context=context) == {"found": ["bobs"]}
    with pytest.raises(ScopeError):
        graph.invoke({})


async def test_two_users_at_once_in_the_config_and_the_context_of_a_graph_are_refused(
    new_retriever: NewRetriever,
) -> None:
    graph = graph_of(new_retriever(k=9), Context)
    with pytest.raises(ScopeError, match=r"'alice' in config.*'bob' in LangGraph's context"):
        graph.invoke({}, config_of("alice"), context=Context("bob"))
    with pytest.raises(ScopeError, match="Two users"):
        await graph.ainvoke({}, config_of("alice"), context=Context("bob"))
    assert graph.invoke({}, OF_BOB, context=Context("bob")) == {"found": ["bobs"]}
    with pytest.raises(ScopeError):
        graph.invoke({}, config_of("alice"), context=Context(""))


def test_what_a_call_itself_says_wins_over_two_users_at_once(new_retriever: NewRetriever) -> None:
    retriever, graph = new_retriever(k=9), StateGraph(State, context_schema=Context)
    graph.add_node("recall", lambda _: {"found": sorted(ids(retriever.invoke("tea", user_id="bob")))})
    graph.add_edge(START, "recall")
    made = graph.compile()
    assert made.invoke({"found": []}, config_of("alice"), context=Context("ana")) == {"found": ["bobs"]}


async def test_the_user_is_found_in_an_agents_tool(new_retriever: NewRetriever) -> None:
    tool = create_retriever_tool(new_retriever(), "notes", "Notes.")
    question: Any = {"messages": [("user", "what do I drink?")]}
    for given in ({"context": Context("bob")}, {"config": OF_BOB}):
        agent = create_agent(says(*(call("notes", query="tea"), "tea") * 2), [tool], context_schema=Context)
        assert agent.invoke(question, **given)["messages"][2].content == "bob drinks green tea"
        assert (await agent.ainvoke(question, **given))["messages"][2].content == "bob drinks green tea"


def test_the_context_may_be_given_to_whoever_has_it() -> None:
    assert find_user(context=Context("ana")) == "ana"
    assert find_user(OF_BOB, given="ana", context=Context("carl")) == "ana"
    with pytest.raises(ScopeError, match="Two users"):
        find_user(OF_BOB, context=Context("ana"))
    assert find_user({"configurable": {"user_id": 7}}, context=Context("ana"), key="other") is None
    assert find_user(context=object()) is None
