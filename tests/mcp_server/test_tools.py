"""Is a client told what each tool takes and changes, never of a user; and are settings, prompt and resource right?"""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent, TextResourceContents
from typer.testing import CliRunner

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, UserMemory
from adaptive_memory_core.cli.app import app
from adaptive_memory_core.mcp_server.inputs import SHOWN, named, narrowed, short_ids, time_since, with_short_ids
from adaptive_memory_core.mcp_server.server import InUse, new_server
from adaptive_memory_core.mcp_server.tools import ToolSettings, offered, tool_list
from tests.mcp_server.conftest import of, said, words
from tests.mcp_server.test_stdio import ENVIRONMENT, ROOT, command

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


PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "mcp.md").read_text("utf-8")
BLOCKS = [json.loads(one) for one in re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]
SERVERS = [next(iter((block.get("mcpServers") or block["servers"]).values())) for block in BLOCKS]
SAID = [shlex.split(one) for one in re.findall(r"adaptive-memory (--path .* mcp\b.*)$", PAGE, re.MULTILINE)]
ARGUMENTS = [*(one["args"] for one in SERVERS if "args" in one), *SAID]


def test_there_is_one_for_each_kind_of_client() -> None:
    assert [one.get("type") for one in SERVERS] == [None, "stdio", "http"]
    assert SERVERS[2]["url"] == "http://127.0.0.1:8765/mcp"
    assert len(ARGUMENTS) == 4


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=" ".join)
def test_its_arguments_are_those_of_the_command(arguments: list[str]) -> None:
    ended = CliRunner().invoke(app, [*arguments, "--help"])
    assert ended.exit_code == 0
    known = set(re.findall(r"--[a-z-]+", ended.output)) | {"--path", "--user"}
    assert {one for one in arguments if one.startswith("--")} <= known


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


DAY = 86_400.0
UUID, TWIN = "3f2a9c1b-77aa-4b6f-bcc3-38e0e9134c89", "3f2a9c1b-77aa-4b6f-bcc3-38e0e9134c88"


MADE = st.builds("{}-{:024x}{}".format, st.sampled_from("hm"), st.integers(0, 3), st.sampled_from(["", "-2"]))


@given(st.lists(st.uuids().map(str) | MADE | st.text("0123456789abcdef-hm", min_size=1, max_size=50), max_size=8))
def test_short_ids_are_beginnings_that_differ(ids: list[str]) -> None:
    shown = short_ids([*ids, UUID])
    assert all(whole.startswith(short) for whole, short in shown.items())
    assert len(set(shown.values())) == len({*ids, UUID})
    for whole, short in shown.items():
        assert named(short, list(shown), what="memory", where="recall") == whole


def test_ids_that_begin_alike_are_shown_as_long_as_they_need() -> None:
    assert len(short_ids([UUID])[UUID]) == SHOWN
    assert short_ids([UUID, TWIN]) == {UUID: UUID, TWIN: TWIN}
    near, far = f"m-{'0' * 24}", f"m-{'0' * 9}{'1' * 15}"
    assert short_ids([near, far, UUID]) == {near: near[:14], far: far[:14], UUID: "3f2a9c1b"}
    assert with_short_ids(f"(id {UUID}) or (id tea)", [UUID, "tea"]) == "(id 3f2a9c1b) or (id tea)"


def test_an_id_that_is_whole_is_meant_even_if_others_begin_with_it() -> None:
    assert named("note-1", ["note-1", "note-12"], what="memory", where="recall") == "note-1"
    with pytest.raises(InvalidInputError, match=r"9 ids begin with 'note-1': .* and others. Give more characters"):
        named("note-1", [f"note-1{number}" for number in range(9)], what="memory", where="recall")


@pytest.mark.parametrize(
    ("said", "ago"),
    [
        ("30 minutes", 1_800.0),
        ("1 min", 60.0),
        ("12h", 43_200.0),
        ("7 days", 7 * DAY),
        ("7d", 7 * DAY),
        ("1.5 weeks ago", 10.5 * DAY),
        ("3 Months", 3 * 2_629_800.0),
        ("1 year", 100 * DAY),
        ("1970-04-11", 0.0),
        ("1970-04-10T12:00:00Z", DAY / 2),
        ("1970-04-11T01:00:00+01:00", 0.0),
    ],
)
def test_a_time_is_a_date_or_how_long_ago(said: str, ago: float) -> None:
    assert time_since(said, now=100 * DAY) == 100 * DAY - ago


@pytest.mark.parametrize("said", ["", "lately", "7", "days", "7 fortnights", "2026-13-01", "-7 days", "7 days!"])
def test_any_other_text_is_refused_with_what_to_give(said: str) -> None:
    with pytest.raises(InvalidInputError, match="Give a date such as 2026-11-01, or how long ago"):
        time_since(said, now=0.0)


def test_before_the_beginning_is_the_beginning() -> None:
    assert time_since("9" * 400 + " years", now=5.0) == 0.0


def test_the_filter_names_the_memorys_own_fields(memory: AdaptiveMemory) -> None:
    ana = memory.for_user("ana")
    since = {"created_at": {"$gte": memory.now() - DAY}}
    assert narrowed(ana, None, None) is None
    assert narrowed(ana, "fact", None) == {"kind": "fact"}
    assert narrowed(ana, None, "1 day") == since
    assert narrowed(ana, "fact", "1 day") == {"$and": [{"kind": "fact"}, since]}
