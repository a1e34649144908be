"""Whose is a request over HTTP? That of the user to whom its token belongs; a token is never guessed at by its time."""

from __future__ import annotations

import hmac
import json
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken

from adaptive_memory_core.errors import InvalidInputError, ScopeError
from adaptive_memory_core.shown_in_errors import reason

SHORTEST = 16  # characters of a token; `secrets.token_urlsafe()` gives 43
OTHERS_MAY = 0o077  # what a file of tokens must not allow to others than its owner
HOW = "Make one with: python -c 'import secrets; print(secrets.token_urlsafe())'"


class Tokens:
    """The users by their tokens, of which only hashes are kept; it verifies for the SDK."""

    def __init__(self, users: Mapping[str, str]) -> None:
        if not users:
            raise InvalidInputError(f"No token was given, so nobody could use the server. {HOW}")
        for token in users:
            _check(token)
        self._users = {_hash(token): user for token, user in users.items()}

    async def verify_token(self, token: str) -> AccessToken | None:
        """Who that is; all tokens are compared, each in the same time, whichever it is."""
        given, whose = _hash(token), None
        for known, user in self._users.items():
            if hmac.compare_digest(known, given):
                whose = user
        return None if whose is None else AccessToken(token="", client_id=whose, subject=whose, scopes=[])


def user_of_request() -> str:
    """The user of the request that is being answered."""
    token = get_access_token()
    if token is None or token.subject is None:
        raise ScopeError("The request has no user. Send a token that the server knows.")
    return token.subject


def users_by_token(file: Path) -> dict[str, str]:
    """The tokens of a file of JSON, `{"TOKEN": "USER", ...}`, which only its owner may read."""
    if not file.is_file():
        raise InvalidInputError(f"There is no file {str(file)!r}. Give one of JSON: {{TOKEN: USER}}. {HOW}")
    if file.stat().st_mode & OTHERS_MAY and os.name == "posix":
        raise InvalidInputError(f"Others may read {str(file)!r}, which holds tokens. Do: chmod 600 {file}")
    try:
        found = json.loads(file.read_text(encoding="utf-8"), object_pairs_hook=_each_once)
    except ValueError as error:
        raise InvalidInputError(
            f"{str(file)!r} cannot be used: {reason(error)}. Write {{TOKEN: USER}} as JSON."
        ) from error
    if not isinstance(found, dict) or not all(isinstance(one, str) and one.strip() for one in found.values()):
        raise InvalidInputError(f"{str(file)!r} holds no users by token. Write {{TOKEN: USER}} as JSON.")
    return found


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """
    >>> _each_once([("a token", "ana"), ("a token", "ben")])
    Traceback (most recent call last):
    ValueError: a token is given to two users
    """
    if len({token for token, _ in pairs}) < len(pairs):
        raise ValueError("a token is given to two users")
    return dict(pairs)


def _check(token: str) -> None:
    if len(token) < SHORTEST or not token.isascii() or not token.isprintable() or " " in token:
        raise InvalidInputError(
            f"A token has {len(token)} characters, or some that no header holds. Give at least {SHORTEST}, letters, "
            f"digits, - and _. {HOW}"
        )


def _hash(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()
