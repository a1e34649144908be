"""Does the server carry the protocol over stdin and stdout, live through any line, and end when it should?"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from adaptive_memory_core import AdaptiveMemory
from adaptive_memory_core.mcp_server.stdio import LONGEST, Refusal, message_or_refusal
from tests.mcp_server import noisy
from tests.mcp_server.conftest import SECONDS, Pipes, over_pipes, said
from tests.suites import at_most

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "shared"), str(ROOT)])}
HELLO = {
    "jsonrpc": "2.0",
    "id": "hello",
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a test", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
NOT_MESSAGES = [
    (b"", -32700),
    (b"{", -32700),
    (b"\xff\xfe\x00", -32700),
    (b'"\\ud800"', -32700),
    (b"[" * 100_000, -32700),
    (b"NaN", -32600),
    (b"[]", -32600),
    (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600),
    (b"{}", -32600),
    (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
    (b'{"jsonrpc": "2.0", "id": 1, "method": 7}', -32600),
    (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600),
    (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": "x"}', -32600),
    (b"x" * (LONGEST + 1), -32600),
]
WRONG_CALLS = [
    ("no/such/method", {}, -32601),
    ("tools/call", {}, -32602),
    ("tools/call", {"name": 7}, -32602),
    ("tools/call", {"name": "no such tool"}, -32602),
    ("tools/call", {"name": "recall", "arguments": "x"}, -32602),
    ("tools/call", {"name": "recall", "arguments": ["x"]}, -32602),
]


class Talk:
    """A client that says lines of its own making, and reads whole answers."""

    def __init__(self, pipes: Pipes) -> None:
        self._pipes, self._read = pipes, b""

    async def answer(self, line: bytes | dict[str, Any]) -> dict[str, Any]:
        said = line if isinstance(line, bytes) else json.dumps(line).encode()
        await asyncio.to_thread(self._all, said + b"\n")
        return await asyncio.wait_for(asyncio.to_thread(self._next), SECONDS)

    def _all(self, line: bytes) -> None:
        while line:
            line = line[os.write(self._pipes.write, line) :]

    def _next(self) -> dict[str, Any]:
        while b"\n" not in self._read:
            self._read += os.read(self._pipes.read, 65_536)
        line, _, self._read = self._read.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found


async def test_whatever_is_no_message_is_answered_and_the_server_lives_on(memory: AdaptiveMemory) -> None:
    async with over_pipes(lambda: memory.for_user("ana")) as pipes:
        talk = Talk(pipes)
        assert (await talk.answer(b"before hello"))["error"]["code"] == -32700
        assert (await talk.answer(HELLO))["result"]["serverInfo"]["name"] == "adaptive-memory"
        pipes.say(json.dumps(READY).encode())
        for line, code in NOT_MESSAGES:
            assert (await talk.answer(line))["error"]["code"] == code, line[:80]
        assert (await talk.answer(b'{"id": 41, "method": "ping"}'))["id"] == 41
        for number, (method, params, code) in enumerate(WRONG_CALLS):
            told = await talk.answer({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            assert (told["id"], told["error"]["code"]) == (number, code), (method, params)
        call = {"name": "remember", "arguments": {"text": "it lives"}}
        kept = await talk.answer({"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": call})
        assert kept["result"]["isError"] is False
    assert memory.for_user("ana").records(current=True)[0].text == "it lives"


@given(line=st.binary(max_size=80) | st.text(max_size=80).map(str.encode))
@at_most(200)
def test_any_line_is_a_message_or_a_refusal(line: bytes) -> None:
    found = message_or_refusal(line)
    assert not isinstance(found, Refusal) or found.answer.error.code in (-32700, -32600)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.sample
@pytest.mark.hard("random run")
async def test_a_server_lives_through_a_fuzz_of_requests(memory: AdaptiveMemory) -> None:
    """Requests of any method with any parameters are each answered, with their own id."""
    names = [
        "tools/call",
        "tools/list",
        "initialize",
        "ping",
        "resources/read",
        "completion/complete",
        "logging/setLevel",
    ]
    sent: list[dict[str, Any]] = []

    @given(method=st.sampled_from(names) | st.text(max_size=10), params=st.dictionaries(st.text(max_size=8), JSON))
    @at_most(60)
    def gathered(method: str, params: dict[str, Any]) -> None:
        call = {"name": "recall", "arguments": params} if len(sent) % 2 else params
        sent.append({"jsonrpc": "2.0", "id": len(sent), "method": method, "params": call})

    gathered()
    async with over_pipes(lambda: memory.for_user("ana")) as pipes:
        talk = Talk(pipes)
        await talk.answer(HELLO)
        for one in sent:
            line = json.dumps(one, allow_nan=True).encode("utf-8", "replace")
            answer = await talk.answer(line)
            assert "error" in answer or "result" in answer
            assert answer["id"] in (one["id"], None)
        assert (await talk.answer({"jsonrpc": "2.0", "id": "end", "method": "ping"}))["result"] == {}


async def test_a_client_that_closes_stdin_is_still_answered(memory: AdaptiveMemory) -> None:
    async with over_pipes(lambda: memory.for_user("ana")) as pipes:
        await Talk(pipes).answer(HELLO)
        call = {"name": "remember", "arguments": {"text": "the last words"}}
        pipes.say(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).encode())
    assert [one.text for one in memory.for_user("ana").records(current=True)] == ["the last words"]


async def test_a_server_that_nobody_speaks_to_ends(memory: AdaptiveMemory) -> None:
    async with over_pipes(lambda: memory.for_user("ana"), idle_seconds=0.05) as pipes:
        await asyncio.wait_for(pipes.serving, SECONDS)


def command(place: Path, user: str, *more: str) -> list[str]:
    given = ["--path", str(place), "--user", user, "--embedder", "tests.mcp_server.noisy:vectors"]
    return ["-m", "adaptive_memory_core.cli", *given, "mcp", "--create", *more]


@pytest.mark.hard("processes")
async def test_several_clients_use_one_directory_at_once(tmp_path: Path) -> None:
    """What one process keeps another finds, and both are asked at the same time."""
    place = tmp_path / "memory"
    with (tmp_path / "stderr").open("w") as nothing:

        def start(user: str) -> Client:
            parameters = StdioServerParameters(
                command=sys.executable, args=command(place, user), env=ENVIRONMENT, cwd=ROOT
            )
            return Client(stdio_client(parameters, errlog=nothing))

        async with start("ana") as first:
            assert (await first.list_tools()).tools
            async with start("ana") as second:
                tea = (await said(first, "remember", text="Ana likes green tea"))[1]["id"]
                cat = (await said(second, "remember", text="the cat is called Turing"))[1]["id"]
                assert (await said(second, "recall", query="green tea"))[1]["ids"][0] == tea
                assert (await said(first, "recall", query="the cat"))[1]["ids"][0] == cat
                everyone = await asyncio.gather(*(said(one, "recall", query="tea") for one in (first, second) * 5))
                assert {tuple(sorted(told["ids"])) for _, told in everyone} == {tuple(sorted((tea, cat)))}
            assert set((await said(first, "recent"))[1]["ids"]) == {tea, cat}
    with AdaptiveMemory.open(place, embedder=noisy.vectors) as memory:
        assert memory.for_user("ana").stats().records == 2


@pytest.mark.hard("processes")
def test_on_stdout_is_the_protocol_alone_and_a_signal_ends_it_well(tmp_path: Path) -> None:
    serving = subprocess.Popen(
        [sys.executable, *command(tmp_path / "memory", "ana")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env=ENVIRONMENT,
    )
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    call["params"] = {"name": "remember", "arguments": {"text": "tea"}}
    assert serving.stdin is not None
    assert serving.stdout is not None
    serving.stdin.writelines(json.dumps(one).encode() + b"\n" for one in (HELLO, READY, call))
    serving.stdin.flush()
    answers = [json.loads(serving.stdout.readline()) for _ in range(2)]
    serving.send_signal(signal.SIGTERM)
    out, err = serving.communicate(timeout=SECONDS)
    assert [one["id"] for one in answers] == ["hello", 1]
    assert (serving.returncode, out) == (0, b"")
    assert err.count(b"this is no message of the protocol") >= 1
    assert b"nor is this" in err
    assert b"Traceback" not in err


@pytest.mark.hard("processes")
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_over_http_a_signal_ends_it_well(tmp_path: Path, ending: signal.Signals) -> None:
    """The memory is closed: what was learned is written back, and nothing is left for the next one to mend."""
    serving = subprocess.Popen(
        [sys.executable, *command(tmp_path / "memory", "ana", "--http", "--port", "0")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env={**ENVIRONMENT, "ADAPTIVE_MEMORY_TOKEN": "a-token-that-is-long-enough"},
    )
    assert serving.stderr is not None
    while not serving.stderr.readline().startswith(b"serving http://127.0.0.1:"):
        assert serving.poll() is None
    serving.send_signal(ending)
    out, err = serving.communicate(timeout=SECONDS)
    assert (serving.returncode, out) == (0, b"")
    assert b"Traceback" not in err
