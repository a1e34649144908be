"""Do agents find the store where LangGraph has a place for one? create_agent, ToolRuntime, graphs, LangMem's tools."""

from __future__ import annotations

import json
from typing import Any

from langchain.agents import create_agent
from langchain.tools import ToolRuntime
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.config import get_store
from langgraph.func import entrypoint
from langmem import create_manage_memory_tool, create_memory_store_manager, create_search_memory_tool  # type: ignore[import-untyped] # it ships no types

from langchain_adaptive_memory.langgraph_store.store import AdaptiveMemoryStore
from tests.langchain_adaptive_memory.scripted_agent import Context, call, says

MEMORIES = ("memories", "{langgraph_user_id}")


@tool
def keep(fact: str, runtime: ToolRuntime[Context]) -> str:
    """Keep a fact."""
    assert runtime.store is not None
    runtime.store.put(("facts", runtime.context.user_id), fact[:20], {"text": fact})
    return "kept"


@tool
async def look(query: str, runtime: ToolRuntime[Context]) -> str:
    """Look up facts."""
    assert runtime.store is not None
    found = await runtime.store.asearch(("facts", runtime.context.user_id), query=query, limit=1)
    return found[0].value["text"] if found else "nothing"


async def test_tools_of_an_agent_reach_it_as_tool_runtime_store(store: AdaptiveMemoryStore) -> None:
    agent: Any = create_agent(
        says(call("keep", fact="Ana likes green tea"), "Kept."), [keep, look], store=store, context_schema=Context
    )
    agent.invoke({"messages": [HumanMessage("I like tea")]}, context=Context("ana"))
    for user, answer in (("ana", "Ana likes green tea"), ("ben", "nothing")):
        agent = create_agent(
            says(call("look", query="what tea"), "There."), [keep, look], store=store, context_schema=Context
        )
        out = await agent.ainvoke({"messages": [HumanMessage("what do I like?")]}, context=Context(user))
        assert out["messages"][-2].text == answer


async def test_a_graph_finds_it_with_get_store(store: AdaptiveMemoryStore) -> None:
    @entrypoint(store=store)
    async def flow(text: str) -> str:
        await get_store().aput(("flow",), "k", {"text": text})
        return str((await get_store().asearch(("flow",), query=text))[0].value["text"])

    assert await flow.ainvoke("red tea") == "red tea"


def configured(user: str) -> Any:
    return {"configurable": {"langgraph_user_id": user}}


def test_langmems_tools_manage_and_search_it(store: AdaptiveMemoryStore) -> None:
    manage: Any = create_manage_memory_tool(MEMORIES, store=store)
    search: Any = create_search_memory_tool(MEMORIES, store=store, response_format="content_and_artifact")

    @entrypoint()
    def flow(step: dict[str, Any]) -> Any:
        return (manage if step["tool"] == "manage" else search).invoke(step["arguments"])

    run: Any = flow
    said = run.invoke({"tool": "manage", "arguments": {"content": "Ana likes green tea"}}, configured("ana"))
    key = said.removeprefix("created memory ")
    run.invoke({"tool": "manage", "arguments": {"content": "Ben likes coffee"}}, configured("ben"))
    seen = run.invoke({"tool": "search", "arguments": {"query": "green tea", "limit": 5}}, configured("ana"))
    assert [(one["key"], one["value"]["content"]) for one in json.loads(seen)] == [(key, "Ana likes green tea")]
    update = {"content": "Ana likes black tea", "action": "update", "id": key}
    run.invoke({"tool": "manage", "arguments": update}, configured("ana"))
    item = store.get(("memories", "ana"), key)
    assert item is not None
    assert item.value == {"content": "Ana likes black tea"}
    run.invoke({"tool": "manage", "arguments": {"action": "delete", "id": key}}, configured("ana"))
    assert store.search(("memories", "ana"), query="tea") == []
    assert len(store.search(("memories",), query="tea")) == 1


async def test_langmems_tools_in_an_agent_with_the_store(store: AdaptiveMemoryStore) -> None:
    tools = [create_manage_memory_tool(MEMORIES), create_search_memory_tool(MEMORIES)]
    first: Any = create_agent(says(call("manage_memory", content="Ana likes tea"), "Noted."), tools, store=store)
    await first.ainvoke({"messages": [HumanMessage("I like tea")]}, configured("ana"))
    for user, known in (("ana", True), ("ben", False)):
        second: Any = create_agent(says(call("search_memory", query="tea"), "Tea."), tools, store=store)
        out = second.invoke({"messages": [HumanMessage("what do I like?")]}, configured(user))
        assert ("Ana likes tea" in out["messages"][-2].text) is known


def test_langmems_store_manager_searches_it(store: AdaptiveMemoryStore) -> None:
    store.put(("memories", "ana"), "1", {"kind": "Memory", "content": {"content": "Ana likes green tea"}})
    manager: Any = create_memory_store_manager(says("-"), store=store)
    found = manager.search(query="green tea", config=configured("ana"))
    assert [one.key for one in found] == ["1"]
