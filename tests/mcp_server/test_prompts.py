"""Are the prompt and the resource there for a real client over stdio, and do they show what is remembered?"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent, TextResourceContents

from adaptive_memory_core import AdaptiveMemory, UserMemory
from adaptive_memory_core.mcp_server.server import InUse, new_server
from adaptive_memory_core.mcp_server.tools import ToolSettings
from tests.mcp_server.conftest import of, said, words
from tests.mcp_server.test_stdio import ENVIRONMENT, ROOT, command


async def prompt(client: Client, **arguments: str) -> str:
    (message,) = (await client.get_prompt("what_do_you_know", arguments)).messages
    assert message.role == "user"
    assert isinstance(message.content, TextContent)
    return message.content.text


async def resource(client: Client) -> str:
    (content,) = (await client.read_resource("memory://recent")).contents
    assert isinstance(content, TextResourceContents)
    assert content.mime_type == "text/plain"
    return content.text


async def test_a_client_over_stdio_gets_each_result_once_and_the_prompt_and_the_resource(tmp_path: Path) -> None:
    with (tmp_path / "stderr").open("w") as nothing:
        given = command(tmp_path / "memory", "ana", "--mask-secrets")
        start = StdioServerParameters(command=sys.executable, args=given, env=ENVIRONMENT, cwd=ROOT)
        async with Client(stdio_client(start, errlog=nothing)) as client:
            assert [
                (one.name, [each.name for each in one.arguments or []]) for one in (await client.list_prompts()).prompts
            ] == [("what_do_you_know", ["topic"])]
            assert [str(one.uri) for one in (await client.list_resources()).resources] == ["memory://recent"]
            assert await resource(client) == "Nothing is remembered yet."
            assert "Nothing is remembered yet." in await prompt(client)
            tea = (await said(client, "remember", text="Ana likes green tea"))[1]["id"]
            await said(client, "remember", text="the cat is called Turing")
            answer = await client.call_tool("recall", {"query": "green tea"})
            assert words(answer).count("Ana likes green tea") == 1
            assert answer.structured_content is None
            assert "green tea" not in str(answer.meta)
            key = "The key is AKIA" + "ABCD2345" * 2
            first, again = [await said(client, "remember", text=key) for _ in range(2)]
            assert first[1] == again[1]
            assert "The key is [masked: aws key id]" in await resource(client)
            about = await prompt(client, topic="green tea")
            assert about.startswith("What do you know about green tea?")
            assert f"Ana likes green tea (id {tea[:8]})" in about
            for whole in (await prompt(client), await resource(client)):
                assert "Ana likes green tea" in whole
                assert "the cat is called Turing" in whole


async def test_what_is_not_offered_is_an_error_that_names_what_is(memory: AdaptiveMemory) -> None:
    async with of(memory, "ana") as client:
        with pytest.raises(MCPError, match="there is what_do_you_know"):
            await client.get_prompt("no such", {})
        with pytest.raises(MCPError, match="there is memory://recent"):
            await client.read_resource("memory://no-such")


async def test_a_memory_that_fails_says_to_go_on_without_it(
    memory: AdaptiveMemory, caplog: pytest.LogCaptureFixture
) -> None:
    def whose() -> UserMemory:
        raise OSError("/secret/path is full")

    async with Client(new_server(whose, ToolSettings(), InUse())) as client:
        for asked in (client.get_prompt("what_do_you_know", {"topic": "tea"}), client.read_resource("memory://recent")):
            with pytest.raises(MCPError, match="Go on without it"):
                await asked
    assert "/secret/path is full" in caplog.text
    assert memory.for_user("ana").stats().records == 0
