"""Is HTTP for those alone who send a strong token, each with their own memory, and on loopback unless set otherwise?"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import socket
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.shared.exceptions import MCPError

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, ScopeError
from adaptive_memory_core.mcp_server.streamable_http import ServerAddress, Tokens, user_of_request, users_by_token
from tests.mcp_server.conftest import ANA, BEN, client_of, over_http, said
from tests.mcp_server.test_stdio import HELLO

TAKES = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
AUTHORIZED = {**TAKES, "Authorization": f"Bearer {ANA}"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_tokens_user_finds_what_is_theirs_alone(memory: AdaptiveMemory, mode: str) -> None:
    async with (
        over_http(memory) as url,
        client_of(url, ANA, mode) as ana,
        client_of(url, BEN, mode) as ben,
        client_of(url, ANA, mode) as ana_again,
    ):
        tea = (await said(ana, "remember", text="Ana likes green tea"))[1]["id"]
        assert (await said(ben, "recall", query="green tea"))[1]["ids"] == []
        assert (await said(ana_again, "recall", query="green tea"))[1]["ids"] == [tea]
        both = await asyncio.gather(*(said(one, "recent") for one in (ana, ben, ana_again) * 4))
        assert [told["ids"] for _, told in both] == [[tea], [], [tea]] * 4
    assert [memory.for_user(one).stats().records for one in ("ana", "ben")] == [1, 0]


async def test_without_a_token_that_is_known_nothing_is_said(memory: AdaptiveMemory) -> None:
    async with over_http(memory) as url, httpx2.AsyncClient() as http:
        for wrong in (
            {},
            {"Authorization": "Bearer"},
            {"Authorization": f"Basic {ANA}"},
            bearer(ANA[:-1]),
            bearer(ANA + "1"),
        ):
            for method in ("POST", "GET", "DELETE"):
                answer = await http.request(method, url, headers={**TAKES, **wrong})
                assert answer.status_code == 401, (method, wrong)
                assert "ana" not in answer.text
        with pytest.raises(BaseException) as told:
            async with client_of(url, "no-token-that-is-known"):
                pass
        assert told.group_contains((httpx2.HTTPStatusError, MCPError)) or isinstance(told.value, MCPError)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def test_a_session_is_used_with_the_token_alone_that_began_it(memory: AdaptiveMemory) -> None:
    async with over_http(memory) as url, httpx2.AsyncClient() as http:
        begun = await http.post(url, json=HELLO, headers=AUTHORIZED)
        session = {"mcp-session-id": begun.headers["mcp-session-id"]}
        assert (await http.post(url, json=PING, headers={**AUTHORIZED, **session})).status_code == 200
        stolen = await http.post(url, json=PING, headers={**TAKES, **bearer(BEN), **session})
        assert stolen.status_code == 404


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:80"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:3000"}, 200),
    ],
)
async def test_another_sites_page_is_not_let_in(memory: AdaptiveMemory, header: dict[str, str], status: int) -> None:
    async with over_http(memory) as url, httpx2.AsyncClient() as http:
        assert (await http.post(url, json=HELLO, headers={**AUTHORIZED, **header})).status_code == status


async def test_malformed_requests_are_answered_and_the_server_lives_on(memory: AdaptiveMemory) -> None:
    bodies: list[Any] = [b"", b"{", b"\xff", b"[]", b"[" * 50_000, b'{"jsonrpc": "2.0"}', b"null", b"x" * 5_000_000]
    async with over_http(memory) as url, httpx2.AsyncClient(timeout=30) as http:
        for body in bodies:
            for more in (
                {},
                {"mcp-session-id": "no such"},
                {"mcp-protocol-version": "2026-07-28"},
                {"mcp-protocol-version": "x"},
            ):
                answer = await http.post(url, content=body, headers={**AUTHORIZED, **more})
                assert 400 <= answer.status_code < 500, (body[:20], more, answer.status_code)
        for wrong in ({"Content-Type": "text/plain"}, {"Accept": "text/html"}):
            assert 400 <= (await http.post(url, json=HELLO, headers={**AUTHORIZED, **wrong})).status_code < 500
        assert (await http.request("PATCH", url, headers=AUTHORIZED)).status_code in (404, 405)
        async with client_of(url, ANA) as ana:
            assert (await said(ana, "recall", query="tea"))[1]["ids"] == []


async def test_a_server_that_nobody_speaks_to_ends_with_its_sessions(memory: AdaptiveMemory) -> None:
    async with over_http(memory, idle_seconds=0.6) as url, httpx2.AsyncClient() as http:
        assert (await http.post(url, json=HELLO, headers=AUTHORIZED)).status_code == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "memory.example.com"])
def test_a_host_that_others_reach_is_refused_unless_asked_for(host: str) -> None:
    with pytest.raises(InvalidInputError, match="give --allow-remote"):
        ServerAddress(host)
    with pytest.raises(InvalidInputError, match="By which name"):
        ServerAddress(host, allow_remote=True)
    named = ServerAddress(host, allow_remote=True, names=["memory.example.com"]).security()
    assert named.enable_dns_rebinding_protection
    assert named.allowed_hosts == ["memory.example.com", "memory.example.com:*"]


def test_a_port_that_is_taken_or_no_port_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InvalidInputError, match=r"cannot be listened on.*Give another --port"):
            ServerAddress(port=port).listen()
    with pytest.raises(InvalidInputError, match="Give one from 0"):
        ServerAddress(port=70_000)


LONG = "a-token-that-is-long-enough"


async def test_every_token_is_compared_in_constant_time_and_none_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[bytes] = []
    true = hmac.compare_digest

    def noted(known: bytes, given: bytes) -> bool:
        compared.append(known)
        return true(known, given)

    monkeypatch.setattr(hmac, "compare_digest", noted)
    known = Tokens({f"{LONG}-{number}": f"user {number}" for number in range(3)})
    found = await known.verify_token(f"{LONG}-0")
    assert found is not None
    assert (found.subject, found.token) == ("user 0", "")
    assert len(compared) == 3
    assert await known.verify_token(LONG) is None
    assert await known.verify_token("\ud800") is None
    assert not [one for one in compared if LONG.encode() in one]


@pytest.mark.parametrize("weak", ["", "short", "x" * 15, "a token with blanks in it", "ünïcödé-tokens-are-none"])
def test_a_weak_token_is_refused_without_being_repeated(weak: str) -> None:
    with pytest.raises(InvalidInputError, match="Give at least 16") as told:
        Tokens({weak: "ana"})
    assert not weak or weak not in str(told.value)
    with pytest.raises(InvalidInputError, match="No token was given"):
        Tokens({})


def test_outside_a_request_there_is_no_user() -> None:
    with pytest.raises(ScopeError, match="no user"):
        user_of_request()


def written(file: Path, text: str, mode: int = 0o600) -> Path:
    file.write_text(text)
    file.chmod(mode)
    return file


def test_a_file_says_whose_each_token_is(tmp_path: Path) -> None:
    file = written(tmp_path / "tokens.json", json.dumps({LONG: "ana", f"{LONG}2": "ana"}))
    assert users_by_token(file) == {LONG: "ana", f"{LONG}2": "ana"}


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("{", "cannot be used"),
        ("[]", "does not contain users by token"),
        (json.dumps({LONG: 7}), "does not contain users by token"),
        (json.dumps({LONG: " "}), "does not contain users by token"),
        (f'{{"{LONG}": "ana", "{LONG}": "ben"}}', "given to two users"),
    ],
)
def test_a_file_that_says_something_else_is_refused(tmp_path: Path, text: str, because: str) -> None:
    with pytest.raises(InvalidInputError, match=because) as told:
        users_by_token(written(tmp_path / "tokens.json", text))
    assert LONG not in str(told.value)
    with pytest.raises(InvalidInputError, match="There is no file"):
        users_by_token(tmp_path / "none.json")


@pytest.mark.skipif(os.name != "posix", reason="files have no such rights here")
def test_a_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path / "tokens.json", json.dumps({LONG: "ana"}), 0o644)
    with pytest.raises(InvalidInputError, match="chmod 600"):
        users_by_token(file)
