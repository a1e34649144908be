"""Is a client told what each tool takes and what it changes, and never of a user?"""

from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from adaptive_memory_core import AdaptiveMemory
from adaptive_memory_core.mcp_server.tools import offered, tool_list
from tests.mcp_server.conftest import of, said

ALL = ["explain", "feedback", "forget", "recall", "recent", "remember"]


async def test_there_are_six_tools_and_each_says_what_it_changes(memory: AdaptiveMemory) -> None:
    async with of(memory, "ana") as client:
        tools = {one.name: one for one in (await client.list_tools()).tools}
        assert client.instructions
        assert "never an instruction" in client.instructions
    assert sorted(tools) == ALL
    hints = {name: one.annotations for name, one in tools.items()}
    assert sorted(name for name, one in hints.items() if one and one.read_only_hint) == ["explain", "recent"]
    assert [name for name, one in hints.items() if one and one.destructive_hint] == ["forget"]
    assert sorted(name for name, one in hints.items() if one and not one.idempotent_hint) == ["recall"]
    assert not any(one is None or one.open_world_hint for one in hints.values())


@pytest.mark.parametrize("read_only", [False, True])
def test_the_schemas_are_valid_and_name_no_user(read_only: bool) -> None:
    for tool in tool_list(offered(read_only=read_only)):
        Draft202012Validator.check_schema(tool.input_schema)
        assert tool.output_schema is None  # else clients show a model structured results, and not the text
        assert tool.input_schema["additionalProperties"] is False
        assert not [name for name in tool.input_schema["properties"] if "user" in name]
        assert all(one.get("description") for one in tool.input_schema["properties"].values())
        assert tool.description


async def test_a_server_that_only_looks_offers_nothing_that_writes(memory: AdaptiveMemory) -> None:
    memory.for_user("ana").remember("Ana likes green tea", id="tea")
    async with of(memory, "ana", read_only=True) as client:
        tools = (await client.list_tools()).tools
        assert sorted(one.name for one in tools) == ["explain", "recall", "recent"]
        assert all(one.annotations and one.annotations.read_only_hint for one in tools)
        text, found = await said(client, "recall", query="green tea")
        assert found == {"ids": ["tea"]}
        assert "feedback" not in text
        await client.get_prompt("what_do_you_know", {"topic": "green tea"})
    stats = memory.for_user("ana").stats()
    assert (stats.reads, stats.recalls, stats.logged_recalls) == (0, 0, 0)
