"""Are tokens compared without telling how near a guess was, and refused where they are weak or readable?"""

from __future__ import annotations

import hmac
import json
import os
from pathlib import Path

import pytest

from adaptive_memory_core import InvalidInputError, ScopeError
from adaptive_memory_core.mcp_server.streamable_http import Tokens, user_of_request, users_by_token

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
        ("[]", "holds no users by token"),
        (json.dumps({LONG: 7}), "holds no users by token"),
        (json.dumps({LONG: " "}), "holds no users by token"),
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
